"""Person, known items: an attacker who knows m items of one transaction of a person, and wants to know who it is.

The candidates are the different persons with a published transaction that holds them all (or the nodes that stand for
them). The chance is 1 / candidates where the person is one of them, however many transactions each of them has. Before,
the same among the original transactions. Every transaction of a known user is equally likely, and so is every m-subset.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.known_items import Queries, draw_owners, in_all_ways, in_any_way, known_words
from anonset.assess.risk.knowledge import drawn
from anonset.assess.risk.persons import Persons, companions
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.transactions import Floats, Ints, Longs, Transactions


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that some transaction has."""
    found = []
    for m in case.known:
        chances = person_chances(case, m)
        if chances is not None:
            items, bound = known_words(case, m), case.facts.ways is not None
            knows, title = f"{items} of one transaction of a person", f"{items.partition(',')[0]} of one basket"
            found.append(finding(SPEC, case, chances, known=m, knows=knows, title=title, upper_bound=bound))
    return tuple(found)


def person_chances(case: Case, m: int) -> Chances | None:
    """The chance of each query of m items; None where no known user has as many in a transaction."""
    persons, both = Persons.of(case), case.facts
    known = both.known
    rows = np.flatnonzero((known.lengths >= m) & (persons.original >= 0))
    if not len(rows):
        return None
    random = case.random(f"person items {m}")
    owners = draw_owners(rows, case.draws, random)
    queries, own = drawn(known, owners, m, random), persons.original[owners]
    before = chance_of(case, known, persons.original, queries, own)
    if both.ways is None:
        after = chance_of(case, both.published, persons.published, both.seen(queries), own)
    else:
        ways, asked = in_all_ways(both.ways, Queries(owners, queries, np.zeros(len(owners), dtype=np.int64)))
        after = chance_of(case, both.published, persons.published, ways.items, own[asked], asked)
    return Chances(after, before, drawn=True, attacked=len(rows))


def chance_of(
    case: Case, data: Transactions, whose: Longs, queries: Ints, own: Longs, asked: Longs | None = None
) -> Floats:
    """1 / persons who fit, where the own one does; `asked` says which question each query belongs to, if not its own.

    A person may fit in several ways: of a question asked in several, the one with most persons counts.
    """
    sizes, found = companions(data, whose, queries, own, case.job)
    if asked is not None:
        count = int(asked.max(initial=-1)) + 1
        sizes = in_any_way(sizes, asked, count, overlapping=True)
        found = np.bincount(asked, found, count) > 0
    chance: Floats = np.where(found, 1 / np.maximum(sizes, 1), 0.0)
    return chance


SPEC = AttackSpec(
    name="person-items",
    part="singling out",
    title="items of one basket",
    knows="some items of one transaction of a person",
    run=run,
    forms=("rows",),
    needs=("users", "origin"),
)
