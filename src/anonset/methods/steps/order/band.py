"""Band order: reverse Cuthill-McKee, so that transactions that share items stand close together.

Ghinita, Kalnis and Tao, section 5.1, apply it to A·Aᵀ, in which two transactions are neighbours iff they share an item.
SciPy has the algorithm, but for a matrix in memory, and A·Aᵀ of sparse data can need gigabytes; this one walks from
transactions to items and back instead, and takes the end of a pseudo-diameter for its root.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Longs, Transactions


def band_order(data: Transactions, job: Job) -> Longs:
    """The transactions in reverse Cuthill-McKee order; ties go to the lower degree, then to the earlier transaction.

    Examples
    --------
    >>> data = Transactions.from_lists(["AB", "EF", "BC", "DE", "CD"])
    >>> [data[i] for i in band_order(data, Job())]
    [('E', 'F'), ('D', 'E'), ('C', 'D'), ('B', 'C'), ('A', 'B')]
    """
    with job.stage("sort", total=len(data)) as monitor:
        return _native.band_order(data.offsets, data.items, data.n_items, job.threads, monitor)
