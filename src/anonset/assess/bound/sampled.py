"""The bound from transactions drawn at random, which holds with a stated confidence."""

from __future__ import annotations

import numpy as np

from anonset.assess.bound import settings
from anonset.assess.bound.problem import Problem, rounded
from anonset.data.job import Job
from anonset.data.release import Bound
from anonset.data.transactions import Floats, Longs


def sampled(problem: Problem, sample: int, job: Job) -> Bound:
    """The mean of values drawn at random, less what chance may have added to it.

    The prices do not depend on the draw, so that the draws are independent and the bound of Maurer and Pontil holds.
    """
    prices = first_prices(problem, min(settings.PILOT, max(100, sample // 10)), job)
    rows = problem.draw(sample, job.random("bound"))
    with job.stage("bound", total=sample):
        values, _ = problem.look(prices, rows, job)
    sizes = problem.sets.lengths[rows]
    parts = values / sizes - prices[rows] / sizes / 2  # each in [−½, ½]
    spread = np.log(2 / (1 - settings.CONFIDENCE))
    error = np.sqrt(2 * parts.var(ddof=1) * spread / sample) + 7 * spread / (3 * (sample - 1))
    known = float((problem.weights * prices).sum()) / 2 / problem.occurrences
    estimate = known + float(parts.mean())
    ratio = max(0.0, estimate - float(error))
    return Bound(problem.k, ratio * problem.occurrences, ratio, settings.CONFIDENCE, max(0.0, estimate), sample)


def first_prices(problem: Problem, pilot: int, job: Job) -> Floats:
    """Prices that depend on nothing but a set's length, chosen by what a few sets drawn at random say."""
    sizes = problem.sets.lengths
    rows = problem.draw(pilot, job.random("pilot"))
    tries: list[tuple[float, Floats, Floats]] = []

    def evaluate(prices: Floats) -> None:
        values, wanted = problem.look(prices, rows, job)
        known = float((problem.weights * prices).sum()) / 2 / problem.occurrences
        tries.append((known + float(((values - prices[rows] / 2) / sizes[rows]).mean()), prices, wanted))

    with job.stage("prices", total=(len(settings.GUESSES) + 2) * pilot):
        for share in settings.GUESSES:
            evaluate(rounded(sizes.astype(np.float64) * share))
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
    return rounded(chosen)
