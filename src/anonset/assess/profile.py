"""A first look at transactions: how many, how long, what is frequent, and who already stands out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.arrays import distinct
from anonset.data.attributes import bare_items
from anonset.data.display import Picture, Shown
from anonset.data.transactions import Longs, Transactions
from anonset.models.k_anonymity import equal_sets, set_codes, users_of_each


@dataclass(frozen=True)
class Spread:
    """The smallest, mean, middle and largest of some counts; all zero where there are none."""

    min: int
    mean: float
    median: float
    max: int

    @classmethod
    def of(cls, counts: Longs) -> Spread:
        """The spread of these counts."""
        if not len(counts):
            return cls(0, 0.0, 0.0, 0)
        return cls(int(counts.min()), float(counts.mean()), float(np.median(counts)), int(counts.max()))


@dataclass(frozen=True, repr=False)
class Summary(Shown):
    """What `anonset info` says about transactions.

    `k` is the number of transactions that share the rarest quasi-identifier set, `unique` counts those that share
    theirs with nobody, and `duplicates` counts transactions whose whole set of items occurred before. In persons:
    `users` are the known ones, `blank` counts transactions of unknown ones, `k_users` is the number of different users
    behind the rarest set, and `unique_users` counts those who have a transaction that no other user shares.
    """

    transactions: int
    items: int
    occurrences: int
    empty: int
    lengths: Spread
    frequent: tuple[tuple[str, int], ...]
    duplicates: int
    k: int
    unique: int
    quasi_sets: int
    sensitive_items: int
    sensitive_transactions: int
    users: int | None
    blank: int
    k_users: int | None
    unique_users: int | None
    transactions_per_user: Spread | None
    degrees: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        persons = "" if self.users is None else f", {self.users:,} users"
        return f"Summary({self.transactions:,} transactions, {self.items:,} items{persons}, k={self.k:,})"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: sizes, and how far from anonymous the data are."""
        yield from (("transactions", self.transactions), ("items", self.items), ("mean length", self.lengths.mean))
        yield from (("current k", self.k), ("share their items with nobody", self.unique))
        if self.users is not None:
            yield from (("users", self.users), ("users that no other resembles", self.unique_users or 0))
        if self.sensitive_items:
            yield "sensitive items", self.sensitive_items
        yield from (("note", note) for note in self.notes)

    def picture(self) -> Picture | None:
        """The most frequent items."""
        if not self.frequent:
            return None
        names, counts = zip(*self.frequent, strict=True)
        return Picture("Most frequent items", names, (("transactions", [float(one) for one in counts]),))

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        pairs = [{"item": label, "transactions": count} for label, count in self.frequent]
        return {**asdict(self), "frequent": pairs}


def summarize(data: Transactions, most: int = 10) -> Summary:
    """A first look at `data`, with the `most` most frequent items.

    Examples
    --------
    >>> summary = summarize(Transactions.from_lists([["wine", "bread"], ["bread"], ["bread"]]))
    >>> summary.frequent, summary.k, summary.unique
    ((('bread', 3), ('wine', 1)), 1, 1)
    """
    of_items = bare_items(data)
    lengths = of_items.lengths
    _, whole = equal_sets(data)
    _, quasi = (None, whole) if data.sensitive is None else equal_sets(data.quasi())
    used = None if data.users is None else np.bincount(data.users[data.users >= 0])
    used = None if used is None else used[used > 0].astype(np.int64)
    k_users, unique_users = _persons(data)
    return Summary(
        transactions=len(data),
        items=of_items.n_items,
        occurrences=of_items.nnz,
        empty=int((lengths == 0).sum()),
        lengths=Spread.of(lengths),
        frequent=_frequent(of_items, most),
        duplicates=len(data) - len(whole),
        k=int(quasi.min()) if len(quasi) else 0,
        unique=int((quasi == 1).sum()),
        quasi_sets=len(quasi),
        sensitive_items=0 if data.sensitive is None else int(data.sensitive.sum()),
        sensitive_transactions=int((data.sensitive_part().lengths > 0).sum()),
        users=None if used is None else len(used),
        blank=0 if data.users is None else int((data.users < 0).sum()),
        k_users=k_users,
        unique_users=unique_users,
        transactions_per_user=None if used is None else Spread.of(used),
        degrees=data.sensitivity is not None,
        notes=data.notes,
    )


def _persons(data: Transactions) -> tuple[int | None, int | None]:
    """How many users are behind the rarest set, and how many users have one that no other user shares."""
    if data.users is None or not (data.users >= 0).any():
        return None, None
    codes = set_codes(data.quasi())
    _, codes = np.unique(codes, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    behind = users_of_each(codes, data.users, int(codes.max()) + 1)
    alone = (behind[codes] == 1) & (data.users >= 0)
    return int(behind.min()), len(distinct(data.users[alone]))


def _frequent(data: Transactions, most: int) -> tuple[tuple[str, int], ...]:
    counts = data.item_counts
    order = np.argsort(-counts, kind="stable")[:most]
    labels = data.labels.take(pa.array(order)).to_pylist()
    return tuple(zip(labels, counts[order].tolist(), strict=True))
