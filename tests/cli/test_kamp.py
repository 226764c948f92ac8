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
    assert "pattern distance 0." in said
    assert "if all were lost), 100.0% of the patterns kept (private)" in said
    assert "transactions changed," in said
    assert "patterns" not in cli("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--quiet").err


def test_the_private_report_counts_what_was_rewritten_and_the_public_one_does_not(cli, habits, tmp_path):
    common = ("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--report", tmp_path / "r.html")
    assert cli(*common).code == 0
    assert cli(*common, "--public").code == 0
    assert "virtual users" in (tmp_path / "r.PRIVATE.html").read_text("utf-8")
    assert "virtual users" not in (tmp_path / "r.html").read_text("utf-8")


def test_the_pattern_table_is_written_where_asked_and_refused_where_it_would_collide(cli, habits, tmp_path):
    common = ("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "--write-patterns")
    assert cli(*common, tmp_path / "p.csv").code == 0
    assert (tmp_path / "p.csv").read_text().count("kept") == 6
    for place in (habits, tmp_path / "p.csv"):
        refused = cli(*common, place)
        assert refused.code in (1, 2)
        assert str(place) in refused.err


def test_rare_combinations_by_size_are_in_the_verdict_for_machines(cli, habits):
    done = cli("verify", habits, "--model", "multi-pattern", "-k", 2, "--support", 2, "--json")
    assert json.loads(done.out)["measured"]["below_k_by_size"] == [0, 2]


def test_a_certificate_with_a_fraction_says_which_number_was_used(cli, habits, tmp_path):
    """As earlier versions wrote them."""
    out = tmp_path / "out.csv"
    assert cli("anonymize", habits, "--method", "kamp", "-k", 2, "--support", 2, "-o", out).code == 0
    path = tmp_path / "out.csv.certificate.json"
    certificate = json.loads(path.read_text())
    assert certificate["parameters"]["support"] == 2
    certificate["parameters"]["support"] = 0.3
    path.write_text(json.dumps(certificate))
    said = " ".join(cli("verify", out).out.split())
    assert "support 2, which is 0.3 of the published transactions" in said


@pytest.mark.parametrize(
    ("wrong", "code", "word"),
    [
        (("-k", 2, "--support", 2), 2, "--users-by-similarity"),
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
