"""The PTA baseline: groups that lose no more than PTA's.

Both losses are sums over PTA's segments, so a random sample of segments already tells which is smaller where the
difference is clear. Where it is not, or if nothing may be left to chance, PTA's groups are formed and the better kept.
"""

from __future__ import annotations

import numpy as np

from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.steps.group.centers import Centers, losses, majority
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import lined_up
from anonset.methods.steps.order.tour import prim_tours

FEW_SEGMENTS = 20  # so few or fewer are not worth drawing from
SAMPLE, SHARE = 5, 24  # so many segments are drawn, or one of so many where that is more
CLEAR = 3.0  # standard errors that convince


def best_of_both(
    ordered: Transactions, groups: Ints, centers: Centers, bounds: Longs, k: int, sampled: bool, job: Job
) -> tuple[Ints, Centers]:
    """These groups of transactions in Gray order, or PTA's in these segments, whichever lose less.

    With `sampled` these groups are kept without a look at all of PTA's if they clearly lose less in a sample.
    """
    if sampled and len(bounds) - 1 > FEW_SEGMENTS:
        drawn = draw(len(bounds) - 1, job)
        if clearly_less(*losses_in(ordered, groups, centers, bounds, drawn, k, job)):
            return groups, centers
    theirs = pta_groups(ordered, bounds, k, job)
    their_centers = majority(ordered, theirs, job)
    if losses(ordered, theirs, job, their_centers).sum() < losses(ordered, groups, job, centers).sum():
        return theirs, their_centers
    return groups, centers


def draw(segments: int, job: Job) -> Longs:
    """A random sample of segments, in ascending order."""
    wanted = max(SAMPLE, segments // SHARE)
    return np.sort(job.random("pta baseline").choice(segments, wanted, replace=False))


def losses_in(
    ordered: Transactions, groups: Ints, centers: Centers, bounds: Longs, drawn: Longs, k: int, job: Job
) -> tuple[Longs, Longs]:
    """What transactions lose in these groups and in PTA's, for each segment drawn."""
    rows = np.concatenate([np.arange(bounds[s], bounds[s + 1]) for s in drawn])
    starts = np.concatenate(([0], np.cumsum(np.diff(bounds)[drawn])))
    part = lined_up(ordered, rows, job)
    ours, theirs = losses(part, groups[rows], job, centers), losses(part, pta_groups(part, starts, k, job), job)
    return np.add.reduceat(ours, starts[:-1]), np.add.reduceat(theirs, starts[:-1])


def clearly_less(ours: Longs, theirs: Longs) -> bool:
    """Whether PTA loses more by some standard errors of the ratio of the losses, one of each for every segment."""
    mine, others = int(ours.sum()), int(theirs.sum())
    apart = theirs - others / max(1, mine) * ours  # zero on average
    error = (apart @ apart * len(ours) / (len(ours) - 1)) ** 0.5
    chance = others**0.5  # a few items more or less say nothing, whatever the segments look like
    return bool(others - mine > CLEAR * max(error, chance))


def pta_groups(ordered: Transactions, bounds: Longs, k: int, job: Job) -> Ints:
    """The groups that PTA forms in these segments."""
    loops, _ = prim_tours(ordered, np.arange(len(ordered)), bounds, job)
    return window_groups(ordered, loops, bounds, k, job)[0]
