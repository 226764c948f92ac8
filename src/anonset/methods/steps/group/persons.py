"""Groups whose transactions belong to at least k different users.

Precondition   any groups; at least k different users are known.
Pseudo-code    while a group has fewer than k users, the cheapest of:
                   a transaction whose user has others there, or is unknown, changes places with one of somebody new
                   somebody new comes from a group that keeps k users without that transaction
                   the group is dissolved, or takes in another one
               repeat: groups are dissolved, transactions move or swap, where that gains and all keep k users
Postcondition  every group has transactions of at least k users. The repair ends, because each step lowers the number of
               users that are missing or the number of groups, and one group of all transactions misses nobody. Later
               steps are made only where no group falls below k users.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints, Transactions

ROUNDS = 4  # of improvement after the repair


def groups_of_persons(quasi: Transactions, users: Ints, groups: Ints, k: int, job: Job, rounds: int = ROUNDS) -> Ints:
    """The groups, changed so that each has transactions of at least k different users (a negative one is unknown).

    Examples
    --------
    >>> import numpy as np
    >>> data = Transactions.from_lists(["ab", "ab", "ab", "ab"])
    >>> users, groups = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int32)
    >>> groups_of_persons(data, users, groups, 2, Job()).tolist()
    [0, 1, 1, 0]
    """
    return _native.person_groups(
        quasi.offsets,
        quasi.items,
        users,
        quasi.n_items,
        groups,
        k,
        rounds=rounds,
        threads=job.threads,
        monitor=job.monitor,
    )
