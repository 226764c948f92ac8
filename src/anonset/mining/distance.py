"""How far the patterns of users lie apart: the sums behind pattern distance (PD), and what to compare them with.

For a user with maximal patterns P before and P′ after, PD = Σ over p ∈ P of the distance to the nearest p′ ∈ P′, and
the other way round; the distance between two patterns is the number of items that only one of them has. Where there is
no pattern to compare with, a pattern is as far away as it has items.

PD alone misleads: users who keep all their patterns and get some more can be further from what they were than users who
lose everything. So the share of patterns kept and the distance of an empty table stand beside it.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013, section II.C.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anonset import _native
from anonset.data.transactions import Longs
from anonset.mining.itemsets import Patterns, UserPatterns


@dataclass(frozen=True, eq=False)
class PatternDistance:
    """PD of each user (in the order of the original's user codes) and on average, with the numbers of patterns.

    `patterns_kept` counts the maximal patterns before that the user still contains, `empty_per_user` is what PD would
    be if the user had no pattern left.
    """

    per_user: Longs
    patterns_before: Longs
    patterns_after: Longs
    patterns_kept: Longs
    empty_per_user: Longs
    virtual_users: int = 0

    @property
    def average(self) -> float:
        """PD: the mean over the original users; 0 means that everybody kept all patterns and got no other."""
        return float(self.per_user.mean()) if len(self.per_user) else 0.0

    @property
    def kept(self) -> float:
        """The share of users' maximal patterns that they still contain."""
        total = int(self.patterns_before.sum())
        return float(self.patterns_kept.sum() / total) if total else 1.0

    @property
    def empty(self) -> float:
        """PD of a table in which nobody has a pattern any more."""
        return float(self.empty_per_user.mean()) if len(self.empty_per_user) else 0.0

    def __repr__(self) -> str:
        return (
            f"PatternDistance({self.average:.3f} on average over {len(self.per_user):,} users, {self.empty:.3f} for an "
            f"empty table, {self.kept:.1%} of the patterns kept)"
        )


def between(before: UserPatterns, after: UserPatterns) -> PatternDistance:
    """PD between two tables of users' patterns over the same item codes; users that only `after` has are left out."""
    old, own = before.own()
    new, others = after.own()
    new = new[: len(old)]
    distance = _native.pattern_distance(
        before.patterns.offsets, before.patterns.items, old, own,
        after.patterns.offsets, after.patterns.items, new, others,
    )  # fmt: skip
    user = np.repeat(np.arange(len(before)), np.diff(old))
    items = np.bincount(user, np.diff(before.patterns.offsets)[own], minlength=len(before)).astype(np.int64)
    kept = np.bincount(user[_still_held(before, after)], minlength=len(before))
    return PatternDistance(distance, np.diff(old), np.diff(new), kept, items)


def _still_held(before: UserPatterns, after: UserPatterns) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each maximal pattern of each user before, whether the user contains it after."""
    old, own = before.own()
    place = _places(before.patterns, after.patterns)[own]
    total = len(after.patterns) + 1
    pairs = np.repeat(np.arange(len(before)), np.diff(old)) * total + place
    held = np.repeat(np.arange(len(after)), np.diff(after.offsets)) * total + after.held
    return (place >= 0) & np.isin(pairs, held)


def _places(patterns: Patterns, others: Patterns) -> Longs:
    """The number that each of the patterns has among the others, or −1."""
    if patterns is others:
        return np.arange(len(patterns), dtype=np.int64)
    known = {items: number for number, items in enumerate(_sets(others))}
    return np.array([known.get(items, -1) for items in _sets(patterns)], dtype=np.int64)


def _sets(patterns: Patterns) -> list[tuple[int, ...]]:
    items, bounds = patterns.items.tolist(), patterns.offsets.tolist()
    return [tuple(items[start:end]) for start, end in pairwise(bounds)]
