"""`anonset anonymize --report` and `anonset report`."""

import json


def test_anonymize_writes_a_private_report(cli, baskets, tmp_path):
    out, page = tmp_path / "out.dat", tmp_path / "report.html"
    done = cli("anonymize", baskets, "-k", 2, "-o", out, "--report", page, "--seed", 1)
    assert done.code == 0
    assert not page.exists()
    assert "PRIVATE" in (tmp_path / "report.PRIVATE.html").read_text("utf-8")
    assert "report.PRIVATE.html" in done.out.replace("\n", "").replace(" ", "")
    again = cli("anonymize", baskets, "-k", 2, "-o", tmp_path / "other.dat", "--report", page)
    assert again.code == 2
    assert not (tmp_path / "other.dat").exists()


def test_anonymize_writes_a_public_report(cli, baskets, tmp_path):
    page = tmp_path / "report.json"
    assert cli("anonymize", baskets, "-k", 2, "--report", page, "--public").code == 0
    assert "private" not in json.loads(page.read_text("utf-8"))


def test_a_report_on_a_release_that_is_there(cli, baskets, tmp_path):
    out, page = tmp_path / "out.dat", tmp_path / "r.json"
    cli("anonymize", baskets, "-k", 2, "-o", out, "--seed", 1)
    done = cli("report", baskets, out, "-o", page)
    assert done.code == 0
    said = json.loads((tmp_path / "r.PRIVATE.json").read_text("utf-8"))
    assert said["method"]["name"] == "crowd"
    assert said["model"]["params"] == {"k": 2}
    assert said["holds"] is True
    assert said["files"]["out.dat"]
    assert said["private"]["linking"][0]["upper_bound"] is True
    assert said["private"]["seed"] is None


def test_a_report_on_somebody_elses_release_names_what_breaks_it(cli, baskets, tmp_path):
    page = tmp_path / "r.html"
    done = cli("report", baskets, baskets, "-o", page)
    assert done.code == 0
    html = (tmp_path / "r.PRIVATE.html").read_text("utf-8")
    assert "does not hold" in html
    assert "transaction with this published set" in html


def test_a_release_of_other_data_is_refused_with_what_differs(cli, baskets, tmp_path):
    other = tmp_path / "other.dat"
    other.write_text("1 2\n1 2\n")
    done = cli("report", baskets, other, "-o", tmp_path / "r.html")
    assert done.code == 2
    assert "it has 2 transactions, the data 6" in done.err
    assert not list(tmp_path.glob("r*"))
    assert cli("report", baskets, other, "-o", tmp_path / "r.html", "--public").code == 0


def test_a_generalized_release_is_compared_through_its_hierarchy(cli, baskets, tmp_path):
    tree, out = tmp_path / "tree.csv", tmp_path / "out.dat"
    tree.write_text("item,level1\n1,odd\n3,odd\n2,even\n4,even\n")
    assert cli("anonymize", baskets, "--method", "km-direct", "-k", 3, "--hierarchy", tree, "-o", out).code == 0
    assert cli("report", baskets, out, "-o", tmp_path / "r.json").code == 2
    assert cli("report", baskets, out, "--hierarchy", tree, "-o", tmp_path / "r.json").code == 0
    said = json.loads((tmp_path / "r.PRIVATE.json").read_text("utf-8"))
    assert 0 < next(row["value"] for row in said["private"]["utility"] if row["name"] == "ncp") < 1


def test_a_report_on_invented_transactions_says_that_it_does_not_compare(cli, tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("transaction,user,item\n1,u,a\n2,v,a\n")
    out.write_text("transaction,user,item\n1,u,a\n2,v,a\n3,w,a\n")
    done = cli("report", data, out, "-o", tmp_path / "r.html")
    assert done.code == 0
    assert "Warning: Not compared with the original" in done.err


def test_a_report_names_files_without_saying_where_they_are(cli, baskets, tmp_path):
    tree = tmp_path / "tree.csv"
    tree.write_text("item,level1\n1,odd\n3,odd\n2,even\n4,even\n")
    common = ("anonymize", baskets, "--method", "km-direct", "-k", 3, "--hierarchy", tree)
    assert cli(*common, "--report", tmp_path / "r.json", "--public").code == 0
    text = (tmp_path / "r.json").read_text("utf-8")
    assert json.loads(text)["method"]["params"]["hierarchy"] == "tree.csv"
    assert str(tmp_path) not in text
