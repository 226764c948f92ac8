"""A first look at transactions, against plain counting."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from anonset.assess.profile import summarize
from anonset.data.transactions import Transactions

SETS = st.lists(st.sets(st.sampled_from("abcdef"), max_size=4), max_size=30)


@given(SETS, st.sets(st.sampled_from("abc")))
def test_counts_agree_with_plain_counting(rows, secret):
    present = {item for row in rows for item in row}
    data = Transactions.from_lists(rows, sensitive=secret & present)
    summary = summarize(data, most=3)
    whole, quasi = Counter(map(frozenset, rows)), Counter(frozenset(row - secret) for row in rows)
    counts = Counter(item for row in rows for item in row)
    assert summary.transactions == len(rows)
    assert summary.empty == whole[frozenset()]
    assert summary.duplicates == len(rows) - len(whole)
    assert summary.k == min(quasi.values(), default=0)
    assert summary.unique == sum(size == 1 for size in quasi.values())
    assert summary.sensitive_transactions == sum(bool(row & secret) for row in rows)
    assert [count for _, count in summary.frequent] == sorted(counts.values(), reverse=True)[:3]
    assert all(counts[item] == count for item, count in summary.frequent)


def test_lengths_and_users_are_spread_out():
    data = Transactions.from_lists([["a"], ["a", "b"], ["a", "b", "c"], []], users=["x", "x", "y", "x"])
    summary = summarize(data)
    assert summary.to_dict()["lengths"] == {"min": 0, "mean": 1.5, "median": 1.5, "max": 3}
    assert summary.users == 2
    assert summary.to_dict()["transactions_per_user"] == {"min": 1, "mean": 2.0, "median": 2.0, "max": 3}
