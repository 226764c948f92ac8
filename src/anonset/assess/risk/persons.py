"""Original and release in persons: whose each published transaction is, and everybody's history before and after.

Known users are attacked; transactions of unknown ones are nobody's. Where the release publishes users, histories are
what their names link. Where it does not, nobody can put a person's published transactions together: what follows from
histories is then what no attacker exceeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.spec import Case
from anonset.data.arrays import distinct
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.data.unit import users_behind

IN_PERSONS = ("person-items", "history-items", "whole-history")
"""The attackers who look for persons."""


@dataclass(frozen=True, eq=False)
class Persons:
    """The persons of a case, numbered from 0; of each original and published transaction its person, −1 for nobody."""

    count: int
    original: Longs
    published: Longs

    @classmethod
    def of(cls, case: Case) -> Persons:
        """The known users of the original, and whose the published transactions are."""
        users = case.data.users
        assert users is not None
        assert case.row_origin is not None
        known = distinct(users[users >= 0])
        behind = users_behind(case.data, case.row_origin)
        assert behind is not None
        return cls(len(known), _numbered(users, known), _numbered(behind, known))


def _numbered(users: Ints, known: Ints) -> Longs:
    place = np.searchsorted(known, users)
    return np.where(users < 0, -1, place).astype(np.int64)


def histories_of(case: Case) -> Pair:
    """Everybody's history before and after as one transaction each, in the order of persons."""
    persons, both = Persons.of(case), case.facts
    original = united(both.original, persons.original, persons.count)
    published = united(both.published, persons.published, persons.count)
    exact = None if both.exact is None else united(both.exact, persons.original, persons.count)
    origin = np.arange(persons.count, dtype=np.int64)
    return Pair(original, published, origin, exact, both.seen_as, both.ways, both.plain, overlapping=True)


def united(data: Transactions, whose: Longs, count: int) -> Transactions:
    """All transactions of each of so many persons as one."""
    rows = np.flatnonzero(whose >= 0)
    lines = data.take(rows[np.argsort(whose[rows], kind="stable")])
    sizes = np.bincount(whose[rows], weights=data.lengths[rows], minlength=count).astype(np.int64)
    return Transactions.from_codes(np.concatenate(([0], np.cumsum(sizes))), lines.items, data.labels)


def companions(data: Transactions, whose: Longs, queries: Ints, own: Longs, job: Job) -> tuple[Longs, Mask]:
    """How many persons have a transaction that holds all items of each query, and whether its own person does."""
    rows = np.flatnonzero(whose >= 0)
    rows = rows[np.argsort(whose[rows], kind="stable")]
    lines = data.take(rows)
    flat, person = np.ascontiguousarray(queries, dtype=np.int32).reshape(-1), whose[rows].astype(np.int32)
    sizes, found = _native.count_persons(
        lines.offsets, lines.items, person, lines.n_items, flat, own.astype(np.int32), queries.shape[1],
        job.threads, job.monitor,
    )  # fmt: skip
    return sizes, found.astype(np.bool_)
