"""Partition against the textbook: the same sets, row for row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset.data.errors import InputError
from anonset.data.hierarchy.nodes import PREFIX
from tests.oracle import partition as oracle

TREE = {
    "item": list("abcdefghijkl"),
    "level1": list("AAAAAABBBBCC"),
    "level2": [*"xxxyyy", *"zzww", "", ""],
}
BASKETS = st.lists(st.sets(st.sampled_from(TREE["item"]), max_size=7), min_size=3, max_size=26)


def nodes_of(tree):
    children = [tree.children(node) for node in range(len(tree))]
    leaves = [{str(tree.labels[leaf]) for leaf in tree.leaves if v <= leaf < tree.end[v]} for v in range(len(tree))]
    return children, leaves


@given(baskets=BASKETS, k=st.integers(2, 4))
def test_every_row_publishes_what_the_textbook_says(baskets, k):
    if len(baskets) < k:
        k = len(baskets)
    tree = anonset.read_hierarchy(TREE)
    children, leaves = nodes_of(tree)
    names = [str(name) if tree.is_leaf[v] else PREFIX + str(name) for v, name in enumerate(tree.names.to_pylist())]
    expected = [set()] * len(baskets)
    for part, nodes in oracle.parts_of([set(row) for row in baskets], children, leaves, k):
        assert len(part) >= k
        for row in part:
            expected[row] = {names[node] for node in nodes if node}
    data = anonset.Transactions.from_lists([sorted(row) for row in baskets])
    result = anonset.anonymize(
        data, method="partition", k=max(k, 2), hierarchy=tree, keep=anonset.Keep(order=True), seed=1
    )
    assert [set(row) for row in result.release.transactions.to_lists()] == expected
    assert result.measurements["nodes_added_ratio"] == 0


@given(baskets=BASKETS)
def test_ncp_counts_each_item_once(baskets):
    tree = anonset.read_hierarchy(TREE)
    _, leaves = nodes_of(tree)
    data = anonset.Transactions.from_lists([sorted(row) for row in baskets])
    if not data.nnz:
        return
    result = anonset.anonymize(data, method="partition", k=2, hierarchy=tree, keep=anonset.Keep(order=True), seed=1)
    lost = 0.0
    for row, published in zip(baskets, result.release.transactions.to_lists(), strict=True):
        for item in row:
            above = [leaves[v] for v in range(1, len(tree)) if PREFIX + str(tree.names[v]) in published]
            share = min((len(below) / 12 for below in above if item in below), default=1.0)
            lost += 0.0 if item in published else share
    assert result.measurements["ncp"] == pytest.approx(lost / data.nnz)


@given(baskets=BASKETS, owners=st.lists(st.integers(0, 6), min_size=26, max_size=26))
def test_parts_count_different_users(baskets, owners):
    owners = owners[: len(baskets)]
    if len(set(owners)) < 2:
        return
    tree = anonset.read_hierarchy(TREE)
    data = anonset.Transactions.from_lists([sorted(row) for row in baskets], users=[f"u{one}" for one in owners])
    options = {"method": "partition", "k": 2, "unit": "user", "hierarchy": tree, "seed": 1}
    result = anonset.anonymize(data, keep=anonset.Keep(order=True), **options)
    found = {}
    for row, part in enumerate(result.groups.tolist()):
        found.setdefault(part, []).append(row)
    if len(set(owners)) < len(owners):
        expected = oracle.parts_of([set(row) for row in baskets], *nodes_of(tree), 2, owners)
        assert sorted(found.values()) == sorted(sorted(part) for part, _ in expected)


def test_items_that_the_hierarchy_lacks_are_refused():
    with pytest.raises(InputError, match="must hold every item"):
        anonset.anonymize([["a", "zebra"]] * 3, method="partition", k=2, hierarchy=TREE, seed=1)


def test_sensitive_items_stay_beside():
    data = [["a", "s"], ["b"], ["a"], ["b", "s"]]
    result = anonset.anonymize(data, method="partition", k=2, hierarchy=TREE, sensitive=["s"], seed=1)
    assert np.sum([("s" in row) for row in result.release.transactions.to_lists()]) == 2
