"""KAMP: rewrite the habits of users so that somebody who knows a few of them is left with at least k users.

Precondition   transactions with users, at least k ≥ 2 of them (or no transactions at all); 1 ≤ σ ≤ n; M ≥ 1.
Pseudo-code    repeat
                   patterns ← itemsets that at least σ transactions hold; table ← the patterns of each user
                   if every combination of up to M maximal patterns of a user is contained by ≥ k users: stop
                   phase 1: change the table until that is so: give patterns to users, or take them
                   phase 2: change the users' transactions until they contain what the table says, and nothing else
               after a few rounds: take patterns only, and never add an item
Postcondition  it stops only where the condition holds on the transactions as they then are, mined anew: exactly what
               the model's check asks. It always stops: once only items are taken, every round takes at least one.

No user and no transaction is invented: one that consists of patterns alone would be recognised, and an attacker would
leave it out. The virtual users of the paper's phase 1 are in its pattern table (`Draft.patterns`), not in the release.

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
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError, argument
from anonset.data.job import Job
from anonset.data.patterns import PatternTable
from anonset.data.release import Draft, Release
from anonset.data.spec import MethodSpec, Param, as_count
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.data.unit import require_known
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
    """The transactions as they are rewritten: quasi-identifier items only, users numbered without gaps."""

    data: Transactions
    users: int

    @classmethod
    def of(cls, data: Transactions) -> Rows:
        """The original transactions."""
        assert data.users is not None
        present, code = np.unique(data.users, return_inverse=True)
        quasi = data.quasi()
        plain = Transactions(quasi.offsets, quasi.items, quasi.labels, users=code.astype(np.int32))
        return cls(plain, len(present))

    @property
    def owner(self) -> Ints:
        """The user of each transaction."""
        assert self.data.users is not None
        return self.data.users

    def mine(self, goal: Goal, job: Job) -> UserPatterns:
        """All patterns, and which user contains which."""
        patterns = frequent(self.data, goal.support, most=MOST_PATTERNS, job=job)
        return of_users(self.data, patterns, self.users, job)


@dataclass(frozen=True, eq=False)
class Repaired:
    """Phase 1: the patterns that each user is to contain, as offsets and numbers.

    `printed` is what the paper's algorithm ends with, its virtual users last; in `target` they do not count.
    """

    printed: tuple[Longs, Ints]
    target: tuple[Longs, Ints]


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
    table, rounds, first = before, 0, None
    while is_rare(table, goal, job):
        repair = strategy if rounds < ROUNDS else "suppress"
        new = repaired_table(rows, table.patterns, goal, repair, job)
        first = first or new
        rows = rewritten(rows, table.patterns, new, repair != "suppress", job)
        table = rows.mine(goal, job)
        rounds += 1
    phase_1 = before if first is None else before.with_contents(*first.printed)
    figures |= {"rounds": rounds, **distances(before, phase_1, table), "transactions_changed": changed(data, rows)}
    return Draft(
        Release(published(data, rows)),
        np.arange(len(data), dtype=np.int64),
        figures,
        notes,
        public_notes=public,
        patterns=pattern_table(data, before, phase_1),
    )


def with_users(
    data: Transactions, synthetic: int | None, job: Job
) -> tuple[Transactions, tuple[str, ...], tuple[str, ...]]:
    """The data with users, their own or, where asked for, groups of similar transactions; private and public notes."""
    if data.users is not None:
        require_known(data)
        unused = f"The data name their users, so {argument('users_by_similarity')} was not needed."
        return data, (unused,) if synthetic is not None else (), ()
    if synthetic is None:
        advice = f"Name the column of users, or group similar transactions: {argument('users_by_similarity')}."
        raise ParameterError("user", "say whom each transaction belongs to", "none", advice)
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
    live = len(distinct(table.own()[1]))
    return {"patterns": len(table.patterns), "maximal_patterns": live, "combinations_at_most": total}


def combinations_at_most(table: UserPatterns, most: int) -> int:
    """How many combinations of up to `most` maximal patterns users can have, without counting them."""
    offsets, own = table.own()
    sizes, users = np.unique(np.diff(offsets), return_counts=True)
    ways = sum(int(n) * _choices(int(size), most) for size, n in zip(sizes, users, strict=True))
    return min(ways, _choices(len(distinct(own)), most))


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


def repaired_table(rows: Rows, patterns: Patterns, goal: Goal, repair: str, job: Job) -> Repaired:
    """Phase 1: a table without rare combinations."""
    data = rows.data
    with job.stage("rewrite patterns") as monitor:
        return Repaired(
            *_native.kamp_table(
                data.offsets, data.items, rows.owner, rows.users, patterns.offsets, patterns.items, patterns.counts,
                patterns.support, goal.k, goal.most, REPAIRS[repair], job.threads, monitor,
            )
        )  # fmt: skip


def rewritten(rows: Rows, patterns: Patterns, new: Repaired, may_add: bool, job: Job) -> Rows:
    """Phase 2: transactions that follow the table, as far as they can without new ones."""
    data = rows.data
    with job.stage("rewrite transactions") as monitor:
        offsets, items = _native.kamp_rows(
            data.offsets, data.items, rows.owner, rows.users, patterns.offsets, patterns.items, *new.target, may_add,
            monitor,
        )  # fmt: skip
    return Rows(Transactions(offsets, items, data.labels, users=rows.owner), rows.users)


def distances(before: UserPatterns, phase_1: UserPatterns, after: UserPatterns) -> dict[str, Any]:
    """How far the patterns of users moved, in phase 1 alone and in the release, and what to compare that with."""
    table, release = between(before, phase_1), between(before, after)
    return {
        "phase_1_distance": table.average,
        "phase_1_patterns_kept": table.kept,
        "phase_1_virtual_users": len(phase_1) - len(before),
        "pattern_distance": release.average,
        "patterns_kept": release.kept,
        "empty_distance": release.empty,
    }


def changed(data: Transactions, rows: Rows) -> int:
    """How many transactions are not what they were."""
    now, old = rows.data, data.quasi()
    kept = np.isin(now.rows * old.n_items + now.items, old.rows * old.n_items + old.items, assume_unique=True)
    shared = np.bincount(now.rows[kept], minlength=len(now))
    return int(((shared != now.lengths) | (shared != old.lengths)).sum())


def pattern_table(data: Transactions, before: UserPatterns, phase_1: UserPatterns) -> PatternTable:
    """What phase 1 decided, with the names of users."""
    assert data.users is not None
    codes = distinct(data.users)
    named = data.user_labels
    names = [str(code + 1) for code in codes.tolist()] if named is None else named.take(pa.array(codes)).to_pylist()
    names += [f"virtual {i + 1}" for i in range(len(phase_1) - len(before))]
    sets = before.patterns
    return PatternTable(pa.array(names), data.labels, sets.offsets, sets.items, before.own(), phase_1.own())


def published(data: Transactions, rows: Rows) -> Transactions:
    """The rewritten transactions with the sensitive items of the original ones."""
    return replace(data, ids=None).with_quasi(rows.data.offsets, rows.data.items)


SPEC = MethodSpec(
    name="kamp",
    title="KAMP",
    model="multi-pattern",
    summary="Gives habits to users, or takes them, until every combination of a user's habits is shared by k users.",
    params=(STRATEGY, USERS_BY_SIMILARITY),
    run=run,
    paper="C.-H. Hsu, H.-P. Tsai, KAMP: Preserving k-anonymity for Combinations of Patterns, IEEE MDM, 2013",
    needs=("users",),
    patterns=True,
)
