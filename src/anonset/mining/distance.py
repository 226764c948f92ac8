"""How far the patterns of users lie apart: the sums behind pattern distance (PD).

For a user with maximal patterns P before and P′ after, PD = Σ over p ∈ P of the distance to the nearest p′ ∈ P′, and
the other way round; the distance between two patterns is the number of items that only one of them has.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013, section II.C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonset import _native
from anonset.data.transactions import Longs
from anonset.mining.itemsets import UserPatterns


@dataclass(frozen=True, eq=False)
class PatternDistance:
    """PD of each user (in the order of the original's user codes) and on average, with the numbers of patterns."""

    per_user: Longs
    patterns_before: Longs
    patterns_after: Longs
    virtual_users: int = 0

    @property
    def average(self) -> float:
        """PD: the mean over the original users; 0 means that everybody kept all patterns and got no other."""
        return float(self.per_user.mean()) if len(self.per_user) else 0.0

    def __repr__(self) -> str:
        return f"PatternDistance({self.average:.3f} on average over {len(self.per_user):,} users)"


def between(before: UserPatterns, after: UserPatterns) -> PatternDistance:
    """PD between two tables of users' patterns over the same item codes; users that only `after` has are left out."""
    old, own = before.own()
    new, others = after.own()
    new = new[: len(old)]
    distance = _native.pattern_distance(
        before.patterns.offsets, before.patterns.items, old, own,
        after.patterns.offsets, after.patterns.items, new, others,
    )  # fmt: skip
    return PatternDistance(distance, np.diff(old), np.diff(new))
