"""What an attacker who knows m items achieves, in figures: per transaction, and for all of them with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from anonset.data.transactions import Floats, Longs, Transactions


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """What an attacker who knows m items achieves.

    Parameters
    ----------
    share
        The chance that a transaction of at least m items is singled out, with its confidence `interval`
        (of no width where everything was counted).
    expected_candidates, smallest_candidates
        The mean size of the candidate sets, and the smallest one met.
    success
        The chance that the attacker who picks one of the candidates picks the right one.
    attacked, too_short, sampled
        How many transactions have at least m items, how many have fewer, and for how many subsets were drawn
        instead of counted.
    scores
        For each transaction the chance that it is singled out; not a number where it was not attacked or not drawn.
    """

    attacker: str
    m: int
    absent: int
    share: float
    interval: tuple[float, float]
    confidence: float
    expected_candidates: float
    smallest_candidates: int
    success: float
    attacked: int
    too_short: int
    sampled: int
    scores: Floats

    @property
    def exact(self) -> bool:
        """Whether every subset was counted."""
        return self.sampled == 0

    def to_dict(self) -> dict[str, Any]:
        """The figures without the scores, ready for JSON."""
        figures = {name: value for name, value in vars(self).items() if name != "scores"}
        return {**figures, "exact": self.exact}

    def __repr__(self) -> str:
        width = "" if self.exact else f" ({self.interval[0]:.2%} to {self.interval[1]:.2%})"
        return f"Risk({self.attacker} attacker, m={self.m}: {self.share:.2%}{width} singled out)"


@dataclass(frozen=True, eq=False)
class Findings:
    """Per transaction: the share of subsets that single it out, the mean and the smallest size, the mean of 1 / size.

    `draws` is the number of random subsets behind it, 0 where all were counted.
    """

    rows: Longs
    singled: Floats
    sizes: Floats
    success: Floats
    smallest: Longs
    draws: int = 0


def summed(sizes: Longs, owners: Longs, rows: Longs, draws: int) -> Findings:
    """Candidate-set sizes of single queries, summed up per transaction."""
    place = np.searchsorted(rows, owners)
    queries = np.bincount(place, minlength=len(rows))
    smallest = np.full(len(rows), np.iinfo(np.int64).max)
    np.minimum.at(smallest, place, sizes)

    def mean(values: Any) -> Floats:
        return np.bincount(place, values, len(rows)) / queries

    return Findings(rows, mean(sizes == 1), mean(sizes), mean(1 / sizes), smallest, draws)


def summary(
    data: Transactions, attacker: str, m: int, absent: int, confidence: float, rows: Longs, findings: list[Findings]
) -> Risk:
    """All findings on the attacked transactions `rows` as one."""
    scores = np.full(len(data), np.nan)
    totals = np.zeros(3)
    low = high = 0.0
    drawn_rows = len(rows) - sum(len(part.rows) for part in findings if not part.draws)
    for part in findings:
        scores[part.rows] = part.singled
        weight = (drawn_rows if part.draws else len(part.rows)) / max(1, len(rows))
        totals += weight * np.array([column.mean() for column in (part.singled, part.sizes, part.success)])
        bounds = part.singled.mean(), part.singled.mean()
        if part.draws:
            bounds = wilson(float(part.singled.mean()), part.draws * len(part.rows), confidence)
        low, high = low + weight * bounds[0], high + weight * bounds[1]
    return Risk(
        attacker=attacker,
        m=m,
        absent=absent,
        share=float(totals[0]),
        interval=(float(low), float(high)),
        confidence=confidence,
        expected_candidates=float(totals[1]),
        smallest_candidates=min((int(part.smallest.min()) for part in findings if len(part.rows)), default=0),
        success=float(totals[2]),
        attacked=len(rows),
        too_short=len(data) - len(rows),
        sampled=drawn_rows,
        scores=scores,
    )


def wilson(share: float, draws: int, confidence: float) -> tuple[float, float]:
    """The Wilson score interval of a share seen in `draws` independent draws (Wilson, 1927)."""
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2
    middle = share + z2 / (2 * draws)
    spread = float(np.sqrt(z2 * (share * (1 - share) / draws + z2 / (4 * draws**2))))
    low, high = (middle - spread) / (1 + z2 / draws), (middle + spread) / (1 + z2 / draws)
    return max(0.0, min(low, share)), min(1.0, max(high, share))
