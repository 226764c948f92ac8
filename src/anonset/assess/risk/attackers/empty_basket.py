"""Empty basket: an attacker who knows that a person's transaction holds no ordinary item.

The candidates are the transactions that are published without any. Attacked are those that had none.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.whole_basket import among
from anonset.assess.risk.spec import AttackSpec, Case, finding
from anonset.data.findings import Finding


def run(case: Case) -> tuple[Finding, ...]:
    """The chance of those whose transactions are empty."""
    people = np.flatnonzero(case.pair.known.lengths == 0)
    if not len(people):
        return ()
    chances = among(case.pair, people, case.pair.published.lengths == 0)
    return (finding(SPEC, case, chances, upper_bound=case.row_origin is None),)


SPEC = AttackSpec(
    name="empty-basket",
    part="singling out",
    title="empty basket",
    knows="that a person's transaction holds no ordinary item",
    run=run,
)
