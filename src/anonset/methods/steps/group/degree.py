"""What every grouping for privacy degree p needs first and last: the problem apart, and the groups published.

The data fall into what is published exactly (quasi-identifier items) and what only counts per group tell (sensitive
items). Theorem 1 of Ghinita, Kalnis and Tao: a grouping of degree p exists iff all transactions taken together
already are one, that is iff no sensitive item occurs in more than n / p of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonset import _native
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError, argument, setting
from anonset.data.job import Job
from anonset.data.release import Draft, GroupCounts, Release
from anonset.data.spec import Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.data.unit import known_users
from anonset.methods.steps.order.gray import gray_order


@dataclass(frozen=True, eq=False)
class DegreeProblem:
    """Quasi-identifier items and sensitive items of each transaction, in the order in which they are worked on."""

    quasi: Transactions
    secret: Transactions
    order: Longs | None  # where each transaction comes from; None: as in the data
    offsets: Longs
    items: Ints
    secret_offsets: Longs
    secrets: Ints  # numbered from 0
    n_sensitive: int
    p: int

    @property
    def arrays(self) -> tuple[Longs, Ints, Longs, Ints, int, int, int]:
        """What the kernels take."""
        kernel_secrets = (self.secret_offsets, self.secrets)
        return (self.offsets, self.items, *kernel_secrets, self.quasi.n_items, self.n_sensitive, self.p)

    def __len__(self) -> int:
        return len(self.quasi)

    def in_order(self, order: Longs, threads: int = 1) -> DegreeProblem:
        """The same problem, its transactions in another order."""
        offsets, items = _native.take_rows(self.quasi.offsets, self.quasi.items, order, threads)
        secret_offsets, secrets = _few_in_order(self.secret.offsets, self.secrets, order)
        return replace(self, order=order, offsets=offsets, items=items, secret_offsets=secret_offsets, secrets=secrets)

    def for_persons(self, groups: Ints, unit: Unit, job: Job) -> Ints:
        """The groups; where users are counted and a user's transactions say too much together, others.

        Precondition   groups of degree p. Step: where some user's sum of f / |G| over all transactions exceeds 1/p for
        an item, every transaction with sensitive items gets a group of h · p transactions of users who can bear it, h
        being how often its user holds the item. Postcondition: no sum exceeds 1/p, or an error; degree p, as in these
        groups no two transactions hold the same item.
        """
        if unit == "transaction" or self.quasi.users is None or not len(self):
            return groups
        self._require_possible(self.quasi.users)
        place = np.arange(len(self), dtype=np.int64) if self.order is not None else gray_order(self.quasi, job)
        offsets, secrets = _few_in_order(self.secret_offsets, self.secrets, place)
        users = self.quasi.users[place if self.order is None else self.order]
        with job.stage("persons") as monitor:
            spread = _native.spread_for_persons(offsets, secrets, users, groups[place], self.p, monitor)
        if not len(spread):
            raise self._not_for_persons(self.quasi.users)
        found = np.empty_like(groups)
        found[place] = spread
        return found

    def _require_possible(self, users: Ints) -> None:
        """Refuse what no grouping can have: what the groups say of all users adds up to all that known users hold."""
        held = self.secret.items[users[self.secret.rows] >= 0]
        counts = np.bincount(held, minlength=self.secret.n_items)
        worst, everybody = int(np.argmax(counts)), known_users(self.quasi)
        most = int(counts[worst])
        if most * self.p <= everybody:
            return
        item = self.secret.labels[worst].as_py()
        limit = f"must be at most {everybody // most:,}" if everybody >= 2 * most else "of 2 or more cannot be reached"
        raise InfeasibleError(
            f"'p' {limit} for persons, because '{item}' occurs {most:,} times among {everybody:,} users. "
            f"Got {self.p:,}. {self._instead(users)}"
        )

    def _not_for_persons(self, users: Ints) -> InfeasibleError:
        """Which item and which number of users stand in the way."""
        counts = self.secret.item_counts
        worst = int(np.argmax(counts))
        most = int(np.bincount(users[users >= 0]).max(initial=0))
        return InfeasibleError(
            f"'p' of {self.p:,} was not reached for persons: '{self.secret.labels[worst].as_py()}' occurs "
            f"{int(counts[worst]):,} times among {known_users(self.quasi):,} users, of whom one has {most:,} "
            f"transactions. {self._instead(users)}"
        )

    def _instead(self, users: Ints) -> str:
        """What would be possible: every user as one transaction, if so many hold no item too often; or another unit."""
        whose = users[self.secret.rows].astype(np.int64)
        whose = np.where(whose < 0, int(users.max(initial=0)) + 1 + self.secret.rows, whose)
        width = int(whose.max(initial=0)) + 1
        holders = np.bincount(distinct(self.secret.items.astype(np.int64) * width + whose) // width)
        possible = known_users(self.quasi) // int(holders.max(initial=1))
        merged = (
            f"Merge each user's transactions into one ({argument('one_per_user')}): then p may be up to {possible:,}. "
        )
        other = f"hoose a smaller p, or count transactions: {setting('unit', 'transaction')}."
        return f"{merged}Or c{other}" if possible > 1 else f"C{other}"

    def draft(self, groups: Ints, **figures: Any) -> Draft:
        """The groups as a release: exact quasi-identifier items, sensitive items as counts per group."""
        if self.order is not None:
            placed = np.empty_like(groups)
            placed[self.order] = groups
            groups = placed
        release = Release(self.quasi, groups, _count(self.secret, groups))
        number = int(groups.max(initial=-1)) + 1
        return Draft(release, np.arange(len(groups), dtype=np.int64), {"groups": number, **figures})


def degree_problem(data: Transactions, p: int, threads: int = 1) -> DegreeProblem:
    """The data apart; an error where nothing is sensitive or no grouping can have degree p.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "s"], ["a"], ["b"]], sensitive=["s"])
    >>> degree_problem(data, 3).secrets.tolist()
    [0]
    """
    if data.sensitive is None or not data.sensitive.any():
        raise ParameterError(
            "sensitive", "name at least one item", "none", f"Say which items are the secret: {setting('sensitive')}."
        )
    parts = _native.part_rows(data.offsets, data.items, data.sensitive, threads)
    quasi, secret = (data.with_rows(*part) for part in parts)
    require_degree(secret, p)
    number = np.cumsum(data.sensitive, dtype=np.int32) - 1
    codes: Ints = number[secret.items].astype(np.int32)
    return DegreeProblem(
        quasi, secret, None, quasi.offsets, quasi.items, secret.offsets, codes, int(data.sensitive.sum()), p
    )


def _few_in_order(offsets: Longs, items: Ints, order: Longs) -> tuple[Longs, Ints]:
    """As `take_rows`, for rows that are nearly all empty: only the others are looked at."""
    holds = np.zeros(len(order), dtype=np.bool_)
    holds[_rows_of(offsets)] = True
    places = np.flatnonzero(holds[order])
    few, moved = _native.take_rows(offsets, items, order[places])
    placed = np.zeros(len(order) + 1, dtype=np.int64)
    placed[places + 1] = np.diff(few)
    return np.cumsum(placed, out=placed), moved


def _rows_of(offsets: Longs) -> Longs:
    """For each occurrence its transaction, where there are few occurrences: most transactions are never looked at."""
    return np.searchsorted(offsets, np.arange(offsets[-1]), side="right") - 1


def require_degree(secret: Transactions, p: int, name: str = "p") -> None:
    """Refuse a degree that no grouping can have: some item is too frequent (Theorem 1). `name` is the parameter."""
    counts = secret.item_counts
    worst = int(np.argmax(counts))
    n, most = len(secret), int(counts[worst])
    if most * p <= n:
        return
    lifted = f", or lift the limit: {setting(name, 'off')}" if name != "p" else ""
    item, where = secret.labels[worst].as_py(), f"in {most:,} of {n:,} transactions"
    if n // most < 2:
        raise InfeasibleError(
            f"'{name}' of 2 or more cannot be reached, because '{item}' occurs {where}. "
            f"Do not publish it, do not treat it as sensitive, or add transactions without it{lifted}."
        )
    raise InfeasibleError(
        f"'{name}' must be at most {n // most:,}, because '{item}' occurs {where}. Got {p:,}. "
        f"Choose a smaller one{lifted}."
    )


def _count(secret: Transactions, groups: Ints) -> GroupCounts:
    width = max(1, secret.n_items)
    holders = groups[_rows_of(secret.offsets)].astype(np.int64)
    pairs, counts = np.unique(holders * width + secret.items, return_counts=True)
    return GroupCounts((pairs // width).astype(np.int32), (pairs % width).astype(np.int32), counts.astype(np.int64))
