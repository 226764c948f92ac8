"""`anonset anonymize`."""

import json
import stat

import pytest

import anonset


def test_the_release_and_its_certificate_are_written_and_the_loss_is_said(cli, baskets, tmp_path):
    out = tmp_path / "out.dat"
    done = cli("anonymize", baskets, "-k", "3", "-o", out)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "shared by at least 3 transactions" in text
    assert "k = 3" in text
    assert "information loss" in text
    assert "private" in text
    assert anonset.verify(str(out), k=3).holds
    certificate = json.loads((tmp_path / "out.dat.certificate.json").read_text())
    assert certificate["parameters"] == {"k": 3}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_without_out_nothing_is_written_and_that_is_said(cli, baskets, tmp_path):
    done = cli("anonymize", baskets, "-k", "3")
    assert done.code == 0
    assert "No release was written" in done.out
    assert "information loss" in done.out
    assert [path.name for path in tmp_path.iterdir()] == [baskets.name]


def test_json_separates_public_from_private(cli, baskets, tmp_path):
    done = cli("anonymize", baskets, "-k", "3", "--seed", "5", "-o", tmp_path / "out.dat", "--json")
    answer = json.loads(done.out)
    assert done.err == ""
    assert answer["holds"] is True
    assert answer["measured"]["k"] >= 3
    assert answer["private"]["seed"] == 5
    assert {"read", "groups", "write"} <= set(answer["private"]["seconds"])
    assert "information_loss_ratio" in answer["private"]["measurements"]
    public = {name: value for name, value in answer.items() if name != "private"}
    assert "seed" not in json.dumps(public)
    assert "loss" not in json.dumps(public)


def test_the_same_seed_gives_the_same_file(cli, baskets, tmp_path):
    for name in ("one", "two"):
        assert cli("anonymize", baskets, "-k", "3", "--seed", "7", "-o", tmp_path / f"{name}.dat").code == 0
    assert (tmp_path / "one.dat").read_bytes() == (tmp_path / "two.dat").read_bytes()


def test_options_of_the_method_reach_it(cli, baskets):
    given = ["--method", "pta", "--segments", "1", "--item-order", "given", "--no-revote"]
    answer = json.loads(cli("anonymize", baskets, "-k", "3", "--json", *given).out)
    said = {"k": 3, "segments": 1, "item_order": "given", "revote": False}
    assert {name: answer["params"][name] for name in said} == said


def test_model_or_method_alone_is_enough(cli, baskets):
    for choice, method in ((["--model", "k-anonymity"], "crowd"), (["--method", "pta"], "pta"), ([], "crowd")):
        answer = json.loads(cli("anonymize", baskets, "-k", "3", "--json", *choice).out)
        assert (answer["model"], answer["method"]) == ("k-anonymity", method)


def test_an_existing_output_needs_force(cli, baskets, tmp_path):
    out = tmp_path / "out.dat"
    out.write_text("something else\n")
    done = cli("anonymize", baskets, "-k", "3", "-o", out)
    assert done.code == 2
    assert "--force" in done.err
    assert out.read_text() == "something else\n"
    assert cli("anonymize", baskets, "-k", "3", "-o", out, "--force").code == 0
    assert anonset.verify(str(out), k=3).holds


@pytest.mark.parametrize(
    ("out", "words"),
    [("missing/out.dat", "does not exist"), ("out.unknown", "format"), ("", "folder"), ("baskets.dat", "input")],
)
def test_a_bad_output_is_refused_before_the_work(cli, baskets, tmp_path, out, words):
    done = cli("anonymize", baskets, "-k", "3", "-o", tmp_path / out, "--force")
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [baskets.name]


def test_a_k_above_the_number_of_transactions_cannot_be_kept(cli, baskets, tmp_path):
    done = cli("anonymize", baskets, "-k", "7", "-o", tmp_path / "out.dat")
    assert done.code == 3
    assert "-k must" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out.dat").exists()


def test_the_format_can_be_chosen(cli, baskets, tmp_path):
    out = tmp_path / "out.txt"
    assert cli("anonymize", baskets, "-k", "3", "-o", out, "--format", "long.csv").code == 0
    assert out.read_text().splitlines()[0].replace('"', "").split(",")[:2] == ["transaction", "item"]


def test_sensitive_items_stay_with_their_transactions(cli, tmp_path):
    data = tmp_path / "data.dat"
    data.write_text("a b x\na b\na c y\na c\n")
    out = tmp_path / "out.dat"
    assert cli("anonymize", data, "-k", "2", "--sensitive", "x,y", "-o", out).code == 0
    items = out.read_text().split()
    assert (items.count("x"), items.count("y")) == (1, 1)


@pytest.mark.parametrize("option", ["--keep-order", "--keep-ids"])
def test_keeping_what_leads_back_warns(cli, baskets, option):
    done = cli("anonymize", baskets, "-k", "3", option)
    assert done.code == 0
    assert "find a person" in done.err.lower() or "found the person" in done.err.lower()
    assert cli("anonymize", baskets, "-k", "3", option, "--quiet").err == done.err, "quiet, but not about this"
    assert cli("anonymize", baskets, "-k", "3").err == ""


def test_notes_are_said_unless_quiet(cli, tmp_path):
    data = tmp_path / "data.dat"
    data.write_text("1 1 2\n1 2\n")
    assert "repeated" in cli("anonymize", data, "-k", "2").err
    assert cli("anonymize", data, "-k", "2", "--quiet").err == ""


def test_an_unknown_sensitive_item_suggests_the_nearest(cli, tmp_path):
    data = tmp_path / "data.dat"
    data.write_text("wine bread\nwine\n")
    done = cli("anonymize", data, "-k", "2", "--sensitive", "wien")
    assert done.code == 2
    assert "Did you mean wine" in done.err


def test_the_terminal_output_fits_80_columns_without_colour(cli, baskets, tmp_path):
    done = cli("anonymize", baskets, "-k", "3", "-o", tmp_path / "out.dat")
    paths = str(tmp_path)
    assert "\x1b" not in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines() if paths not in line)


def test_data_of_some_size_end_to_end(cli, some_data, tmp_path):
    out = tmp_path / "out.dat"
    assert cli("anonymize", some_data("T10I4D100K.dat.gz"), "-k", "10", "-o", out).code == 0
    assert cli("verify", out, "-k", "10").code == 0
    broken = cli("verify", out, "-k", "1000", "--json")
    assert broken.code == 3
    assert "1,000 are needed" in json.loads(broken.out)["witnesses"][0]["statement"]
