"""Groups that lose no more than PTA's.

Both losses are sums over PTA's segments, so a random sample of segments already tells which is smaller where the
difference is clear. Where it is not, or nothing may be left to chance, PTA's groups are formed and the better kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anonset import _native
from anonset.group.centers import Centers, losses, majority
from anonset.group.windows import window_groups
from anonset.job import Job
from anonset.methods.pta import cut
from anonset.order.tour import prim_tours
from anonset.transactions import Ints, Longs, Transactions

FEW = 20  # segments; not worth drawing from
SAMPLE, SHARE = 8, 24  # so many segments are drawn, or one of so many where that is more
CLEAR = 3.0  # standard errors


def never_worse_than_pta(
    quasi: Transactions, groups: Ints, centers: Centers, k: int, sure: bool, job: Job
) -> tuple[Ints, Centers]:
    """These groups and what they publish, or PTA's should they lose less; `quasi` is in Gray order.

    Unless it must be `sure`, a sample may show that PTA's need not be formed.
    """
    bounds = cut(len(quasi), k)
    if not sure and len(bounds) - 1 > FEW:

        def mine(part: Transactions, rows: Longs) -> Longs:
            return losses(part, groups[rows], job, centers)

        if clearly_better(quasi, mine, bounds, k, job):
            return groups, centers
    theirs = pta_groups(quasi, bounds, k, job)
    their_centers = majority(quasi, theirs, job)
    if losses(quasi, theirs, job, their_centers).sum() < losses(quasi, groups, job, centers).sum():
        return theirs, their_centers
    return groups, centers


def clearly_better(
    quasi: Transactions, mine: Callable[[Transactions, Longs], Longs], bounds: Longs, k: int, job: Job
) -> bool:
    """Whether PTA loses more by many standard errors of the ratio of the losses, in a sample of segments.

    `mine` tells what these transactions, which stand at these places, lose in the other groups.
    """
    count = len(bounds) - 1
    drawn = np.sort(job.random("segments").choice(count, max(SAMPLE, count // SHARE), replace=False))
    sizes = bounds[drawn + 1] - bounds[drawn]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.arange(starts[-1]) + np.repeat(bounds[drawn] - starts[:-1], sizes)
    part = quasi.with_rows(*_native.take_rows(quasi.offsets, quasi.items, rows, job.threads))
    theirs = np.add.reduceat(losses(part, pta_groups(part, starts, k, job), job), starts[:-1])
    ours = np.add.reduceat(mine(part, rows), starts[:-1])
    ratio = theirs.sum() / max(1, ours.sum())
    error = (theirs - ratio * ours).std(ddof=1) * len(drawn) ** 0.5
    chance = theirs.sum() ** 0.5  # a few items more or less say nothing, whatever the segments look like
    return bool(theirs.sum() - ours.sum() > CLEAR * max(error, chance))


def pta_groups(quasi: Transactions, bounds: Longs, k: int, job: Job) -> Ints:
    """The groups that PTA forms in these segments."""
    loops, _ = prim_tours(quasi, np.arange(len(quasi)), bounds, job)
    return window_groups(quasi, loops, bounds, k, job)[0]
