"""The check against the definitions, on tiny random data; and what it says when asked for too much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import ParameterError, Release, Transactions, model, verify
from anonset.models import multi_pattern
from anonset.models.patterns import combinations, table
from anonset.models.patterns.bitmaps import ones
from tests.oracle import kamp

people = st.lists(st.tuples(st.sampled_from("uvwxyz"), st.sets(st.sampled_from("abcde"), max_size=4)), max_size=14)


def released(data: kamp.Owned) -> Release:
    return Release(Transactions.from_lists([row for _, row in data], users=[user for user, _ in data]))


@given(people, st.integers(2, 4), st.integers(1, 4), st.integers(1, 3))
def test_degrees_are_those_of_the_definitions(data, k, most, support):
    if support > len(data) > 0:
        support = len(data)
    verdict = multi_pattern.check(released(data), k=k, combinations=most, support=support)
    expected = kamp.degrees(kamp.table(data, support), most)
    users = len({user for user, _ in data})
    assert verdict.measured["combinations"] == len(expected)
    assert verdict.measured["k"] == min(expected.values(), default=users)
    sizes = range(1, most + 1)
    by_size = [[degree for members, degree in expected.items() if len(members) == size] for size in sizes]
    assert verdict.measured["combinations_by_size"] == [len(degrees) for degrees in by_size]
    assert verdict.measured["below_k_by_size"] == [sum(degree < k for degree in degrees) for degrees in by_size]
    assert verdict.measured["below_k"] == sum(degree < k for degree in expected.values())
    assert verdict.measured["patterns"] == len(kamp.patterns(data, support))
    assert verdict.holds == all(degree >= k for degree in expected.values())
    for witness in verdict.witnesses:
        combination = frozenset(frozenset(text.split(" + ")) for text in witness.items)
        assert expected[combination] == witness.size < k


@given(people.filter(len), st.integers(1, 4), st.integers(1, 5), st.integers(0, 4))
def test_what_is_safe_at_a_support_is_safe_at_every_larger_one(data, most, support, more):
    support = min(support, len(data))
    larger = min(support + more, len(data))
    degree, other = (
        multi_pattern.check(released(data), k=2, combinations=most, support=least).measured["k"]
        for least in (support, larger)
    )
    assert other >= degree


def test_what_is_safe_at_a_support_need_not_be_so_at_one_less():
    """Three transactions of two users hold wine: no pattern at 4, one that two users share at 3."""
    rows = [("u", "wine"), ("u", "wine"), ("v", "wine"), ("u", "milk"), ("v", "milk"), ("w", "milk"), ("x", "milk")]
    release = released([(user, {item}) for user, item in rows])
    assert verify(release, "multi-pattern", k=3, support=4)
    assert not verify(release, "multi-pattern", k=3, support=3)


def test_a_fraction_is_one_of_the_published_transactions_and_the_verdict_says_which_number_that_is():
    release = released([(user, {"milk"}) for user in "uvwxyz"])
    verdict = verify(release, "multi-pattern", k=2, support=0.3)
    assert verdict.measured["support"] == 2
    assert "support 2, which is 0.3 of the published transactions" in verdict.promise
    assert "support 2)" in verify(release, "multi-pattern", k=2, support=2).promise


@given(people, st.integers(1, 4))
def test_small_blocks_give_the_same_answer(data, most):
    whole = multi_pattern.check(released(data), k=2, combinations=most, support=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combinations, "BLOCK", 1)
        assert multi_pattern.check(released(data), k=2, combinations=most, support=1) == whole


def test_the_count_of_ones_needs_no_new_numpy(monkeypatch):
    import numpy as np

    bits = np.random.default_rng(1).integers(2**63, size=(7, 3), dtype=np.uint64)
    expected = [sum(int(word).bit_count() for word in line) for line in bits]
    assert ones(bits).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert ones(bits).tolist() == expected


def test_a_witness_names_the_combination_and_never_a_user():
    rows = [["milk", "bread"], ["wine"], ["milk", "bread"], ["wine"], ["milk"], ["wine"]]
    data = Transactions.from_lists(rows, users=["Ann", "Ann", "Bob", "Cleo", "Dora", "Emil"])
    verdict = verify(Release(data), "multi-pattern", k=2, combinations=2, support=2)
    assert not verdict
    assert verdict.witnesses[0].items == ("bread + milk", "wine")
    assert verdict.witnesses[0].statement == "1 user with these 2 patterns together; 2 are needed"
    assert not any(name in str(verdict) for name in ("Ann", "Bob", "Cleo", "Dora", "Emil"))


def test_sensitive_items_are_no_habits_that_somebody_knows():
    rows = [["milk", "pill"], ["milk"], ["milk"]]
    data = Transactions.from_lists(rows, users=["a", "b", "c"], sensitive=["pill"])
    assert verify(Release(data), "multi-pattern", k=3, combinations=2, support=1).measured["patterns"] == 1


def test_bad_questions_are_refused():
    data = Release(Transactions.from_lists([["a"], ["b"]], users=["u", "v"]))
    with pytest.raises(ParameterError, match="'support' must be at most the number of transactions"):
        multi_pattern.check(data, k=2, combinations=1, support=3)
    with pytest.raises(ParameterError, match="'user' must say whom each transaction belongs to"):
        verify(Release(Transactions.from_lists([["a"]])), "multi-pattern", k=2, support=1)
    for wrong in ({"combinations": 0}, {"k": 1}, {"support": 0}, {"support": 1.5}):
        with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' must"):
            model("multi-pattern", **{"k": 2, "support": 1, **wrong})


def test_an_absurd_number_of_patterns_or_combinations_is_refused(monkeypatch):
    rows = [[str(i)] for _ in range(2) for i in range(60)]
    data = Release(Transactions.from_lists(rows, users=["u"] * 60 + ["v"] * 60))
    with pytest.raises(ParameterError, match="'combinations' must leave at most"):
        multi_pattern.check(data, k=2, combinations=20, support=2)
    monkeypatch.setattr(table, "MOST_PATTERNS", 50)
    with pytest.raises(ParameterError, match="'support' must leave at most 50 patterns"):
        multi_pattern.check(data, k=2, combinations=1, support=2)


def test_without_patterns_and_without_transactions_there_is_nothing_to_recognize():
    assert verify(Release(Transactions.from_lists([["a"], ["b"]], users=["u", "v"])), "multi-pattern", k=9, support=2)
    empty = Release(Transactions.from_lists([], users=[]))
    assert verify(empty, "multi-pattern", k=2, support=5).measured["k"] == 0
