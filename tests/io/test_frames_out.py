"""A release comes out as the frame that came in: layout, names, types and index, in every library of frames."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anonset

LONG = {"bill": [7, 7, 8, 8, 9, 9], "product": ["a", "b", "a", "b", "a", "b"]}
SETS = [["a", "b"]] * 3


def released(frame, **options):
    return anonset.anonymize(frame, k=2, seed=1, **options)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_names_and_types_of_a_long_frame_come_back(frame):
    source = frame(LONG)
    result = released(source, transaction="bill")
    table = result.to_arrow()
    assert table.column_names == ["bill", "product"]
    assert table.schema.types[0] == pa.table(source).schema.types[0]
    assert type(result.to_polars()["product"].dtype) is type(pl.DataFrame(source)["product"].dtype)
    assert table.to_pydict() == {**LONG, "bill": [1, 1, 2, 2, 3, 3]}  # numbered anew
    assert anonset.read(result.to_pandas(), transaction="bill").to_lists() == SETS
    assert anonset.read(result.to_polars(), transaction="bill").to_lists() == SETS


def test_categories_stay_categories_and_numbers_numbers():
    frame = pd.DataFrame(LONG).astype({"product": "category"})
    assert isinstance(released(frame, transaction="bill").to_pandas()["product"].dtype, pd.CategoricalDtype)
    codes = pd.DataFrame({"bill": LONG["bill"], "product": [10, 20] * 3})
    assert released(codes, transaction="bill").to_pandas()["product"].tolist() == [10, 20] * 3


def test_items_that_are_generalised_become_text():
    codes = pd.DataFrame({"bill": [1, 1, 2, 2], "product": [10, 20, 10, 21]})
    tree = {"item": ["10", "20", "21"], "level1": ["ten", "twenties", "twenties"]}
    result = anonset.anonymize(codes, "km-anonymity", k=2, m=2, hierarchy=tree, transaction="bill", seed=1)
    assert set(result.to_pandas()["product"]) <= {"ten", "10", "twenties"}


def test_the_index_comes_back_where_it_is_published():
    frame = pd.DataFrame(LONG).set_index("bill")
    out = released(frame, transaction="bill").to_pandas()
    assert out.index.name == "bill"
    assert out.index.tolist() == [1, 1, 2, 2, 3, 3]
    wide = pd.DataFrame({"a": [True] * 3, "b": [True] * 3}, index=["ann", "bob", "cy"])
    assert released(wide).to_pandas().index.tolist() == [0, 1, 2]  # whose row it was is nobody's business
    kept = released(wide, keep=anonset.Keep(ids=True, order=True)).to_pandas()
    assert kept.index.tolist() == ["ann", "bob", "cy"]
    assert kept.index.name is None


def test_a_boolean_frame_stays_one():
    wide = pd.DataFrame({"a": [True] * 3, "b": [True] * 3, "c": [True, False, False]})
    out = released(wide).to_pandas()
    assert out.dtypes.tolist() == [bool, bool]
    assert list(out.columns) == ["a", "b"]  # what is not published is not named


def test_a_cross_table_of_counts_is_read_as_sets_with_a_note():
    frame = pd.DataFrame({"bill": [1, 1, 1, 2, 3], "product": ["a", "a", "b", "a", "b"]})
    data = anonset.read(pd.crosstab(frame["bill"], frame["product"]))
    assert data.to_lists() == [["a", "b"], ["a"], ["b"]]
    assert data.notes == ("1 repeated item was merged",)
    out = released(pd.crosstab(frame["bill"], frame["product"])).to_pandas()
    assert set(out.columns) <= {"a", "b"}
    assert set(out.to_numpy().ravel()) <= {0, 1}


def test_a_cross_table_whose_index_looks_like_flags_is_no_item():
    flags = pd.crosstab(pd.Series([0, 1, 1], name="visit no"), pd.Series(["x", "y", "x"], name="page"))
    assert anonset.read(flags).to_lists() == [["x"], ["x", "y"]]


def test_lists_come_back_as_lists():
    frame = pd.DataFrame({"basket": [1, 2, 3], "goods": SETS})
    out = released(frame, item="goods").to_pandas()
    assert "goods" in out.columns
    assert [list(row) for row in out["goods"]] == SETS


def test_any_layout_on_request_and_no_other():
    result = released(SETS)
    assert result.to_arrow("wide").column_names == ["a", "b"]
    assert result.to_arrow("lists")["items"].to_pylist() == SETS
    assert result.to_pandas().columns.tolist() == ["transaction", "item"]
    with pytest.raises(anonset.ParameterError, match="'layout'"):
        result.to_arrow("tall")


def test_a_release_in_groups_says_the_group_of_each_transaction():
    frame = pd.DataFrame({"bill": [1, 1, 2, 2, 3, 4], "product": ["a", "s", "a", "b", "a", "b"]})
    result = anonset.anonymize(frame, "privacy-degree", p=2, sensitive=["s"], transaction="bill", seed=1)
    table = result.to_pandas()
    assert table.columns.tolist() == ["group", "bill", "product"]
    assert "s" not in set(table["product"])


def test_the_capsule_interface_in_both_directions():
    result = released(pl.DataFrame(LONG), transaction="bill")
    assert pl.DataFrame(result).columns == ["bill", "product"]
    assert pa.table(result).num_rows == 6
    published = pa.table(result)
    assert duckdb.sql("SELECT count(DISTINCT bill) FROM published").limit(1).fetchall() == [(3,)]
    data = anonset.read(SETS)
    assert anonset.read(pa.table(data)).to_lists() == SETS
    assert pl.DataFrame(data)["items"].to_list() == SETS
    assert anonset.verify(result, k=2).holds
    assert published.column_names == ["bill", "product"]
