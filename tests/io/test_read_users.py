"""Whose transactions they are: blank users, users that are ignored, a user's transactions as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import DataError, InfeasibleError, ParameterError, Transactions, read
from anonset.data.histories import histories, history_of

RECEIPTS = "receipt,customer,product\n1,Ann,milk\n1,,tea\n2,,milk\n3, ,wine\n4,Bo,tea\n5,Ann,wine\n"


@pytest.fixture
def receipts(tmp_path):
    path = tmp_path / "receipts.csv"
    path.write_text(RECEIPTS)
    return path


def test_a_blank_user_is_unknown_and_stops_nothing(receipts):
    data = read(receipts)
    assert data.users.tolist() == [0, -1, -1, 1, 0]
    assert data.user_labels.to_pylist() == ["Ann", "Bo"]
    assert "2 transactions without a user" in data.notes[0]


def test_who_comes_once_may_come_again_where_some_transactions_name_nobody():
    """An unknown user may be one of the known ones, so persons are counted; where nobody is known, nobody can be."""
    lists = [["milk"]] * 5
    one = anonset.anonymize(Transactions.from_lists(lists, users=["a", "b", "c", "d", "e"]), k=4)
    assert one.verdict.persons is None
    data = replace(Transactions.from_lists(lists, users=["a", "b", "c", "d", "e"]), users=[0, 1, 2, 3, -1])
    result = anonset.anonymize(data, k=4, seed=1)
    assert result.verdict.persons.measured["k"] == 4
    assert any(
        note.startswith("The promise counts persons: 4 users have 4 transactions, 1 name") for note in result.notes
    )
    with pytest.raises(InfeasibleError, match=r"different users \(4; 1 transactions name none\)"):
        anonset.anonymize(data, k=5)
    assert anonset.anonymize(replace(data, users=[-1] * 5), k=5).verdict.persons is None


def test_a_line_without_a_user_belongs_to_its_transaction_s_user_and_two_users_are_still_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tid,user,item\n1,,a\n1,u,b\n2,u,a\n2,v,b\n")
    with pytest.raises(DataError, match="line 5: This transaction occurs with two different users"):
        read(path)


@pytest.mark.parametrize("format", ["long.csv", "lists.csv", "long.parquet", "lists.jsonl", "long.xlsx", "long.arrow"])
def test_unknown_users_survive_every_format(receipts, tmp_path, format):
    target = tmp_path / f"out.{format.split('.')[1]}"
    anonset.convert(receipts, target, format=format)
    assert read(target).users.tolist() == [0, -1, -1, 1, 0]


def test_a_null_in_a_frame_is_an_unknown_user():
    frame = pd.DataFrame({"receipt": [1, 1, 2, 3], "customer": [7, 7, None, 8], "item": list("abab")})
    assert read(frame).users.tolist() == [0, -1, 1]
    wide = pd.DataFrame({"user": ["u", None], "a": [1, 0], "b": [1, 1]})
    assert read(wide).users.tolist() == [0, -1]


def test_blank_users_are_different_persons_only_where_the_owner_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tid,user,item\n1,blank 1,a\n2,,a\n3,,a\n")
    data = read(path, blank_users="distinct")
    assert data.users.tolist() == [0, 1, 2]
    assert len(set(data.user_labels.to_pylist())) == 3
    unknown = anonset.model("k-anonymity", k=2, unit="user").check(anonset.Release(data), read(path).users)
    assert unknown.persons.measured["k"] == 1
    assert anonset.model("k-anonymity", k=2, unit="user").check(anonset.Release(data), data.users).persons.holds
    with pytest.raises(ParameterError, match="'blank_users' must be a known name"):
        read(path, blank_users="nobody")


def test_ignored_users_are_not_read_and_the_column_counts_as_not_read(receipts, tmp_path):
    data = read(receipts, no_user=True)
    assert data.users is None
    assert data.unread == ("customer",)
    assert data.notes == ("1 column was dropped as asked: customer",)
    wide = tmp_path / "wide.csv"
    wide.write_text("user,a,b\nu,1,0\nv,1,0\n")
    data = read(wide, no_user=True)
    assert (data.users, data.unread, data.labels.to_pylist()) == (None, ("user",), ["a", "b"])
    assert not anonset.verify(wide, k=2, no_user=True).holds, "the column is published, but no check reads it"
    named = Transactions.from_lists([["a"]], users=["u"])
    assert read(named, no_user=True).users is None


@pytest.mark.parametrize("other", [{"user": "customer"}, {"one_per_user": True}, {"blank_users": "distinct"}])
def test_ignoring_users_contradicts_every_other_word_on_them(receipts, other):
    with pytest.raises(ParameterError, match="'no_user' must be left out beside"):
        read(receipts, no_user=True, **other)


def test_one_per_user_merges_histories_where_they_begin(receipts):
    data = read(receipts, one_per_user=True)
    assert data.to_lists() == [["milk", "tea", "wine"], ["milk"], ["wine"], ["tea"]]
    assert data.users.tolist() == [0, -1, -1, 1]
    assert "5 transactions merged into 4" in data.notes[-1]
    with pytest.raises(ParameterError, match="'one_per_user' must come with data that name users"):
        read([["a"]], one_per_user=True)


@given(st.lists(st.tuples(st.frozensets(st.sampled_from("abcd"), max_size=3), st.integers(-1, 3)), max_size=12))
@settings(max_examples=150, deadline=None)
def test_histories_are_the_unions_with_counts_added_and_the_highest_degree(rows):
    sets, users = ([one for one, _ in rows], [user for _, user in rows])
    data = Transactions.from_lists(sets, labels=list("abcd"))
    degrees = np.linspace(0, 1, data.nnz) if data.nnz else np.empty(0)
    data = replace(data, users=users, counts=np.arange(data.nnz) + 1, sensitivity=degrees)
    found = histories(data)
    keys = [user if user >= 0 else ("unknown", i) for i, user in enumerate(users)]
    order = list(dict.fromkeys(keys))
    united = [set().union(*(one for one, key in zip(sets, keys, strict=True) if key == mine)) for mine in order]
    assert [set(row) for row in found.to_lists()] == united
    assert found.users.tolist() == [-1 if isinstance(key, tuple) else key for key in order]
    assert history_of(data)[0].tolist() == [order.index(key) for key in keys]
    for place, mine in enumerate(order):
        for at in range(found.offsets[place], found.offsets[place + 1]):
            here = [j for j in range(data.nnz) if keys[data.rows[j]] == mine and data.items[j] == found.items[at]]
            assert found.counts[at] == sum(data.counts[here])
            assert found.sensitivity[at] == max(data.sensitivity[here])


def test_who_comes_once_stays_as_read_with_ids_and_all():
    data = read(pd.DataFrame({"receipt": ["x", "y"], "customer": ["u", "v"], "item": ["a", "b"]}), one_per_user=True)
    assert data.ids.to_pylist() == ["x", "y"]


def test_pseudonyms_do_not_link_unknown_users(receipts):
    keep = anonset.Keep(users=True)
    published = anonset.anonymize(receipts, k=2, unit="transaction", keep=keep, seed=1).release.transactions
    assert sorted(published.users.tolist()) == [-1, -1, 0, 0, 1] or sorted(published.users.tolist()) == [
        -1,
        -1,
        0,
        1,
        1,
    ]


def test_habits_of_unknown_users_are_refused_by_check_and_method(receipts):
    with pytest.raises(ParameterError, match=r"'user' must be known for every transaction\. Got 2 without one"):
        anonset.verify(receipts, "multi-pattern", k=2, support=2)
    with pytest.raises(ParameterError, match=r"'user' must be known for every transaction\. Got 2 without one"):
        anonset.anonymize(receipts, method="kamp", k=2, support=2)
    assert anonset.anonymize(receipts, method="kamp", k=2, support=2, blank_users="distinct", seed=1).verdict.holds
