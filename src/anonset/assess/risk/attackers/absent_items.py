"""Absent items: an attacker who knows m items of a transaction, and frequent items that it does not hold.

The candidates hold the m known items and none of those known to be absent: the most frequent published items (or nodes)
that the person's original does not hold. A release that adds items may thereby hide a person's own transaction.
"""

from __future__ import annotations

from anonset.assess.risk.attackers.known_items import ABSENT, findings
from anonset.assess.risk.spec import AttackSpec, Case
from anonset.data.findings import Finding


def run(case: Case) -> tuple[Finding, ...]:
    """The smaller numbers of known items, with absent ones."""
    return findings(SPEC, case, ABSENT)


SPEC = AttackSpec(
    name="absent-items",
    part="singling out",
    title="absent items",
    knows="some items of a person's transaction, and some that it does not hold",
    run=run,
)
