"""Group each sensitive transaction with near neighbours found by locality-sensitive hashing.

Ghinita, Kalnis and Tao, section 4.2 and Fig. 5: every table samples a few items and files a transaction under its bits
there; only transactions that share a bucket in some table are compared.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonset import _native
from anonset.data.job import Job
from anonset.data.spec import Param
from anonset.data.transactions import Ints, Transactions
from anonset.methods.steps.group.degree import DegreeProblem

P1 = 0.9
DELTA = 0.1

WIDTH = Param(
    "width",
    "int",
    "How many items each hash table samples. More make its buckets smaller: faster, but nearer ones are missed.",
    default=32,
    minimum=1,
    maximum=64,
    example=8,
)
TABLES = Param(
    "tables",
    "int",
    "How many hash tables are used. By default as many as find a near neighbour with 90 % probability (Eq. 6).",
    minimum=1,
    maximum=4096,
    example=4,
)


INTERRUPT = Param(
    "interrupt",
    "bool",
    "Whether a search ends once it has met twice as many sets as there are tables, and passes over tables that sample "
    "none of a transaction's items. Off as in the paper, which compares nearly everybody in sparse data.",
    default=True,
    example=True,
)


def tables_needed(width: int, p1: float = P1, delta: float = DELTA) -> int:
    """Eq. 6: how many tables find a near neighbour with probability 1 - delta.

    Examples
    --------
    >>> tables_needed(32)
    66
    """
    return max(1, math.ceil(math.log(1 / delta) / -math.log1p(-(p1**width))))


def projections(quasi_items: npt.NDArray[np.integer], width: int, tables: int, job: Job) -> Ints:
    """For each table the items it samples, none twice: `int32[tables, width]` (narrower if there are fewer items)."""
    random = job.random("projections")
    width = min(width, len(quasi_items))
    drawn = [random.choice(quasi_items, width, replace=False) for _ in range(tables)]
    return np.asarray(drawn, dtype=np.int32).reshape(tables, width)


def signatures(data: Transactions, items: Ints) -> npt.NDArray[np.uint64]:
    """The bucket of each transaction in the table that samples these items: bit j says whether it holds `items[j]`.

    Examples
    --------
    >>> data = Transactions.from_lists([["a"], ["b"], ["a", "b"]])
    >>> signatures(data, np.array([1, 0], dtype=np.int32)).tolist()
    [2, 1, 3]
    """
    return _native.lsh_signatures(data.offsets, data.items, data.n_items, items)


def lsh_groups(problem: DegreeProblem, width: int, tables: int | None, interrupt: bool, job: Job) -> tuple[Ints, int]:
    """The group of each transaction, and how many searches had to fall back to the exact one.

    Interrupting a search after 2 B candidates is how A. Gionis, P. Indyk and R. Motwani ("Similarity Search in High
    Dimensions via Hashing", 1999) bound its cost.
    """
    count = tables_needed(width) if tables is None else tables
    dims = projections(np.flatnonzero(problem.quasi.quasi_mask), width, count, job)
    with job.stage("group", total=len(problem)) as monitor:
        most = max(2 * count, 4 * problem.p) if interrupt else 0
        return _native.lsh_groups(*problem.arrays, dims.reshape(-1), count, most, job.threads, monitor)
