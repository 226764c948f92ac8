"""ANT: clusters of similar attribute counts, and inside them groups of k, filled nearest first.

Precondition   every occurrence has a degree; n = 0 or n ≥ k ≥ 2; 0 < p ≤ 1; over all transactions no attribute has a
               share above p of transactions that hold something sensitive of it.
Pseudo-code    map      occurrences of degree ≥ threshold are sensitive; the others become counts of attributes
               cluster  k-means on the counts: L1 distance, real means
               fill     in each cluster, while ≥ k are left: the transaction nearest to the center founds a group; the
                        others, nearest to it first, join if (members that hold a + 1) / k ≤ p for each of their
                        sensitive attributes a, until there are k. A founder that finds no k − 1 is left over
               place    everybody left over joins the nearest group whose shares stay ≤ p; where none can take one,
                        groups are merged, nearest first, until it can
               publish  for each transaction the rounded mean of its group's counts, and its own sensitive items
Postcondition  every group is filled to k, and only ever grows: ≥ k members with the same published counts. A group
               keeps its shares ≤ p at k members by the test, at every joining by the same test, and in a merger
               because a mean of shares ≤ p is ≤ p. Merging ends at the latest when all are one group, which keeps p by
               the precondition. So the release is (k, p)-anonymous.

B. Zhang, J. C.-W. Lin, Q. Liu, P. Fournier-Viger, Y. Djenouri, "A (k, p)-anonymity Framework to Sanitize Transactional
Database with Personalized Sensitivity", Journal of Internet Technology 20(3), 2019, Algorithm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset import _native
from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.steps.group.attributes import HIERARCHY, LEVEL, PAPER, THRESHOLD, KpProblem, kp_problem

PER_CLUSTER = 50  # transactions; about what the paper's numbers of clusters come to

CLUSTERS = Param(
    "clusters",
    "int",
    "How many clusters k-means makes. Default: one for every 50 transactions.",
    minimum=1,
    example=4,
)
ITERATIONS = Param(
    "iterations",
    "int",
    "How many rounds k-means takes at most. More of them lose a little less and take longer.",
    default=5,
    minimum=1,
    example=3,
)
START = Param(
    "start",
    "text",
    "The transactions that are the first centers, by number from 1: 1,3. Default: drawn at random by k-means++.",
)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    p: float,
    threshold: float,
    clusters: int | None,
    iterations: int,
    hierarchy: Any,
    level: int | None,
    start: str | None,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that its published attribute counts are (k, p)-anonymous."""
    problem = kp_problem(data, job, k=k, p=p, threshold=threshold, hierarchy=hierarchy, level=level)
    return filled(problem, cluster(problem, clusters, iterations, job, _starts(start, len(data))), job, unit)


def cluster(problem: KpProblem, clusters: int | None, iterations: int, job: Job, starts: Longs | None = None) -> Ints:
    """The cluster of each transaction by k-means."""
    wanted = clusters or max(1, len(problem) // max(PER_CLUSTER, problem.k))
    seed = int(job.random("k-means").integers(1 << 62))
    with job.stage("cluster") as monitor:
        return _native.k_means(
            problem.offsets,
            problem.codes,
            problem.first,
            np.empty(0, dtype=np.int64) if starts is None else starts,
            min(wanted, max(1, len(problem))),
            iterations,
            seed,
            job.threads,
            monitor,
        )


def filled(problem: KpProblem, clusters: Ints, job: Job, unit: Unit = "transaction") -> Draft:
    """Groups inside the clusters, published as their rounded means."""
    with job.stage("fill") as monitor:
        groups = _native.ant_groups(*problem.kernel, clusters, problem.k, problem.limit, job.threads, monitor)
    groups = problem.for_persons(groups, unit, job)
    number = int(groups.max(initial=-1)) + 1
    with job.stage("center") as monitor:
        centers = _native.mean_centers(
            problem.offsets, problem.codes, problem.first, groups, number, job.threads, monitor
        )
    return problem.draft(groups, centers, job, clusters=len(np.unique(clusters)))


def _starts(text: str | None, n: int) -> Longs | None:
    if text is None:
        return None
    try:
        numbers = np.array([int(part) for part in text.split(",")], dtype=np.int64)
    except ValueError:
        raise ParameterError("start", "be whole numbers, separated by commas", repr(text), "Try 1,3.") from None
    if numbers.min() < 1 or numbers.max() > n:
        raise ParameterError("start", f"name transactions from 1 to {n:,}", repr(text))
    return numbers - 1


SPEC = MethodSpec(
    name="ant",
    title="ANT",
    model="kp-anonymity",
    summary="Clusters transactions by their attribute counts and fills groups nearest first, secrets spread out.",
    params=(THRESHOLD, CLUSTERS, ITERATIONS, HIERARCHY, LEVEL, START),
    run=run,
    paper=PAPER,
    seeded=True,
    needs=("sensitivity",),
    units=("user", "transaction"),
)
