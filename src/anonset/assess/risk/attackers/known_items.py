"""Known items: an attacker who knows m items of a person's transaction and looks for those that hold them all.

Before, the candidates are the original transactions that hold the m items; after, the published ones that hold them, or
the nodes that stand for them. The chance is 1 / candidates where the person's own is among them, else 0. Transactions
of fewer than m items are not attacked; every m-subset of a transaction is equally likely, and so is every transaction.

The queries of all strengths, those with absent items among them, are counted in one go: both sides are indexed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.knowledge import Words, drawn, held_of, lacking, most_frequent
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.job import Job
from anonset.data.quantities import has_quantities
from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions

NOBODY = -1
"""Fills up a query of fewer items."""


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that some transaction has."""
    return findings(SPEC, case, 0)


def findings(spec: AttackSpec, case: Case, absent: int) -> tuple[Finding, ...]:
    """What is found with so many absent items, for each number of known ones."""
    found = []
    for (m, lacked), chances in case.once("known items", lambda: all_chances(case, case.facts)).items():
        if lacked == absent:
            items = known_words(case, m)
            also = f", and {absent} frequent items that it does not hold" if absent else ""
            knows = f"{items} of a person's transaction{also}"
            title = f"{items.partition(',')[0]} known" + (f", {absent} absent" if absent else "")
            upper = case.row_origin is None
            found.append(finding(spec, case, chances, known=m, knows=knows, title=title, upper_bound=upper))
    return tuple(found)


def known_words(case: Case, m: int) -> str:
    """What m known facts are, in words."""
    beside = case.facts.ways is not None and case.data.columns is not None
    items = "one item" if m == 1 else f"{m} items"
    items += (" or column" if m == 1 else " or columns") if beside else ""
    return items + (", with quantities," if has_quantities(case.data) else "")


ABSENT = 2
"""How many items are known to be absent, by those who know at most as many that are present."""


@dataclass(frozen=True, eq=False)
class Queries:
    """What is known of some persons: items of theirs, filled up with `NOBODY`, and how many absent ones."""

    owners: Longs
    items: Ints
    absent: Longs


def all_chances(
    case: Case, pair: Pair, purpose: str = "known items", absents: tuple[int, ...] = (0, ABSENT)
) -> dict[tuple[int, int], Chances]:
    """The chances of all strengths, by (known items, absent items)."""
    known = pair.known
    strengths = [(m, absent) for absent in absents for m in case.known if not absent or m <= ABSENT]
    people = {m: np.flatnonzero(known.lengths >= m) for m in case.known}
    strengths = [(m, absent) for m, absent in strengths if len(people[m])]
    if not strengths:
        return {}
    parts = [_queries(case, known, people[m], m, absent, purpose) for m, absent in strengths]
    width = max(part.items.shape[1] for part in parts)
    filled = [np.pad(p.items, ((0, 0), (0, width - p.items.shape[1])), constant_values=NOBODY) for p in parts]
    queries = Queries(
        np.concatenate([part.owners for part in parts]),
        np.concatenate(filled),
        np.concatenate([part.absent for part in parts]),
    )
    before = query_chances(Pair(known, known, np.arange(len(known), dtype=np.int64)), queries, case.job)
    after = query_chances(pair, queries if pair.ways is not None else seen(pair, queries), case.job)
    ends = np.cumsum([len(part.owners) for part in parts])[:-1]
    both = zip(strengths, np.split(after, ends), np.split(before, ends), strict=True)
    return {one: Chances(late, early, drawn=True, attacked=len(people[one[0]])) for one, late, early in both}


def _queries(case: Case, known: Transactions, people: Longs, m: int, absent: int, purpose: str) -> Queries:
    random = case.random(f"{purpose} {m} {absent}")
    owners = draw_owners(people, case.draws // (4 if absent else 1), random)
    return Queries(owners, drawn(known, owners, m, random), np.full(len(owners), absent, dtype=np.int64))


def draw_owners(rows: Longs, draws: int, random: np.random.Generator) -> Longs:
    """Each of these transactions equally often, or as many of them as may be drawn."""
    if len(rows) > draws:
        return np.sort(random.choice(rows, draws, replace=False))
    return np.repeat(rows, max(1, draws // len(rows)))


def seen(pair: Pair, queries: Queries) -> Queries:
    """The same queries in terms of what the release can hold."""
    items = np.where(queries.items >= 0, pair.seen(np.maximum(queries.items, 0)), NOBODY).astype(np.int32)
    return Queries(queries.owners, items, queries.absent)


def query_chances(pair: Pair, queries: Queries, job: Job) -> Floats:
    """1 / candidates where the owner's own is among them."""
    asked, queries = np.arange(len(queries.owners)), queries
    count = len(asked)
    if pair.ways is not None:
        queries, asked = in_all_ways(pair.ways, queries)
    held, absent = absent_from(pair, queries) if queries.absent.any() else (None, None)
    data, flat = pair.published, np.ascontiguousarray(queries.items).reshape(-1)
    sizes = _native.count_candidates(
        data.offsets, data.items, data.n_items, flat, queries.items.shape[1], held, absent, job.threads, job.monitor
    )
    if pair.row_origin is None:
        found = sizes > 0
    else:
        own = pair.published_of()[queries.owners]
        found = (own >= 0) & holds_all(data, np.maximum(own, 0), queries.items)
        if held is not None and absent is not None and len(data):
            found &= (held[np.maximum(own, 0)] & absent) == 0
    sizes = in_any_way(sizes, asked, count, overlapping=pair.overlapping)
    found = np.bincount(asked, found, count) > 0
    chance: Floats = np.where(found, 1 / np.maximum(sizes, 1), 0.0)
    return chance


def in_any_way(sizes: Longs, asked: Longs, count: int, *, overlapping: bool) -> Longs:
    """How many candidates each query has in any of its ways.

    Where one may fit in several, at least as many as in the way with most: the chance is then an upper bound.
    """
    if not overlapping:
        return np.bincount(asked, sizes, count).astype(np.int64)
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, asked, sizes)
    return most


def in_all_ways(ways: Ints, queries: Queries) -> tuple[Queries, Longs]:
    """Each query in all ways in which the release may show what is known, and which query each of these is.

    Examples
    --------
    >>> both = in_all_ways(np.array([[0, 2], [1, -1]]), Queries(np.array([7]), np.array([[1, 0]]), np.array([0])))
    >>> both[0].items.tolist(), both[1].tolist()
    ([[1, 0], [1, 2]], [0, 0])
    """
    many = np.append((ways >= 0).sum(axis=1), 1)  # the last entry is that of what fills up
    padded = np.concatenate((ways, np.full((1, ways.shape[1]), NOBODY)))
    asked, items = np.arange(len(queries.owners)), queries.items
    for place in range(items.shape[1]):
        each = many[items[:, place]]
        rows = np.repeat(np.arange(len(items)), each)
        way = np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)
        asked, items = asked[rows], items[rows].copy()
        items[:, place] = padded[items[:, place], way]
    return Queries(queries.owners[asked], items.astype(np.int32), queries.absent[asked]), asked


def absent_from(pair: Pair, queries: Queries) -> tuple[Words, Words]:
    """What each published transaction holds of the most frequent published items, and which of them each owner's
    original, seen as published, is known not to hold.
    """
    top = most_frequent(pair.published, pair.plain)
    own = held_of(pair.original, top)[queries.owners]
    absent = np.zeros(len(own), dtype=np.uint64)
    for many in np.unique(queries.absent):
        these = queries.absent == many
        absent[these] = lacking(own[these], len(top), int(many))
    return held_of(pair.published, top), absent


def holds_all(data: Transactions, rows: Longs, queries: Ints) -> Mask:
    """Whether row `rows[i]` holds all items of query i: every pair (row, item) is looked up in the sorted data."""
    if not data.nnz:
        return np.zeros(len(rows), dtype=np.bool_)
    keys = data.rows * data.n_items + data.items
    wanted = rows[:, None] * data.n_items + queries
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(((keys[place] == wanted) | (queries < 0)).all(axis=1))


SPEC = AttackSpec(
    name="known-items",
    part="singling out",
    title="known items",
    knows="some items of a person's transaction",
    run=run,
    reference="M. Terrovitis, N. Mamoulis, P. Kalnis, PVLDB 1(1), 2008",
)
