"""The example of the k^m paper: supports, the NCP of every cut, the rare pairs, the answer."""

from itertools import pairwise

import pytest

import anonset
from anonset.assess.utility.ncp import ncp
from anonset.data.hierarchy import Cut, Hierarchy
from anonset.data.release import Release
from anonset.data.transactions import Transactions
from tests.oracle import km as oracle

ROWS = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
DATA = Transactions.from_lists(ROWS)
TREE = Hierarchy.from_levels(["a1", "a2", "b1", "b2"], [["A", "A", "B", "B"]])
PARENT = {"A": "ALL", "B": "ALL", "a1": "A", "a2": "A", "b1": "B", "b2": "B"}
A, B, ALL = 1, 4, 0

SUPPORTS = {"A": 4, "B": 4, "a2": 3, "b1": 3, "b2": 3, "a1": 2}
SUPPORTS |= {"A B": 4, "A b1": 3, "A b2": 3, "B a1": 2, "B a2": 3, "a1 a2": 1, "a1 b1": 1, "a1 b2": 2}
SUPPORTS |= {"a2 b1": 2, "a2 b2": 2, "b1 b2": 2}


def test_the_supports_of_figure_5():
    tree = oracle.count_tree(ROWS, PARENT, [1, 2])
    assert {" ".join(sorted(nodes)): count for nodes, count in tree.items()} == SUPPORTS


def test_the_kernel_counts_figure_5():
    from anonset import _native
    from anonset.data.job import Job
    from anonset.methods.steps.cuts import domain

    found = domain(DATA, TREE)
    offsets, nodes, supports = _native.km_rare(*found.arrays, 100, 2, False, 1000, Job(seed=0).monitor)
    names = TREE.labels.to_pylist()
    itemsets = [" ".join(sorted(names[v] for v in nodes[a:b])) for a, b in pairwise(offsets)]
    assert dict(zip(itemsets, supports.tolist(), strict=True)) == SUPPORTS


@pytest.mark.parametrize(
    ("nodes", "elevenths", "safe"),
    [([], 0, False), ([A], 2.5, True), ([B], 3, False), ([A, B], 5.5, True), ([ALL], 11, True)],
)
def test_ncp_and_safety_of_every_cut(nodes, elevenths, safe):
    cut = Cut.of_nodes(TREE, nodes)
    assert ncp(DATA, cut) == pytest.approx(elevenths / 11)
    assert anonset.verify(Release(cut.apply(DATA)), "km-anonymity", k=2, m=2).holds == safe


def test_the_rare_pairs_of_the_original():
    verdict = anonset.verify(Release(DATA), "km-anonymity", k=2, m=2)
    assert {witness.items for witness in verdict.witnesses} == {("a1", "b1"), ("a1", "a2")}
    assert verdict.measured == {"k": 1, "m": 1}


@pytest.mark.parametrize("method", ["km-optimal", "km-direct", "km-apriori"])
def test_the_answer_is_a(method):
    result = anonset.anonymize(DATA, method=method, k=2, m=2, hierarchy=TREE, seed=1, keep=anonset.Keep(order=True))
    assert result.release.transactions.to_lists() == [["A", "b1", "b2"], ["A", "b1"], ["A", "b1", "b2"], ["A", "b2"]]
    assert result.cut.mapping() == {"a1": "A", "a2": "A", "b1": "b1", "b2": "b2"}
    assert result.measurements["ncp"] == pytest.approx(2.5 / 11)
