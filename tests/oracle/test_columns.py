"""Columns beside the items, against loops: their hierarchies, what is published, what it loses."""

from collections import Counter
from datetime import date
from itertools import combinations

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset.data.attributes import values_of
from anonset.data.columns import Attribute
from anonset.data.hierarchy.values import tree_of
from tests.oracle import columns as oracle

ITEMS = {"milk": "dairy", "brie": "dairy", "wine": "drinks", "beer": "drinks", "bread": "bakery"}
TREE = {"item": list(ITEMS), "level1": list(ITEMS.values())}
STORES = {"Mitte": ["Berlin"], "Wedding": ["Berlin"], "Altona": ["Hamburg"], "Eppendorf": ["Hamburg"]}
SHOPS = {"item": list(STORES), "level1": [path[0] for path in STORES.values()]}
RECEIPT = st.tuples(
    st.sets(st.sampled_from(list(ITEMS)), min_size=1, max_size=4),
    st.sampled_from([*STORES, None]),
    st.dates(date(2016, 11, 20), date(2017, 2, 10)),
)
RECEIPTS = st.lists(RECEIPT, min_size=6, max_size=16)
KINDS = {
    "crowd": {"k": 3},
    "crowd with categories": {"k": 3, "hierarchy": TREE},
    "pta": {"k": 3},
    "gsc": {"k": 2, "hierarchy": TREE, "add": "none"},
    "km-apriori": {"k": 2, "m": 2, "hierarchy": TREE},
    "km-refine": {"k": 2, "m": 2, "hierarchy": TREE},
}


def table(receipts):
    rows = [(n, store, item, str(day)) for n, (items, store, day) in enumerate(receipts) for item in sorted(items)]
    return pd.DataFrame(rows, columns=["receipt", "store", "product", "day"])


def published(release):
    """Of each transaction its items and its columns, `None` for `*`."""
    columns = {}
    for column in values_of(release.transactions):
        labels = column.labels.to_pylist()
        columns[column.attribute.name] = [None if labels[c] == "*" else labels[c] for c in column.codes.tolist()]
    marks = tuple(f"{name}=" for name in columns)
    items = [sorted(item for item in row if not item.startswith(marks)) for row in release.transactions.to_lists()]
    return items, columns


@given(
    st.sets(
        st.dates(min_value=pd.Timestamp("2015-12-25").date(), max_value=pd.Timestamp("2021-01-10").date()), min_size=1
    )
)
def test_a_date_lies_in_its_week_month_quarter_and_year(days):
    values = sorted(map(str, days))
    tree = tree_of(Attribute("day"), pa.array(values))
    for leaf in tree.leaves.tolist():
        path = [label.removeprefix("day=") for label in tree.path(leaf)]
        assert [path[-1], *reversed(path[:-1])] == [path[-1], *oracle.above("date", path[-1])]


@given(st.sets(st.integers(-1000, 1000), min_size=2, max_size=30))
def test_a_number_lies_in_ever_wider_ranges(numbers):
    tree = tree_of(Attribute("age"), pa.array(sorted(map(str, numbers))))
    for leaf in tree.leaves.tolist():
        path = [label.removeprefix("age=") for label in tree.path(leaf)]
        assert path[-2::-1] == oracle.ranges(int(path[-1]), numbers)


@pytest.mark.parametrize("kind", KINDS)
@given(receipts=RECEIPTS)
def test_the_whole_row_keeps_the_promise_and_the_losses_are_those_of_loops(kind, receipts):
    result = anonset.anonymize(
        table(receipts),
        method=kind.split(" ")[0],
        attribute=["store", "day"],
        attribute_hierarchy={"store": SHOPS},
        keep=anonset.Keep(order=True),
        seed=1,
        **KINDS[kind],
    )
    items, columns = published(result.release)
    told = [[f"{name}={values[n]}" for name, values in columns.items() if values[n]] for n in range(len(items))]
    rows = [frozenset((*row, *more)) for row, more in zip(items, told, strict=True)]
    if "m" in KINDS[kind]:
        known = {known for row in rows for m in (1, 2) for known in combinations(sorted(row), m)}
        assert all(sum(set(one) <= row for row in rows) >= 2 for one in known)
    else:
        assert min(Counter(rows).values()) >= KINDS[kind]["k"]
    days = {str(day): oracle.above("date", str(day)) for _, _, day in receipts}
    seen = {store for _, store, _ in receipts if store}
    if not seen:
        return
    for name, paths, own in (
        ("store", {store: STORES[store] for store in seen}, [store for _, store, _ in receipts]),
        ("day", days, [str(day) for _, _, day in receipts]),
    ):
        expected = oracle.losses(own, columns[name], paths)
        found = [result.measurements[f"{name}_{figure}"] for figure in ("ncp", "exact", "false")]
        assert found == pytest.approx(expected)
        if "m" in KINDS[kind] or KINDS[kind].get("add") == "none":
            assert found[2] == 0


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.parquet", "r.arrow", "r.csv.gz", "r.xlsx"])
@pytest.mark.parametrize("layout", ["long", "lists", "wide"])
def test_every_table_holds_the_columns_in_the_order_of_the_source(tmp_path, name, layout):
    if name == "r.xlsx" and layout != "long":
        return
    receipts = [({"milk", "wine"}, "Mitte", "2017-01-02"), ({"beer"}, None, "2017-01-03")] * 3
    options = {"attribute": ["store", "day"], "attribute_hierarchy": {"store": SHOPS}, "seed": 1}
    result = anonset.anonymize(table(receipts), k=2, hierarchy=TREE, **options)
    path = tmp_path / name
    result.write(path, format=layout)
    assert anonset.verify(path, k=2).holds
    again = anonset.read_release(path)
    assert again.transactions.same_sets(result.release.transactions)
    shown = [one for one in again.transactions.columns.order if one[1] in ("receipt", "store", "product", "day")]
    assert [one for _, one in shown] == {
        "long": ["receipt", "store", "product", "day"],
        "lists": ["store", "product", "day"],
        "wide": ["store", "day"],
    }[layout]
