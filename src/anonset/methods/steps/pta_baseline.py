"""Groups that lose no more than PTA's.

Both losses are sums over PTA's segments, so a random sample of segments already tells which is smaller where the
difference is clear. Where it is not, a larger sample may tell. If that does not either, or if nothing may be left to
chance, PTA's groups are formed and the better kept.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.steps.group.centers import Centers, losses, majority
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import lined_up
from anonset.methods.steps.order.tour import prim_tours

FEW_SEGMENTS = 20  # not worth drawing from
SAMPLE, SHARE = 8, 24  # so many segments are drawn, or one of so many where that is more
MORE = 3  # times as many are in the second sample
CLEAR, CLEARER = 3.0, 5.0  # standard errors that convince in the first and in the second sample


def draw(bounds: Longs, sure: bool, job: Job, times: int = 1) -> Longs:
    """A sample of segments, or one that is so many times as large; none where they are few, or if no sample will do."""
    count = len(bounds) - 1
    wanted = times * max(SAMPLE, count // SHARE)
    if sure or count <= FEW_SEGMENTS or (times > 1 and 2 * wanted > count):
        return np.empty(0, dtype=np.int64)
    # Not by job.random: to make a generator of NumPy's takes longer than to draw, and on small data that is felt.
    return _native.draw_segments(count, wanted, (job.seed + times - 1) % 2**64)


def told_by_more(quasi: Transactions, groups: Ints, centers: Centers, bounds: Longs, k: int, job: Job) -> bool:
    """Whether a second sample, larger than the first and independent of it, says that PTA clearly loses more."""
    drawn = draw(bounds, False, job, MORE)
    return len(drawn) > 0 and clearly_less(*losses_in(quasi, groups, centers, bounds, drawn, k, job), CLEARER)


def losses_in(
    quasi: Transactions, groups: Ints, centers: Centers, bounds: Longs, drawn: Longs, k: int, job: Job
) -> tuple[Longs, Longs]:
    """What transactions lose in these groups and in PTA's, for each segment drawn."""
    rows = np.concatenate([np.arange(bounds[s], bounds[s + 1]) for s in drawn])
    starts = np.concatenate(([0], np.cumsum(np.diff(bounds)[drawn])))
    part = lined_up(quasi, rows, job)
    ours, theirs = losses(part, groups[rows], job, centers), losses(part, pta_groups(part, starts, k, job), job)
    return np.add.reduceat(ours, starts[:-1]), np.add.reduceat(theirs, starts[:-1])


def better_than_pta(
    quasi: Transactions, groups: Ints, centers: Centers, bounds: Longs, k: int, job: Job
) -> tuple[Ints, Centers]:
    """These groups, or the ones that PTA forms in these segments, whichever lose less."""
    theirs = pta_groups(quasi, bounds, k, job)
    their_centers = majority(quasi, theirs, job)
    if losses(quasi, theirs, job, their_centers).sum() < losses(quasi, groups, job, centers).sum():
        return theirs, their_centers
    return groups, centers


def clearly_less(ours: Longs, theirs: Longs, errors: float = CLEAR) -> bool:
    """Whether PTA loses more by many standard errors of the ratio of the losses, one of each for every segment."""
    mine, others = int(ours.sum()), int(theirs.sum())
    apart = theirs - others / max(1, mine) * ours  # zero on average
    error = (apart @ apart * len(ours) / (len(ours) - 1)) ** 0.5
    chance = others**0.5  # a few items more or less say nothing, whatever the segments look like
    return bool(others - mine > errors * max(error, chance))


def pta_groups(quasi: Transactions, bounds: Longs, k: int, job: Job) -> Ints:
    """The groups that PTA forms in these segments."""
    loops, _ = prim_tours(quasi, np.arange(len(quasi)), bounds, job)
    return window_groups(quasi, loops, bounds, k, job)[0]
