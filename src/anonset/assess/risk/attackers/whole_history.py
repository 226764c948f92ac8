"""Whole history: an attacker who knows all transactions of a person, and takes the nearest published history.

A history is the set of all items of a person's transactions. The chance is 1 / (persons whose published history is at
the least Hamming distance) where the person is one of them. Where the release publishes no users, nobody can put a
person's transactions together, and the chance is one that no attacker exceeds; with pseudonyms it is what such an
attacker achieves.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.risk.attackers.whole_basket import pair_codes
from anonset.assess.risk.linking import link_some
from anonset.assess.risk.persons import histories_of
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding

MOST = 2_000
"""How many persons are linked; each is compared with all histories."""


def run(case: Case) -> tuple[Finding, ...]:
    """The chance of (a random sample of) all known users."""
    both = histories_of(case)
    people = np.arange(len(both.original), dtype=np.int64)
    if not len(people):
        return ()
    some = case.some(people, max(1, min(MOST, case.draws)), "whole history")
    after, before = link_some(both, some, case.job, pair_codes(both))
    chances = Chances(after, before, drawn=len(some) < len(people), attacked=len(people))
    return (finding(SPEC, case, chances, upper_bound="published users" not in case.has),)


SPEC = AttackSpec(
    name="whole-history",
    part="linkability",
    title="whole history",
    knows="all transactions of a person, and takes the nearest published history",
    run=run,
    forms=("rows",),
    needs=("users", "origin"),
)
