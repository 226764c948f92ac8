"""Combinations of patterns straight from the definitions of Hsu and Tsai, for tiny data."""

from collections.abc import Iterable
from itertools import combinations

Itemset = frozenset[str]
Owned = list[tuple[str, set[str]]]  # (user, items) of each transaction


def patterns(data: Owned, support: int) -> set[Itemset]:
    """FP(D): every itemset that at least `support` transactions hold."""
    candidates = {frozenset(c) for _, row in data for size in range(1, len(row) + 1) for c in combinations(row, size)}
    return {items for items in candidates if sum(items <= row for _, row in data) >= support}


def contained(data: Owned, support: int) -> dict[str, set[Itemset]]:
    """FP(D, u) of each user."""
    frequent = patterns(data, support)
    users = {user for user, _ in data}
    return {u: {p for p in frequent if any(owner == u and p <= row for owner, row in data)} for u in users}


def maximal(held: Iterable[Itemset]) -> set[Itemset]:
    """Those that are not part of a larger one."""
    held = set(held)
    return {p for p in held if not any(p < q for q in held)}


def degrees(table: dict[str, set[Itemset]], most: int) -> dict[frozenset[Itemset], int]:
    """AD of every combination of up to `most` of a user's maximal patterns; `table` is MP."""
    found = {frozenset(c) for own in table.values() for size in range(1, most + 1) for c in combinations(own, size)}
    return {c: sum(all(any(p <= q for q in own) for p in c) for own in table.values()) for c in found}


def table(data: Owned, support: int) -> dict[str, set[Itemset]]:
    """MP(D, u) of each user."""
    return {user: maximal(held) for user, held in contained(data, support).items()}


def pattern_distance(before: set[Itemset], after: set[Itemset]) -> int:
    """PD of one user; against no pattern at all a pattern is as far as it has items."""

    def nearest(p: Itemset, others: set[Itemset]) -> int:
        return min((len(p ^ q) for q in others), default=len(p))

    return sum(nearest(p, after) for p in before) + sum(nearest(p, before) for p in after)
