"""Longest basket: an attacker who knows that nobody's transaction has more items than a person's.

The candidates are the longest published transactions. Before, the longest original ones, which are attacked.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.whole_basket import among
from anonset.assess.risk.spec import AttackSpec, Case, finding
from anonset.data.findings import Finding


def run(case: Case) -> tuple[Finding, ...]:
    """The chance of those who have the longest transactions; none where all are equally long."""
    lengths, published = case.pair.known.lengths, case.pair.published.lengths
    people = np.flatnonzero(lengths == lengths.max(initial=0))
    if len(people) == len(lengths):
        return ()
    chances = among(case.pair, people, published == published.max(initial=0))
    return (finding(SPEC, case, chances, upper_bound=case.row_origin is None),)


SPEC = AttackSpec(
    name="longest-basket",
    part="singling out",
    title="longest basket",
    knows="that a person's transaction is the longest of all",
    run=run,
)
