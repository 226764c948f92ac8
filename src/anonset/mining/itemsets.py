"""Frequent itemsets: which items are held together by many transactions.

All of them, the closed ones (no larger set has the same support), or the maximal ones (no larger set is frequent).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.errors import ParameterError, unknown
from anonset.data.job import Job
from anonset.data.spec import Param, as_count
from anonset.data.transactions import Ints, Longs, Mask, Transactions

Kind = Literal["all", "closed", "maximal"]
KINDS: tuple[Kind, ...] = ("all", "closed", "maximal")
MOST_PATTERNS = 20_000_000

SUPPORT = Param(
    "support",
    "count",
    "How many transactions must hold an itemset to call it frequent: a count, or a fraction of all transactions.",
    required=True,
    example=0.1,
)


@dataclass(frozen=True, eq=False, repr=False)
class Patterns:
    """Itemsets with their support, shorter ones first: the items of set `i` are `items[offsets[i]:offsets[i + 1]]`.

    Examples
    --------
    >>> found = frequent([["wine", "bread"], ["wine", "bread"], ["bread"]], 2)
    >>> found
    Patterns(3 itemsets of support 2 or more)
    >>> list(found)
    [(('bread',), 3), (('wine',), 2), (('bread', 'wine'), 2)]
    """

    offsets: Longs
    items: Ints
    counts: Longs
    labels: pa.StringArray
    support: int

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        names = self.labels.take(pa.array(self.items)).to_pylist()
        bounds = self.offsets.tolist()
        for i, count in enumerate(self.counts.tolist()):
            yield tuple(names[bounds[i] : bounds[i + 1]]), count

    def smaller(self) -> tuple[Longs, Longs]:
        """For each set the numbers of those with one item less, where all frequent itemsets are there."""
        items, bounds = self.items.tolist(), self.offsets.tolist()
        sets = [tuple(items[start:end]) for start, end in pairwise(bounds)]
        number = {one: i for i, one in enumerate(sets)}
        parts = [[number[one[:i] + one[i + 1 :]] for i in range(len(one))] if len(one) > 1 else [] for one in sets]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        flat = np.array([one for part in parts for one in part], dtype=np.int64)
        return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), flat

    def __repr__(self) -> str:
        return f"Patterns({len(self):,} itemset{'s' if len(self) != 1 else ''} of support {self.support:,} or more)"


def frequent(
    data: Any,
    support: float,
    kind: Kind = "all",
    *,
    longest: int | None = None,
    most: int = MOST_PATTERNS,
    threads: int | None = None,
    job: Job | None = None,
) -> Patterns:
    """The itemsets that at least `support` transactions hold.

    Parameters
    ----------
    data
        `Transactions`, or lists of items. Sensitive items count like any other; `data.quasi()` leaves them out.
    support
        A count (1, 2, …) or a fraction of all transactions (below 1).
    kind
        `all`, `closed` (no larger set has the same support) or `maximal` (no larger set is frequent).
    longest
        No sets of more items than this; only for all itemsets.
    most
        More itemsets than this are refused: dense data and a small support have more than any memory holds.
    threads, job
        The answer does not depend on the number of threads.

    Examples
    --------
    >>> baskets = [["a", "b", "c"], ["a", "b"], ["a", "c"], ["d"]]
    >>> [items for items, count in frequent(baskets, 0.5, "maximal")]
    [('a', 'b'), ('a', 'c')]
    """
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    if longest is not None and (longest < 1 or kind != "all"):
        raise ParameterError("longest", "be at least 1, and is for all itemsets only", longest, "Leave it out.")
    source = data if isinstance(data, Transactions) else Transactions.from_lists(data)
    count = as_count(SUPPORT.parse(support), len(source))
    job = job or Job(threads=threads)
    with job.stage("mine", total=int((source.item_counts >= count).sum())) as monitor:
        offsets, items, counts, complete = _native.frequent_patterns(
            source.offsets, source.items, source.n_items, count, KINDS.index(kind), longest or 0, most,
            job.threads, monitor,
        )  # fmt: skip
    if not complete:
        raise ParameterError(
            "support", f"leave at most {most:,} frequent itemsets", f"more of them at {count:,}", "Choose a larger one."
        )
    return Patterns(offsets, items, counts, source.labels, count)


@dataclass(frozen=True, eq=False, repr=False)
class UserPatterns:
    """Which patterns each user contains: `held[offsets[u]:offsets[u + 1]]`, numbers of `patterns`, ascending.

    `counts` says in how many of the user's transactions, `maximal` whether the user contains no larger pattern that
    includes it.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a"]], users=["u", "v", "w"])
    >>> found = of_users(data, frequent(data, 2))
    >>> found.of(0), found.of(2)
    ([('a', 'b')], [('a',)])
    """

    patterns: Patterns
    offsets: Longs
    held: Ints
    counts: Longs
    maximal: Mask

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def own(self) -> tuple[Longs, Ints]:
        """The maximal patterns of each user: offsets and numbers."""
        before = np.concatenate(([0], np.cumsum(self.maximal)))
        return before[self.offsets].astype(np.int64), self.held[self.maximal]

    def with_contents(self, offsets: Longs, held: Ints) -> UserPatterns:
        """The same patterns, contained by other users; each user's must be downward closed."""
        total = max(1, len(self.patterns))
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        starts, smaller = self.patterns.smaller()
        sizes = np.diff(starts)[held]
        place = np.repeat(starts[held] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        covered = np.repeat(owner, sizes) * total + smaller[place]
        maximal = ~np.isin(owner * total + held, covered)
        return UserPatterns(self.patterns, offsets, held, np.zeros(len(held), dtype=np.int64), maximal)

    def of(self, user: int) -> list[tuple[str, ...]]:
        """The maximal patterns of one user as labels."""
        offsets, own = self.own()
        names = [items for items, _ in self.patterns]
        return [names[i] for i in own[offsets[user] : offsets[user + 1]].tolist()]


def of_users(data: Transactions, patterns: Patterns, users: int | None = None, job: Job | None = None) -> UserPatterns:
    """The patterns that each user contains: one of the user's transactions holds all of its items.

    `patterns` must be all frequent itemsets of the same items (`kind="all"`); `users` is the number of users where
    there are more than have transactions.
    """
    if data.users is None:
        raise ParameterError("users", "say whom each transaction belongs to", "none")
    count = int(data.users.max(initial=-1)) + 1 if users is None else users
    job = job or Job()
    with job.stage("patterns of users") as monitor:
        offsets, held, counts, maximal = _native.user_patterns(
            data.offsets, data.items, data.users, count, patterns.offsets, patterns.items, monitor
        )
    return UserPatterns(patterns, offsets, held, counts, maximal)
