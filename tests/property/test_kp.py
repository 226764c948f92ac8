"""For any degrees and any (k, p): a verified release, or before any work the error that names what is possible."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import METHODS, InfeasibleError, Transactions, anonymize
from anonset.data.hierarchy import Hierarchy
from anonset.data.job import Job
from anonset.methods import kp_crowd
from anonset.methods.kp_crowd import is_dense, is_short
from anonset.methods.steps.group.attributes import kp_problem
from anonset.models.kp_anonymity import check

NAMES = [name for name, spec in METHODS.items() if spec.model == "kp-anonymity"]
ITEMS = {"A": "ab", "B": "cd", "C": "efg"}
TREE = Hierarchy.from_levels([*"abcdefg"], [[name for name, items in ITEMS.items() for _ in items]])
BASKETS = st.lists(
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.1, 0.5, 0.9])), min_size=1, max_size=40
)


def with_degrees(baskets: list[dict[str, float]]) -> Transactions:
    data = Transactions.from_lists([list(basket) for basket in baskets], labels=[*"abcdefg"])
    degrees = [basket[name] for basket, names in zip(baskets, data, strict=True) for name in names]
    return replace(data, sensitivity=np.array(degrees))


def shares(baskets: list[dict[str, float]], threshold: float) -> float:
    """The largest share of transactions that hold something sensitive of one attribute."""
    held = [
        sum(any(basket.get(item, 0) >= threshold for item in items) for basket in baskets) for items in ITEMS.values()
    ]
    return max(held) / len(baskets)


@pytest.mark.parametrize("name", NAMES)
@given(
    baskets=BASKETS,
    k=st.integers(2, 6),
    p=st.sampled_from([0.1, 0.25, 0.34, 0.5, 0.6, 1.0]),
    threshold=st.sampled_from([0.5, 0.9, 1.0]),
)
@settings(max_examples=80, deadline=None)
def test_a_verified_release_exactly_when_one_exists(name, baskets, k, p, threshold) -> None:
    data, given_ = with_degrees(baskets), {"k": k, "threshold": threshold, "hierarchy": TREE, "seed": 1}
    most = shares(baskets, threshold)
    if len(baskets) < k or most > p:
        with pytest.raises(InfeasibleError) as error:
            anonymize(data, method=name, p=p, **given_)
        if len(baskets) >= k:
            least = float(re.search(r"at least ([0-9.]+), because", str(error.value))[1])
            assert most <= least <= most + 0.0001
            assert anonymize(data, method=name, p=least, **given_).verdict.holds
        return
    result = anonymize(data, method=name, p=p, **given_)
    out = result.release
    assert check(out, k, p).holds
    assert out.transactions.sensitivity is None
    for row, origin in enumerate(result.row_origin.tolist()):
        own = {item for item, degree in baskets[origin].items() if degree >= threshold}
        assert set(out.transactions.sensitive_part()[row]) == own


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_and_threads_do_not(name) -> None:
    rng = np.random.default_rng(3)
    baskets = [{item: float(rng.random()) for item in "abcdefg" if rng.random() < 0.4} for _ in range(800)]
    one, two = (
        anonymize(with_degrees(baskets), method=name, k=4, p=0.5, hierarchy=TREE, seed=5, threads=threads)
        for threads in (1, 4)
    )
    assert np.array_equal(one.release.transactions.items, two.release.transactions.items)
    assert np.array_equal(one.release.transactions.counts, two.release.transactions.counts)
    assert np.array_equal(one.row_origin, two.row_origin)


@pytest.mark.parametrize(("length", "patterns"), [(8, 100), (8, 0), (2, 0)])
def test_sparse_transactions_with_and_without_clusters_are_grouped_under_p(length, patterns) -> None:
    """Those of some length are grouped inside blocks, with or without clusters to find; short ones start from crowd."""
    rng = np.random.default_rng(4)
    pools = [rng.choice(2000, 12, replace=False) for _ in range(patterns)] or [np.arange(2000)]
    baskets = [rng.choice(pools[int(rng.integers(len(pools)))], length, replace=False) for _ in range(3000)]
    data = Transactions.from_lists([[f"i{item}" for item in basket] for basket in baskets])
    data = replace(data, sensitivity=rng.random(data.nnz))
    problem = kp_problem(data, Job(1), k=4, p=0.5, threshold=0.75, hierarchy=None, level=None)
    assert not is_dense(problem)
    assert is_short(problem) == (length == 2)
    one, two = (anonymize(data, method="kp-crowd", k=4, p=0.5, seed=1, threads=threads) for threads in (1, 3))
    assert check(one.release, 4, 0.5).holds
    assert np.array_equal(one.release.transactions.items, two.release.transactions.items)


def test_what_one_large_cluster_holds_is_cut_into_blocks_of_transactions_that_are_alike(monkeypatch) -> None:
    """Cut in the order in which they come, the eight of a kind would be in several blocks."""
    monkeypatch.setattr(kp_crowd, "cluster", lambda problem, *_: np.zeros(len(problem), dtype=np.int32))
    kinds = np.random.default_rng(5).permutation(np.repeat(np.arange(300), 8))
    data = Transactions.from_lists([[f"{kind}-{item}" for item in range(35)] for kind in kinds])
    data = replace(data, sensitivity=np.zeros(data.nnz))
    result = anonymize(data, method="kp-crowd", k=4, p=0.5, seed=1)
    assert result.measurements["attribute_loss"] == 0


def test_many_whom_their_block_cannot_group_under_p_are_grouped_among_themselves(monkeypatch) -> None:
    """Everybody in a block holds the same sensitive item, so none of them can be a group."""
    rng = np.random.default_rng(6)
    kinds = np.arange(600) % 10
    monkeypatch.setattr(kp_crowd, "cluster", lambda *_: kinds.astype(np.int32))
    data = Transactions.from_lists([[f"s{kind}", *(f"i{i}" for i in rng.choice(900, 8, False))] for kind in kinds])
    secret = np.array([label.startswith("s") for label in data.labels.to_pylist()])
    data = replace(data, sensitivity=secret[data.items].astype(float))
    tree = Hierarchy.from_levels(data.labels.to_pylist(), [data.labels.to_pylist()])
    given_ = {"method": "kp-crowd", "k": 4, "p": 0.5, "hierarchy": tree, "seed": 1}
    assert anonymize(data, **given_).measurements["groups"] == 1
    monkeypatch.setattr(kp_crowd, "MEETINGS", 1000)
    result = anonymize(data, **given_)
    assert result.measurements["groups"] > 100
    assert check(result.release, 4, 0.5).holds
