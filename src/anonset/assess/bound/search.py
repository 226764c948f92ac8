"""A lower bound of the information loss that any k-anonymous release of the same data must have.

Every transaction has a dual value. Values are feasible if no group of k or more loses less than the values of its
members add up to; then their sum is a lower bound (the proofs are in docs/explanation/bound.md). For any prices
0 ≤ y_v ≤ |v| these are feasible:

    value_u = ½ (y_u + mean of the k − 1 smallest d(u, v) − y_v over all other v)

They are raised as far as they stay feasible: on sparse data to the least charge of each transaction in any group, then
by separation at centers and subgradient steps, or by dual increments where transactions are so long that there are too
many centers.

Where looking at all pairs would take too long, transactions are drawn at random: each value lies between (y_u − |u|)/2
and (y_u + |u|)/2, and an inequality for the mean of bounded values gives a bound that holds with a stated confidence.
Precondition: n ≥ k, else no release exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonset import _native
from anonset.assess.bound.cuts import Cuts
from anonset.data.errors import InfeasibleError, ParameterError
from anonset.data.job import Job
from anonset.data.release import Bound
from anonset.data.transactions import Floats, Longs, Transactions

PASSES = 6  # over all pairs
STEP = 0.7  # of the way to the price that suits a set best; the first time half of it, for then all others are 0
ENOUGH = 0.001  # a pass that raises the bound by a smaller share is the last
SPARSE = 0.125  # of all items; where sets hold more, anchors say little that centers do not say
ANCHOR_STEPS = 4e10  # at helpers, of all anchors together
LEAST_STEPS, MOST_STEPS = 10_000, 1_000_000  # around one set
HARD_STEPS, MOST_HARD_STEPS = 8e10, 20_000_000  # again, for the sets for which these were too few
ROUNDS = 10  # of separation at centers
ROUND_WORK = 6e9  # visits of all rounds
LEAST_ROUNDS = 3, 8  # are made all the same: of sparse data, where each takes minutes, and of others
START = 0.5  # above what pairs say at most, where anchors say more
RAISE, SPARSE_RAISE = 0.5, 0.25  # by which a round raises a value at most; where anchors have raised it before
INCREMENT_UNIT = 1 / 32  # increments are multiples of it: of PARTS / UNIT of the kernel
GAIN = 0.0005  # two rounds that raise the bound by a smaller share are the last
BUSY = 0.003  # of the steps that are allowed; a set that takes more does not get farther centers
RESTING = 0.03  # and one that takes that many does not rise
CUTS = 16  # violated cuts around each set that are kept
NEAREST, WIDEST = 64, 256  # how many sets around each are looked at first, and at most
SEPARATION_STEPS = 1e10  # in a round at most; ten times as many where sets are few and sparse
FEW_SETS = 10_000
FAR = 5  # items that transactions lose on average, above which there are too many centers to look at
INCREMENT = 0.5  # by which values rise there
INCREMENT_STEPS = 1_000_000  # around one set
LONGEST = 50  # sets with more items that a center may hold are not raised: there is too much to search around them
MOST_WORK = 1e10  # visits of a pass over all pairs up to which the bound is exact
SAMPLED_WORK = 2e9  # visits of a sample
PILOT = 1_000
CONFIDENCE = 0.99
UNITS = 1024  # prices and values are multiples of 1/1024, so that comparing them is exact
GUESSES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True)
class _Problem:
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
        return float(self.sets.lengths.sum()) < SPARSE * len(self.sets) * self.sets.n_items

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
    def useful_lengths(self) -> Longs:
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
        allowed = 10 * SEPARATION_STEPS if self.sparse and len(self.sets) <= FEW_SETS else SEPARATION_STEPS
        budget = int(max(allowed / len(self.sets), LEAST_STEPS))
        found, steps, cuts = _native.restore_feasibility(
            self.sets.offsets,
            self.sets.items,
            self.weights,
            target,
            _increments(values, target),
            self.sets.n_items,
            self.k,
            self.dense,
            NEAREST,
            WIDEST,
            budget,
            CUTS,
            job.monitor,
            job.threads,
        )
        return found, steps / budget, Cuts(*cuts)

    def total(self, values: Floats) -> float:
        return float((self.weights * values).sum())

    def draw(self, count: int, random: np.random.Generator) -> Longs:
        """Sets drawn with a probability proportional to the items in all their copies, with replacement."""
        ends = np.cumsum(self.weights * self.sets.lengths)
        return np.searchsorted(ends, random.integers(0, int(ends[-1]), count), side="right").astype(np.int64)


def lower_bound(
    data: Transactions,
    k: int,
    *,
    sample: int | None = None,
    passes: int = PASSES,
    rounds: int | None = None,
    job: Job | None = None,
) -> Bound:
    """The best lower bound that up to `passes` over all pairs and `rounds` of separation find.

    Parameters
    ----------
    data, k
        What would be released, and how many transactions would have to share each published set.
    sample
        How many transactions to draw for a bound that holds with 99 % confidence; 0: look at all of them, and the
        bound is certain. Left out, it is 0 where that is a matter of minutes, or of an hour if transactions are long.
    passes, rounds
        Passes over all pairs, and rounds of separation after them. More rounds raise the bound a little further; 0
        leaves it at what pairs and anchors prove. Left out, 3 to 10 by the data. Where transactions are long there is
        one round of dual increments, or none if this is 0.

    Examples
    --------
    >>> far_apart = Transactions.from_lists([["a", "b"], ["c", "d"]])
    >>> round(lower_bound(far_apart, k=2).loss, 1)
    4.0
    """
    if k < 2:
        raise ParameterError("k", "be at least 2", k)
    if len(data) < k:
        raise InfeasibleError(f"'k' must be at most the number of transactions ({len(data):,}). Got {k:,}.")
    if sample is not None and (sample < 0 or sample == 1):
        raise ParameterError("sample", "be at least 2, or 0 for all transactions", sample)
    job = job or Job(seed=0)
    problem = _problem(data.quasi(), k)
    if problem.occurrences == 0:
        return Bound(k, 0.0, 0.0)
    work = min(problem.visits)
    if sample is None and work > MOST_WORK:
        sample = int(np.clip(SAMPLED_WORK * len(problem.sets) / work, PILOT, 20 * PILOT))
    return _sampled(problem, sample, job) if sample else _exact(problem, passes, rounds, job)


def _exact(problem: _Problem, passes: int, rounds: int | None, job: Job) -> Bound:
    """The best of what pairs, anchors and centers say, each after the other."""
    values, prices = _by_pairs(problem, passes, job)
    start = values
    if problem.sparse:
        anchored = _by_anchors(problem, prices, job)
        values, start = anchored, np.minimum(values + START, anchored)
    far = problem.total(values) > FAR * float(problem.weights.sum())
    if far and problem.sparse:
        raised = values if rounds == 0 else _by_increments(problem, _rounded(values), prices, job)
    else:
        if rounds is None:
            least = LEAST_ROUNDS[not problem.sparse]
            rounds = 0 if far else int(np.clip(ROUND_WORK / min(problem.visits), least, ROUNDS))
        raised = _by_centers(problem, start, rounds, job)
    best = max(problem.total(values), problem.total(raised), 0.0)
    return Bound(problem.k, best, best / problem.occurrences)


def _by_pairs(problem: _Problem, passes: int, job: Job) -> tuple[Floats, Floats]:
    """Every set moves most of the way to the price that suits it best; the best values on the way, and their prices."""
    rows = np.arange(len(problem.sets), dtype=np.int64)
    prices = np.zeros(len(rows))
    best = (prices, prices)
    with job.stage("bound", total=passes * len(rows)):
        for _ in range(passes):
            values, wanted = problem.look(prices, rows, job)
            before = problem.total(best[0])
            if problem.total(values) > before:
                best = (values, prices)
            if problem.total(values) <= before * (1 + ENOUGH) and prices.any():
                break
            prices = _rounded(prices + (STEP if prices.any() else 0.5) * (wanted - prices))
    return best


def _by_anchors(problem: _Problem, prices: Floats, job: Job) -> Floats:
    """What every set is charged in any group; for the few that are hard to search with many more steps."""
    rows = np.arange(len(prices), dtype=np.int64)
    budget = int(np.clip(ANCHOR_STEPS / len(rows), LEAST_STEPS, MOST_STEPS))
    with job.stage("anchors", total=len(rows)):
        values, steps = problem.at_least(prices, rows, budget, job)
    hard = rows[steps >= budget]
    more = int(min(HARD_STEPS / max(1, len(hard)), MOST_HARD_STEPS))
    with job.stage("hard anchors", total=len(hard)):
        if more > budget:
            values[hard] = problem.at_least(prices, hard, more, job)[0]
    return values


def _by_increments(problem: _Problem, anchored: Floats, prices: Floats, job: Job) -> Floats:
    """What anchors say, raised as far as the search around every set that is raised allows."""
    # Above this a set would save more than its demand in any group.
    most = np.minimum(anchored + INCREMENT, np.maximum((problem.sets.lengths + prices) / 2, anchored))
    most[(problem.weights >= problem.k) | (problem.useful_lengths > LONGEST)] = 0.0
    target = np.maximum(_rounded(most), anchored)
    with job.stage("dual increments", total=len(anchored)):
        return problem.incremented(anchored, target, prices, INCREMENT_STEPS, job)


def _by_centers(problem: _Problem, values: Floats, rounds: int, job: Job) -> Floats:
    """In turn a target from the cuts that were violated so far, and feasibility restored."""
    values, cuts, idle = _rounded(values), Cuts.none(), 0
    limits = _Limits(problem, values)
    with job.stage("raise", total=rounds * len(values)):
        for _ in range(rounds):
            target = cuts.target(values, limits.most(values), problem.weights, problem.k, job)
            found, steps, violated = problem.restored(values, _rounded(target), job)
            limits.learn(values, steps)
            cuts = cuts.union(violated)
            gain = problem.total(found) - problem.total(values)
            idle = idle + 1 if gain <= GAIN * problem.total(values) else 0
            if gain > 0:
                values = found
            if idle == 2:
                break
    return values


class _Limits:
    """How far values may rise in a round, so that there are not too many centers to look at.

    A set has farther centers around it where its value passes a whole number. Where it is busy already, it stops there.
    """

    def __init__(self, problem: _Problem, values: Floats) -> None:
        self.step = SPARSE_RAISE if problem.sparse else RAISE
        self.held = problem.weights >= problem.k  # k equal sets lose nothing
        self.highest = np.where(self.held, values, problem.sets.lengths)
        self.steps = np.zeros(len(values))

    def most(self, values: Floats) -> Floats:
        """A set that is held may return to where it was at once."""
        nearer = np.where(self.steps > BUSY, np.ceil(values), np.inf)
        near = np.where(self.steps > RESTING, values, np.minimum(values + self.step, nearer))
        return np.minimum(np.where(self.held, np.inf, near), self.highest)

    def learn(self, values: Floats, steps: Floats) -> None:
        """A set that took all steps that are allowed is held at the value that it had before."""
        too_many = steps >= 1
        self.steps = steps
        self.held = self.held | too_many
        self.highest = np.where(too_many, np.minimum(self.highest, values), self.highest)


def _sampled(problem: _Problem, sample: int, job: Job) -> Bound:
    """The mean of values drawn at random, less what chance may have added to it.

    The prices do not depend on the draw, so that the draws are independent and the bound of Maurer and Pontil holds.
    """
    prices = _first_prices(problem, min(PILOT, max(100, sample // 10)), job)
    rows = problem.draw(sample, job.random("bound"))
    with job.stage("bound", total=sample):
        values, _ = problem.look(prices, rows, job)
    sizes = problem.sets.lengths[rows]
    parts = values / sizes - prices[rows] / sizes / 2  # each in [−½, ½]
    spread = np.log(2 / (1 - CONFIDENCE))
    error = np.sqrt(2 * parts.var(ddof=1) * spread / sample) + 7 * spread / (3 * (sample - 1))
    known = float((problem.weights * prices).sum()) / 2 / problem.occurrences
    estimate = known + float(parts.mean())
    ratio = max(0.0, estimate - float(error))
    return Bound(problem.k, ratio * problem.occurrences, ratio, CONFIDENCE, max(0.0, estimate), sample)


def _first_prices(problem: _Problem, pilot: int, job: Job) -> Floats:
    """Prices that depend on nothing but a set's length, chosen by what a few sets drawn at random say."""
    sizes = problem.sets.lengths
    rows = problem.draw(pilot, job.random("pilot"))
    tries: list[tuple[float, Floats, Floats]] = []

    def evaluate(prices: Floats) -> None:
        values, wanted = problem.look(prices, rows, job)
        known = float((problem.weights * prices).sum()) / 2 / problem.occurrences
        tries.append((known + float(((values - prices[rows] / 2) / sizes[rows]).mean()), prices, wanted))

    with job.stage("prices", total=(len(GUESSES) + 2) * pilot):
        for share in GUESSES:
            evaluate(_rounded(sizes.astype(np.float64) * share))
        for _ in range(2):
            _, prices, wanted = max(tries, key=lambda tried: tried[0])
            evaluate(_by_length(sizes, rows, (prices[rows] + wanted) / 2, prices))
    return max(tries, key=lambda tried: tried[0])[1]


def _by_length(sizes: Longs, rows: Longs, wanted: Floats, otherwise: Floats) -> Floats:
    """For every set the mean of what drawn sets of its length want; where none was drawn, as before."""
    count = np.bincount(sizes[rows], minlength=int(sizes.max()) + 1)
    total = np.bincount(sizes[rows], weights=wanted, minlength=len(count))
    mean: Floats = (total / np.maximum(count, 1)).astype(np.float64)
    chosen: Floats = np.where(count[sizes] > 0, mean[sizes], otherwise)
    return _rounded(chosen)


def _increments(values: Floats, target: Floats) -> Floats:
    """What targets are above these values, rounded up: without their increments targets are nowhere above."""
    return np.asarray(np.ceil(np.maximum(target - values, 0.0) / INCREMENT_UNIT) * INCREMENT_UNIT, dtype=np.float64)


def _rounded(prices: Floats) -> Floats:
    return np.asarray(np.floor(prices * UNITS) / UNITS, dtype=np.float64)


def _problem(quasi: Transactions, k: int) -> _Problem:
    first, weights = _distinct(quasi)
    return _Problem(replace(quasi.take(first), sensitive=None), weights, k)


def _distinct(quasi: Transactions) -> tuple[Longs, Longs]:
    bounds: npt.NDArray[Any] = quasi.offsets * quasi.items.itemsize
    buffers = [None, pa.py_buffer(bounds.tobytes()), pa.py_buffer(quasi.items.tobytes())]
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(quasi), buffers)
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, weights = np.unique(codes, return_index=True, return_counts=True)
    return first.astype(np.int64), weights.astype(np.int64)
