"""A lower bound of the information loss that any k-anonymous release of the same data must have.

In a group of s ≥ k transactions an item held by c of them costs min(c, s − c) ≥ c(s − c)/(s − 1), so the group costs
at least Σ d(u, v)/(s − 1) over its pairs. Giving each pair of a group the share 1/(s − 1) makes every release a
fractional cover: each transaction's shares add up to 1, none exceeds 1/(k − 1). The cheapest such cover is a linear
program, and any prices y ≥ 0 give a lower bound of it, hence of the loss (weak duality):

    LB(y) = Σ y_u − Σ_{u<v} max(0, y_u + y_v − d(u, v)) / (k − 1)

Whatever the prices, the bound is true; the ascent only makes it good. Precondition: n ≥ k, else no release exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonset import _native
from anonset.errors import InfeasibleError
from anonset.job import Job
from anonset.transactions import Floats, Longs, Transactions

SWEEPS = 8


@dataclass(frozen=True)
class Bound:
    """No k-anonymous release of the data loses fewer than `loss` items.

    `ratio` divides by the number of quasi-identifier items. `error` is the half-width of a 99 % confidence interval
    where the bound was estimated from a sample of pairs, and 0 where every pair was looked at.
    """

    k: int
    loss: float
    ratio: float
    error: float = 0.0

    def gap_closed(self, baseline: float, loss: float) -> float:
        """Which share of the way from a baseline's loss down to this bound another loss has gone."""
        return (baseline - loss) / (baseline - self.loss) if baseline > self.loss else 0.0


@dataclass(frozen=True)
class _Problem:
    """Distinct quasi-identifier sets and how often each occurs."""

    sets: Transactions
    weights: Longs
    k: int
    dense: bool

    def value(self, prices: Floats, penalties: Floats) -> float:
        """LB of these prices; copies of one set pay 2y for each pair among them."""
        alike = self.weights * (self.weights - 1) * prices
        apart = self.weights * penalties / 2
        return float((self.weights * prices).sum() - (alike + apart).sum() / (self.k - 1))

    def sweep(self, prices: Floats, job: Job) -> tuple[Floats, Floats]:
        """For each set the price it would like best, and its penalty at the present prices."""
        everything = np.arange(len(self.sets), dtype=np.int64)
        return _native.dual_sweep(
            self.sets.offsets,
            self.sets.items,
            self.weights,
            prices,
            self.sets.n_items,
            self.k,
            everything,
            self.dense,
            job.monitor,
            job.threads,
        )


def lower_bound(data: Transactions, k: int, *, sweeps: int = SWEEPS, job: Job | None = None) -> Bound:
    """The best lower bound that `sweeps` rounds of dual ascent find.

    Examples
    --------
    >>> far_apart = Transactions.from_lists([["a", "b"], ["c", "d"]])
    >>> round(lower_bound(far_apart, k=2).loss, 1)
    4.0
    """
    if len(data) < k:
        raise InfeasibleError(f"'k' must be at most the number of transactions ({len(data):,}). Got {k:,}.")
    job = job or Job(seed=0)
    problem = _problem(data.quasi(), k)
    with job.stage("bound", total=sweeps * len(problem.sets)):
        best = _ascend(problem, sweeps, job)
    total = int(data.quasi_mask[data.items].sum())
    return Bound(k, best, best / total if total else 0.0)


def _ascend(problem: _Problem, sweeps: int, job: Job) -> float:
    """Every set moves halfway towards the price it would like best; the best bound seen on the way counts."""
    prices = problem.sweep(np.zeros(len(problem.sets)), job)[0] / 2
    best = 0.0
    for _ in range(sweeps):
        wanted, penalties = problem.sweep(prices, job)
        best = max(best, problem.value(prices, penalties))
        prices = np.clip((prices + wanted) / 2, 0, problem.sets.lengths)
    return best


def _problem(quasi: Transactions, k: int) -> _Problem:
    first, weights = _distinct(quasi)
    sets = quasi.take(first)
    visits = float((sets.item_counts.astype(np.float64) ** 2).sum())
    words = float(len(sets)) ** 2 * ((sets.n_items + 63) // 64)
    # A popcount of one word costs about half of a random increment in the inverted index.
    return _Problem(sets, weights, k, dense=words < 2 * visits)


def _distinct(quasi: Transactions) -> tuple[Longs, Longs]:
    bounds: npt.NDArray[Any] = quasi.offsets * quasi.items.itemsize
    buffers = [None, pa.py_buffer(bounds.tobytes()), pa.py_buffer(quasi.items.tobytes())]
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(quasi), buffers)
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, weights = np.unique(codes, return_index=True, return_counts=True)
    return first.astype(np.int64), weights.astype(np.int64)
