"""`anonset compare`: what was asked for is what is tried."""

import json


def test_every_grid_option_counts_and_values_of_one_parameter_add_up(cli, baskets, tmp_path):
    tried = ["--grid", "segments=1,2", "--grid", "item-order=given", "--grid", "item_order=label,given"]
    done = cli("compare", baskets, "--methods", "pta", "-k", 2, *tried, "-o", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    runs = [run["params"] for run in json.loads(done.out)["runs"]]
    asked = [{"k": 2, "segments": s, "item_order": o} for s in ("1", "2") for o in ("given", "label")]
    assert sorted(map(str, runs)) == sorted(map(str, asked))


def test_semicolons_still_separate_parameters(cli, baskets, tmp_path):
    done = cli(
        "compare",
        baskets,
        "--methods",
        "pta",
        "-k",
        2,
        "--grid",
        "segments=1;revote=yes,no",
        "-o",
        tmp_path / "o",
        "--json",
    )
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["runs"]) == 2
