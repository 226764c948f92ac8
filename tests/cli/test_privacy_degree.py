"""Privacy degree on the command line: from a file to a folder that verifies, and every bad input a clear word."""

import json

import pytest

from anonset import read_release

BASKETS = ["bread wine", "bread test", "wine cheese", "bread cheese", "cheese", "wine"] * 20


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text("\n".join(BASKETS) + "\n")
    return path


def test_from_a_file_to_a_folder_that_verifies(cli, source, tmp_path):
    out = tmp_path / "release"
    done = cli("anonymize", source, "--sensitive", "test", "--model", "privacy-degree", "-p", 5, "-o", out)
    assert done.code == 0, done.err
    assert "certificate.json" in done.out
    assert cli("verify", out).code == 0
    assert cli("verify", out, "-p", 7).code == 3
    release = read_release(out)
    assert len(release) == len(BASKETS)
    assert "test" not in {item for transaction in release.transactions for item in transaction}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-p", 5], 2, "--sensitive must name at least one item"),
        (["-p", 1, "--sensitive", "test"], 2, "-p must be at least 2"),
        (["--sensitive", "test"], 2, "-p must be given"),
        (["-p", 5, "--sensitive", "tset"], 2, "Did you mean test"),
        (["-p", 7, "--sensitive", "test"], 3, "-p must be at most 6, because 'test' occurs in 20 of 120 transactions"),
        (["-p", 2, "--sensitive", "test", "--keep-order"], 2, "--keep-order must be off where groups are published"),
        (["-p", 2, "--sensitive", "test", "--format", "fimi"], 2, "--format must be one of csv"),
    ],
)
def test_bad_input_is_a_clear_word_and_nothing_is_written(cli, source, tmp_path, options, code, words):
    done = cli("anonymize", source, "--method", "cahd-gray", "-o", tmp_path / "release", *options)
    assert done.code == code
    assert words in " ".join(done.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baskets.dat"]


def test_questions_on_the_command_line(cli, source, tmp_path):
    out = tmp_path / "release"
    cli("anonymize", source, "--sensitive", "test", "--method", "nn", "-p", 3, "-o", out, "--accept", "inference")
    assert cli("query", out, "bread AND wine").out.strip() == "20 transactions."
    answers = json.loads(cli("query", out, "test GROUP BY bread", "--json").out)["answers"]
    assert sum(answer["count"] for answer in answers) == pytest.approx(20)
    assert cli("query", out, "bread GROUP BY test").code == 2
