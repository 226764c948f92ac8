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
    assert said["method"]["name"] == "pta"
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
