"""Re-identification with m known items: how many transactions fit what an attacker knows of one of them.

Definition. The attacker knows m quasi-identifier items of a person's transaction; the *candidates* are the transactions
of the data that hold all of them (and none of the items that the attacker knows to be absent). The person is *singled
out* where the transaction is the only candidate. Transactions of fewer than m items are not attacked. For the
`random` attacker every m-subset of a transaction is equally likely, and every transaction counts the same.

Subsets are counted exhaustively as far as `subsets` reaches, shortest transactions first; for the others they are
drawn at random, and the share of transactions singled out then comes with a Wilson score interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.assess.risk.knowledge import ATTACKERS, MOST_ABSENT, absence, all_subsets, drawn, preferred
from anonset.data.errors import InputError, ParameterError, unknown
from anonset.data.job import Job
from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions, as_text

MOST_KNOWN = 6
COUNTABLE = 100_000_000
COUNTABLE_ONE_BY_ONE = 100_000
MOSTLY = 0.8
LARGEST_TALLY = 2**31 - 1


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


def singled_out(
    data: Any,
    m: int,
    attacker: str = "random",
    *,
    items: Sequence[str] | None = None,
    absent: int = 0,
    subsets: int = COUNTABLE,
    samples: int = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    job: Job | None = None,
) -> Risk:
    """How likely a transaction is found by somebody who knows m of its quasi-identifier items.

    Parameters
    ----------
    data
        `Transactions`, or anything that `anonset.read` takes.
    m
        How many items the attacker knows, 1 to 6.
    attacker
        `random`, `rarest`, `frequent`, or `given` (the first m of `items` that the transaction holds).
    items
        The only items that an attacker can get to know (labels); all quasi-identifier items by default.
    absent
        How many items the attacker knows *not* to be there: the most frequent ones that the transaction lacks.
    subsets, samples, seed
        Up to how many subsets are counted exhaustively, how many are drawn for the rest, and the seed of the draw.

    Examples
    --------
    >>> risk = singled_out([["wine", "bread"], ["wine", "bread"], ["bread", "beer"]], m=1)
    >>> round(risk.share, 3)
    0.167
    """
    known = _data(data)
    _check(m, attacker, items, absent, confidence)
    job = job or Job(seed, threads)
    seen = _codes(known, items)
    visible = known.only(_mask(known.n_items, seen))
    rows = np.flatnonzero(visible.lengths >= m)
    attack = _Attack(visible, m, absent, job)
    with job.stage("attack"):
        if attacker == "random":
            findings = _random(attack, rows, subsets, samples)
        else:
            queries = preferred(visible, rows, m, attacker, seen)
            findings = [_summed(attack.sizes(queries, rows), rows, rows, 0)] if len(rows) else []
    return _risk(known, attacker, m, absent, confidence, rows, findings)


class _Attack:
    """The data, how much the attacker knows, and the counting of candidates."""

    def __init__(self, data: Transactions, m: int, absent: int, job: Job) -> None:
        self.data, self.m, self.job = data, m, job
        self.knowledge = absence(data, absent) if absent else None

    def sizes(self, queries: Ints, owners: Longs) -> Longs:
        """The number of candidates for each query about its owner."""
        held, lacking = self.knowledge if self.knowledge else (None, None)
        data, job = self.data, self.job
        lacking = None if lacking is None else lacking[owners]
        flat = np.ascontiguousarray(queries).reshape(-1)
        return _native.count_candidates(
            data.offsets, data.items, data.n_items, flat, self.m, held, lacking, job.threads, job.monitor
        )


def _random(attack: _Attack, rows: Longs, budget: int, samples: int) -> list[Findings]:
    """Count the transactions with the fewest subsets, as many as the budget allows; draw for the others.

    Counting pays where it reaches most transactions: those left out remain candidates and cost time in every step.
    Where some have to be left out anyway, a fifth of the budget does: the longest transactions hold most subsets.
    """
    ways = _subsets(attack.data.lengths[rows], attack.m)
    if attack.knowledge:
        budget = min(budget, COUNTABLE_ONE_BY_ONE)
    order = np.argsort(ways, kind="stable")
    limit = budget if ways.sum() <= budget else budget // 5
    countable = np.zeros(len(rows), dtype=np.bool_)
    countable[order] = (np.cumsum(ways[order]) <= limit) & (ways[order] <= LARGEST_TALLY)
    if countable.sum() < MOSTLY * len(rows):
        countable[:] = False
    findings = []
    if countable.any():
        findings.append(_counted(attack, rows, countable))
    if not countable.all():
        findings.append(_sampled(attack, rows[~countable], samples, max(4, samples // len(rows))))
    return findings


def _counted(attack: _Attack, rows: Longs, countable: Mask) -> Findings:
    data, m, job = attack.data, attack.m, attack.job
    if attack.knowledge:
        queries, owners = all_subsets(data, rows[countable], m)
        return _summed(attack.sizes(queries, owners), owners, rows[countable], 0)
    long_enough = data.take(rows)
    first, code, weight = distinct_sets(long_enough)
    sets = long_enough.take(first)
    tally = _native.subset_tally(
        sets.offsets, sets.items, sets.n_items, weight, countable[first], m, job.threads, job.monitor
    )
    code = code[countable]
    singled, sizes, success, smallest = (column[code] for column in tally)
    ways = _subsets(data.lengths[rows[countable]], m)
    return Findings(rows[countable], singled / ways, sizes / ways, success / 2**32 / ways, smallest)


def _sampled(attack: _Attack, rows: Longs, samples: int, each: int) -> Findings:
    """Each transaction equally often, or, where they are more than `samples`, some of them once each.

    Either way the draws vary no more than independent ones would, so that an interval for those is safe.
    """
    random = attack.job.random("attack")
    if len(rows) > samples:
        rows = np.sort(random.choice(rows, samples, replace=False))
    each = min(each, max(1, samples // len(rows)))
    owners = np.repeat(rows, each)
    return _summed(attack.sizes(drawn(attack.data, owners, attack.m, random), owners), owners, rows, each)


def _summed(sizes: Longs, owners: Longs, rows: Longs, draws: int) -> Findings:
    """Candidate-set sizes of single queries, summed up per transaction."""
    place = np.searchsorted(rows, owners)
    queries = np.bincount(place, minlength=len(rows))
    smallest = np.full(len(rows), np.iinfo(np.int64).max)
    np.minimum.at(smallest, place, sizes)

    def mean(values: Any) -> Floats:
        return np.bincount(place, values, len(rows)) / queries

    return Findings(rows, mean(sizes == 1), mean(sizes), mean(1 / sizes), smallest, draws)


def _risk(
    data: Transactions, attacker: str, m: int, absent: int, confidence: float, rows: Longs, findings: list[Findings]
) -> Risk:
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


def _subsets(lengths: Longs, m: int) -> Floats:
    """How many subsets of m items transactions of these lengths have."""
    from scipy.special import comb  # slow to load, and most commands never need it

    return np.asarray(comb(lengths, m), dtype=np.float64)


def wilson(share: float, draws: int, confidence: float) -> tuple[float, float]:
    """The Wilson score interval of a share seen in `draws` independent draws (Wilson, 1927)."""
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2
    middle = share + z2 / (2 * draws)
    spread = float(np.sqrt(z2 * (share * (1 - share) / draws + z2 / (4 * draws**2))))
    low, high = (middle - spread) / (1 + z2 / draws), (middle + spread) / (1 + z2 / draws)
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def distinct_sets(data: Transactions) -> tuple[Longs, Longs, Longs]:
    """For each distinct set its first holder; for each transaction its set; for each set how many hold it.

    Where counts are given, sets are the same only if their counts are.
    """
    codes = keys_of(data).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, code, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return first.astype(np.int64), code.reshape(-1).astype(np.int64), sizes.astype(np.int64)


def keys_of(data: Transactions) -> pa.LargeBinaryArray:
    """A byte string for each transaction; equal sets (with equal counts) have equal strings."""
    content = data.items if data.counts is None else np.column_stack((data.items, data.counts))
    item_bytes = pa.py_buffer(content.tobytes())
    bounds = pa.py_buffer((data.offsets * (content.nbytes // max(1, data.nnz))).tobytes())
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(data), [None, bounds, item_bytes])


def _data(data: Any) -> Transactions:
    if isinstance(data, Transactions):
        return data
    from anonset.io import read

    return read(data)


def _check(m: int, attacker: str, items: Sequence[str] | None, absent: int, confidence: float) -> None:
    if not 1 <= m <= MOST_KNOWN:
        raise ParameterError("m", f"be between 1 and {MOST_KNOWN}", m, "Who knows more is told apart even more easily.")
    if attacker not in ATTACKERS:
        raise unknown("attacker", attacker, ATTACKERS)
    if attacker == "given" and items is None:
        raise ParameterError("items", "name the items that the attacker knows", "nothing", "Give their labels.")
    if not 0 <= absent <= MOST_ABSENT:
        raise ParameterError("absent", f"be between 0 and {MOST_ABSENT}", absent)
    if not 0 < confidence < 1:
        raise ParameterError("confidence", "be between 0 and 1", confidence, "Try 0.95.")


def _codes(data: Transactions, items: Sequence[str] | None) -> Longs:
    """The codes of the items that an attacker can get to know."""
    if items is None:
        return np.flatnonzero(data.quasi_mask)
    found = pc.index_in(as_text(list(dict.fromkeys(items))), value_set=data.labels)
    for name, place in zip(dict.fromkeys(items), found.to_pylist(), strict=True):
        if place is None:
            raise unknown("items", name, data.labels.to_pylist())
        if not data.quasi_mask[place]:
            raise InputError(f"The item {name!r} is sensitive: it is what an attacker wants to learn, not what helps.")
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _mask(size: int, codes: Longs) -> Mask:
    mask = np.zeros(size, dtype=np.bool_)
    mask[codes] = True
    return mask
