"""`PatternTable`: the maximal patterns of each user before, and those that a method gives the user."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anonset.data.hierarchy.tree import write_csv
from anonset.data.transactions import Ints, Longs

CHANGES = ("kept", "added", "removed")

Lists = tuple[Longs, Ints]
"""One list of numbers for each user: those of user `u` are `numbers[offsets[u]:offsets[u + 1]]`."""


@dataclass(frozen=True, eq=False, repr=False)
class PatternTable:
    """What the first phase of KAMP decides: which patterns each user has, and which the user is to have. Private.

    `before` and `after` list the maximal patterns of each user; the items of pattern `p` are
    `items[offsets[p]:offsets[p + 1]]`. Users that only `after` has are virtual: the paper's algorithm asks for them;
    they are never published.

    Examples
    --------
    >>> import anonset
    >>> rows, users = [["a"], ["b"], ["a"], ["b"], ["a"]], ["u", "u", "v", "w", "w"]
    >>> data = anonset.Transactions.from_lists(rows, users=users)
    >>> table = anonset.anonymize(data, method="kamp", k=3, support=2, seed=1).patterns
    >>> table
    PatternTable(3 users, 2 patterns)
    >>> table.of(0)
    ([('a',), ('b',)], [('a',), ('b',)])
    """

    users: pa.StringArray
    labels: pa.StringArray
    offsets: Longs
    items: Ints
    before: Lists
    after: Lists

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return f"PatternTable({len(self):,} users, {len(self.offsets) - 1:,} patterns)"

    def of(self, user: int) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """The maximal patterns of one user as labels, before and after."""
        return self._named(self.before, user), self._named(self.after, user)

    def _named(self, lists: Lists, user: int) -> list[tuple[str, ...]]:
        starts, numbers = lists
        own = numbers[starts[user] : starts[user + 1]].tolist() if user < len(starts) - 1 else []
        names = [self.labels.take(pa.array(self.items[self.offsets[p] : self.offsets[p + 1]])) for p in own]
        return [tuple(name.to_pylist()) for name in names]

    def to_table(self) -> pa.Table:
        """One row for each item of each pattern of each user: user, pattern (a number), item, what happened to it."""
        user, pattern, change = self._changes()
        sizes = np.diff(self.offsets)[pattern]
        place = np.repeat(self.offsets[pattern] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        return pa.table(
            {
                "user": self.users.take(pa.array(np.repeat(user, sizes))),
                "pattern": np.repeat(pattern + 1, sizes),
                "item": self.labels.take(pa.array(self.items[place])),
                "change": pa.array(CHANGES).take(pa.array(np.repeat(change, sizes))),
            }
        )

    def _changes(self) -> tuple[Longs, Longs, Longs]:
        """Every pair of user and pattern, before or after, in order, and which of `CHANGES` it is."""
        total = max(1, len(self.offsets) - 1)
        old, new = (
            np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * total + numbers
            for starts, numbers in (self.before, self.after)
        )
        pairs = np.union1d(old, new)
        change = np.where(np.isin(pairs, old), np.where(np.isin(pairs, new), 0, 2), 1)
        return pairs // total, pairs % total, change

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write as CSV `user,pattern,item,change`, for the owner's eyes only: it names users."""
        write_csv(self.to_table(), path, force)
