"""Supports of itemsets in published sets, size by size: transactions that hold an itemset, or the persons behind them.

The sets of one size are grown from blocks of prefixes: memory stays within a block, however many sets there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonset.data.arrays import distinct
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.models.k_anonymity import users_of_each

BLOCK = 1 << 20  # grown occurrences held at once


def supports(
    sets: Transactions, weights: Longs, size: int, in_persons: bool
) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
    """All itemsets of this size with their supports, block by block."""
    occurrence = np.argsort(sets.items, kind="stable")
    first = sets.items[occurrence]
    starts = np.flatnonzero(np.concatenate(([True], first[1:] != first[:-1])))
    prefix = np.cumsum(np.concatenate(([0], first[1:] != first[:-1])))
    weight = weights[sets.rows].astype(np.float64)
    ends = np.repeat(sets.offsets[1:], sets.lengths)
    grower = _Grower(sets.items, ends, weight, sets.n_items, in_persons)
    yield from grower.grow(first[starts][:, None], prefix, occurrence, size - 1)


def supports_of(sets: Transactions, itemsets: npt.NDArray[np.int32], users: Ints | None = None) -> Longs:
    """In how many transactions each of these itemsets occurs, or in those of how many different known users."""
    order = np.argsort(sets.items, kind="stable")
    rows = sets.rows[order]
    starts = np.searchsorted(sets.items[order], np.arange(sets.n_items + 1))
    found = np.empty(len(itemsets), dtype=np.int64)
    prefix, counts = None, np.empty(0, dtype=np.int64)
    for place, itemset in enumerate(itemsets.tolist()):
        if itemset[:-1] != prefix:
            prefix = itemset[:-1]
            held = np.arange(len(sets))
            for item in prefix:
                held = np.intersect1d(held, rows[starts[item] : starts[item + 1]], assume_unique=True)
            counts = _beside(sets, held, users)
        found[place] = counts[itemset[-1]]
    return found


def _beside(sets: Transactions, held: Longs, users: Ints | None) -> Longs:
    """For each item the number of these transactions that hold it, or of the different known users behind them."""
    inside = np.zeros(len(sets), dtype=np.bool_)
    inside[held] = True
    there = inside[sets.rows]
    if users is None:
        return np.bincount(sets.items[there], minlength=sets.n_items).astype(np.int64)
    return users_of_each(sets.items[there].astype(np.int64), users[sets.rows[there]], sets.n_items)


@dataclass(frozen=True, eq=False)
class _Grower:
    """Grows itemsets by one item at a time. An occurrence is the position of an itemset's last item in a row."""

    items: Ints
    ends: Longs  # where the row of each position ends
    weight: npt.NDArray[np.float64]  # of the row of each position; in persons: whose it is, 0 for unknown
    n_items: int
    in_persons: bool = False

    def grow(
        self, itemsets: npt.NDArray[np.int32], prefix: Longs, position: Longs, steps: int
    ) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
        """Supports of all itemsets that have `steps` items more; `prefix` is sorted and numbers `itemsets`."""
        if steps == 0:
            support = self._support(prefix, self.weight[position], len(itemsets))
            if len(support):
                yield itemsets, support
            return
        rest = self.ends[position] - position - 1
        for block in _blocks(prefix, rest):
            low = int(prefix[block.start])
            grown, key = self._longer(prefix[block] - low, position[block], rest[block])
            if steps == 1:
                yield from self._count(itemsets, low, key, self.weight[grown])
            else:
                order = np.argsort(key, kind="stable")
                key, grown = key[order], grown[order]
                fresh = np.concatenate(([True], key[1:] != key[:-1])) if len(key) else np.empty(0, dtype=np.bool_)
                longer = self._decode(itemsets, low, key[fresh])
                yield from self.grow(longer, np.cumsum(fresh) - 1, grown, steps - 1)

    def _longer(self, prefix: Longs, position: Longs, rest: Longs) -> tuple[Longs, Longs]:
        """Every later item of the row after each occurrence: its position, and a key of prefix and item."""
        begin = np.cumsum(rest) - rest
        grown = np.repeat(position + 1 - begin, rest) + np.arange(int(rest.sum()))
        return grown, np.repeat(prefix * self.n_items, rest) + self.items[grown]

    def _count(
        self, itemsets: npt.NDArray[np.int32], low: int, key: Longs, weight: npt.NDArray[np.float64]
    ) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
        if not len(key):
            return
        if not self.in_persons and int(key.max()) < 4 * len(key) + BLOCK:  # a table of all keys is small enough
            table = np.bincount(key, weights=weight)
            present = np.flatnonzero(table)
            yield self._decode(itemsets, low, present), table[present].astype(np.int64)
        else:
            present, inverse = np.unique(key, return_inverse=True)
            yield self._decode(itemsets, low, present), self._support(inverse.reshape(-1), weight, len(present))

    def _support(self, code: Longs, weight: npt.NDArray[np.float64], count: int) -> Longs:
        """For each code the sum of its weights or, in persons, the number of different ones but 0."""
        if not self.in_persons:
            return np.bincount(code, weights=weight, minlength=count).astype(np.int64)
        whose = weight.astype(np.int64)
        width = int(whose.max(initial=0)) + 1
        pairs = distinct(code[whose > 0] * width + whose[whose > 0])
        return np.bincount(pairs // width, minlength=count).astype(np.int64)

    def _decode(self, itemsets: npt.NDArray[np.int32], low: int, key: Longs) -> npt.NDArray[np.int32]:
        last = (key % self.n_items).astype(np.int32)
        return np.column_stack((itemsets[low + key // self.n_items], last))


def _blocks(prefix: Longs, rest: Longs) -> Iterator[slice]:
    """Runs of whole prefixes that grow to about `BLOCK` occurrences each."""
    if not len(prefix):
        return
    starts = np.flatnonzero(np.concatenate(([True], prefix[1:] != prefix[:-1])))
    work = np.add.reduceat(rest, starts)
    number = np.maximum(np.cumsum(work) - 1, 0) // BLOCK
    opens = starts[np.flatnonzero(np.concatenate(([True], number[1:] != number[:-1])))]
    for begin, end in zip(opens, np.append(opens[1:], len(prefix)), strict=True):
        yield slice(int(begin), int(end))
