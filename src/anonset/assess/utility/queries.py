"""Average relative error (ARE) of counting queries: how many transactions hold these items?

A seeded workload of itemsets of one, two and three items, each drawn from a random original transaction, so that it
occurs at least once. The error of a query is |published − original| / max(original, s) with the sanity bound
s = 0.1 % of the transactions, which keeps queries about next to nobody from deciding.
LeFevre, DeWitt, Ramakrishnan, "Workload-aware anonymization", 2006; sanity bound: Garofalakis, Kumar, 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.knowledge import drawn
from anonset.assess.utility.metric import Figure, Metric
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Transactions

SIZES = (1, 2, 3)
QUERIES = 1_000
SANITY = 0.001


def query_error(pair: Pair, job: Job, queries: int = QUERIES) -> dict[str, Any]:
    """The average relative error for itemsets of one, two and three items.

    Examples
    --------
    >>> a, b = Transactions.from_lists([["x"]] * 4), Transactions.from_lists([["x"]] * 3 + [[]])
    >>> query_error(Pair(a, Transactions(b.offsets, b.items, a.labels)), Job(1))["query_error_1"]
    0.25
    """
    errors: dict[str, Any] = {}
    for size in SIZES:
        rows = np.flatnonzero(pair.original.lengths >= size)
        random = job.random(f"queries of {size}")
        if not len(rows):
            errors[f"query_error_{size}"] = 0.0
            continue
        wanted = drawn(pair.original, random.choice(rows, queries), size, random)
        before, after = (_counts(data, wanted, job) for data in (pair.original, pair.published))
        floor = max(1.0, SANITY * len(pair.original))
        errors[f"query_error_{size}"] = float((np.abs(after - before) / np.maximum(before, floor)).mean())
    return errors


def _counts(data: Transactions, queries: Ints, job: Job) -> Longs:
    flat = np.ascontiguousarray(queries).reshape(-1)
    size = queries.shape[1]
    return _native.count_candidates(
        data.offsets, data.items, data.n_items, flat, size, None, None, job.threads, job.monitor
    )


def _given(size: int) -> str:
    return "a given item" if size == 1 else f"{size} given items"


METRIC = Metric(
    name="queries",
    title="Counting queries",
    definition="Mean of |published − original| / max(original, 0.1 % of n) over a seeded workload of itemset counts.",
    reference="LeFevre, DeWitt, Ramakrishnan, Workload-aware anonymization, KDD 2006",
    figures=tuple(
        Figure(
            f"query_error_{size}",
            f"Query error, {size} item{'s' if size > 1 else ''}",
            f"Average relative error of counting the transactions that hold {_given(size)}.",
            "share",
        )
        for size in SIZES
    ),
    run=lambda comparison: query_error(comparison.pair, comparison.job),
)
