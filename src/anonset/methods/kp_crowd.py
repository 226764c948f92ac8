"""`kp-crowd`: the project's own method for (k, p)-anonymity; crowd's groups, made to keep p at the least cost.

Counts are sets in unary code, so what a group keeps is what `crowd` counts: Σ max(0, 2c − s) over its codes. A group is
published as the median of its members' counts, which loses less than any other row of counts could.

Precondition   as for ANT.
Pseudo-code    map      as ANT does; every transaction is then a set of codes
               group    k-means cuts the transactions into blocks; in each, the first that waits founds a group and
                        takes the k − 1 with the least summed distance to it that keep p. Sparse data are in Gray order,
                        by which very large clusters, of those that have little in common with any center, are cut
                        further. Very short ones have too little in common for k-means: a short run of `crowd` instead,
                        which knows nothing of p
               repair   in each group with too many holders of a sensitive attribute: swap a holder for the transaction
                        in a group where it would gain much that costs least and leaves fewer holders beyond the limit
               improve  dissolve groups whose members gain more elsewhere; then dense: random moves and swaps with
                        the two groups that suit best, accepted as in simulated annealing; sparse: everybody moves, or
                        swaps, to the group that suits best. Nothing brings a holder beyond the limit
               evict    what is still beyond the limit leaves its group; a group of fewer than k is given up. A row
                        without a group joins, of those of its block that keep p with it, the one where it gains most.
                        Sparse: as long as many have none, they are grouped like this among themselves
               place    those without a group, as ANT does
               publish  the median of the group's counts, and everybody's own sensitive items
Postcondition  after evicting, every group has at least k members and keeps p; joining and placing keep both (see ANT).
               So the release is (k, p)-anonymous, whatever grouping, repairing and improving did.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.ant import cluster
from anonset.methods.crowd import DENSE_ITEMS, DENSITY
from anonset.methods.steps.group.attributes import HIERARCHY, LEVEL, PAPER, THRESHOLD, KpProblem, kp_problem
from anonset.methods.steps.order.gray import gray_sorted

EFFORT = Param(
    "effort",
    "int",
    "How long to look for better groups, from 0 (about as long as ANT) to 10 (much longer, less loss).",
    default=0,
    minimum=0,
    maximum=10,
    example=1,
)
BLOCK, SPARSE_BLOCK = 120, 130  # transactions that are solved together, on average
MOST_ROWS, MOST_SPARSE_ROWS = 1500, 300  # and at most
ROUNDS = 2, 3  # of k-means, which only has to find the blocks; for few dense transactions, and for all others
MANY_ROWS = 10_000
PARTNERS = 8  # whom a random change considers for a swap; sparse data know no random changes
SHARD = 250, 400  # groups of sparse transactions that are improved together, for small and for large k
LARGE_K = 18
SHORT_SETS = 5  # codes of a sparse transaction on average, below which groups start from `crowd`
MEETINGS = 400_000_000  # of a transaction without a group and any other, beyond which placing would take too long
PART = 25_000  # sparse transactions among which groups begin


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    p: float,
    threshold: float,
    hierarchy: Any,
    level: int | None,
    effort: int,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that its published attribute counts are (k, p)-anonymous."""
    problem = kp_problem(data, job, k=k, p=p, threshold=threshold, hierarchy=hierarchy, level=level)
    groups = problem.for_persons(place(problem, group(problem, effort, job), job), unit, job)
    number = int(groups.max(initial=-1)) + 1
    with job.stage("center"):
        centers = _native.majority_centers(problem.offsets, problem.codes, groups, None, number, job.threads)
    return problem.draft(groups, centers, job)


def group(problem: KpProblem, effort: int, job: Job) -> Ints:
    """Groups of at least k that keep p; −1 for transactions that fit into none."""
    if is_dense(problem):
        arrays = (problem.offsets, problem.codes, problem.secret_offsets, problem.secrets)
        blocks = cluster(problem, max(1, len(problem) // BLOCK), ROUNDS[len(problem) >= MANY_ROWS], job)
        return improved(arrays, blocks, problem, job, MOST_ROWS, proposals(len(problem)) * 20 ** (effort / 10), "dense")
    ordering, ordered = gray_sorted(problem.sets, job)
    secrets = _native.take_rows(problem.secret_offsets, problem.secrets, ordering, job.threads)
    arrays = (ordered.offsets, ordered.items, *secrets)
    rounds = 1 + effort // 3
    if is_short(problem):
        found = without_p(ordered, problem.k, effort, job)
        kept = improved(arrays, found, problem, job, shard_size(len(problem), problem.k), rounds, "grouped")
    else:
        blocks = cluster(problem, max(1, len(problem) // SPARSE_BLOCK), ROUNDS[1] + 2 * effort, job)[ordering]
        kept = improved(arrays, blocks, problem, job, MOST_SPARSE_ROWS, rounds, "sparse")
        group_rest(arrays, kept, problem, job, rounds)
    groups = np.empty_like(kept)
    groups[ordering] = kept
    return groups


def group_rest(
    arrays: tuple[Longs, Ints, Longs, Ints], groups: Ints, problem: KpProblem, job: Job, rounds: int
) -> None:
    """Groups of those that found none in their blocks, where they are many: to place one is to look at every group.

    They are many in large data, whose blocks hold transactions so much alike that they cannot keep p.
    """
    left = np.flatnonzero(groups < 0)
    while len(left) * len(groups) > MEETINGS:
        rest = (*_native.take_rows(*arrays[:2], left, job.threads), *_native.take_rows(*arrays[2:], left, job.threads))
        found = improved(rest, np.zeros(len(left), dtype=np.int32), problem, job, MOST_SPARSE_ROWS, rounds, "sparse")
        if (found < 0).all():
            return
        groups[left] = np.where(found < 0, -1, found + groups.max(initial=-1) + 1)
        left = left[found < 0]


def is_dense(problem: KpProblem) -> bool:
    """Whether transactions hold so large a share of all codes that nearly all of them overlap."""
    codes = int(problem.first[-1])
    return 0 < codes <= DENSE_ITEMS and len(problem.codes) >= DENSITY * codes * len(problem)


def is_short(problem: KpProblem) -> bool:
    """Whether transactions hold so few codes that most have little in common with any center of k-means."""
    return len(problem.codes) < SHORT_SETS * len(problem)


def without_p(ordered: Transactions, k: int, effort: int, job: Job) -> Ints:
    """A short run of `crowd` on sparse sets in Gray order."""
    with job.stage("groups") as monitor:
        settings = _native.CrowdSparse(
            shards=max(1, len(ordered) // PART),
            every=max(1, (2 + k // 5) // (1 + effort)),
            reach=round(20 * 5 ** (effort / 10)),
            keep=2 * k + 8,
            rounds=1 + effort,
            augment=0,
            block=1,
        )
        groups, _ = _native.crowd_sparse(
            ordered.offsets, ordered.items, ordered.n_items, k, settings, monitor, job.threads
        )
    return groups


def proposals(n: int) -> float:
    """Random changes per dense transaction. More data leave more time, since ANT makes more clusters of them.

    Examples
    --------
    >>> proposals(3_000), proposals(67_500)
    (2, 8)
    """
    return min(8, 2 + n // MANY_ROWS)


def shard_size(n: int, k: int) -> int:
    """Transactions per shard; the number of shards is even, so that two threads share them well.

    Examples
    --------
    >>> shard_size(100_000, 5), shard_size(1000, 5)
    (1250, 1000)
    """
    shards = round(n / (SHARD[k >= LARGE_K] * k))
    return -(-n // (shards + shards % 2)) if shards > 1 else max(1, n)


def improved(
    arrays: tuple[Longs, Ints, Longs, Ints],
    parts: Ints,
    problem: KpProblem,
    job: Job,
    shard: int,
    proposals: float,
    kind: Literal["dense", "sparse", "grouped"],
) -> Ints:
    """Groups that keep p, built inside the blocks given, or made from the groups of sparse transactions given."""
    dense = kind == "dense"
    with job.stage("keep p") as monitor:
        return _native.kp_improve(
            *arrays,
            parts,
            k=problem.k,
            p=problem.limit,
            proposals=proposals,
            partners=PARTNERS if dense else 0,
            hot=0.5 if dense else 0.3,
            cold=0.2 if dense else 0.1,
            shard=shard,
            build=kind != "grouped",
            dense=dense,
            seed=int(job.random("kp-crowd").integers(1 << 62)),
            threads=job.threads,
            monitor=monitor,
        )


def place(problem: KpProblem, groups: Ints, job: Job) -> Ints:
    """Everybody in a group."""
    with job.stage("place") as monitor:
        return _native.place_rows(*problem.kernel, groups, problem.k, problem.limit, job.threads, monitor)


SPEC = MethodSpec(
    name="kp-crowd",
    title="Groups by what they keep, under p",
    model="kp-anonymity",
    summary="Groups built by what they keep of the attribute counts under p: less loss than ANT in about its time.",
    params=(THRESHOLD, HIERARCHY, LEVEL, EFFORT),
    run=run,
    paper=f"this project; the model is that of {PAPER}",
    seeded=True,
    needs=("sensitivity",),
    units=("user", "transaction"),
)
