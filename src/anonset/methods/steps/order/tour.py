"""A short closed tour through each segment, so that consecutive transactions are alike.

PrimTSP (Lin et al., "PTA", section 4.2 and Algorithm 1) grows the tour at both ends from every start; the shortest
wins. Gray-TSP breeds it by a genetic algorithm.
"""

from __future__ import annotations

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Longs, Transactions


def prim_tours(data: Transactions, ordering: Longs, bounds: Longs, job: Job) -> tuple[Longs, Longs]:
    """The tour of each segment and its length.

    Parameters
    ----------
    ordering, bounds
        Segment `s` holds the transactions `ordering[bounds[s]:bounds[s + 1]]`.

    Returns
    -------
    loops, lengths
        The same transactions, segment by segment, in the order of their tour (closed: the last is a neighbour of
        the first), and the summed Hamming distances along each tour.

    Examples
    --------
    >>> import numpy as np
    >>> data = Transactions.from_lists(["AB", "C", "ABD", "CD"])
    >>> loops, lengths = prim_tours(data, np.arange(4), np.array([0, 4]), Job())
    >>> loops.tolist(), lengths.tolist()
    ([0, 1, 3, 2], [8])
    """
    with job.stage("tours", total=len(data)) as monitor:
        return _native.prim_tours(data.offsets, data.items, ordering, bounds, data.n_items, job.threads, monitor)


def genetic_tours(
    data: Transactions,
    ordering: Longs,
    bounds: Longs,
    job: Job,
    *,
    population: int,
    generations: int,
    random_start: bool = False,
) -> tuple[Longs, Longs]:
    """The same, by a genetic algorithm that begins with the ordering and with random tours, or only with the latter.

    The shortest tour of a generation goes on unchanged, so more generations never give a longer one; and none is ever
    longer than the ordering itself, unless the start is random.

    Examples
    --------
    >>> import numpy as np
    >>> data = Transactions.from_lists(["AB", "C", "ABD", "CD"])
    >>> _, lengths = genetic_tours(data, np.arange(4), np.array([0, 4]), Job(1), population=10, generations=20)
    >>> lengths.tolist()
    [8]
    """
    seed = int(job.random("tours").integers(1 << 62))
    with job.stage("tours", total=len(data)) as monitor:
        return _native.genetic_tours(
            data.offsets,
            data.items,
            ordering,
            bounds,
            data.n_items,
            population,
            generations,
            random_start,
            seed,
            job.threads,
            monitor,
        )
