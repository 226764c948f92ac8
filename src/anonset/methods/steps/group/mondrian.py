"""PermMondrian: split the transactions on items, as evenly as both halves keep degree p.

The competitor of Ghinita, Kalnis and Tao (section 6.2), which they describe in words only.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints
from anonset.methods.steps.group.degree import DegreeProblem


def mondrian_groups(problem: DegreeProblem, job: Job) -> Ints:
    """The group of each transaction.

    Examples
    --------
    >>> from anonset.methods.steps.group.degree import degree_problem
    >>> from anonset.data.transactions import Transactions
    >>> data = Transactions.from_lists([["a", "s"], ["a"], ["b", "s"], ["b"]], sensitive=["s"])
    >>> mondrian_groups(degree_problem(data, 2), Job()).tolist()
    [0, 0, 1, 1]
    """
    with job.stage("group", total=len(problem)) as monitor:
        return _native.mondrian_groups(*problem.arrays, monitor)
