"""`anonset risk`: what it says about data alone and about data with a release."""

import csv
import json

import pytest


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.dat"
    path.write_text("2 4\n1 2\n1 2\n1 2\n2 4\n2 4\n")
    return path


def test_risk_of_data_alone(cli, baskets):
    done = cli("risk", baskets, "-m", 2)
    assert done.code == 0
    assert "knows m items of a transaction" in done.out
    assert "2" in done.out
    answer = json.loads(cli("risk", baskets, "-m", 2, "--json").out)
    assert answer["risk"][0]["share"] == pytest.approx((2 / 3 + 0 + 0 + 0 + 0) / 5)
    assert answer["risk"][0]["exact"] is True


def test_risk_for_one_to_four_items_by_default(cli, baskets):
    answer = json.loads(cli("risk", baskets, "--json").out)
    assert [found["m"] for found in answer["risk"]] == [1, 2, 3, 4]


def test_risk_before_and_after(cli, baskets, release):
    done = cli("risk", baskets, release)
    assert done.code == 0
    for part in ("Singling out", "Linkability", "Inference", "nearest match"):
        assert part in done.out
    attacks = json.loads(cli("risk", baskets, release, "--json").out)["findings"]["attacks"]
    found = {one["title"]: one for one in attacks}
    assert found["nearest match"]["worst"] <= 1 / 3
    assert found["2 items known"]["after"] < found["2 items known"]["before"]


def test_one_attack_by_its_name(cli, baskets, release):
    found = json.loads(cli("risk", baskets, release, "--attack", "whole-basket", "--json").out)["findings"]["attacks"]
    assert [one["name"] for one in found] == ["whole-basket"]
    done = cli("risk", baskets, release, "--attack", "whole-basked")
    assert done.code == 2
    assert "Did you mean whole-basket" in done.err
    assert cli("risk", baskets, "--attack", "whole-basket").code == 2


def test_the_certificate_says_what_the_promise_is_meant_to_stop(cli, baskets, tmp_path):
    assert cli("anonymize", baskets, "-k", 2, "-o", tmp_path / "out.dat", "--link", tmp_path / "link.csv").code == 0
    known = ["--link", tmp_path / "link.PRIVATE.csv", "--json"]
    found = json.loads(cli("risk", baskets, tmp_path / "out.dat", *known).out)["findings"]["attacks"]
    limits = {one["name"]: one["limit"] for one in found}
    assert limits["known-items"] == limits["whole-basket"] == 0.5
    assert not any(one["broken"] or one["upper_bound"] for one in found)


def test_earlier_releases_are_attacked_together_with_the_newest(cli, baskets, release, tmp_path):
    older = tmp_path / "older.dat"
    older.write_text("1 2\n1 2\n1 2\n2 4\n2 4\n2 4\n")
    done = cli("risk", baskets, release, "--previous", baskets, older, "--attack", "two-releases", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["findings"]["attacks"]
    assert found
    assert all(one["upper_bound"] and one["part"] == "linkability" for one in found)
    assert cli("risk", baskets, "--previous", baskets, older).code == 2
    assert cli("risk", baskets, release, "--previous", baskets).code == 2


def test_an_attack_that_was_asked_for_and_does_not_fit_says_why(cli, baskets, release):
    done = cli("risk", baskets, release, "--attack", "two-releases,whole-basket")
    assert done.code == 0
    assert "Not tried: two-releases (no earlier release is given)." in " ".join(done.out.split())
    assert "whole basket" in done.out


def test_a_certain_sensitive_item_is_said_loudly(cli, baskets, release):
    done = cli("risk", baskets, release, "--sensitive", "4")
    assert done.code == 0
    assert "WARNING: A sensitive item is certain" in done.out
    assert "privacy-degree" in done.out


def test_a_release_of_other_data_is_refused(cli, baskets, tmp_path):
    other = tmp_path / "other.dat"
    other.write_text("1 2\n1 9\n")
    done = cli("risk", baskets, other)
    assert done.code == 2
    assert "has 2 transactions, the data 6" in done.err


def test_the_attacker_options_are_checked(cli, baskets, release):
    assert cli("risk", baskets, "-m", 9).code == 2
    assert cli("risk", baskets, "--attacker", "given").code == 2
    assert cli("risk", baskets, release, "--attacker", "rarest").code == 2
    assert cli("risk", baskets, "--attacker", "given", "--items", "1,4", "-m", 1).code == 0


def test_everybodys_own_chance_goes_to_a_private_file(cli, baskets, release, tmp_path):
    done = cli("risk", baskets, "-m", 2, "--scores", tmp_path / "scores.csv")
    assert done.code == 0
    path = tmp_path / "scores.PRIVATE.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["transaction"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert float(rows[0]["singled_out_by_2"]) == pytest.approx(2 / 3)
    assert rows[4]["singled_out_by_2"] == ""  # too short to be attacked
    assert cli("risk", baskets, release, "--scores", tmp_path / "scores.csv").code == 2
    assert cli("risk", baskets, release, "--scores", tmp_path / "scores.csv", "--force").code == 0
    linked = list(csv.DictReader(path.read_text().splitlines()))
    assert float(linked[0]["linked_by_hamming"]) == pytest.approx(1 / 3)
    assert cli("risk", baskets, "--scores", tmp_path / "scores.txt").code == 2
