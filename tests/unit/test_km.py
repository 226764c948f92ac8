"""k^m-anonymity end to end: bad input, odd input, real data."""

import json

import numpy as np
import pytest

import anonset
from anonset.data.hierarchy import Hierarchy, balanced
from anonset.data.transactions import Transactions
from anonset.methods import km_optimal

METHODS = ["km-apriori", "km-direct", "km-optimal", "km-refine"]
ROWS = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
TREE = {"item": ["a1", "a2", "b1", "b2"], "level1": ["A", "A", "B", "B"]}


@pytest.mark.parametrize("method", METHODS)
def test_a_hierarchy_that_lacks_an_item_is_an_error(method):
    with pytest.raises(anonset.InputError, match=r"'hierarchy' must hold every item.*lacks 1 \(cola\)"):
        anonset.anonymize([*ROWS, ["cola"]], method=method, k=2, hierarchy=TREE)


@pytest.mark.parametrize("method", METHODS)
def test_too_few_transactions_are_infeasible(method):
    with pytest.raises(anonset.InfeasibleError, match=r"'k' must be at most the number of transactions \(4\)"):
        anonset.anonymize(ROWS, method=method, k=5, hierarchy=TREE)
    with pytest.raises(anonset.InfeasibleError, match=r"transactions with items \(4\)"):
        anonset.anonymize([*ROWS, [], []], method=method, k=5, hierarchy=TREE)


@pytest.mark.parametrize("method", METHODS)
def test_m_beyond_the_longest_transaction_is_fine_and_said(method):
    result = anonset.anonymize(ROWS, method=method, k=2, m=9, hierarchy=TREE)
    assert result.verdict.holds
    assert any("No transaction has more than 3 items" in note for note in result.notes)


def test_m_must_be_at_least_one():
    with pytest.raises(anonset.ParameterError, match=r"'m' must be at least 1\. Got 0"):
        anonset.anonymize(ROWS, method="km-apriori", k=2, m=0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [[], [[]], [[], []], [["a"]] * 3, [["a"], ["b"], ["c"]]])
def test_odd_data_is_published_safely(method, rows):
    result = anonset.anonymize(rows, method=method, k=2, m=2)
    assert result.verdict.holds
    assert len(result.release) == len(rows)


def test_without_a_hierarchy_a_note_says_which_one_is_used():
    result = anonset.anonymize(ROWS, model="km-anonymity", k=2)
    assert result.method == "km-refine"
    assert any("No hierarchy was given" in note for note in result.notes)


def test_the_certificate_names_the_hierarchy_but_not_where_it_lies(tmp_path):
    tree = tmp_path / "secret-folder" / "tree.csv"
    tree.parent.mkdir()
    tree.write_text("item,level1\na1,A\na2,A\nb1,B\nb2,B\n")
    for given, shown in ((str(tree), "tree.csv"), (TREE, "hierarchy")):
        out = tmp_path / f"{shown}.dat"
        anonset.publish(ROWS, anonset.Targets(out=out), method="km-apriori", k=2, hierarchy=given)
        text = (tmp_path / f"{out.name}.certificate.json").read_text()
        assert json.loads(text)["method_parameters"] == {"hierarchy": shown}
        assert "secret-folder" not in text


def test_sensitive_items_pass_beside_the_cut():
    data = Transactions.from_lists(ROWS, sensitive=["b2"])
    result = anonset.anonymize(data, method="km-apriori", k=2, hierarchy=TREE)
    published = result.release.transactions
    assert published.sensitive_names() == ["b2"]
    assert published.sensitive_part().nnz == data.sensitive_part().nnz
    assert not any("b2" in row for row in published.quasi().to_lists())


def test_the_optimal_search_refuses_what_it_cannot_finish(monkeypatch):
    rng = np.random.default_rng(3)
    rows = [[str(item) for item in rng.choice(40, 6, replace=False)] for _ in range(60)]
    for search in ("best-first", "breadth-first"):
        with pytest.raises(
            anonset.InputError, match=r"'max_cuts' must be larger.* stopped after 4 of about .* cuts of 40 items"
        ):
            anonset.anonymize(rows, method="km-optimal", k=3, m=2, max_cuts=3, search=search)
    with pytest.raises(anonset.InputError, match="stopped after 2 of"):
        km_optimal.minimal_cuts(Transactions.from_lists(rows), k=3, m=2, max_cuts=1)
    with monkeypatch.context() as small:
        small.setattr(km_optimal, "MOST_BYTES", 5_000)
        for search in ("best-first", "breadth-first"):
            with pytest.raises(anonset.InputError, match=r"when 0 GB were full, after \d+ of about .* of 40 items"):
                anonset.anonymize(rows, method="km-optimal", k=3, m=2, search=search)
    monkeypatch.setattr(km_optimal, "MOST_RARE", 5)
    with pytest.raises(anonset.InputError, match="stopped at 5 rare sets of nodes"):
        anonset.anonymize(rows, method="km-optimal", k=3, m=2)


def test_labels_that_repeat_are_published_under_different_names():
    tree = Hierarchy.from_levels(["1", "2", "3", "4"], [["x", "x", "y", "y"], ["other"] * 4])
    rows = [["1", "3"], ["2", "4"], ["1", "4"], ["2", "3"]]
    result = anonset.anonymize(rows, method="km-apriori", k=3, m=1, hierarchy=tree)
    published = set(result.release.transactions.labels.to_pylist())
    assert len(published) == 2
    assert all(name.split("/")[0] in ("x", "y") for name in published)


@pytest.mark.parametrize("name", ["BMS-WebView-1.dat.gz", "BMS-WebView-2.dat.gz"])
def test_the_click_streams_at_full_length(real_data, name):
    data = anonset.read(real_data(name))
    losses = {}
    for method, m in (("km-apriori", 2), ("km-refine", 2), ("km-apriori", 3)):
        result = anonset.anonymize(data, method=method, k=5, m=m, seed=1)
        assert result.verdict.holds
        assert result.verdict.measured["m"] >= m
        losses[method, m] = result.measurements["ncp"]
    assert losses["km-refine", 2] < losses["km-apriori", 2] < losses["km-apriori", 3]


@pytest.mark.parametrize("method", ["km-apriori", "km-refine"])
def test_the_same_release_whatever_the_number_of_threads(some_data, method):
    data = anonset.read(some_data("groceries.csv.gz"))
    tree = balanced(data.labels, 4)
    results = [
        anonset.anonymize(data, method=method, k=5, m=3, hierarchy=tree, threads=threads, seed=1)
        for threads in (1, 2, 4)
    ]
    for result in results[1:]:
        assert np.array_equal(result.cut.published, results[0].cut.published)
        assert np.array_equal(result.release.transactions.items, results[0].release.transactions.items)


@pytest.mark.parametrize("name", ["chess.dat.gz", "mushroom.dat.gz", "groceries.csv.gz", "BMS-WebView-1.dat.gz"])
def test_refining_loses_less_than_apriori_and_never_more_without_leaving_out(real_data, name):
    data = anonset.read(real_data(name))
    losses = [
        anonset.anonymize(data, method=method, k=5, m=2, seed=1, **more).measurements["ncp"]
        for method, more in (("km-refine", {}), ("km-refine", {"suppress": 0}), ("km-apriori", {}))
    ]
    assert losses[0] < losses[1] <= losses[2]


def test_a_real_hierarchy_with_repeated_labels(some_data):
    data = anonset.read(some_data("groceries.csv.gz"))
    result = anonset.anonymize(
        data, method="km-refine", k=5, m=2, hierarchy=some_data("groceries-hierarchy.csv.gz"), seed=1
    )
    assert result.verdict.holds
    assert result.measurements["ncp"] < 0.2


@pytest.mark.slow
def test_the_supermarket_with_its_own_hierarchy(real_data):
    data = anonset.read(real_data("completejourney.csv.gz"))
    tree = anonset.read_hierarchy(real_data("completejourney-hierarchy.csv.gz"), items=data.labels, repair=True)
    assert any("17 items of the data" in note for note in tree.notes)
    result = anonset.anonymize(data, method="km-apriori", k=5, m=2, hierarchy=tree, seed=1)
    assert result.verdict.holds
