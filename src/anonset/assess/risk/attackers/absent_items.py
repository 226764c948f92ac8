"""Absent items: an attacker who knows m items of a transaction, and frequent items that it does not hold.

The candidates hold the m known items and none of those known to be absent: the most frequent published items (or nodes)
that the person's original does not hold. A release that adds items may thereby hide a person's own transaction.
"""

from __future__ import annotations

from anonset.assess.risk.attackers.known_items import known_chances
from anonset.assess.risk.spec import AttackSpec, Case, finding
from anonset.data.findings import Finding

ABSENT = 2
"""How many items are known to be absent."""


def run(case: Case) -> tuple[Finding, ...]:
    """The same numbers of known items as without absent ones, at most two."""
    found = []
    for m in (m for m in case.known if m <= ABSENT):
        chances = known_chances(case, m, ABSENT)
        if chances is not None:
            items = "one item" if m == 1 else f"{m} items"
            knows = f"{items} of a person's transaction, and {ABSENT} frequent items that it does not hold"
            title = f"{items} known, {ABSENT} absent"
            upper = case.row_origin is None
            found.append(finding(SPEC, case, chances, known=m, knows=knows, title=title, upper_bound=upper))
    return tuple(found)


SPEC = AttackSpec(
    name="absent-items",
    part="singling out",
    title="absent items",
    knows="some items of a person's transaction, and some that it does not hold",
    run=run,
)
