"""KAMP: rewrite the habits of users so that whoever knows a few of them is left with at least k users.

Precondition   transactions with users, at least k ≥ 2 of them (or no transactions at all); 1 ≤ σ ≤ n; M ≥ 1.
Pseudo-code    repeat
                   patterns ← itemsets that at least σ transactions hold; table ← the patterns of each user
                   if every combination of up to M maximal patterns of a user is contained by ≥ k users: stop
                   phase 1: change the table until that is so (give patterns to users, take them, or add virtual users)
                   phase 2: change the transactions until each user contains what the table says, and nothing else
               after a few rounds: take patterns only, and never add an item
Postcondition  it stops only where the condition holds on the transactions as they then are, mined anew: exactly what
               the model's check asks. It always stops: once only items are taken, every round takes at least one.

Quasi-identifier items are what patterns consist of; sensitive items stay with their transactions.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013. The paper describes
phase 1; phase 2 is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.errors import InfeasibleError, ParameterError
from anonset.data.job import Job
from anonset.data.release import Draft, Release
from anonset.data.spec import MethodSpec, Param, as_count
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.mining.distance import between
from anonset.mining.itemsets import Patterns, UserPatterns, frequent, of_users

Strategy = Literal["greedy", "joint"]
REPAIRS = {"greedy": 0, "joint": 1, "suppress": 2}
ROUNDS = 4  # with additions; then suppression only
MOST_PATTERNS = 200_000
MOST_COMBINATIONS = 50_000_000

STRATEGY = Param(
    "strategy",
    "choice",
    "How the pattern table is repaired: joint (all combinations of a user at once; less loss) or greedy (as in the "
    "paper).",
    default="joint",
    choices=("joint", "greedy"),
    example="joint",
)
USERS_BY_SIMILARITY = Param(
    "users_by_similarity",
    "int",
    "Where the data name no users: into how many synthetic users to group similar transactions.",
    minimum=2,
    example=10,
)


@dataclass(frozen=True)
class Goal:
    """What is to be reached: every combination of up to M patterns of support σ is contained by at least k users.

    σ is a number of transactions, fixed on the original: transactions that are added do not raise it.
    """

    k: int
    most: int
    support: int


@dataclass(frozen=True, eq=False)
class Rows:
    """The transactions as they are rewritten (quasi-identifier items only): the original ones, then invented ones."""

    data: Transactions
    row_origin: Longs
    users: int

    @classmethod
    def of(cls, data: Transactions) -> Rows:
        """The original transactions, their users numbered without gaps."""
        assert data.users is not None
        present, code = np.unique(data.users, return_inverse=True)
        quasi = data.quasi()
        plain = Transactions(quasi.offsets, quasi.items, quasi.labels, users=code.astype(np.int32))
        return cls(plain, np.arange(len(data), dtype=np.int64), len(present))

    @property
    def owner(self) -> Ints:
        """The user of each transaction."""
        assert self.data.users is not None
        return self.data.users

    def mine(self, goal: Goal, job: Job) -> UserPatterns:
        """All patterns, and which user contains which."""
        patterns = frequent(self.data, goal.support, most=MOST_PATTERNS, job=job)
        return of_users(self.data, patterns, self.users, job)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    combinations: int,
    support: float,
    strategy: Strategy,
    users_by_similarity: int | None,
) -> Draft:
    """Anonymize `data` so that every combination of up to M patterns of a user is contained by at least k users."""
    data, notes, public = with_users(data, users_by_similarity, job)
    goal = Goal(k, combinations, as_count(support, len(data)))
    rows = Rows.of(data)
    require_feasible(rows, goal)
    before = rows.mine(goal, job)
    figures = require_countable(before, goal)
    job.say(
        f"{figures['patterns']:,} patterns, {figures['maximal_patterns']:,} of them somebody's maximal ones: at most "
        f"{figures['combinations_at_most']:,} combinations of up to {combinations} to look at."
    )
    table, rounds = before, 0
    while is_rare(table, goal, job):
        repair = strategy if rounds < ROUNDS else "suppress"
        rows = repaired(rows, table.patterns, goal, repair, job)
        table = rows.mine(goal, job)
        rounds += 1
    figures |= {"rounds": rounds, "pattern_distance": between(before, table).average, **changes(data, rows, before)}
    return Draft(Release(published(data, rows)), rows.row_origin, figures, notes, public_notes=public)


def with_users(
    data: Transactions, synthetic: int | None, job: Job
) -> tuple[Transactions, tuple[str, ...], tuple[str, ...]]:
    """The data with users, their own or, where asked for, groups of similar transactions; private and public notes."""
    if data.users is not None:
        unused = "The data name their users, so 'users_by_similarity' was not needed."
        return data, (unused,) if synthetic is not None else (), ()
    if synthetic is None:
        advice = "Name the column of users, or group similar transactions with users_by_similarity."
        raise ParameterError("users", "say whom each transaction belongs to", "none", advice)
    note = (
        f"The {synthetic:,} users are synthetic: groups of similar transactions. The promise is about these groups; "
        "whether a group is a person nobody knows."
    )
    return group_by_similarity(data, synthetic, job), (), (note,)


def group_by_similarity(data: Transactions, users: int, job: Job) -> Transactions:
    """The data with `users` synthetic users: groups of transactions with a high Jaccard similarity, of equal sizes.

    Examples
    --------
    >>> data = Transactions.from_lists([["a"], ["b", "c"], ["a"], ["b"]])
    >>> group_by_similarity(data, 2, Job()).users.tolist()
    [0, 1, 0, 1]
    """
    if users > len(data):
        most = f"be at most the number of transactions ({len(data):,})"
        raise ParameterError("users_by_similarity", most, users, "Choose fewer users.")
    quasi = data.quasi()
    with job.stage("group similar transactions", total=users) as monitor:
        group = _native.similar_groups(quasi.offsets, quasi.items, quasi.n_items, users, monitor)
    names = pa.array([f"synthetic {i + 1}" for i in range(users)], type=pa.string())
    return replace(data, users=group, user_labels=names)


def require_feasible(rows: Rows, goal: Goal) -> None:
    """Refuse what no release can reach, before any work."""
    n = len(rows.data)
    if 0 < rows.users < goal.k:
        raise InfeasibleError(
            f"'k' must be at most the number of users ({rows.users:,}). Got {goal.k:,}. Choose a smaller k or add data."
        )
    if 0 < n < goal.support:
        most = f"be at most the number of transactions ({n:,})"
        raise ParameterError("support", most, goal.support, "Choose a smaller support.")


def require_countable(table: UserPatterns, goal: Goal) -> dict[str, Any]:
    """How many patterns and combinations there are at most; an absurd number is refused."""
    total = combinations_at_most(table, goal.most)
    if total > MOST_COMBINATIONS:
        smaller = range(1, goal.most)
        fits = max((most for most in smaller if combinations_at_most(table, most) <= MOST_COMBINATIONS), default=0)
        advice = f"Choose at most {fits}, or a larger support." if fits else "Choose a larger support."
        most = f"leave at most {MOST_COMBINATIONS:,} combinations of patterns"
        raise ParameterError("combinations", most, f"{goal.most}, which makes up to {total:.1e}", advice)
    live = len(np.unique(table.own()[1]))
    return {"patterns": len(table.patterns), "maximal_patterns": live, "combinations_at_most": total}


def combinations_at_most(table: UserPatterns, most: int) -> int:
    """How many combinations of up to `most` maximal patterns users can have, without counting them."""
    offsets, own = table.own()
    sizes, users = np.unique(np.diff(offsets), return_counts=True)
    ways = sum(int(n) * _choices(int(size), most) for size, n in zip(sizes, users, strict=True))
    return min(ways, _choices(len(np.unique(own)), most))


def _choices(patterns: int, most: int) -> int:
    return sum(math.comb(patterns, size) for size in range(1, most + 1))


def is_rare(table: UserPatterns, goal: Goal, job: Job) -> bool:
    """Whether some combination is contained by fewer than k users."""
    return bool(count_rare(table, goal, job)[1].any())


def count_rare(table: UserPatterns, goal: Goal, job: Job) -> tuple[Longs, Longs]:
    """For each size from 1 to M, how many combinations there are, and how many of them fewer than k users contain."""
    patterns = table.patterns
    with job.stage("count combinations") as monitor:
        every, rare, _ = _native.count_combinations(
            patterns.offsets, patterns.items, table.offsets, table.held, goal.most, goal.k, job.threads, monitor
        )
    return every, rare


def repaired(rows: Rows, patterns: Patterns, goal: Goal, repair: str, job: Job) -> Rows:
    """Both phases once: a table without rare combinations, and transactions that follow it."""
    offsets, held = new_table(rows, patterns, goal, repair, job)
    data = rows.data
    with job.stage("rewrite transactions") as monitor:
        starts, items, added = _native.kamp_rows(
            data.offsets, data.items, rows.owner, rows.users, patterns.offsets, patterns.items, offsets, held,
            repair != "suppress", monitor,
        )  # fmt: skip
    users = np.concatenate((rows.owner, added))
    source = np.concatenate((rows.row_origin, np.full(len(added), -1, dtype=np.int64)))
    # An invented transaction that has lost all its items again is not needed.
    needed = np.flatnonzero((source >= 0) | (np.diff(starts) > 0))
    grown = Transactions(starts, items, data.labels, users=users).take(needed)
    return Rows(grown, source[needed], len(offsets) - 1)


def new_table(rows: Rows, patterns: Patterns, goal: Goal, repair: str, job: Job) -> tuple[Longs, Ints]:
    """Phase 1: the patterns that each user, real and virtual, is to contain, so that no combination is rare."""
    data = rows.data
    with job.stage("rewrite patterns") as monitor:
        return _native.kamp_table(
            data.offsets, data.items, rows.owner, rows.users, patterns.offsets, patterns.items, patterns.counts,
            patterns.support, goal.k, goal.most, REPAIRS[repair], job.threads, monitor,
        )  # fmt: skip


def changes(data: Transactions, rows: Rows, before: UserPatterns) -> dict[str, Any]:
    """How many transactions and users were changed or added. Private: it tells invented ones from real ones."""
    n, now, old = len(data), rows.data, data.quasi()
    sizes = np.diff(now.offsets[: n + 1])
    longer = np.repeat(np.arange(n), sizes) * old.n_items + now.items[: now.offsets[n]]
    kept = np.isin(longer, old.rows * old.n_items + old.items, assume_unique=True)
    shared = np.bincount(np.repeat(np.arange(n), sizes)[kept], minlength=n)
    return {
        "transactions_changed": int(((shared != sizes) | (shared != old.lengths)).sum()),
        "transactions_added": len(now) - n,
        "virtual_users": len(np.unique(rows.owner[rows.owner >= len(before)])),
    }


def published(data: Transactions, rows: Rows) -> Transactions:
    """The rewritten transactions with the sensitive items of the original ones; invented ones have none."""
    n, now = len(data), rows.data
    real = replace(data, ids=None).with_quasi(now.offsets[: n + 1], now.items[: now.offsets[n]])
    offsets = np.concatenate((real.offsets, now.offsets[n + 1 :] - now.offsets[n] + real.offsets[-1]))
    items = np.concatenate((real.items, now.items[now.offsets[n] :]))
    names = pa.array([str(i) for i in range(rows.users)], type=pa.string())
    return replace(real, offsets=offsets, items=items, users=rows.owner, user_labels=names)


SPEC = MethodSpec(
    name="kamp",
    title="KAMP",
    model="multi-pattern",
    summary="Gives habits to users, or takes them, until every combination of a user's habits is shared by k users.",
    params=(STRATEGY, USERS_BY_SIMILARITY),
    run=run,
    paper="C.-H. Hsu, H.-P. Tsai, KAMP: Preserving k-anonymity for Combinations of Patterns, IEEE MDM, 2013",
    needs=("users",),
)
