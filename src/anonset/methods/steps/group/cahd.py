"""CAHD: group each sensitive transaction with the most similar of its neighbours in an ordering.

Ghinita, Kalnis and Tao, section 5.3 and Fig. 11; the feasibility test there is misprinted: a group is taken iff what
remains without it still has degree p.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.spec import Param
from anonset.data.transactions import Ints
from anonset.methods.steps.group.degree import DegreeProblem

ALPHA = Param(
    "alpha",
    "int",
    "How far to look for similar transactions: alpha times p neighbours on each side. Larger is slower and better.",
    default=1,
    minimum=1,
    example=1,
)


def cahd_groups(problem: DegreeProblem, alpha: int, job: Job) -> Ints:
    """The group of each transaction; the problem's transactions stand in the ordering to be used.

    For each sensitive transaction, front to back: the `alpha * p` nearest transactions before and behind it that
    conflict neither with it nor with each other (taken alternately) are candidates; the p - 1 with the smallest Hamming
    distance join it, ties going to the earlier one.

    Examples
    --------
    >>> from anonset.methods.steps.group.degree import degree_problem
    >>> from anonset.data.transactions import Transactions
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "s"], ["c"], ["c", "s"]], sensitive=["s"])
    >>> cahd_groups(degree_problem(data, 2), 1, Job()).tolist()
    [0, 0, 1, 1]
    """
    with job.stage("group", total=len(problem)) as monitor:
        return _native.cahd_groups(*problem.arrays, alpha, monitor)
