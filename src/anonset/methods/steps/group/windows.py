"""Windows of k neighbours on a closed tour become groups, the best windows first.

Lin et al., "PTA", section 4.3, Algorithms 2 and 3: the window around each transaction, its information loss by
majority vote, disjoint windows by ascending loss, and the transactions left over join the nearest center.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Mask, Transactions


def window_groups(data: Transactions, loops: Longs, bounds: Longs, k: int, job: Job) -> tuple[Ints, Mask]:
    """The group of each transaction, and which transactions made up the windows.

    Parameters
    ----------
    loops, bounds
        Tour `s` is `loops[bounds[s]:bounds[s + 1]]`, at least k transactions.

    Returns
    -------
    groups, voters
        Groups are numbered tour by tour, the best window first. Voters are the k members of each window; the
        others joined the window whose center (the majority of its voters) was nearest.

    Examples
    --------
    >>> data = Transactions.from_lists(["A", "A", "AB", "CD", "CD"])
    >>> groups, voters = window_groups(data, np.arange(5), np.array([0, 5]), 2, Job())
    >>> groups.tolist(), voters.tolist()
    ([0, 0, 0, 1, 1], [True, True, False, True, True])
    """
    with job.stage("groups", total=len(data)) as monitor:
        groups, voters, _ = _native.window_groups(
            data.offsets, data.items, loops, bounds, data.n_items, k, job.threads, monitor
        )
    return groups, voters.view(np.bool_)
