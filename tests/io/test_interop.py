"""Round trips to and from Arrow, pandas, Polars, SciPy and lists, without copying where that is possible."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from anonset import DataError, InputError, Transactions
from anonset.io import read

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
LISTS = st.lists(st.lists(TEXT, max_size=5), max_size=7)


def shares(one, other, *names):
    return [bool(np.shares_memory(getattr(one, name), getattr(other, name))) for name in names]


@pytest.fixture
def data():
    return Transactions.from_lists([["a", "b"], [], ["c", "a"]], labels=["c", "a", "unused", "b"])


# --- round trips -----------------------------------------------------------------------------------------------


@given(LISTS)
def test_every_round_trip_keeps_the_sets(lists):
    data = Transactions.from_lists(lists)
    for back in (
        Transactions.from_arrow(data.to_arrow()),
        Transactions.from_pandas(data.to_pandas()),
        Transactions.from_polars(data.to_polars()),
        Transactions.from_scipy(data.to_scipy(), data.labels),
        Transactions.from_lists(data.to_lists()),
        read(data.to_arrow()),
        read(data.to_pandas()),
        read(data.to_polars()),
    ):
        assert back.same_sets(data)


def test_arrow_is_taken_over_without_copying(data):
    column = data.to_arrow()
    assert column.type == pa.large_list(pa.dictionary(pa.int32(), pa.string()))
    back = Transactions.from_arrow(column)
    assert shares(back, data, "items", "offsets") == [True, True]
    assert back.labels.buffers()[2].address == data.labels.buffers()[2].address
    assert back.labels.to_pylist() == ["c", "a", "unused", "b"]


def test_pandas_is_given_and_taken_without_copying(data):
    series = data.to_pandas()
    assert series.name == "items"
    assert [list(row) for row in series] == data.to_lists()
    assert shares(Transactions.from_pandas(series), data, "items", "offsets") == [True, True]


def test_scipy_is_given_and_taken_without_copying_the_items(data):
    matrix = data.to_scipy()
    assert np.shares_memory(matrix.indices, data.items)
    assert matrix.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0]]
    back = Transactions.from_scipy(matrix, data.labels)
    assert shares(back, data, "items") == [True]


def test_polars_categories_are_taken_without_copying_the_codes():
    data = Transactions.from_lists([["a", "b"], [], ["a", "c"]])
    series = data.to_polars()
    assert series.to_list() == data.to_lists()
    column = pa.chunked_array(series).chunk(0)
    assert np.shares_memory(Transactions.from_arrow(column).items, np.asarray(column.values.indices))


def test_slices_and_chunks_of_arrow_arrays(data):
    column = data.to_arrow()
    assert Transactions.from_arrow(column.slice(1)).to_lists() == data.to_lists()[1:]
    assert Transactions.from_arrow(pa.chunked_array([column, column.slice(2)])).to_lists() == [
        *data.to_lists(),
        data.to_lists()[2],
    ]
    assert Transactions.from_arrow(pa.chunked_array([], type=column.type)).to_lists() == []


def test_a_dictionary_that_names_a_value_twice_is_cleared():
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "b", "a"]))
    data = Transactions.from_arrow(pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), values))
    assert data.to_lists() == [["a", "b"], ["a"]]
    assert data.labels.to_pylist() == ["a", "b"]


def test_lists_of_every_arrow_kind():
    for kind in (
        pa.list_(pa.string(), 2),
        pa.list_view(pa.string()),
        pa.large_list_view(pa.string()),
        pa.list_(pa.string_view()),
    ):
        assert Transactions.from_arrow(pa.array([["b", "a"], ["c", "a"]], kind)).to_lists() == [["a", "b"], ["a", "c"]]
    with pytest.raises(InputError, match=r"Expected a column of lists of items\. Got a column of string"):
        Transactions.from_arrow(pa.array(["a"]))


def test_scipy_values_of_opposite_sign_do_not_cancel():
    matrix = sp.csr_array((np.array([1, -1, 0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert Transactions.from_scipy(matrix).to_lists() == [["0"]]


# --- reading frames --------------------------------------------------------------------------------------------

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])


@FRAMES
def test_long_frames(frame):
    data = read(frame({"Order": [2, 2, 1], "sku": ["b", "a", "b"], "customer": ["u", "u", "v"]}))
    assert data.to_lists() == [["a", "b"], ["b"]]
    assert data.ids.to_pylist() == ["2", "1"]
    assert data.users.tolist() == [0, 1]


@FRAMES
def test_frames_with_lists(frame):
    data = read(frame({"items": [["b", "a"], [], ["a"]], "user": [3, 3, 4]}))
    assert data.to_lists() == [["a", "b"], [], ["a"]]
    assert data.users.tolist() == [0, 0, 1]


@FRAMES
def test_wide_frames(frame):
    data = read(frame({"b": [True, False, True], "a": [0, 0, 1], "id": [7, 8, 9]}))
    assert data.to_lists() == [["b"], [], ["b", "a"]]
    assert data.ids.to_pylist() == ["7", "8", "9"]


@FRAMES
def test_nulls_in_frames_name_their_row(frame):
    source = frame({"tid": [2, 2, None], "item": ["a", None, "b"]})
    with pytest.raises(DataError) as error:
        read(source)
    assert str(error.value) == "row 2: The row has no item. Use skip_nulls (--skip-nulls) to leave such rows out."
    data = read(source, skip_nulls=True)
    assert (data.to_lists(), data.ids.to_pylist()) == ([["a"]], ["2"])
    assert data.notes == ("2 rows without a transaction or an item were left out",)


@FRAMES
def test_empty_frames(frame):
    assert len(read(frame({"tid": [], "item": []}))) == 0


def test_whole_numbers_that_became_floats_are_whole_numbers():
    data = read(pd.DataFrame({"tid": [1.0, 2.0, np.nan], "item": [5.0, 7.5, 1.0]}), skip_nulls=True)
    assert (data.ids.to_pylist(), data.to_lists()) == (["1", "2"], [["5"], ["7.5"]])
    assert read(pd.DataFrame({"tid": [1], "item": [5.0]})).to_lists() == [["5"]]


def test_categories_bring_their_own_order():
    items = pd.Categorical(["z", "a", "a"], categories=["z", "q", "a"])
    data = read(pd.DataFrame({"tid": pd.Categorical([3, 1, 3]), "item": items}))
    assert data.labels.to_pylist() == ["z", "q", "a"]
    assert (data.ids.to_pylist(), data.to_lists()) == (["3", "1"], [["z", "a"], ["a"]])
    frame = pl.DataFrame({"tid": [1, 1], "item": ["z", "a"]}, schema_overrides={"item": pl.Enum(["z", "q", "a"])})
    assert read(frame).labels.to_pylist() == ["z", "q", "a"]


def test_row_names_of_pandas_are_ids():
    data = read(pd.DataFrame({"a": [1, 0], "b": [1, 1]}, index=["x", "y"]))
    assert (data.ids.to_pylist(), data.to_lists()) == (["x", "y"], [["a", "b"], ["b"]])


def test_sparse_pandas_frames_and_matrices():
    dense = np.array([[1, 0], [0, 0], [1, 1]])
    lists = [["0"], [], ["0", "1"]]
    sparse = pd.DataFrame(dense, columns=["0", "1"]).astype(pd.SparseDtype(int, 0))
    for source in (sparse, sp.csr_array(dense), sp.coo_matrix(dense), dense, dense.astype(bool)):
        assert read(source).to_lists() == lists


def test_series_and_columns_of_lists():
    lists = [["b", "a"], ["c"]]
    sources = [
        pd.Series(lists),
        pl.Series(lists),
        pa.array(lists),
        pa.chunked_array([lists]),
        pa.record_batch({"x": lists}),
    ]
    for source in (*sources, lists, tuple(lists), iter(lists), map(set, lists), np.array(lists, dtype=object)):
        assert read(source).to_lists() == [["a", "b"], ["c"]]


def test_a_frame_that_mixes_types_is_refused_without_quoting_it():
    with pytest.raises(InputError) as error:
        read(pd.DataFrame({"tid": [1, 2], "item": ["secret", 3]}))
    assert "secret" not in str(error.value)
    assert "mixes types" in str(error.value)


def test_a_frame_of_unknown_columns_is_asked_about():
    with pytest.raises(DataError, match=r"^It is not clear which column holds the transaction and which the item"):
        read(pd.DataFrame({"foo": ["x"], "bar": [3]}))
    assert read(pd.DataFrame({"foo": ["x"], "bar": [3]}), transaction="bar", item="foo").to_lists() == [["x"]]
