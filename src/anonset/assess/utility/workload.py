"""Random questions about a sensitive item, and how sure the mean of their answers is.

Questions drawn one by one make a noisy mean: five seeds of one release gave .124 to .177. So they are drawn as Latin
hypercubes: sensitive items are asked about equally often, and each place of a question takes its items evenly from rare
to frequent. Ten such workloads that know nothing of one another say how far their common mean may be off.

M. McKay, R. Beckman, W. Conover, "A comparison of three methods for selecting values of input variables in the
analysis of output from a computer code", Technometrics 21(2), 1979.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anonset.data.errors import ParameterError, unknown
from anonset.data.transactions import Floats, Longs, Transactions

Weighting = Literal["uniform", "frequency"]
MOST_ITEMS = 20
PARTS = 10  # independent workloads of which one is made: enough to estimate a spread, few enough to be stratified each


@dataclass(frozen=True)
class GroupBy:
    """One question: how is a sensitive item distributed over the cells of these quasi-identifier items?"""

    sensitive: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Workload:
    """What is asked.

    Parameters
    ----------
    r
        How many quasi-identifier items each question names (fewer if the data have fewer).
    queries
        How many questions.
    weighting
        `uniform`: every item is as likely as any other. `frequency`: as likely as it is frequent.

    Examples
    --------
    >>> Workload(r=0)
    Traceback (most recent call last):
    anonset.data.errors.ParameterError: 'r' must lie between 1 and 20. Got 0.
    """

    r: int = 4
    queries: int = 400
    weighting: Weighting = "uniform"

    def __post_init__(self) -> None:
        if not 1 <= self.r <= MOST_ITEMS:
            raise ParameterError("r", f"lie between 1 and {MOST_ITEMS}", self.r)
        if self.queries < 1:
            raise ParameterError("queries", "be at least 1", self.queries)
        if self.weighting not in ("uniform", "frequency"):
            raise unknown("weighting", self.weighting, ("uniform", "frequency"))

    @property
    def parts(self) -> list[int]:
        """How many questions each of the independent parts has."""
        count = min(PARTS, self.queries)
        return [self.queries // count + (part < self.queries % count) for part in range(count)]

    def draw(self, data: Transactions, seed: int | None = 0) -> list[GroupBy]:
        """The questions about `data`, one part after the other: only items that occur.

        Examples
        --------
        >>> data = Transactions.from_lists([["a", "s"], ["a", "b"], ["b"]], sensitive=["s"])
        >>> Workload(r=2, queries=1).draw(data)
        [GroupBy(sensitive='s', items=('a', 'b'))]
        """
        secrets = np.flatnonzero(~data.quasi_mask & (data.item_counts > 0))
        quasi = np.flatnonzero(data.quasi_mask & (data.item_counts > 0))
        if not len(secrets) or not len(quasi):
            return []
        random = np.random.default_rng(seed)
        quasi = quasi[np.argsort(data.item_counts[quasi], kind="stable")]
        weights = data.item_counts[quasi].astype(np.float64) if self.weighting == "frequency" else np.ones(len(quasi))
        labels = data.labels.to_pylist()
        return [
            GroupBy(labels[secrets[sensitive]], tuple(labels[code] for code in np.sort(quasi[places]).tolist()))
            for part in self.parts
            for sensitive, places in zip(*self._part(part, len(secrets), weights, random), strict=True)
        ]

    def _part(
        self, points: int, secrets: int, weights: Floats, random: np.random.Generator
    ) -> tuple[Longs, list[Longs]]:
        """One Latin hypercube: the sensitive item of each question, and the places of its other items."""
        r = min(self.r, len(weights))
        levels = random.permuted(np.tile(np.arange(points), (1 + r, 1)), axis=1)
        cube = (levels + random.random(levels.shape)) / points
        share = np.cumsum(weights / weights.sum())
        places = np.minimum(np.searchsorted(share, cube[1:].T, side="right"), len(weights) - 1)
        return (cube[0] * secrets).astype(np.int64), [_distinct(row, weights, random) for row in places]


def _distinct(places: Longs, weights: Floats, random: np.random.Generator) -> Longs:
    """The places, those that came twice replaced by others."""
    once = np.unique(places)
    missing = len(places) - len(once)
    if not missing:
        return once
    left = weights.copy()
    left[once] = 0
    return np.concatenate((once, random.choice(len(weights), missing, replace=False, p=left / left.sum())))


def mean_and_margin(parts: Sequence[Floats]) -> tuple[float, float]:
    """The mean over all questions, and half the width of its 95 % confidence interval; 0 with a single part.

    Examples
    --------
    >>> mean_and_margin([np.array([1.0, 3.0]), np.array([2.0, 2.0])])
    (2.0, 0.0)
    """
    from scipy.special import stdtrit

    means = np.array([part.mean() for part in parts])
    if len(means) < 2:
        return float(means.mean()) if len(means) else 0.0, 0.0
    spread = float(means.std(ddof=1)) / np.sqrt(len(means))
    return float(np.concatenate(parts).mean()), float(stdtrit(len(means) - 1, 0.975) * spread)
