"""Nearest match: an attacker who knows all quasi-identifier items of a person picks the published set nearest to them.

Where a release adds and removes items, nothing may match exactly; the nearest set by Hamming distance is then the best
guess. The chance is 1 / (published transactions at the least distance) where the person's own is among them.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.whole_basket import set_codes
from anonset.assess.risk.linking import link_some
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding

MOST = 2_000
"""How many persons are linked; each is compared with all published sets that share an item."""


def run(case: Case) -> tuple[Finding, ...]:
    """The chance of (a random sample of) all persons."""
    people = np.arange(len(case.data), dtype=np.int64)
    if not len(people):
        return ()
    some = case.some(people, max(1, min(MOST, case.draws)), "nearest match")
    after, before = link_some(case.facts, some, case.job, set_codes(case))
    chances = Chances(after, before, drawn=len(some) < len(people), attacked=len(people))
    return (finding(SPEC, case, chances, upper_bound=case.row_origin is None),)


SPEC = AttackSpec(
    name="nearest-match",
    part="singling out",
    title="nearest match",
    knows="all ordinary items of a person's transaction, and takes the nearest published set",
    run=run,
)
