"""Which patterns the published transactions hold, who contains each of them, and for whom it is maximal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonset.data.errors import ParameterError
from anonset.data.transactions import Longs, Transactions
from anonset.data.unit import require_known
from anonset.models.patterns.bitmaps import Bits, ones, packed, unpacked

MOST_PATTERNS = 200_000


@dataclass(frozen=True, eq=False)
class PatternTable:
    """The patterns (item codes), and as bitmaps over the users who contains each and for whom it is maximal."""

    patterns: list[tuple[int, ...]]
    held: Bits
    maximal: Bits
    users: int


def pattern_table(data: Transactions, least: int) -> PatternTable:
    """All sets of items that at least `least` transactions hold, and their users."""
    if data.users is None:
        advice = "Name the column that holds them; combinations of patterns are about users."
        raise ParameterError("user", "say whom each transaction belongs to", "none", advice)
    require_known(data)
    present, user = np.unique(data.users, return_inverse=True)
    patterns: list[tuple[int, ...]] = []
    bitmaps: list[Bits] = []
    for pattern, members in _mine(data, least):
        if len(patterns) == MOST_PATTERNS:
            most = f"leave at most {MOST_PATTERNS:,} patterns"
            raise ParameterError("support", most, f"more of them at {least:,}", "Choose a larger support.")
        mask = np.zeros(len(present), dtype=np.bool_)
        mask[user[members]] = True
        patterns.append(pattern)
        bitmaps.append(packed(mask[None, :])[0])
    held = np.stack(bitmaps) if bitmaps else np.zeros((0, 1), dtype=np.uint64)
    return PatternTable(patterns, held, held & ~_covered(patterns, held), len(present))


def _mine(data: Transactions, least: int) -> Iterator[tuple[tuple[int, ...], Longs]]:
    """Every pattern with the transactions that hold it, depth first."""
    counts = data.item_counts
    rarest = np.argsort(counts, kind="stable")
    rarest = rarest[counts[rarest] >= least]
    rank = np.full(data.n_items, -1, dtype=np.int64)
    rank[rarest] = np.arange(len(rarest))
    known = rank[data.items] >= 0
    codes, rows = rank[data.items[known]], data.rows[known]
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(data)))))
    by_item = np.argsort(codes, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(rarest)))))
    for first in range(len(rarest)):
        members = rows[by_item[bounds[first] : bounds[first + 1]]]
        later, bits = _projected(codes, starts, members, first, least)
        for ranks, chosen in _deepen(first, later, bits, len(members), least):
            yield tuple(sorted(rarest[list(ranks)].tolist())), members[chosen]


def _projected(codes: Longs, starts: Longs, members: Longs, first: int, least: int) -> tuple[Longs, Bits]:
    """The items after `first` that are frequent among these transactions, and a bitmap over them for each."""
    sizes = starts[members + 1] - starts[members]
    ends = np.cumsum(sizes)
    place = np.repeat(starts[members] - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
    local = np.repeat(np.arange(len(members)), sizes)
    counts = np.bincount(codes[place], minlength=first + 1)
    counts[: first + 1] = 0
    later = np.flatnonzero(counts >= least)
    position = np.full(len(counts), -1)
    position[later] = np.arange(len(later))
    line = position[codes[place]]
    matrix = np.zeros((len(later), len(members)), dtype=np.bool_)
    matrix[line[line >= 0], local[line >= 0]] = True
    return later, packed(matrix)


def _deepen(
    first: int, later: Longs, bits: Bits, size: int, least: int
) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.bool_]]]:
    """All patterns that begin with `first`, each with a mask over its transactions; a stack instead of recursion."""
    yield (first,), np.ones(size, dtype=np.bool_)
    stack: list[tuple[tuple[int, ...], Longs, Bits, int]] = [((first,), later, bits, 0)]
    while stack:
        prefix, items, sets, at = stack.pop()
        if at == len(items):
            continue
        stack.append((prefix, items, sets, at + 1))
        pattern = (*prefix, int(items[at]))
        yield pattern, unpacked(sets[at], size)
        both = sets[at + 1 :] & sets[at]
        frequent = ones(both) >= least
        stack.append((pattern, items[at + 1 :][frequent], both[frequent], 0))


def _covered(patterns: list[tuple[int, ...]], held: Bits) -> Bits:
    """For each pattern the users who contain one that is larger by one item."""
    index = {pattern: i for i, pattern in enumerate(patterns)}
    pairs = [
        (index[pattern[:i] + pattern[i + 1 :]], child)
        for pattern, child in index.items()
        if len(pattern) > 1
        for i in range(len(pattern))
    ]
    out = np.zeros_like(held)
    if pairs:
        smaller, larger = np.array(sorted(pairs), dtype=np.int64).T
        parents, first = np.unique(smaller, return_index=True)
        out[parents] = np.bitwise_or.reduceat(held[larger], first, axis=0)
    return out
