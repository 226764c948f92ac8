"""Groups of at least k in which every sensitive item occurs in at most one of p members.

Precondition   groups of at least k; no sensitive item occurs in more than n/p of all n transactions.
Pseudo-code    while a group holds a sensitive item too often:
                   a holder changes places with a transaction of a similar group, or moves there, if that lowers the
                   excess of both groups together and raises it in neither; otherwise the group merges with another
               repeat: transactions of changed groups move or swap where that gains and both groups keep both promises
Postcondition  exchanges keep sizes, moves leave at least k behind, merges only add: every group has at least k members
               at every step. The repair ends, because exchanges lower the total excess and merges the number of
               groups, and one group of all transactions has no excess. From then on no step makes any.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError, argument, setting
from anonset.data.job import Job
from anonset.data.transactions import Ints, Transactions
from anonset.data.unit import known_users
from anonset.methods.steps.group.centers import alike, majority
from anonset.methods.steps.group.degree import require_degree


def require_diversity(data: Transactions, p: int, *, in_persons: bool = False) -> None:
    """Refuse where nothing is sensitive, or some item is too frequent for any grouping; also in persons, if asked."""
    sensitive = data.sensitive_part()
    if not sensitive.nnz:
        advice = f"Say which items are sensitive: {setting('sensitive')}, or leave {argument('diversity')} out."
        raise ParameterError("sensitive", "name an item of the data for diversity", "none", advice)
    require_degree(sensitive, p, "diversity")
    if in_persons and data.users is not None:
        _require_few_holders(data, sensitive, p)


def _require_few_holders(data: Transactions, sensitive: Transactions, p: int) -> None:
    """One group of all must hold no item for more than one of p users; unknown holders count one each."""
    assert data.users is not None
    whose = data.users[sensitive.rows].astype(np.int64)
    whose = np.where(whose < 0, int(data.users.max(initial=0)) + 1 + sensitive.rows, whose)
    width = int(whose.max(initial=0)) + 1
    holders = np.bincount(distinct(sensitive.items.astype(np.int64) * width + whose) // width)
    worst, everybody = int(np.argmax(holders)), known_users(data)
    if int(holders[worst]) * p > everybody:
        most = everybody // int(holders[worst])
        because = f"because {int(holders[worst]):,} of {everybody:,} users hold '{sensitive.labels[worst].as_py()}'"
        instead = (
            f"count transactions: {setting('unit', 'transaction')}, or lift the limit: {setting('diversity', 'off')}"
        )
        if most < 2:
            raise InfeasibleError(
                f"'diversity' of 2 or more cannot be reached for persons, {because}. "
                f"Do not publish it, do not treat it as sensitive, {instead}."
            )
        raise InfeasibleError(
            f"'diversity' must be at most {most:,}, {because}. Got {p:,}. Choose a smaller one, {instead}."
        )


def diverse_persons(
    quasi: Transactions, sensitive: Transactions, users: Ints, groups: Ints, k: int, p: int, job: Job
) -> Ints:
    """The groups, merged until of the users of each at most one of p holds an item, and no two publish the same.

    A union of two groups that keep p need not keep it, as they may have users in common. So groups with one center,
    which nobody can tell apart, are one group before it is looked at again. Each round leaves fewer groups; one of all
    keeps p, as `require_diversity` made sure.
    """
    while True:
        merged = _native.merged_for_persons(
            quasi.offsets, quasi.items, sensitive.offsets, sensitive.items, users, quasi.n_items, groups, k, (1, p),
            job.monitor,
        )  # fmt: skip
        same = alike(majority(quasi, merged, job))
        if same.max(initial=-1) + 1 == len(same):
            return merged
        groups = same[merged]


def first_sizes(sensitive: Transactions, k: int, p: int) -> list[int]:
    """The sizes of groups to begin with: k, and also p where so many hold a sensitive item that most groups need it.

    A group with any sensitive item has at least p members. Where few have one, groups of k are merged there.
    """
    holders = int((sensitive.lengths > 0).sum())
    return [k, p] if p > k and 2 * holders * p >= len(sensitive) else [k]


def diverse(quasi: Transactions, sensitive: Transactions, groups: Ints, k: int, p: int, rounds: int, job: Job) -> Ints:
    """The groups, changed so that every sensitive item's share is at most 1/p, and improved in so many rounds.

    Examples
    --------
    >>> import numpy as np
    >>> data = Transactions.from_lists(["aS", "aS", "b", "b", "b"], sensitive=["S"])
    >>> diverse(data.quasi(), data.sensitive_part(), np.array([0, 0, 1, 1, 1], dtype=np.int32), 2, 2, 1, Job()).tolist()
    [0, 1, 1, 0, 0]
    """
    return _native.diverse_groups(
        quasi.offsets,
        quasi.items,
        sensitive.offsets,
        sensitive.items,
        quasi.n_items,
        groups,
        k,
        p,
        rounds=rounds,
        threads=job.threads,
        monitor=job.monitor,
    )
