"""`crowd`: the project's own method for k-anonymity; groups by what they keep, improved until the effort is used up.

For groups g of size s with item counts c the information loss is Σ|t| − Σ_g Σ_i max(0, 2c − s). The double sum is the
*gain*: what is kept, counted against publishing nothing. Every step raises it.

Precondition   transactions with quasi-identifier items Q (all that are not sensitive); n = 0 or n ≥ k ≥ 2.
Pseudo-code    order ← Gray order of the transactions' Q
               dense data:  groups of k from a pool of waiting neighbours; then random moves and swaps between
                            the groups of near neighbours, accepted as in simulated annealing, and groups dissolved
               sparse data: k equal transactions are a group; around every other one the group of k is sought that
                            gains most; the best of these groups is formed, then the best of those left, and so on;
                            the others join them; then, round by round: dissolve groups whose members gain more
                            elsewhere, move or swap single transactions; where items are rare, let those whom
                            groups can spare form new ones; and run relays, in which one goes where it
                            gains, another one takes its place, and so on
               PTA's groups instead, should they lose less (at effort 0 formed only if a sample leaves it open)
               publish every transaction with its Q replaced by the majority of its group
Postcondition  every transaction is in one group. Groups begin with at least k members. A transaction leaves a group
               only if more than k are there, or in a swap or relay that brings another one in, or when the whole group
               is dissolved and every member joins another group. So every group has at least k members at every step,
               and its members publish the same Q: k-anonymity. Each change is made only if it raises the gain
               (annealing aside), so more effort is never spent for nothing.
Diversity      with `diversity=p`: refused unless every sensitive item s occurs in at most n/p transactions. Groups that
               hold an item too often are repaired (exchanges, merges; see group/diversity.py); after that every move
               and swap keeps both groups at k members and at the share. So at the end f · p ≤ |g| for every item and
               group, and privacy degree p holds beside k-anonymity.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.params import DIVERSITY
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.pta import segment_bounds
from anonset.methods.steps.group.centers import Centers, losses, majority, publish_centers, require_enough
from anonset.methods.steps.group.diversity import diverse, first_sizes, require_diversity
from anonset.methods.steps.order.gray import gray_sorted, item_ranks, lined_up
from anonset.methods.steps.pta_baseline import better_than_pta, clearly_less, draw, told_by_more

EFFORT = Param(
    "effort",
    "int",
    "How long to look for better groups, from 0 (about as long as PTA) to 10 (5 to 30 times as long, less loss).",
    default=2,
    minimum=0,
    maximum=10,
    example=1,
)

DENSE_ITEMS = 4096  # above, bitmaps of the whole vocabulary would cost more than they save
DENSITY = 0.08  # share of the vocabulary in a transaction from which nearly all pairs overlap
FEW = 6_000  # transactions; fewer dense ones get the visits of so many where there is effort: it takes no time
FIRST = 2_048  # occurrences that mostly tell whether many items are in use
SHARD = 250_000  # items in a shard of sparse data at effort 0
SMALL = 160_000  # the same where items are rare: more anchors help more than larger shards
SMALLER = 16_500  # the same where they are rarer, times k to the power of 1.5
PART = 25_000  # transactions among which its groups begin, times 1 + effort
NARROW = 10_000  # the same at effort 0, where they should fit the cache
DEEP = 8  # the effort from which on one shard may have to do for two threads, and other costs matter less, too
EVERYWHERE = 4  # the effort from which on anchors look at all transactions where items are rare
WIDE = 6  # the same: from here on relays reach farther
LONG = 6.0  # items per transaction, on average, from which a round of improvement costs as much as all the rest
RARE = 1_000  # at most one of so many transactions holds an item, on average: to look at all groups costs little
RARER = 4_000  # the same: to look around costs so little that there is time for more anchors
NONE: Longs = np.empty(0, dtype=np.int64)
SURE_EFFORT = 1  # from here on PTA's groups are always tried as well; at 0 only if a sample of segments leaves it open


def run(data: Transactions, job: Job, *, k: int, effort: int, diversity: int | None = None) -> Draft:
    """Anonymize `data` so that every published quasi-identifier set is shared by at least k transactions."""
    require_enough(len(data), k)
    if diversity is not None:
        require_diversity(data, diversity)
    quasi = data.quasi()
    dense = is_dense(quasi, job.threads)
    if diversity is None:
        ordering, groups, centers = _best_of_both(quasi, k, effort, dense, job)
    else:
        ordering, groups, centers = _diverse(data, quasi, k, diversity, effort, dense, job)
    published = publish_centers(data, quasi, groups, None, job, ordering, centers)
    return Draft.of_rows(
        published, {"groups": int(groups.max(initial=-1)) + 1, "regime": "dense" if dense else "sparse"}
    )


def _best_of_both(quasi: Transactions, k: int, effort: int, dense: bool, job: Job) -> tuple[Longs, Ints, Centers]:
    """The Gray order; groups in that order, or PTA's should they lose less; and what they publish."""
    bounds = segment_bounds(len(quasi), k)
    drawn = draw(bounds, effort >= SURE_EFFORT, job)
    if dense:
        with job.stage("groups"):
            ordering, groups, centers, sample = _dense(quasi, k, effort, job, bounds, drawn)
    else:
        ordering, quasi = gray_sorted(quasi, job)
        with job.stage("groups"):
            groups, centers, sample = _sparse(quasi, k, effort, job, bounds, drawn)
    if len(drawn) and clearly_less(*sample):
        return ordering, groups, centers
    ordered = lined_up(quasi, ordering, job) if dense else quasi
    if not (len(drawn) and told_by_more(ordered, groups, centers, bounds, k, job)):
        groups, centers = better_than_pta(ordered, groups, centers, bounds, k, job)
    return ordering, groups, centers


def _diverse(
    data: Transactions, quasi: Transactions, k: int, diversity: int, effort: int, dense: bool, job: Job
) -> tuple[Longs, Ints, Centers]:
    """The Gray order; groups in that order that hold no sensitive item too often; and what they publish."""
    ordering, quasi = gray_sorted(quasi, job)
    with job.stage("groups"):
        find = _dense_groups if dense else _sparse_groups
        secret = data.sensitive_part().take(ordering)
        tried = [
            diverse(quasi, secret, find(quasi, size, effort, job), k, diversity, effort, job)
            for size in first_sizes(secret, k, diversity)
        ]
        groups = min(tried, key=lambda found: losses(quasi, found, job).sum())
        return ordering, groups, majority(quasi, groups, job)


def is_dense(quasi: Transactions, threads: int = 1) -> bool:
    """Whether transactions hold so large a share of the items in use that nearly all of them overlap."""
    if not 0 < quasi.n_items <= DENSE_ITEMS:
        return False
    mean = quasi.nnz / len(quasi) if len(quasi) else 0.0
    if mean >= DENSITY * quasi.n_items:  # even if all are in use
        return True
    if mean < DENSITY * np.count_nonzero(np.bincount(quasi.items[:FIRST])):  # many are in use already there
        return False
    return bool(mean >= DENSITY * np.count_nonzero(_native.item_counts(quasi.items, quasi.n_items, threads)))


def _dense_groups(quasi: Transactions, k: int, effort: int, job: Job) -> Ints:
    """The groups of transactions that are in Gray order already."""
    return _dense(quasi, k, effort, job, NONE, NONE)[1]


def _dense(
    quasi: Transactions, k: int, effort: int, job: Job, bounds: Longs, drawn: Longs
) -> tuple[Longs, Ints, Centers, tuple[Longs, Longs]]:
    """The Gray order, which bitmaps yield at little cost; groups in that order, and what they publish.

    Beside it what transactions lose in these groups and in PTA's, for each segment drawn.
    """
    return _native.crowd_dense(
        quasi.offsets,
        quasi.items,
        rank=item_ranks(quasi, threads=job.threads),
        k=k,
        block=8192 if effort < 4 else 32768,
        pool=256 if effort >= 4 else min(max(48, len(quasi) // 300), 256),
        near=8 if effort >= 4 else 6 if effort else 5,
        sorts=2 * effort if effort >= 4 else 4 if effort else 2,
        rounds=1 + 4 * effort // 5,
        visits=2.75 * 12 ** (effort / 10) * (max(1.0, FEW / max(1, len(quasi))) if effort >= 4 else 1.0),
        partners=8,
        hot=0.4,
        cold=0.15,
        seed=int(job.random("crowd").integers(1 << 62)),
        bounds=bounds,
        drawn=drawn,
        monitor=job.monitor,
        threads=job.threads,
    )


def _sparse_groups(quasi: Transactions, k: int, effort: int, job: Job) -> Ints:
    """Groups without a look at PTA's."""
    return _sparse(quasi, k, effort, job, NONE, NONE)[0]


def _sparse(
    quasi: Transactions, k: int, effort: int, job: Job, bounds: Longs, drawn: Longs
) -> tuple[Ints, Centers, tuple[Longs, Longs]]:
    """Groups of transactions in Gray order, and what they publish.

    Beside it what transactions lose in these groups and in PTA's, for each segment drawn.
    """
    long = quasi.nnz >= LONG * len(quasi)
    quick, deep = effort == 0, effort >= DEEP
    rarity = len(quasi) * quasi.n_items // max(1, quasi.nnz)  # one of so many transactions holds an item
    rare = quick and long and rarity >= RARE
    everywhere = effort >= EVERYWHERE and long and rarity >= RARE
    wide = everywhere and effort >= WIDE
    rarer = rare and rarity >= RARER
    if rare:
        shards = -(-quasi.nnz // (int(SMALLER * k**1.5) if rarer else SMALL))
    else:
        shards = _shards(quasi.nnz, max(effort, DEEP) if everywhere else effort)
    shards += shards > 1 and shards % 2  # most machines have an even number of cores
    few = 2 + 3 * k // 10 if shards == 1 else 4 - long + k // 5  # classes of which one is an anchor at effort 0
    every = 2 * few * (1 + long) // (2 + effort)
    reach, keep = (20 * 5 ** (effort / 10) if long else 16 * 16 ** (effort / 10)), 2 * k + 8
    if rarer:
        every, reach, keep = max(3, 2 * k // 5), k + 8, max(14, 2 * k)
    elif rare:
        every, reach, keep = 3 + (k - 4) // 3, 8, max(2 * k, 3 * k - 5)
    elif everywhere:
        every, keep = max(1 + k // 20, 8 + k // 10 - effort), 3 * k + 3
    elif quick and not long:  # every look counts, above all where data are so small that they take hardly any time
        reach, keep = (10, 9 * k // 4 + 1) if shards == 1 else (reach, 2 * k + 2)
    elif deep and not long:
        every, keep = k // 10, 4 * k
    narrow = min(NARROW, max(k, len(quasi) // (4 * shards)))  # at least four parts, so that two cores have work
    return _native.crowd_sparse(
        quasi.offsets,
        quasi.items,
        n_items=quasi.n_items,
        k=k,
        reach=max(k, round(reach)),
        keep=keep,
        again=0 if quick else 1,
        every=max(1, every),
        turns=2 if quick else 6,
        everywhere=everywhere,
        part=PART * (1 + effort) if not quick or rare else narrow,
        rounds=0 if quick and long and not rare else 1,
        open=everywhere,
        recent=quick,
        relays=0 if quick else 1 + deep,
        after=int(deep or not everywhere),
        passes=24 if wide else 8 + effort,
        block=max(2560, 200 * k) if wide else 2048 if deep else 1024,
        shards=shards,
        bounds=bounds,
        drawn=drawn,
        monitor=job.monitor,
        threads=job.threads,
    )


def _shards(occurrences: int, effort: int) -> int:
    """Larger shards lose less; two soon if in a hurry."""
    least = 2 if effort < DEEP and occurrences >= SHARD * (1 + (effort > 0)) else 1
    return max(least, occurrences // (SHARD * (1 + effort)))


SPEC = MethodSpec(
    name="crowd",
    title="Groups by what they keep",
    model="k-anonymity",
    summary="Groups built and improved by what they keep: less information loss than PTA, in about its time or longer.",
    params=(EFFORT, DIVERSITY),
    run=run,
    paper="anonset's own; the gain form and the bound it is measured against are in docs/methods/crowd.md",
    seeded=True,
)
