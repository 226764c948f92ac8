"""Every set of up to M patterns that are all maximal for one user, and how many users share it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from anonset.data.errors import ParameterError
from anonset.data.transactions import Ints, Longs
from anonset.models.patterns.bitmaps import Bits, ones, unpacked
from anonset.models.patterns.table import PatternTable

MOST_WITNESSES = 5
MOST_COMBINATIONS = 100_000_000
BLOCK = 1 << 26  # bytes of bitmaps that one step of the walk over combinations may hold


def all_combinations(table: PatternTable, most: int) -> Iterator[tuple[int, Ints, Longs]]:
    """All sets of 1 to `most` patterns that are maximal for one user, block by block, with their degrees."""
    live = np.flatnonzero(table.maximal.any(axis=1))
    held, maximal = table.held[live], table.maximal[live]
    _require_countable(table, maximal, most)
    singles = np.arange(len(live), dtype=np.int32)[:, None]
    if not len(live):
        return
    yield 1, live[singles].astype(np.int32), ones(held)
    stack = [_grown(singles, held, maximal, held, maximal)] if most > 1 else []
    while stack:  # depth first, so that no more than one block per size is held
        block = next(stack[-1], None)
        if block is None:
            stack.pop()
            continue
        sets, users, owners = block
        yield len(stack) + 1, live[sets].astype(np.int32), ones(users)
        if len(stack) + 1 < most:
            stack.append(_grown(sets, users, owners, held, maximal))


def _grown(
    sets: Ints, users: Bits, owners: Bits, held: Bits, maximal: Bits
) -> Iterator[tuple[Ints, Bits, Bits]]:  # fmt: skip
    """The sets with one more, later pattern; sets are in the order of their last pattern, and stay so."""
    room = max(1, BLOCK // (16 * held.shape[1]))
    parts: list[tuple[Ints, Bits, Bits]] = []
    waiting = 0
    for pattern in range(len(held)):
        before = int(np.searchsorted(sets[:, -1], pattern))
        own = owners[:before] & maximal[pattern]
        alive = np.flatnonzero(own.any(axis=1))
        if not len(alive):
            continue
        last = np.full((len(alive), 1), pattern, dtype=np.int32)
        parts.append((np.hstack((sets[alive], last)), users[alive] & held[pattern], own[alive]))
        waiting += len(alive)
        if waiting >= room:
            yield _joined(parts)
            parts, waiting = [], 0
    if parts:
        yield _joined(parts)


def _joined(parts: list[tuple[Ints, Bits, Bits]]) -> tuple[Ints, Bits, Bits]:
    sets, users, owners = zip(*parts, strict=True)
    return np.concatenate(sets), np.concatenate(users), np.concatenate(owners)


def _require_countable(table: PatternTable, maximal: Bits, most: int) -> None:
    """Refuse a number of combinations that nobody wants to wait for."""
    each = np.zeros(table.users, dtype=np.int64)
    for line in maximal:
        each += unpacked(line, table.users)
    sizes, users = np.unique(each, return_counts=True)
    total = sum(
        int(count) * _choices(int(size), most) for size, count in zip(sizes, users, strict=True)
    )  # shared ones counted more than once
    total = min(total, _choices(len(maximal), most))
    if total > MOST_COMBINATIONS:
        raise ParameterError(
            "combinations",
            f"leave at most {MOST_COMBINATIONS:,} combinations of patterns",
            f"{most} with up to {total:.1e} of them",
            "Choose a smaller number or a larger support.",
        )


def _choices(patterns: int, most: int) -> int:
    return sum(math.comb(patterns, size) for size in range(1, most + 1))


class Tally:
    """What is remembered of all combinations: how many of each size, how many fail, the lowest degree, the worst."""

    def __init__(self, k: int, most: int) -> None:
        self.k = k
        self.count = [0] * most
        self.below = [0] * most
        self.lowest: int | None = None
        self.worst: list[tuple[int, tuple[int, ...]]] = []

    def add(self, size: int, sets: Ints, degrees: Longs) -> None:
        """Take in one block of combinations of this size."""
        failing = np.flatnonzero(degrees < self.k)
        smallest = int(degrees.min())
        self.count[size - 1] += len(degrees)
        self.below[size - 1] += len(failing)
        self.lowest = smallest if self.lowest is None else min(self.lowest, smallest)
        few = failing[np.argsort(degrees[failing], kind="stable")[:MOST_WITNESSES]]
        self.worst += [(int(degrees[i]), tuple(sets[i].tolist())) for i in few]
        self.worst = sorted(self.worst, key=lambda found: (found[0], len(found[1]), found[1]))[:MOST_WITNESSES]
