"""Publish groups: every member with the majority of its group's items in place of its own."""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.errors import InfeasibleError
from anonset.job import Job
from anonset.transactions import Ints, Longs, Mask, Transactions


def require_enough(n: int, k: int) -> None:
    """Refuse a database that has transactions, but fewer than k of them."""
    if 0 < n < k:
        raise InfeasibleError(
            f"'k' must be at most the number of transactions ({n:,}). Got {k:,}. Choose a smaller k or add data."
        )


def recode(
    data: Transactions, quasi: Transactions, groups: Ints, voters: Mask | None, job: Job, ordering: Longs | None = None
) -> Transactions:
    """Every transaction with the majority center of its group's voters for its quasi-identifier items.

    Where an `ordering` is given, `quasi`, `groups` and `voters` are in that order; `data` and the answer never are.
    """
    with job.stage("recode", total=len(data)):
        centers = _centers(quasi, groups, voters, job)
        group_of = groups.astype(np.int64)
        if ordering is not None:
            group_of[ordering] = groups
        return data.with_quasi(*_native.take_rows(*centers, group_of, job.threads))


def losses(quasi: Transactions, groups: Ints, job: Job) -> Longs:
    """How many items of each transaction change when it publishes the majority of its group.

    Examples
    --------
    >>> losses(Transactions.from_lists(["ab", "a", "bc"]), np.array([0, 0, 0], dtype=np.int32), Job()).tolist()
    [0, 1, 2]
    """
    return _native.center_distances(
        quasi.offsets, quasi.items, *_centers(quasi, groups, None, job), groups, job.threads
    )


def _centers(quasi: Transactions, groups: Ints, voters: Mask | None, job: Job) -> tuple[Longs, Ints]:
    count = int(groups.max(initial=-1)) + 1
    return _native.majority_centers(quasi.offsets, quasi.items, groups, voters, count, job.threads)
