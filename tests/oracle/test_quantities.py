"""Quantities of items, against loops: the promise on (item, quantity), what is published, what attackers find."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset.assess.risk.find import find
from anonset.assess.risk.spec import Case
from anonset.data.quantities import apart

ITEMS = {"milk": "dairy", "brie": "dairy", "wine": "drinks", "beer": "drinks"}
TREE = {"item": list(ITEMS), "level1": list(ITEMS.values())}
STORES = {"Mitte": "Berlin", "Wedding": "Berlin", "Altona": "Hamburg"}
SHOPS = {"item": list(STORES), "level1": list(STORES.values())}
RECEIPT = st.tuples(
    st.dictionaries(st.sampled_from(list(ITEMS)), st.integers(1, 9), min_size=1, max_size=3),
    st.sampled_from(list(STORES)),
)
RECEIPTS = st.lists(RECEIPT, min_size=6, max_size=14)
KINDS = {
    "crowd": {"k": 2},
    "crowd with categories": {"k": 2, "hierarchy": TREE},
    "crowd with weights": {"k": 2, "hierarchy": TREE, "levels": "quantity=2,item=1,level1=1"},
    "pta": {"k": 2},
    "gsc": {"k": 2, "hierarchy": TREE, "add": "none"},
    "partition": {"k": 2, "hierarchy": TREE},
    "km-apriori": {"k": 2, "m": 2, "hierarchy": TREE},
    "km-refine": {"k": 2, "m": 2, "hierarchy": TREE, "suppress": 0.2},
}


def table(receipts):
    rows = [(n, store, item, many) for n, (row, store) in enumerate(receipts) for item, many in row.items()]
    return pd.DataFrame(rows, columns=["receipt", "store", "product", "quantity"])


def made(receipts, kind, **more):
    return anonset.anonymize(
        table(receipts),
        count="quantity",
        method=kind.split(" ")[0],
        keep=anonset.Keep(order=True),
        seed=1,
        **KINDS[kind],
        **more,
    )


def shown(result):
    """Of each published transaction what it says of each item or category: a quantity, or None for any."""
    data = apart(result.release.transactions)
    counts = [None if count == -1 else count for count in data.counts.tolist()]
    bounds = data.offsets.tolist()
    return [dict(zip(row, counts[start:], strict=False)) for row, start in zip(data.to_lists(), bounds, strict=False)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(receipts=RECEIPTS)
def test_the_promise_holds_for_items_with_their_quantities_and_the_losses_are_those_of_loops(kind, receipts):
    result = made(receipts, kind)
    rows = shown(result)
    sets = [frozenset(row.items()) for row in rows]
    if "m" in KINDS[kind]:
        known = {one for row in sets for m in (1, 2) for one in combinations(sorted(row, key=str), m)}
        assert all(sum(set(one) <= row for row in sets) >= 2 for one in known)
    else:
        assert min(Counter(sets).values()) >= 2
    there = exact = told = said = false = 0
    for (own, _), row in zip(receipts, rows, strict=True):
        for item, many in row.items():
            there += item in own
            told += item in own and many is not None
            exact += item in own and many == own[item]
            said += many is not None
            false += many is not None and own.get(item) != many
    figures = result.measurements
    assert figures["quantities_exact"] == pytest.approx(exact / max(there, 1))
    assert figures["quantities_told"] == pytest.approx(told / max(there, 1))
    assert figures["quantities_false"] == pytest.approx(false / max(said, 1))
    if "m" in KINDS[kind] or kind == "partition" or "add" in KINDS[kind]:
        assert not false


@settings(max_examples=10)
@given(receipts=RECEIPTS)
def test_an_item_is_kept_where_its_quantity_cannot_be(receipts):
    alike = [({"milk": n + 1}, store) for n, (_, store) in enumerate(receipts)]
    assert shown(made(alike, "crowd")) == [{"milk": None}] * len(alike)


def ways(fact, tree):
    """All that a release may say of a fact, the fact itself among it."""
    kind, name, value = fact
    if kind == "item":
        return {(kind, name, value), (kind, name, None)}
    return {(kind, name, value), (kind, name, tree[value]), (kind, name, None)}


def chances(known, published, queries, tree):
    """1 / published transactions that show each known fact in one of its ways, where the own one does."""
    for owner, facts in queries:
        fit = [row for row, said in enumerate(published) if all(ways(fact, tree) & said for fact in facts)]
        yield 1 / len(fit) if owner in fit else 0.0


@pytest.mark.parametrize("kind", ["crowd", "crowd with categories"])
@settings(max_examples=10)
@given(receipts=RECEIPTS, m=st.integers(1, 2))
def test_attackers_know_quantities_and_columns(kind, receipts, m):
    result = made(receipts, kind, attribute="store", attribute_hierarchy={"store": SHOPS})
    case = Case(result.source, result.release, result.row_origin, known=(m,), draws=20_000)
    columns = [dict(one.split("=") for one in row if "=" in one) for row in result.release.transactions.to_lists()]
    published = [
        {("item", item, many) for item, many in row.items() if "=" not in item}
        | {("column", "store", own.get("store"))}
        for row, own in zip(shown(result), columns, strict=True)
    ]
    known = [{*(("item", i, n) for i, n in row.items()), ("column", "store", store)} for row, store in receipts]
    queries = [(n, facts) for n, own in enumerate(known) for facts in combinations(sorted(own, key=str), m)]
    each = {n: [0.0, 0] for n in range(len(known))}
    for (owner, _), value in zip(queries, chances(known, published, queries, STORES), strict=True):
        each[owner][0] += value
        each[owner][1] += 1
    expected = np.mean([total / count for total, count in each.values() if count])
    found = find(case, ["known-items"]).attacks[0]
    assert found.after == pytest.approx(expected, abs=0.02)  # the attacker draws, ever so often
    assert found.before > 0


def test_attackers_of_columns_are_more_certain_than_those_of_items():
    receipts = [({"milk": 1}, store) for store in STORES for _ in range(2)]
    frame = table(receipts)
    both = [anonset.read(frame, count="quantity", **more) for more in ({}, {"attribute": "store"})]
    found = [
        find(Case(data, anonset.Release(data), np.arange(6), known=(2,)), ["whole-basket"]).attacks[0] for data in both
    ]
    assert [one.after for one in found] == [pytest.approx(1 / 6), pytest.approx(1 / 2)]


@settings(max_examples=10)
@given(receipts=RECEIPTS, m=st.integers(1, 2))
def test_attackers_in_persons_know_quantities_and_columns_and_are_never_taken_for_weaker(receipts, m):
    frame = table(receipts)
    frame["customer"] = frame.receipt // 2
    options = {
        "count": "quantity",
        "attribute": "store",
        "attribute_hierarchy": {"store": SHOPS},
        "unit": "transaction",
    }
    result = anonset.anonymize(frame, method="crowd", k=2, keep=anonset.Keep(order=True), seed=1, **options)
    case = Case(result.source, result.release, result.row_origin, known=(m,), draws=20_000)
    columns = [dict(one.split("=") for one in row if "=" in one) for row in result.release.transactions.to_lists()]
    published = [
        {("item", item, many) for item, many in row.items() if "=" not in item}
        | {("column", "store", own.get("store"))}
        for row, own in zip(shown(result), columns, strict=True)
    ]
    known = [{*(("item", i, n) for i, n in row.items()), ("column", "store", store)} for row, store in receipts]
    exact, bound = [], []
    for owner, own in enumerate(known):
        queries = [*combinations(sorted(own, key=str), m)]
        one, other = [], []
        for facts in queries:
            fits = [
                {row // 2 for row, said in enumerate(published) if set(way) <= said}
                for way in product(*(sorted(ways(fact, STORES), key=str) for fact in facts))
            ]
            there = any(owner // 2 in fit for fit in fits)
            one.append(there / max(len(set().union(*fits)), 1))
            other.append(there / max(*map(len, fits), 1))
        if queries:
            exact.append(np.mean(one))
            bound.append(np.mean(other))
    found = find(case, ["person-items"]).attacks[0]
    assert found.upper_bound
    assert found.after == pytest.approx(np.mean(bound), abs=0.04)  # the attacker draws
    assert np.mean(exact) <= np.mean(bound) + 1e-9
