"""Two releases: an attacker who knows m items of a transaction that is in several releases intersects the candidates.

In each release the candidates are the transactions that hold the known items, or the nodes that stand for them there.
Somebody who can tell which published transactions are the same is left with those that fit in every release. No
attacker does better, so the chance, 1 / transactions that fit everywhere, is an upper bound; before is what the newest
release alone allows.

A transaction is the same in two data sets if its id is, or where there are no ids, if its items are. What it is
published as is known with the link; without one, global recoding says it, and elsewhere the nearest published set is
taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.assess.align import Pair, pair
from anonset.assess.risk.attackers.known_items import draw_owners, holds_all
from anonset.assess.risk.knowledge import drawn
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.job import Job
from anonset.data.transactions import Floats, Ints, Longs, Transactions

CELLS = 20_000_000
"""Distances that are held at once."""


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that a transaction of all releases has."""
    views = [View.of(case.pair)]
    rows = [np.arange(len(case.data), dtype=np.int64)]
    for earlier in case.previous:
        both = pair(earlier.data, earlier.release, earlier.row_origin, earlier.hierarchy)
        mine, theirs = common(case.data, earlier.data)
        here = np.full(len(case.data), -1, dtype=np.int64)
        here[mine] = theirs
        views.append(View.of(both))
        rows.append(here)
    shared = np.flatnonzero(np.all([place >= 0 for place in rows], axis=0))
    known = case.pair.known.take(shared)
    return tuple(
        found for m in case.known if (found := _known(case, known, views, [r[shared] for r in rows], m)) is not None
    )


@dataclass(frozen=True, eq=False)
class View:
    """What each original transaction is published as in one release, and how its items are called there."""

    published: Transactions
    labels: pa.StringArray
    pair: Pair

    @classmethod
    def of(cls, both: Pair) -> View:
        """By the link, or as what it must be, or as the nearest published set."""
        if both.row_origin is not None:
            place = both.published_of()
            shown = both.published.take(np.maximum(place, 0))
            if (place < 0).any():
                keep = np.where(place >= 0, shown.lengths, 0)
                shown = shown.with_rows(
                    np.concatenate(([0], np.cumsum(keep))), shown.items[np.repeat(place >= 0, shown.lengths)]
                )
        elif both.seen_as is not None:
            shown = both.original
        else:
            shown = both.published.take(nearest(both.original, both.published))
        return cls(shown, both.known.labels, both)

    def codes(self, labels: pa.StringArray) -> Ints:
        """The code here of each of these items; −1 where this release's data do not have it."""
        place = pc.index_in(labels, value_set=self.labels).fill_null(-1).to_numpy(zero_copy_only=False)
        seen = self.pair.seen(np.maximum(place, 0).astype(np.int32))
        return np.where(place >= 0, seen, -1).astype(np.int32)


def _known(case: Case, known: Transactions, views: list[View], rows: list[Longs], m: int) -> Finding | None:
    people = np.flatnonzero(known.lengths >= m)
    if not len(people):
        return None
    random = case.random(f"two releases {m}")
    owners = draw_owners(people, case.draws, random)
    queries = drawn(known, owners, m, random)
    joined, codes = joined_views(views, rows, known.labels, queries)
    after = chance(joined, codes, owners, case.job)
    before = chance(views[0].published.take(rows[0]), codes[:, :m], owners, case.job)
    items = "one item" if m == 1 else f"{m} items"
    return finding(
        SPEC,
        case,
        Chances(after, before, drawn=True, attacked=len(people)),
        known=m,
        knows=f"{items} of a transaction, and can tell which transactions of the releases are the same",
        title=f"{items} known, {len(views)} releases",
        upper_bound=True,
    )


def joined_views(
    views: list[View], rows: list[Longs], labels: pa.StringArray, queries: Ints
) -> tuple[Transactions, Ints]:
    """What all releases publish of each transaction as one, under codes of its own for each; and so the queries."""
    offsets, width, parts = np.zeros(len(rows[0]) + 1, dtype=np.int64), 0, []
    codes = []
    for view, place in zip(views, rows, strict=True):
        part = view.published.take(place)
        parts.append((part.rows, part.items.astype(np.int64) + width))
        offsets += part.offsets
        own = view.codes(labels)[queries]
        codes.append(np.where(own >= 0, own + width, -1))
        width += part.n_items
    row, item = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.lexsort((item, row))
    names = pa.array([str(i) for i in range(width)], type=pa.string())
    empty = Transactions.from_codes([0], [], names)
    return empty.with_rows(offsets, item[order].astype(np.int32)), np.concatenate(codes, axis=1).astype(np.int32)


def chance(data: Transactions, queries: Ints, owners: Longs, job: Job) -> Floats:
    """1 / transactions that hold the query, where the owner's own does."""
    flat = np.ascontiguousarray(queries).reshape(-1)
    sizes = _native.count_candidates(
        data.offsets, data.items, data.n_items, flat, queries.shape[1], None, None, job.threads, job.monitor
    )
    found: Floats = np.where(holds_all(data, owners, queries), 1 / np.maximum(sizes, 1), 0.0)
    return found


def common(new: Transactions, old: Transactions) -> tuple[Longs, Longs]:
    """The places of the transactions that are in both: by id, or where there is none, by their items."""
    if new.ids is not None and old.ids is not None:
        place = pc.index_in(new.ids, value_set=old.ids).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.flatnonzero(place >= 0), place[place >= 0]
    numbers = [_numbered(sets) for sets in _contents(new, old)]
    mine, theirs = (pa.array(side, pa.string()) for side in numbers)
    place = pc.index_in(mine, value_set=theirs).fill_null(-1)
    found: Longs = place.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.flatnonzero(found >= 0), found[found >= 0]


def _contents(new: Transactions, old: Transactions) -> list[Longs]:
    """A number for each set of items, the same on both sides."""
    from anonset.assess.risk.attackers.whole_basket import codes

    labels = pc.unique(pa.concat_arrays([new.labels, old.labels]))
    sides = []
    for data in (new, old):
        place = pc.index_in(data.labels, value_set=labels).to_numpy(zero_copy_only=False)
        sides.append(Transactions.from_codes(data.offsets, place[data.items], labels))
    return codes(*sides)


def _numbered(sets: Longs) -> list[str]:
    """Each set with the number of its occurrence: the second equal one is another transaction than the first."""
    order = np.argsort(sets, kind="stable")
    first = np.searchsorted(sets[order], sets[order])
    turn = np.empty(len(sets), dtype=np.int64)
    turn[order] = np.arange(len(sets)) - first
    return [f"{one} {again}" for one, again in zip(sets.tolist(), turn.tolist(), strict=True)]


def nearest(original: Transactions, published: Transactions) -> Longs:
    """The published transaction nearest to each original one, by Hamming distance; of equally near ones the first."""
    left, right = original.to_scipy().astype(np.int32).tocsr(), published.to_scipy().astype(np.int32).tocsr()
    step = max(1, CELLS // max(1, len(published)))
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(original), step):
        shared = (left[start : start + step] @ right.T).toarray()
        found.append(np.argmin(published.lengths[None, :] - 2 * shared, axis=1))
    return np.concatenate(found)


SPEC = AttackSpec(
    name="two-releases",
    part="linkability",
    title="two releases",
    knows="some items of a transaction, and can tell which transactions of the releases are the same",
    run=run,
    forms=("rows",),
    needs=("previous",),
    reference="S. R. Ganta et al., Composition attacks and auxiliary information in data privacy, KDD 2008",
)
