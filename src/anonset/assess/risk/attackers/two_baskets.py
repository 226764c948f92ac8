"""Two baskets: where users are published, an attacker who knows one whole transaction of a person finds all others.

The candidates are the published users of whom some transaction is exactly the known one (or the nodes that stand for
it). The chance is 1 / candidates where the person is one of them. Before, the same among the original users under
pseudonyms.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.whole_basket import set_codes
from anonset.assess.risk.persons import Persons
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.arrays import contained, distinct
from anonset.data.findings import Finding
from anonset.data.transactions import Floats, Longs, Mask


def run(case: Case) -> tuple[Finding, ...]:
    """The chance for every transaction of a known user."""
    persons = Persons.of(case)
    rows = np.flatnonzero(persons.original >= 0)
    published = case.release.transactions.users
    if not len(rows) or published is None:
        return ()
    known, seen, after = set_codes(case)
    before = _chance(known[rows], persons.original[rows], known[rows], persons.original[rows])
    # A published name is a person's where it stands at one of that person's transactions.
    there = persons.published >= 0
    names = _renamed(published.astype(np.int64), persons.published, there)
    return (finding(SPEC, case, Chances(_chance(seen[rows], persons.original[rows], after, names), before)),)


def _renamed(names: Longs, person: Longs, there: Mask) -> Longs:
    """Each published name as the number of the person behind it; invented users keep numbers of their own."""
    number = np.arange(int(names.max(initial=0)) + 1) + int(person.max(initial=0)) + 1
    number[names[there]] = person[there]
    return np.asarray(number[names], dtype=np.int64)


def _chance(known: Longs, own: Longs, sets: Longs, users: Longs) -> Floats:
    """1 / different users with a transaction of the known set, where one's own is one of them."""
    width = max(int(users.max(initial=0)), int(own.max(initial=0))) + 1
    pairs = distinct(sets * width + users)
    size = np.bincount(pairs // width, minlength=int(known.max(initial=0)) + 1)
    there = contained(known * width + own, pairs)
    chance: Floats = np.where(there, 1 / np.maximum(size[known], 1), 0.0)
    return chance


SPEC = AttackSpec(
    name="two-baskets",
    part="linkability",
    title="two baskets of one user",
    knows="one whole transaction of a person, and looks for that user's others",
    run=run,
    forms=("rows",),
    needs=("users", "published users", "origin"),
)
