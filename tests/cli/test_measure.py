"""`anonset measure`: what a release lost, from two files."""

import json

import pytest


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.dat"
    path.write_text("1 2\n1 2\n1 2\n2 4\n2 4\n2 4\n")
    return path


def test_a_table_of_everything_that_can_be_measured(cli, baskets, release):
    done = cli("measure", baskets, release)
    assert done.code == 0
    assert "Discernibility" in done.out
    assert "Not measured: information-loss (needs which published transaction" in " ".join(done.out.split())


def test_releases_in_the_same_order_are_compared_one_by_one(cli, baskets, release):
    answer = json.loads(cli("measure", baskets, release, "--same-order", "--json").out)
    figures = {one["name"]: one["value"] for one in answer["figures"]}
    assert figures["information_loss"] == 2  # 3 is lost in the first transaction, 2 is added to the fifth
    assert figures["length_mean_after"] == 2


def test_only_the_metrics_named(cli, baskets, release):
    answer = json.loads(cli("measure", baskets, release, "--metrics", "lengths,queries", "--json").out)
    assert {one["metric"] for one in answer["figures"]} == {"lengths", "queries"}
    assert cli("measure", baskets, release, "--metrics", "length").code == 2


def test_a_release_of_other_data_is_refused(cli, baskets, tmp_path):
    other = tmp_path / "other.dat"
    other.write_text("1 9\n1 2\n1 2\n2 4\n4\n2 4\n")
    done = cli("measure", baskets, other)
    assert done.code == 2
    assert "1 of its 4 items are not in the data (9)" in done.err
