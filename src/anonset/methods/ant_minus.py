"""ANT−: ANT without clusters, so that every group is filled from all transactions that are left.

Precondition   as for ANT.
Pseudo-code    map, fill, place and publish as ANT does, with all transactions in one cluster
Postcondition  as for ANT: the argument does not ask where the clusters come from.

Each group looks at everybody who is left, so the time grows with the square of the number of transactions.

B. Zhang et al., "A (k, p)-anonymity Framework to Sanitize Transactional Database with Personalized Sensitivity",
Journal of Internet Technology 20(3), 2019, section 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.ant import filled
from anonset.methods.steps.group.attributes import HIERARCHY, LEVEL, PAPER, THRESHOLD, kp_problem


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    p: float,
    threshold: float,
    hierarchy: Any,
    level: int | None,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that its published attribute counts are (k, p)-anonymous."""
    problem = kp_problem(data, job, k=k, p=p, threshold=threshold, hierarchy=hierarchy, level=level)
    return filled(problem, np.zeros(len(data), dtype=np.int32), job, unit)


SPEC = MethodSpec(
    name="ant-minus",
    title="ANT−",
    model="kp-anonymity",
    summary="ANT without clusters: each group is filled from all transactions that are left; slow on large data.",
    params=(THRESHOLD, HIERARCHY, LEVEL),
    run=run,
    paper=PAPER,
    needs=("sensitivity",),
    units=("user", "transaction"),
)
