"""`crowd`: the project's own method for k-anonymity; groups by what they keep, improved as long as `effort` says.

For groups g of size s with item counts c the information loss is Σ|t| − Σ_g Σ_i max(0, 2c − s). The double sum is the
*gain*: what is kept, counted against publishing nothing. Every step raises it.

Precondition   transactions with quasi-identifier items Q (all that are not sensitive); n = 0 or n ≥ k ≥ 2.
Pseudo-code    order ← Gray order of the transactions' Q
               dense data:  groups of k from a pool of waiting neighbours; then, for random transactions, moves and
                            swaps between the groups of near neighbours, and groups dissolved (local search)
               sparse data: k equal transactions are a group; around others (anchors) the group of k is sought that
                            gains most; the best of these groups is formed, then the best of those left, and so on;
                            the others join them; then groups whose members gain more elsewhere are dissolved, single
                            transactions move or swap, and several change places along augmenting paths
               PTA's groups instead, should they lose less (quick: formed only if a sample leaves it open)
               publish every transaction with its Q replaced by the majority of its group
Postcondition  every transaction is in one group. Groups begin with at least k members. A transaction leaves a group
               only if more than k are there, or in a swap or along a path that brings another one in, or when the whole
               group is dissolved and every member joins another group. So every group has at least k members at every
               step, and its members publish the same Q: k-anonymity. No change is made that lowers the gain.
Persons        with `unit="user"`: refused unless there are k different users. Sparse data: an anchor's group takes
               no two transactions of one user, and no move, swap or path leaves a group below k users. What is then
               still short of users (those who found no place; groups of dense data) is repaired (exchanges, dissolving,
               merges; see group/persons.py), after which no step leaves a group below k users.
Diversity      with `diversity=p`: refused unless every sensitive item s occurs in at most n/p transactions. Groups that
               hold an item too often are repaired (exchanges, merges; see group/diversity.py); after that every move
               and swap keeps both groups at k members and at the share. So at the end f · p ≤ |g| for every item and
               group, and privacy degree p holds beside k-anonymity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.params import DIVERSITY
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Ints, Transactions
from anonset.data.unit import require_users
from anonset.methods.pta import segment_bounds
from anonset.methods.steps.closure import CATEGORIES, with_categories
from anonset.methods.steps.group.centers import Centers, losses, majority, publish_centers, require_enough
from anonset.methods.steps.group.diversity import diverse, diverse_persons, first_sizes, require_diversity
from anonset.methods.steps.group.persons import groups_of_persons
from anonset.methods.steps.order.gray import gray_sorted
from anonset.methods.steps.pta_baseline import best_of_both


@dataclass(frozen=True)
class Dense:
    """What a preset means for dense data."""

    block: int  # transactions that are solved together in a round; more of them lose less, fewer fit the cache
    pool: int  # waiting transactions among which a new group chooses
    near: int  # neighbours of a transaction whose groups it may move to
    sorts: int  # by random items, to find these
    rounds: int  # in which groups come together with others
    visits: float  # to a transaction, on average, to look for a better group


@dataclass(frozen=True)
class Sparse:
    """What a preset means for sparse data."""

    shard: int  # item occurrences of a shard, which is solved by itself; shards keep the time linear
    anchors: int  # so many transactions of k look for the best group around them, half as many where they are long
    reach: int  # others that an anchor looks at for each of its items, before and after it in Gray order; at least k
    candidates: int  # times k: others that it remembers
    round_for_long: bool  # whether groups of long transactions, too, are dissolved, and their members move and swap
    augment: int  # times that transactions change places along augmenting paths
    block: int  # groups among which paths run


@dataclass(frozen=True)
class Preset:
    """How long to look for better groups. What each value is worth: docs/results/crowd-ablation.md."""

    dense: Dense
    sparse: Sparse
    sample_pta: bool  # whether PTA's groups are formed only if a sample of them leaves open whether they lose less
    diversity_rounds: int  # of improvement after groups were repaired for `diversity`
    person_rounds: int  # the same where persons are counted


PRESETS = {
    "quick": Preset(
        Dense(block=8_192, pool=96, near=5, sorts=2, rounds=1, visits=2.75),
        Sparse(150_000, anchors=2, reach=16, candidates=2, round_for_long=False, augment=0, block=1),
        sample_pta=True,
        diversity_rounds=2,
        person_rounds=2,
    ),
    "usual": Preset(
        Dense(block=8_192, pool=128, near=6, sorts=4, rounds=2, visits=4.5),
        Sparse(750_000, anchors=5, reach=28, candidates=3, round_for_long=True, augment=1, block=1_024),
        sample_pta=False,
        diversity_rounds=4,
        person_rounds=4,
    ),
    "thorough": Preset(
        Dense(block=16_384, pool=256, near=8, sorts=16, rounds=7, visits=22.0),
        Sparse(2_250_000, anchors=10, reach=128, candidates=4, round_for_long=True, augment=2, block=2_048),
        sample_pta=False,
        diversity_rounds=10,
        person_rounds=10,
    ),
}
EFFORT = Param(
    "effort",
    "choice",
    "How long to look for better groups: quick takes about as long as PTA, thorough 5 to 20 times as long.",
    default="usual",
    choices=tuple(PRESETS),
    former={str(n): "quick" if n < 2 else "usual" if n < 6 else "thorough" for n in range(11)},
    example="quick",
)

DENSE_ITEMS = 4096  # above, bitmaps of the whole vocabulary would cost more than they save
DENSITY = 0.08  # share of the vocabulary in a transaction from which nearly all pairs overlap
FIRST_OCCURRENCES = 2_048  # of items; they mostly tell whether many items are in use
PERSON_REACH = 2  # times as far where persons are counted: many near an anchor are its own user's
PERSON_CANDIDATES = 4  # times as many: of several transactions of a user one can join
LONG_SETS = 6.0  # items per transaction, on average, from which an anchor or a round of improvement costs twice as much


def run(
    data: Transactions, job: Job, *, k: int, effort: str, diversity: int | None = None, unit: Unit = "transaction"
) -> Draft:
    """Anonymize `data` so that every published quasi-identifier set is shared by at least k transactions, or users."""
    require_enough(len(data), k)
    if unit == "user":
        require_users(data, k)
    if diversity is not None:
        require_diversity(data, diversity, in_persons=unit == "user")
    preset = PRESETS[effort]
    quasi = data.quasi()
    dense = is_dense(quasi, job.threads)
    ordering, ordered = gray_sorted(quasi, job)
    with job.stage("groups"):
        if unit == "user" and data.users is not None:
            users = data.users[ordering]
            begun, _ = find_groups(ordered, k, preset, dense, job, users)
            groups = groups_of_persons(ordered, users, begun, k, job, preset.person_rounds)
            if diversity is not None:
                secret = data.sensitive_part().take(ordering)
                groups = diverse_persons(ordered, secret, users, groups, k, diversity, job)
            centers = majority(ordered, groups, job)
        elif diversity is None:
            found = find_groups(ordered, k, preset, dense, job)
            bounds = segment_bounds(len(ordered), k)
            groups, centers = best_of_both(ordered, *found, bounds, k, preset.sample_pta, job)
        else:
            groups = _diverse(ordered, data.sensitive_part().take(ordering), k, diversity, preset, dense, job)
            centers = majority(ordered, groups, job)
    published = publish_centers(data, quasi, groups, None, job, ordering, centers)
    return Draft.of_rows(
        published, {"groups": int(groups.max(initial=-1)) + 1, "regime": "dense" if dense else "sparse"}
    )


def find_groups(
    ordered: Transactions, k: int, preset: Preset, dense: bool, job: Job, users: Ints | None = None
) -> tuple[Ints, Centers]:
    """Groups of at least k for transactions in Gray order, and what they publish; PTA's are not considered.

    With `users`, groups of sparse transactions begin with k different ones; some may still lack users at the end.

    Examples
    --------
    >>> data = Transactions.from_lists(["ab", "ab", "c", "c"])
    >>> find_groups(data, 2, PRESETS["usual"], True, Job(1))[0].tolist()
    [0, 0, 1, 1]
    """
    if dense:
        settings = _native.CrowdDense(**vars(preset.dense))
        seed = int(job.random("crowd").integers(1 << 62))
        return _native.crowd_dense(
            ordered.offsets, ordered.items, ordered.n_items, k, settings, seed, job.monitor, job.threads
        )
    chosen = sparse_settings(ordered, k, preset, users is not None)
    return _native.crowd_sparse(
        ordered.offsets, ordered.items, ordered.n_items, k, chosen, job.monitor, job.threads, users
    )


def sparse_settings(ordered: Transactions, k: int, preset: Preset, persons: bool = False) -> _native.CrowdSparse:
    """What the preset means for these transactions and this k, and where persons are counted."""
    chosen = preset.sparse
    long = ordered.nnz >= LONG_SETS * len(ordered)
    return _native.CrowdSparse(
        shards=-(-ordered.nnz // chosen.shard),
        every=-(-k // chosen.anchors) * (1 + long),
        reach=max(k, chosen.reach) * (PERSON_REACH if persons else 1),
        keep=chosen.candidates * k * (PERSON_CANDIDATES if persons else 1),
        rounds=int(not long or chosen.round_for_long),
        augment=chosen.augment,
        block=chosen.block,
    )


def _diverse(
    ordered: Transactions, sensitive: Transactions, k: int, diversity: int, preset: Preset, dense: bool, job: Job
) -> Ints:
    """Groups that hold no sensitive item too often, from groups of k or, where that may lose less, of p."""
    started = [find_groups(ordered, size, preset, dense, job)[0] for size in first_sizes(sensitive, k, diversity)]
    rounds = preset.diversity_rounds
    tried = [diverse(ordered, sensitive, groups, k, diversity, rounds, job) for groups in started]
    return min(tried, key=lambda found: losses(ordered, found, job).sum())


def is_dense(quasi: Transactions, threads: int = 1) -> bool:
    """Whether transactions hold so large a share of the items in use that nearly all of them overlap."""
    if not 0 < quasi.n_items <= DENSE_ITEMS:
        return False
    mean = quasi.nnz / len(quasi) if len(quasi) else 0.0
    if mean >= DENSITY * quasi.n_items:  # even if all are in use
        return True
    if mean < DENSITY * np.count_nonzero(np.bincount(quasi.items[:FIRST_OCCURRENCES])):  # many are in use already there
        return False
    return bool(mean >= DENSITY * np.count_nonzero(_native.item_counts(quasi.items, quasi.n_items, threads)))


SPEC = MethodSpec(
    name="crowd",
    title="Groups by what they keep",
    model="k-anonymity",
    summary="Groups built and improved by what they keep: less information loss than PTA, in about its time or longer.",
    params=(EFFORT, DIVERSITY, *CATEGORIES),
    run=with_categories(run),
    columns=True,
    paper="anonset's own; the gain form and the bound it is measured against are in docs/methods/crowd.md",
    seeded=True,
    units=("user", "transaction"),
)
