"""Group each sensitive transaction with its exact nearest neighbours.

Ghinita, Kalnis and Tao, section 4.1 and Fig. 3. Sparse data are searched through inverted lists of their distinct sets,
dense ones by scanning packed bitmaps; the kernel takes whichever needs fewer steps. The groups are the same.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints
from anonset.methods.steps.group.degree import DegreeProblem


def nearest_groups(problem: DegreeProblem, job: Job) -> Ints:
    """The group of each transaction: each sensitive one with the p - 1 nearest that do not conflict, ties to the first.

    Examples
    --------
    >>> from anonset.methods.steps.group.degree import degree_problem
    >>> from anonset.data.transactions import Transactions
    >>> data = Transactions.from_lists([["a", "b", "s"], ["c"], ["a", "s"], ["a", "b"]], sensitive=["s"])
    >>> nearest_groups(degree_problem(data, 2), Job()).tolist()
    [0, 1, 1, 0]
    """
    with job.stage("group", total=len(problem)) as monitor:
        return _native.nearest_groups(*problem.arrays, monitor)
