"""`anonset anonymize --method kamp`: what it says before, on the way and afterwards."""

import json

import pytest

ROWS = ["a b", "x", "a b c", "x y", "a", "x", "a b", "x y"]


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.dat"
    path.write_text("\n".join(ROWS) + "\n")
    return path


@pytest.fixture
def habits(tmp_path):
    """Three users: two share the habits a and b, one of them and a third have c."""
    path = tmp_path / "habits.csv"
    rows = ["1,u,a", "2,u,b", "3,v,a", "4,v,b", "5,v,c", "6,w,c"]
    path.write_text("transaction,user,item\n" + "\n".join(rows) + "\n")
    return path


def test_synthetic_users_are_marked_in_the_output_and_in_the_certificate(cli, visits, tmp_path):
    out = tmp_path / "out.csv"
    done = cli("anonymize", visits, "--method", "kamp", "-k", 2, "--support", 2, "--users-by-similarity", 3, "-o", out)
    assert done.code == 0
    assert "Note: The 3 users are synthetic" in done.err
    notes = json.loads((tmp_path / "out.csv.certificate.json").read_text())["notes"]
    assert sum("3 users are synthetic" in note for note in notes) == 1
    page = tmp_path / "report.html"
    assert cli("report", visits, out, "-o", page, "--public").code == 0
    assert "3 users are synthetic" in page.read_text("utf-8")


def test_the_number_of_combinations_comes_first_and_what_was_rewritten_last(cli, habits):
    done = cli("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--seed", 1)
    assert done.code == 0
    assert done.err.startswith("Note: 3 patterns, 3 of them somebody's maximal ones: at most 6 combinations")
    said = " ".join(done.out.split())
    assert "transactions changed and" in said
    assert "0 virtual users (private)" in said
    assert "patterns" not in cli("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--quiet").err


def test_the_private_report_counts_what_was_rewritten_and_the_public_one_does_not(cli, habits, tmp_path):
    common = ("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--report", tmp_path / "r.html")
    assert cli(*common).code == 0
    assert cli(*common, "--public").code == 0
    assert "virtual users" in (tmp_path / "r.PRIVATE.html").read_text("utf-8")
    assert "virtual users" not in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("wrong", "code", "word"),
    [
        (("-k", 2, "--support", 2), 2, "users_by_similarity"),
        (("-k", 2, "--support", 2, "--combinations", 0, "--users-by-similarity", 3), 2, "combinations"),
        (("-k", 4, "--support", 2, "--users-by-similarity", 3), 3, "number of users (3)"),
        (("-k", 2, "--support", 9, "--users-by-similarity", 3), 2, "number of transactions (8)"),
    ],
)
def test_bad_input_is_one_clear_sentence(cli, visits, tmp_path, wrong, code, word):
    done = cli("anonymize", visits, "--method", "kamp", *wrong, "-o", tmp_path / "out.csv")
    assert done.code == code
    assert word in done.err
    assert not (tmp_path / "out.csv").exists()
