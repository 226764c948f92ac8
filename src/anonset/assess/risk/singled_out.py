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
from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset import _native
from anonset.assess.risk.distinct import distinct_sets
from anonset.assess.risk.knowledge import ATTACKERS, MOST_ABSENT, absence, all_subsets, drawn, preferred
from anonset.assess.risk.summary import Findings, Risk, summary, summed
from anonset.data.errors import InputError, ParameterError, unknown
from anonset.data.job import Job
from anonset.data.quantities import with_quantities, without_quantities
from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions, as_text

MOST_KNOWN = 6
COUNTABLE = 100_000_000
COUNTABLE_ONE_BY_ONE = 100_000
MOSTLY = 0.8
LARGEST_TALLY = 2**31 - 1


def singled_out(
    data: Any,
    m: int,
    attacker: str = "random",
    *,
    items: Sequence[str] | None = None,
    absent: int = 0,
    subsets: int = COUNTABLE,
    samples: int = 30_000,
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
    known = with_quantities(known) if items is None else without_quantities(known)
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
            findings = [summed(attack.sizes(queries, rows), rows, rows, 0)] if len(rows) else []
    return summary(known, attacker, m, absent, confidence, rows, findings)


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
        return summed(attack.sizes(queries, owners), owners, rows[countable], 0)
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
    return summed(attack.sizes(drawn(attack.data, owners, attack.m, random), owners), owners, rows, each)


def _subsets(lengths: Longs, m: int) -> Floats:
    """How many subsets of m items transactions of these lengths have."""
    from scipy.special import comb  # slow to load, and most commands never need it

    return np.asarray(comb(lengths, m), dtype=np.float64)


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
