"""History, known items: an attacker who knows m items from all transactions of a person, in whichever they stand.

The candidates are the persons whose published transactions together hold them all. Where the release publishes no
users, nobody can tell which transactions belong together, and the chance is one that no attacker exceeds.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.align import Pair
from anonset.assess.risk.attackers.known_items import draw_owners, query_chances
from anonset.assess.risk.knowledge import drawn
from anonset.assess.risk.persons import histories_of
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that some history has."""
    both, found = histories_of(case), []
    known, bound = both.known, "published users" not in case.has
    alone = Pair(known, known, np.arange(len(known), dtype=np.int64))
    for m in case.known:
        rows = np.flatnonzero(known.lengths >= m)
        if not len(rows):
            continue
        random = case.random(f"history items {m}")
        owners = draw_owners(rows, case.draws, random)
        queries = drawn(known, owners, m, random)
        before = query_chances(alone, queries, owners, case.job, 0)
        after = query_chances(both, both.seen(queries), owners, case.job, 0)
        items = "one item" if m == 1 else f"{m} items"
        knows = f"{items} from all transactions of a person"
        chances = Chances(after, before, drawn=True, attacked=len(rows))
        title = f"{items} of all baskets"
        found.append(finding(SPEC, case, chances, known=m, knows=knows, title=title, upper_bound=bound))
    return tuple(found)


SPEC = AttackSpec(
    name="history-items",
    part="linkability",
    title="items of all baskets",
    knows="some items from all transactions of a person",
    run=run,
    forms=("rows",),
    needs=("users", "origin"),
)
