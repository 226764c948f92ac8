"""Publish groups: every member with the majority of its group's items in place of its own."""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.errors import InfeasibleError
from anonset.job import Job
from anonset.transactions import Ints, Mask, Transactions


def require_enough(n: int, k: int) -> None:
    """Refuse a database that has transactions, but fewer than k of them."""
    if 0 < n < k:
        raise InfeasibleError(
            f"'k' must be at most the number of transactions ({n:,}). Got {k:,}. Choose a smaller k or add data."
        )


def recode(data: Transactions, quasi: Transactions, groups: Ints, voters: Mask | None, job: Job) -> Transactions:
    """Every transaction with the majority center of its group's voters for its quasi-identifier items."""
    count = int(groups.max(initial=-1)) + 1
    with job.stage("recode", total=len(data)):
        offsets, items = _native.majority_centers(quasi.offsets, quasi.items, groups, voters, count, job.threads)
        return data.with_quasi(*_native.take_rows(offsets, items, groups.astype(np.int64)))
