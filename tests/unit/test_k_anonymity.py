"""The check against a plain dictionary, and the shape of its verdicts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import ParameterError, Release, Transactions, model

SETS = st.lists(st.sets(st.sampled_from("abcd"), max_size=3), min_size=1, max_size=30)


@given(SETS, st.integers(2, 6))
def test_the_measured_k_is_the_size_of_the_smallest_group(sets, k):
    verdict = model("k-anonymity", k=k).check(Release(Transactions.from_lists(sets)))
    sizes = Counter(map(frozenset, sets))
    assert verdict.measured["k"] == min(sizes.values())
    assert verdict.measured["groups"] == len(sizes)
    assert verdict.measured["below_k"] == sum(n for n in sizes.values() if n < k)
    assert verdict.holds == (min(sizes.values()) >= k) == bool(verdict)


@given(SETS)
def test_every_witness_is_a_published_set_with_its_true_size(sets):
    verdict = model("k-anonymity", k=50).check(Release(Transactions.from_lists(sets)))
    sizes = Counter(map(frozenset, sets))
    assert verdict.witnesses
    for witness in verdict.witnesses:
        assert sizes[frozenset(witness.items)] == witness.size < 50


@given(SETS)
def test_sensitive_items_do_not_tell_transactions_apart(sets):
    data = Transactions.from_lists([*sets, "d"]).with_sensitive(["d"])
    verdict = model("k-anonymity", k=2).check(Release(data))
    sizes = Counter(frozenset(s) - {"d"} for s in [*sets, {"d"}])
    assert verdict.measured["k"] == min(sizes.values())


def test_an_empty_release_holds_and_an_empty_set_counts_like_any_other():
    assert model("k-anonymity", k=5).check(Release(Transactions.from_lists([]))).holds
    verdict = model("k-anonymity", k=3).check(Release(Transactions.from_lists([[], [], ["a"], ["a"], ["a"]])))
    assert [(w.items, w.size) for w in verdict.witnesses] == [((), 2)]


def test_k_below_two_promises_nothing_and_is_refused():
    with pytest.raises(ParameterError, match="'k' must be at least 2"):
        model("k-anonymity", k=1)
