"""A second checker for every model, from its definition: sets and loops, slow, and nothing shared with `models/`.

A release is a list of `Row`s and, in groups, a list of counted lines. Every check gives whether the promise holds and
the strongest value that does: the largest k, or for privacy degree the largest p.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations


@dataclass(frozen=True)
class Row:
    """One published transaction: its open items with their counts, its sensitive items, its user, its group."""

    items: dict[str, int]
    secret: frozenset[str] = frozenset()
    user: str = ""
    group: int = 0

    @property
    def look(self) -> frozenset[tuple[str, int]]:
        """What somebody sees who knows everything that is not sensitive."""
        return frozenset(self.items.items())


@dataclass(frozen=True)
class Published:
    """A release as anybody reads it; `counts` are the lines (group, sensitive item, how often) of one in groups."""

    rows: list[Row]
    counts: list[tuple[int, str, int]] | None = None
    attribute_of: dict[str, str] = field(default_factory=dict)


def k_anonymity(release: Published, k: int, protect: str = "all", diversity: int | None = None) -> tuple[bool, int]:
    """Every look is shared by k rows; with `sensitive-only` only looks that stand beside something sensitive count."""
    looks = [row.look for row in release.rows]
    watched = set(looks) if protect == "all" else {row.look for row in release.rows if row.secret}
    sizes = [sum(other == look for other in looks) for look in watched]
    strongest = min(sizes, default=len(looks))
    holds = not sizes or strongest >= k
    if diversity is not None:
        holds = holds and privacy_degree(release, diversity)[0]
    return holds, strongest


def km_anonymity(release: Published, k: int, m: int) -> tuple[bool, int]:
    """Every set of 1 to m published items (an item with another count is another item) occurs in k rows or in none."""
    rows = [set(row.look) | {(item, row.items.get(item, 1)) for item in row.secret} for row in release.rows]
    known = {frozenset(some) for row in rows for size in range(1, m + 1) for some in combinations(sorted(row), size)}
    supports = [sum(some <= row for row in rows) for some in known]
    return all(support >= k for support in supports), min(supports, default=len(rows))


def privacy_degree(release: Published, p: int) -> tuple[bool, int]:
    """In every group every sensitive item occurs in at most one of p members, and nothing else ties it to one."""
    if release.counts is None:
        looks = {row.look for row in release.rows}
        members = {look: [row for row in release.rows if row.look == look] for look in looks}
        pairs = [
            (len(rows), sum(item in row.secret for row in rows))
            for rows in members.values()
            for item in {item for row in rows for item in row.secret}
        ]
        return all(often * p <= size for size, often in pairs), min(
            (size // often for size, often in pairs), default=-1
        )
    sound = _sound(release)
    pairs = []
    for group, item in {(group, item) for group, item, _ in release.counts}:
        often = sum(count for where, what, count in release.counts if (where, what) == (group, item))
        if often > 0:
            pairs.append((sum(row.group == group for row in release.rows), often))
    holds = sound and all(often * p <= size for size, often in pairs)
    return holds, min((size // often for size, often in pairs), default=len(release.rows))


def _sound(release: Published) -> bool:
    """No counted item in a row, no negative count, no count without members, members in the order of their items."""
    assert release.counts is not None
    counted = {item for _, item, _ in release.counts}
    groups = {row.group for row in release.rows}
    inside = any(counted & set(row.items) or row.secret for row in release.rows)
    lost = any(count < 0 or (count > 0 and group not in groups) for group, _, count in release.counts)
    rows_of = {group: [sorted(row.items) for row in release.rows if row.group == group] for group in groups}
    return not inside and not lost and all(rows == sorted(rows) for rows in rows_of.values())


def kp_anonymity(release: Published, k: int, p: Fraction) -> tuple[bool, int]:
    """Rows of equal counts are at least k; at most a share of p of them holds something sensitive of one attribute."""
    looks = [frozenset((item, count) for item, count in row.items.items() if count) for row in release.rows]
    smallest, holds = len(looks), True
    for look in set(looks):
        members = [row for row, its in zip(release.rows, looks, strict=True) if its == look]
        smallest = min(smallest, len(members))
        of = [{release.attribute_of.get(item, item) for item in row.secret} for row in members]
        for attribute in set().union(*of):
            holds = holds and sum(attribute in own for own in of) <= p * len(members)
    return holds and (smallest >= k or not looks), smallest


def multi_pattern(release: Published, k: int, combined: int, support: int) -> tuple[bool, int]:
    """Every combination of up to M patterns that are maximal for one user is contained by at least k users."""
    rows = [(row.user, frozenset(row.items)) for row in release.rows]
    users = {user for user, _ in rows}
    possible = {
        frozenset(some) for _, row in rows for size in range(1, len(row) + 1) for some in combinations(row, size)
    }
    patterns = [some for some in possible if sum(some <= row for _, row in rows) >= support]
    held = {
        user: {some for some in patterns if any(who == user and some <= row for who, row in rows)} for user in users
    }
    degrees = []
    for user in users:
        maximal = [some for some in held[user] if not any(some < other for other in held[user])]
        for size in range(1, combined + 1):
            for chosen in combinations(maximal, size):
                degrees.append(sum(all(some in held[other] for some in chosen) for other in users))
    return all(degree >= k for degree in degrees), min(degrees, default=len(users))
