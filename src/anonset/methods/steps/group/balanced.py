"""Balanced groups: members that join a sensitive transaction are chosen by what the whole release still lacks.

The project's own grouping step for privacy degree. A reader of the release shares out a group's sensitive items among
its members, so what counts is not that each group looks like its sensitive transaction, but that all groups with a
sensitive item *together* hold every other item as often as they should. What earlier groups lack, later ones make up
for.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints
from anonset.methods.steps.group.degree import DegreeProblem


def balanced_groups(problem: DegreeProblem, alpha: int, job: Job) -> Ints:
    """The group of each transaction; the problem's transactions stand in the ordering to be used.

    Candidates for a sensitive transaction are the `alpha * p` nearest on each side in the ordering, and as many on each
    side among the holders of each of its eight rarest items. The kernel's head says how they are weighed.

    Examples
    --------
    >>> from anonset.methods.steps.group.degree import degree_problem
    >>> from anonset.data.transactions import Transactions
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "s"], ["c"], ["c", "s"]], sensitive=["s"])
    >>> balanced_groups(degree_problem(data, 2), 1, Job()).tolist()
    [0, 0, 1, 1]
    """
    with job.stage("group", total=len(problem)) as monitor:
        return _native.balanced_groups(*problem.arrays, alpha, monitor)
