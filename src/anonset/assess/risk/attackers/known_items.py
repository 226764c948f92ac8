"""Known items: an attacker who knows m items of a person's transaction and looks for those that hold them all.

Before, the candidates are the original transactions that hold the m items; after, the published ones that hold them, or
the nodes that stand for them. The chance is 1 / candidates where the person's own is among them, else 0. Transactions
of fewer than m items are not attacked; every m-subset of a transaction is equally likely, and so is every transaction.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.knowledge import Words, drawn, held_of, lacking, most_frequent
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.job import Job
from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions

Absence = tuple[Words, Words] | None
"""What each transaction holds, and what each query rules out, of the items known to be absent."""


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that some transaction has."""
    found = (_known(case, m) for m in case.known)
    return tuple(one for one in found if one is not None)


def _known(case: Case, m: int) -> Finding | None:
    chances = known_chances(case, m)
    if chances is None:
        return None
    items = "one item" if m == 1 else f"{m} items"
    return finding(
        SPEC,
        case,
        chances,
        known=m,
        knows=f"{items} of a person's transaction",
        title=f"{items} known",
        upper_bound=case.row_origin is None,
    )


def known_chances(case: Case, m: int, absent: int = 0) -> Chances | None:
    """The chance of each query of m items (and so many absent ones); None where nobody has as many items."""
    known = case.pair.known
    rows = np.flatnonzero(known.lengths >= m)
    if not len(rows):
        return None
    random = case.random(f"known items {m} {absent}")
    owners = draw_owners(rows, case.draws, random)
    queries = drawn(known, owners, m, random)
    original = Pair(known, known, np.arange(len(known), dtype=np.int64))
    before = query_chances(original, queries, owners, case.job, absent)
    after = query_chances(case.pair, case.pair.seen(queries), owners, case.job, absent)
    return Chances(after, before, drawn=True, attacked=len(rows))


def draw_owners(rows: Longs, draws: int, random: np.random.Generator) -> Longs:
    """Each of these transactions equally often, or as many of them as may be drawn."""
    if len(rows) > draws:
        return np.sort(random.choice(rows, draws, replace=False))
    return np.repeat(rows, max(1, draws // len(rows)))


def query_chances(pair: Pair, queries: Ints, owners: Longs, job: Job, absent: int) -> Floats:
    """1 / candidates where the owner's own is among them."""
    absence = absent_from(pair, owners, absent) if absent else None
    sizes = count(pair.published, queries, job, absence)
    own = _own_is_found(pair, queries, owners, absence) if pair.row_origin is not None else sizes > 0
    chance: Floats = np.where(own, 1 / np.maximum(sizes, 1), 0.0)
    return chance


def count(data: Transactions, queries: Ints, job: Job, absence: Absence = None) -> Longs:
    """How many transactions hold all items of each query, and nothing that is known to be absent."""
    flat = np.ascontiguousarray(queries).reshape(-1)
    held, absent = absence or (None, None)
    return _native.count_candidates(
        data.offsets, data.items, data.n_items, flat, queries.shape[1], held, absent, job.threads, job.monitor
    )


def absent_from(pair: Pair, owners: Longs, many: int) -> Absence:
    """The most frequent published items that the owners' originals, seen as published, do not hold."""
    top = most_frequent(pair.published)
    return held_of(pair.published, top), lacking(held_of(pair.original, top)[owners], len(top), many)


def _own_is_found(pair: Pair, queries: Ints, owners: Longs, absence: Absence) -> Mask:
    """Whether the owner's own published transaction is among the candidates."""
    own = pair.published_of()[owners]
    there = (own >= 0) & holds_all(pair.published, np.maximum(own, 0), queries)
    if absence is not None:
        held, absent = absence
        there &= (held[np.maximum(own, 0)] & absent) == 0
    return there


def holds_all(data: Transactions, rows: Longs, queries: Ints) -> Mask:
    """Whether row `rows[i]` holds all items of query i: every pair (row, item) is looked up in the sorted data."""
    if not data.nnz:
        return np.zeros(len(rows), dtype=np.bool_)
    keys = data.rows * data.n_items + data.items
    wanted = rows[:, None] * data.n_items + queries
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray((keys[place] == wanted).all(axis=1))


SPEC = AttackSpec(
    name="known-items",
    part="singling out",
    title="known items",
    knows="some items of a person's transaction",
    run=run,
    reference="M. Terrovitis, N. Mamoulis, P. Kalnis, PVLDB 1(1), 2008",
)
