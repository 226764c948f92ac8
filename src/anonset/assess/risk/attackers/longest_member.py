"""Longest member: an attacker who points at the longest member of a group as the holder of its sensitive item.

Holders of a sensitive item often have long transactions. That is what the data say, however groups are formed: no model
here promises anything against it. The groups are those that publish an item once; before is what pointing at random
achieves in them.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.guess import longest, right_guesses
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding

GROUPS = 300
"""Groups that are attacked; they are drawn at random."""


def run(case: Case) -> tuple[Finding, ...]:
    """How often the guess is right in (a random sample of) the groups with one occurrence of an item."""
    assert case.row_origin is not None
    right, chance = right_guesses(
        case.data, case.release, case.row_origin, longest, GROUPS, case.random("longest member")
    )
    if not len(right):
        return ()
    return (finding(SPEC, case, Chances(np.asarray(right), chance, drawn=True), each=False),)


SPEC = AttackSpec(
    name="longest-member",
    part="inference",
    title="longest member",
    knows="in which group a person is, and points at its longest member",
    run=run,
    forms=("groups",),
    needs=("sensitive", "origin"),
)
