"""The linear program in numbers: distinct sets, how often each occurs, and the kernels that look at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonset import _native
from anonset.assess.bound import settings
from anonset.assess.bound.cuts import Cuts
from anonset.data.job import Job
from anonset.data.transactions import Floats, Longs, Transactions


@dataclass(frozen=True)
class Problem:
    """Distinct quasi-identifier sets and how often each occurs."""

    sets: Transactions
    weights: Longs
    k: int

    @property
    def occurrences(self) -> float:
        """The number of quasi-identifier items in all transactions."""
        return float((self.weights * self.sets.lengths).sum())

    @property
    def visits(self) -> tuple[float, float]:
        """What looking at all pairs costs with an inverted index, and with bitmaps."""
        by_index = float((self.sets.item_counts.astype(np.float64) ** 2).sum())
        # A popcount of one word costs about half of a random increment in the inverted index.
        return by_index, float(len(self.sets)) ** 2 * ((self.sets.n_items + 63) // 64) / 2

    def look(self, prices: Floats, rows: Longs, job: Job) -> tuple[Floats, Floats]:
        """The value of each of these sets, and the price that would suit it best as things stand."""
        values, dearest = _native.pair_values(
            self.sets.offsets,
            self.sets.items,
            self.weights,
            prices,
            self.sets.n_items,
            self.k,
            rows,
            self.dense,
            job.monitor,
            job.threads,
        )
        return values, np.clip(dearest, 0, self.sets.lengths[rows])

    @property
    def dense(self) -> bool:
        """Whether nearly all pairs overlap, so that bitmaps are faster than an inverted index."""
        by_index, by_bitmap = self.visits
        return by_bitmap < by_index

    @property
    def sparse(self) -> bool:
        """Whether a set holds few of all items."""
        return float(self.sets.lengths.sum()) < settings.SPARSE * len(self.sets) * self.sets.n_items

    def by_fee(self, prices: Floats) -> tuple[Longs, Longs, Transactions]:
        """The order of the sets by what they ask for helping others; the place of each in it; and the sets in order."""
        order = np.argsort(self.sets.lengths - prices, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return order, place, self.sets.take(order)

    def at_least(self, prices: Floats, rows: Longs, budget: int, job: Job) -> tuple[Floats, Longs]:
        """What each of these sets loses in any group of k at these prices, never less than `look` says.

        Also how many steps that took: if it is the whole budget, more of them may find more.
        """
        order, place, sets = self.by_fee(prices)
        return _native.anchor_values(
            sets.offsets,
            sets.items,
            self.weights[order],
            prices[order],
            sets.n_items,
            self.k,
            place[rows],
            budget,
            job.monitor,
            job.threads,
        )

    @property
    def frequent_lengths(self) -> Longs:
        """How many items of each set a majority of k can hold."""
        counts = np.bincount(
            self.sets.items, weights=np.repeat(self.weights, self.sets.lengths), minlength=self.sets.n_items
        )
        sums = np.concatenate(([0], np.cumsum(2 * counts[self.sets.items] > self.k)))
        return np.diff(sums[self.sets.offsets]).astype(np.int64)

    def incremented(self, values: Floats, target: Floats, prices: Floats, budget: int, job: Job) -> Floats:
        """The target, lowered until it is feasible; `values` are at most those of anchors at these prices."""
        order, place, sets = self.by_fee(prices)
        found = _native.dual_increments(
            sets.offsets,
            sets.items,
            self.weights[order],
            prices[order],
            target[order],
            _increments(values, target)[order],
            sets.n_items,
            self.k,
            budget,
            job.monitor,
            job.threads,
        )
        return found[place]

    def restored(self, values: Floats, target: Floats, job: Job) -> tuple[Floats, Floats, Cuts]:
        """The target, lowered until it is feasible, where `values` are.

        Also the share of the steps allowed that each set took, and the cuts that the target violates.
        """
        few = self.sparse and len(self.sets) <= settings.FEW_SETS
        allowed = settings.SEPARATION_STEPS * (10 if few else 1)
        budget = int(max(allowed / len(self.sets), settings.LEAST_STEPS))
        found, steps, cuts = _native.restore_feasibility(
            self.sets.offsets,
            self.sets.items,
            self.weights,
            target,
            _increments(values, target),
            self.sets.n_items,
            self.k,
            self.dense,
            settings.NEAREST,
            settings.WIDEST,
            budget,
            settings.CUTS,
            job.monitor,
            job.threads,
        )
        return found, steps / budget, Cuts(*cuts)

    def total(self, values: Floats) -> float:
        """The sum over all transactions."""
        return float((self.weights * values).sum())

    def draw(self, count: int, random: np.random.Generator) -> Longs:
        """Sets drawn with a probability proportional to the items in all their copies, with replacement."""
        ends = np.cumsum(self.weights * self.sets.lengths)
        return np.searchsorted(ends, random.integers(0, int(ends[-1]), count), side="right").astype(np.int64)


def _increments(values: Floats, target: Floats) -> Floats:
    """What targets are above these values, rounded up: without their increments targets are nowhere above."""
    return np.asarray(
        np.ceil(np.maximum(target - values, 0.0) / settings.INCREMENT_UNIT) * settings.INCREMENT_UNIT, dtype=np.float64
    )


def rounded(prices: Floats) -> Floats:
    """Down to multiples of 1 / `UNITS`."""
    return np.asarray(np.floor(prices * settings.UNITS) / settings.UNITS, dtype=np.float64)


def problem_of(quasi: Transactions, k: int) -> Problem:
    """The problem of groups of k or more of these transactions."""
    first, weights = _distinct(quasi)
    return Problem(replace(quasi.take(first), sensitive=None), weights, k)


def _distinct(quasi: Transactions) -> tuple[Longs, Longs]:
    bounds: npt.NDArray[Any] = quasi.offsets * quasi.items.itemsize
    buffers = [None, pa.py_buffer(bounds.tobytes()), pa.py_buffer(quasi.items.tobytes())]
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(quasi), buffers)
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, weights = np.unique(codes, return_index=True, return_counts=True)
    return first.astype(np.int64), weights.astype(np.int64)
