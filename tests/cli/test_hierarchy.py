"""`anonset hierarchy`, `anonset recode`, and the cut that goes between them."""

import json

import pytest

TREE = "item,level1\na1,A\na2,A\nb1,B\nb2,B\n"


@pytest.fixture
def shop(tmp_path):
    """The paper's example: four transactions and their hierarchy."""
    (tmp_path / "data.dat").write_text("a1 b1 b2\na2 b1\na2 b1 b2\na1 a2 b2\n")
    (tmp_path / "tree.csv").write_text(TREE)
    return tmp_path


def promise(shop, *more):
    return ("--hierarchy", shop / "tree.csv", "-k", 2, "-m", 2, "--seed", 1, *more)


def test_show_draws_the_tree(cli, shop):
    assert cli("hierarchy", "show", shop / "tree.csv", "--depth", 1).out.splitlines() == [
        "ALL  4 items",
        "├── A  2 items",
        "└── B  2 items",
    ]
    assert json.loads(cli("hierarchy", "show", shop / "tree.csv", "--json").out)["items"] == 4


def test_show_draws_the_cut_too(cli, shop):
    (shop / "half.csv").write_text("item,published\na1,A\na2,A\n")
    out = cli("hierarchy", "show", shop / "tree.csv", "--cut", shop / "half.csv").out
    assert "A  2 items  ← published for all below" in out
    assert "a1" not in out


def test_lint_ends_with_3_until_it_is_repaired(cli, shop):
    (shop / "tree.csv").write_text(TREE + "a1,B\n")
    (shop / "data.dat").write_text("a1 b1\nnew a1\n")
    found = cli("hierarchy", "lint", shop / "tree.csv", "--data", shop / "data.dat", "--json")
    assert found.code == 3
    assert {problem["kind"] for problem in json.loads(found.out)["problems"]} >= {"two-parents", "missing"}
    mended = shop / "mended.csv"
    args = ("hierarchy", "lint", shop / "tree.csv", "--data", shop / "data.dat", "--repair", "-o", mended)
    assert cli(*args).code == 0
    assert cli("hierarchy", "lint", mended, "--data", shop / "data.dat").code == 0
    assert cli(*args).code == 2, "an existing file needs --force"
    assert cli("hierarchy", "lint", shop / "tree.csv", "--repair").code == 2


@pytest.mark.parametrize("more", [(), ("--by", "cooccurrence"), ("--by", "prefix", "--lengths", "1")])
def test_build_writes_a_hierarchy_that_the_methods_take(cli, shop, more):
    out = shop / "built.csv"
    assert cli("hierarchy", "build", shop / "data.dat", "-o", out, "--fanout", 2, *more).code == 0
    done = cli("anonymize", shop / "data.dat", "--method", "km-apriori", "-k", 2, "--hierarchy", out, "--json")
    assert done.code == 0
    assert json.loads(done.out)["holds"]


def test_build_says_what_is_missing_or_wrong(cli, shop):
    assert "--out is missing" in cli("hierarchy", "build", shop / "data.dat").err
    wrong = cli("hierarchy", "build", shop / "data.dat", "-o", shop / "x.csv", "--by", "prefix", "--lengths", "one")
    assert wrong.code == 2
    assert "--lengths must be whole numbers" in wrong.err


def test_a_cut_is_written_edited_and_applied_again(cli, shop):
    cut, out = shop / "cut.csv", shop / "out.dat"
    done = cli("anonymize", shop / "data.dat", "--method", "km-apriori", "--write-cut", cut, *promise(shop))
    assert done.code == 0
    assert "NCP" in done.out
    assert '"a1","A"' in cut.read_text()
    again = cli("recode", shop / "data.dat", "--cut", cut, "-o", out, "--keep-order", *promise(shop))
    assert again.code == 0
    assert out.read_text() == "A b1 b2\nA b1\nA b1 b2\nA b2\n"
    assert cli("verify", out).code == 0, "the certificate beside it says which promise"


def test_an_edited_cut_that_breaks_the_promise_or_is_no_cut_publishes_nothing(cli, shop):
    cut, out = shop / "cut.csv", shop / "out.dat"
    cut.write_text("item,published\na1,a1\n")
    done = cli("recode", shop / "data.dat", "--cut", cut, "-o", out, *promise(shop))
    assert done.code == 3
    assert "--cut must keep the promise" in done.err
    cut.write_text("item,published\na1,A\na2,a2\n")
    done = cli("recode", shop / "data.dat", "--cut", cut, "-o", out, *promise(shop))
    assert done.code == 2
    assert "all items below a node alike" in done.err
    cut.write_text("item,published\na1,\nb1,\n")
    assert cli("recode", shop / "data.dat", "--cut", cut, "-o", out, *promise(shop)).code == 0
    assert "--cut is missing" in cli("recode", shop / "data.dat", "-k", 2).err


def test_write_cut_belongs_to_methods_that_cut(cli, shop):
    done = cli("anonymize", shop / "data.dat", "-k", 2, "--write-cut", shop / "cut.csv")
    assert done.code == 2
    assert "--write-cut is for methods that cut through a hierarchy" in done.err
    (shop / "cut.csv").write_text("")
    args = ("anonymize", shop / "data.dat", "--method", "km-apriori", "--write-cut", shop / "cut.csv", *promise(shop))
    assert cli(*args).code == 2
    assert cli(*args, "--force").code == 0


def test_a_deep_or_large_hierarchy_is_shown_short_and_says_how_to_see_all(cli, tmp_path):
    deep = tmp_path / "deep.csv"
    deep.write_text(
        ",".join(["item", *(f"level{i}" for i in range(1, 301))]) + "\n" + ",".join(["x", *map(str, range(300))])
    )
    done = cli("hierarchy", "show", deep)
    assert done.code == 0
    assert len(done.out.splitlines()) < 20
    assert "--depth 300 shows all" in done.out
    large = tmp_path / "large.csv"
    large.write_text("item,level1,level2\n" + "".join(f"i{i},a{i % 40},b{i % 4000}\n" for i in range(20_000)))
    done = cli("hierarchy", "show", large)
    assert len(done.out.splitlines()) < 320
    assert "--depth 3 shows all" in done.out
    assert len(cli("hierarchy", "show", large, "--depth", "2").out.splitlines()) > 320
