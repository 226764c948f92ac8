import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import InputError, ParameterError, Transactions
from anonset.data.transactions import natural_order

LISTS = st.lists(st.lists(st.text(max_size=3), max_size=6), max_size=8)


@given(LISTS)
def test_lists_come_back_as_the_sets_they_are(lists):
    data = Transactions.from_lists(lists)
    assert [set(row) for row in data.to_lists()] == [set(row) for row in lists]
    assert all(len(set(row)) == len(row) for row in data)


@given(LISTS, st.randoms())
def test_take_picks_transactions_with_everything_that_belongs_to_them(lists, random):
    users = [random.choice("xyz") for _ in lists]
    data = Transactions.from_lists(lists, users=users)
    order = [random.randrange(len(lists)) for _ in range(5)] if lists else []
    picked = data.take(order)
    assert picked.to_lists() == [data.to_lists()[i] for i in order]
    assert [picked.user_labels[int(u)].as_py() for u in picked.users] == [users[i] for i in order]


@given(LISTS, st.sets(st.text(max_size=3)))
def test_quasi_items_and_secrets_part_each_transaction_in_two(lists, names):
    data = Transactions.from_lists(lists)
    chosen = names & set(data.labels.to_pylist())
    data = data.with_sensitive(chosen)
    for whole, open_part, secret in zip(data, data.quasi(), data.sensitive_part(), strict=True):
        assert set(open_part) == set(whole) - chosen
        assert set(secret) == set(whole) & chosen


@given(LISTS)
def test_with_quasi_puts_new_items_beside_the_sensitive_ones(lists):
    data = Transactions.from_lists([*lists, ["a", "b", "c"]]).with_sensitive(["b"])
    quasi = data.quasi()
    empty = data.with_quasi(np.zeros(len(data) + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    assert empty.to_lists() == data.sensitive_part().to_lists()
    assert data.with_quasi(quasi.offsets, quasi.items).to_lists() == data.to_lists()


def test_labels_are_numbered_as_a_person_expects():
    labels = pa.array(["b", "10", "9", "007", "-2", "a", "99999999999999999999", ""])
    assert [labels[int(i)].as_py() for i in natural_order(labels)] == [
        "-2", "9", "10", "", "007", "99999999999999999999", "a", "b",
    ]  # fmt: skip


def test_labels_given_set_the_item_order():
    data = Transactions.from_lists([["wine", "meat"]], labels=["wine", "meat", "cream"])
    assert data.items.tolist() == [0, 1]
    assert data.n_items == 3


def test_repeated_items_merge_and_are_said():
    data = Transactions.from_codes(
        [0, 3, 4], [1, 1, 0, 1], ["a", "b"], counts=[2, 1, 5, 7], sensitivity=[0.1, 0.9, 0, 1]
    )
    assert data.to_lists() == [["a", "b"], ["b"]]
    assert data.counts.tolist() == [5, 3, 7]
    assert data.sensitivity.tolist() == [0, 0.9, 1]
    assert data.notes == ("1 repeated item was merged",)


def test_arrays_cannot_be_changed():
    data = Transactions.from_lists([["a"]])
    with pytest.raises(ValueError, match="read-only"):
        data.items[0] = 5


def test_the_callers_own_array_stays_writable():
    items = np.array([0], dtype=np.int32)
    Transactions.from_codes([0, 1], items, ["a"])
    items[0] = 0
    assert items.flags.writeable


@pytest.mark.parametrize(
    ("offsets", "items", "message"),
    [
        ([0, 2], [0], "Offsets must"),
        ([1, 1], [0], "Offsets must"),
        ([0, 1], [3], "between 0 and 1"),
        ([0, 1], [-1], "between 0 and 1"),
        ([0, 2], [1, 0], "ascending"),
        ([0, 2], [1, 1], "ascending"),
    ],
)
def test_malformed_arrays_are_refused(offsets, items, message):
    with pytest.raises(InputError, match=message):
        Transactions(np.array(offsets), np.array(items, dtype=np.int32), pa.array(["a", "b"]))


def test_degrees_outside_the_unit_interval_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        Transactions.from_codes([0, 1], [0], ["a"], sensitivity=[1.5])


def test_an_unknown_sensitive_name_suggests_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean pregnancy test"):
        Transactions.from_lists([["pregnancy test", "bread"]]).with_sensitive(["pregnancy tests"])


def test_same_sets_compares_labels_not_codes():
    one = Transactions.from_lists([["a", "b"], []])
    other = Transactions.from_lists([["b", "a"], []], labels=["z", "b", "a"])
    assert one.same_sets(other)
    assert not one.same_sets(Transactions.from_lists([["a"], ["b"]]))
    assert not one.same_sets(Transactions.from_lists([["a", "c"], []]))


def test_a_huge_transaction_and_an_empty_database_are_ordinary():
    huge = Transactions.from_codes([0, 100_000, 100_000], np.arange(100_000), [str(i) for i in range(100_000)])
    assert huge.lengths.tolist() == [100_000, 0]
    empty = Transactions.from_lists([])
    assert len(empty) == 0
    assert empty.to_lists() == []
    assert empty.take([]).to_lists() == []
