"""Publish groups: every member with the majority of its group's items in place of its own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from anonset import _native
from anonset.data.errors import InfeasibleError
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Mask, Transactions


def require_enough(n: int, k: int) -> None:
    """Refuse a database that has transactions, but fewer than k of them."""
    if 0 < n < k:
        raise InfeasibleError(
            f"'k' must be at most the number of transactions ({n:,}). Got {k:,}. Choose a smaller k or add data."
        )


def in_source_order(groups: Ints, ordering: Longs) -> Ints:
    """The group of each transaction where `groups` are given along an ordering."""
    found = np.empty_like(groups)
    found[ordering] = groups
    return found


Centers = tuple[Longs, Ints]
"""What each group publishes: the offsets and the items of its center."""


def majority(quasi: Transactions, groups: Ints, job: Job, voters: Mask | None = None) -> Centers:
    """For each group the items that more than half of its members hold, or of its voters where there are some."""
    count = int(groups.max(initial=-1)) + 1
    return _native.majority_centers(quasi.offsets, quasi.items, groups, voters, count, job.threads)


def publish_centers(
    data: Transactions,
    quasi: Transactions,
    groups: Ints,
    voters: Mask | None,
    job: Job,
    ordering: Longs | None = None,
    centers: Centers | None = None,
) -> Transactions:
    """Every transaction with the center of its group for its quasi-identifier items.

    Unless `centers` are given, voters vote for them. Where an `ordering` is given, `quasi`, `groups` and `voters` are
    in that order; `data` and the answer never are.
    """
    with job.stage("center", total=len(data)):
        centers = majority(quasi, groups, job, voters) if centers is None else centers
        group_of = (groups if ordering is None else in_source_order(groups, ordering)).astype(np.int64)
        return data.with_quasi(*_native.take_rows(*centers, group_of, job.threads))


def alike(centers: Centers) -> Ints:
    """For each group a number, the same for groups that publish the same: nobody can tell these apart.

    Examples
    --------
    >>> alike((np.array([0, 1, 2, 3]), np.array([4, 7, 4], dtype=np.int32))).tolist()
    [0, 1, 0]
    """
    offsets, items = centers
    seen: dict[bytes, int] = {}
    numbers = [seen.setdefault(items[a:b].tobytes(), len(seen)) for a, b in pairwise(offsets.tolist())]
    return np.array(numbers, dtype=np.int32)


def losses(quasi: Transactions, groups: Ints, job: Job, centers: Centers | None = None) -> Longs:
    """How many items of each transaction change when it publishes its group's center, by default the majority.

    Examples
    --------
    >>> losses(Transactions.from_lists(["ab", "a", "bc"]), np.array([0, 0, 0], dtype=np.int32), Job()).tolist()
    [0, 1, 2]
    """
    centers = majority(quasi, groups, job) if centers is None else centers
    return _native.center_distances(quasi.offsets, quasi.items, *centers, groups, job.threads)
