"""The gate before publishing: what is refused, what helps, and what is published all the same."""

import json
from dataclasses import replace

import numpy as np
import pytest

import anonset
from anonset import Targets, Transactions
from anonset.data.errors import OutcomeError
from anonset.data.findings import Finding, Findings


def holders(rows=400):
    """Baskets of which every twentieth holds the sensitive item s."""
    random = np.random.default_rng(3)
    sets = [random.choice(30, random.integers(2, 7), replace=False).tolist() for _ in range(rows)]
    return [[*map(str, own), *(["s"] if n % 20 == 0 else [])] for n, own in enumerate(sets)]


HOLDERS = holders()
CERTAIN = [["x", "y", "s"]] * 5 + [["a", "b"], ["a", "c"], ["b", "c"], ["c", "d"]] * 10
"""Everybody with x and y holds s."""


def shops(rows=120):
    """Baskets of many different kinds, of whom most can be found by two items."""
    return [[f"i{n % 17}", f"j{n % 23}", f"k{n % 5}"] for n in range(rows)]


def refused(result, path, **accept):
    with pytest.raises(OutcomeError) as error:
        result.write(path, **accept)
    assert error.value.exit_code == 4
    assert not list(path.parent.iterdir())
    return error.value


def test_groups_that_tell_their_holder_are_refused_and_the_blind_method_is_named(tmp_path):
    data = Transactions.from_lists(HOLDERS, sensitive=["s"])
    result = anonset.anonymize(data, method="nn", p=4, seed=1)
    error = refused(result, tmp_path / "release")
    assert error.accept == ("inference",)
    assert "method=cahd-blind helps: on a sample of 400 transactions" in str(error)
    refused(result, tmp_path / "release", accept="loss, singling-out")
    done = result.write(tmp_path / "release", accept="inference")
    assert done.certificate.accepted == ("inference",)


def test_a_secret_that_is_certain_is_refused_and_diversity_is_named(tmp_path):
    data = Transactions.from_lists(CERTAIN, sensitive=["s"])
    weak = anonset.anonymize(data, k=4, diversity="off", seed=1)
    assert weak.findings.headline("inference").certain
    assert "diversity=2 helps" in str(refused(weak, tmp_path / "out.csv"))
    usual = anonset.anonymize(data, k=4, seed=1)
    assert usual.params["diversity"] == 2
    assert any("diversity=off" in note for note in usual.notes)
    assert usual.write(tmp_path / "out.csv").certificate.accepted == ()


def test_a_release_that_is_the_original_is_refused_while_anybody_can_be_found(tmp_path):
    users = [f"u{i % 20}" for i in range(120)]
    data = Transactions.from_lists(shops(), users=users)
    same = anonset.anonymize(data, method="kamp", k=2, support=120, seed=1)
    assert same.verdict.holds
    error = refused(same, tmp_path / "out.csv")
    assert error.accept == ("singling-out",)
    assert "the original in another order" in str(error)
    assert "method=crowd k=2" in str(error)


def test_what_tells_nothing_is_refused(tmp_path):
    tree = {"item": sorted({item for row in shops() for item in row})}
    tree["level1"] = ["X", "Y"] * (len(tree["item"]) // 2) + ["Y"] * (len(tree["item"]) % 2)
    root = anonset.read_hierarchy(tree).names[0].as_py()
    result = anonset.recode(shops(), dict.fromkeys(tree["item"], root), k=50, m=3, hierarchy=tree, seed=1)
    assert result.findings.kept == 0
    assert refused(result, tmp_path / "out.csv").accept == ("loss",)
    empty = anonset.anonymize([[f"only{n}"] for n in range(40)], method="gsc", k=20, seed=1)
    assert "are empty" in str(refused(empty, tmp_path / "out.csv"))
    rare = [[f"{n} {place}" for place in range(30)] + ["wine"] * (n % 2) for n in range(40)]
    error = refused(anonset.anonymize(rare, method="gsc", k=5, seed=1), tmp_path / "out.csv")
    assert error.accept == ("loss",)
    assert "tells 1.6 % of the items" in str(error)


def test_patterns_of_which_none_is_kept_are_refused(tmp_path):
    """Three pairs of users with a pattern of their own: at k = 4 all of them are suppressed."""
    rows = [[f"i{user // 2}", f"j{user // 2}"] for user in range(6) for _ in range(3)]
    data = Transactions.from_lists(rows, users=[user for user in range(6) for _ in range(3)])
    result = anonset.anonymize(data, method="kamp", k=4, support=3, seed=1)
    assert "No pattern of anybody's is kept." in str(refused(result, tmp_path / "out.csv"))


HARMLESS = {
    "alike in groups": [["wine", "bread"]] * 3 + [["beer"]] * 3,
    "one group is all there can be": [["a"], ["a"], ["b"]],
    "two groups": [["a", "b"], ["a", "b"], ["a", "c"], ["a"], ["d"], ["d"], ["d"]],
    "nothing": [],
    "nothing in four": [[]] * 4,
}


@pytest.mark.parametrize("rows", HARMLESS.values(), ids=HARMLESS)
def test_small_and_harmless_data_are_published_without_ceremony(rows, tmp_path):
    assert anonset.anonymize(rows, k=3, seed=1).write(tmp_path / "out.csv").certificate.accepted == ()


def test_the_gate_stands_before_publishing_only(tmp_path):
    data = Transactions.from_lists(HOLDERS, sensitive=["s"])
    weak = anonset.anonymize(data, method="nn", p=4, seed=1)  # raises nothing
    assert weak.findings.refused
    weak.report(tmp_path / "report.html")  # a private report is not a release
    with pytest.raises(OutcomeError):
        anonset.publish(data, Targets(out=tmp_path / "release"), method="nn", p=4, seed=1)
    with pytest.raises(anonset.ParameterError, match="known name"):
        anonset.publish(data, Targets(out=tmp_path / "release", accept="everything"), method="nn", p=4)


def test_a_method_that_is_not_blind_fails_and_the_blind_one_passes_minimality():
    data = Transactions.from_lists(HOLDERS, sensitive=["s"])
    found = {
        method: next(
            one for one in anonset.anonymize(data, method=method, p=4, seed=1).findings if one.name == "minimality"
        )
        for method in ("nn", "cahd-blind")
    }
    assert found["nn"].broken
    assert not found["cahd-blind"].broken


def test_what_a_promise_does_not_prevent_is_in_the_certificate(tmp_path):
    result = anonset.anonymize(shops(), method="km-apriori", k=2, m=1, seed=1)
    if result.findings.refused:
        pytest.fail(str(result.findings.refused))
    said = result.write(tmp_path / "out.csv").certificate.remaining
    assert any("Not prevented" in sentence for sentence in said)
    assert json.loads((tmp_path / "out.csv.certificate.json").read_text())["remaining"] == list(said)
    assert not any(character.isdigit() for sentence in said for character in sentence)


def test_findings_are_the_same_for_the_same_seed_and_found_once():
    one, two = (anonset.anonymize(shops(), k=3, seed=4) for _ in range(2))
    assert one.findings.to_dict() == two.findings.to_dict()
    assert one.findings is one.findings
    assert replace(one, notes=()).findings is one.findings


def test_a_finding_is_broken_only_beyond_chance():
    base = Finding("a", "inference", "", None, 0.3, (0.1, 0.5), 0.4, 0, 10, stopped=True, limit=0.2)
    assert not base.broken
    assert replace(base, interval=(0.21, 0.5)).broken
    assert replace(base, each=True).broken
    assert not replace(base, stopped=False, interval=(0.9, 1.0)).broken
    assert Findings((base,)).headline("inference") == base


@pytest.mark.parametrize("way", ["anonymize", "run", "recode"])
def test_the_command_line_ends_with_4_and_accept_publishes(way, tmp_path, monkeypatch, capsys):
    from anonset.cli.base.outcome import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.dat").write_text("\n".join(" ".join(row) for row in HOLDERS) + "\n")
    names = sorted({item for row in HOLDERS for item in row})
    (tmp_path / "cut.csv").write_text("item,published\n" + "".join(f"{item},\n" for item in names))
    (tmp_path / "tree.csv").write_text("item,level1\n" + "".join(f"{item},{'XY'[len(item) - 1]}\n" for item in names))
    ways = {
        "anonymize": ["anonymize", "data.dat", "--method", "nn", "-p", "4", "--sensitive", "s", "-o", "out"],
        "recode": ["recode", "data.dat", "--cut", "cut.csv", "--hierarchy", "tree.csv", "-k", "2", "-o", "out.dat"],
        "run": ["run", "night.toml"],
    }
    (tmp_path / "night.toml").write_text(
        '[source]\ndata = "data.dat"\nsensitive = "s"\n[privacy]\nmethod = "nn"\np = 4\n[targets]\nout = "out"\n'
    )
    part = "loss" if way == "recode" else "inference"
    assert run(ways[way]) == 4
    error = capsys.readouterr().err
    assert f"--accept {part}" in error
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.dat").exists()
    assert run([*ways[way], "--accept", part]) == 0


def test_a_trial_run_says_what_would_be_refused(tmp_path, monkeypatch, capsys):
    from anonset.cli.base.outcome import run

    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "data.dat").write_text("\n".join(" ".join(row) for row in HOLDERS) + "\n")
    assert run(["anonymize", str(tmp_path / "data.dat"), "--method", "nn", "-p", "4", "--sensitive", "s"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    for word in ("singling out", "inference", "what is left", "would be refused", "--method cahd-blind"):
        assert word in " ".join(said.split())
    assert "\x1b[" not in said
