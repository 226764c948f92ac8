"""A new release beside an older one of the same data: what anybody can say from the two files alone.

Definition. Both publish sets; the newer data hold the older ones, and more. For a set of items that both releases
publish under the same names, the transactions that hold it in the new release and not in the old one are new ones.
Where they are some but fewer than k, somebody who knows of a person that they are new, and that they hold the set, is
left with fewer than k candidates, although each release promises k. Whole published sets are compared where the promise
speaks of whole sets, itemsets of up to m items (two at the most) where it speaks of m known items. A set that became
rarer says that its transactions are published otherwise now: candidates in one release are not those in the other.

What only one release names (another cut, a new item) cannot be compared from the files; it is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.release import Release
from anonset.data.transactions import Longs, Transactions

MOST_PAIRED = 3_000
"""Items whose pairs are compared; above that only single ones."""


@dataclass(frozen=True)
class Successive:
    """What two releases say together: `exposed` sets, of which some but fewer than k new transactions are published.

    `fewest` is the smallest such number, `compared` how many sets were, `rarer` how many were published more often
    before, `unnamed` how many names only one release has, `size` how many items the compared sets have (0: whole sets).
    """

    k: int
    size: int
    compared: int
    exposed: int
    fewest: int
    rarer: int
    unnamed: int

    @property
    def holds(self) -> bool:
        """Whether nobody who is new is left with fewer than k candidates, as far as the files can say."""
        return not self.exposed

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**vars(self), "holds": self.holds}


def successive(new: Release, old: Release, k: int, m: int | None = None) -> Successive:
    """Compare a newer release with an older one; `m` known items, or whole sets.

    Examples
    --------
    >>> old = Release(Transactions.from_lists([["a"], ["a"], ["b"], ["b"]]))
    >>> new = Release(Transactions.from_lists([["a"], ["a"], ["a"], ["b"], ["b"]]))
    >>> found = successive(new, old, k=2)
    >>> found.exposed, found.fewest
    (1, 1)
    """
    one, other = new.transactions, old.transactions
    labels = pc.unique(pa.concat_arrays([one.labels, other.labels]))
    after, before = (_renamed(data, labels) for data in (one, other))
    unnamed = len(pc.unique(labels)) - len(_shared(one.labels, other.labels))
    counts = [_whole(after, before)] if m is None else [_known(after, before, size) for size in range(1, min(m, 2) + 1)]
    grown = np.concatenate([now - then for now, then in counts]) if counts else np.empty(0, dtype=np.int64)
    exposed = grown[(grown > 0) & (grown < k)]
    return Successive(
        k=k,
        size=0 if m is None else min(m, 2),
        compared=len(grown),
        exposed=len(exposed),
        fewest=int(exposed.min()) if len(exposed) else 0,
        rarer=int((grown < 0).sum()),
        unnamed=unnamed,
    )


def _shared(one: pa.StringArray, other: pa.StringArray) -> pa.StringArray:
    return one.filter(pc.is_in(one, value_set=other))


def _renamed(data: Transactions, labels: pa.StringArray) -> Transactions:
    place = pc.index_in(data.labels, value_set=labels).to_numpy(zero_copy_only=False)
    return Transactions.from_codes(data.offsets, place[data.items], labels)


def _whole(after: Transactions, before: Transactions) -> tuple[Longs, Longs]:
    """How often each set that both publish is published, now and then."""
    from anonset.assess.risk.attackers.whole_basket import codes

    now, then = codes(after, before)
    size = max(int(now.max(initial=-1)), int(then.max(initial=-1))) + 1
    late, early = np.bincount(now, minlength=size), np.bincount(then, minlength=size)
    both = (late > 0) & (early > 0)
    return late[both], early[both]


def _known(after: Transactions, before: Transactions, size: int) -> tuple[Longs, Longs]:
    """The same for items, or pairs of items, that occur in both."""
    if size == 1:
        late, early = after.item_counts, before.item_counts
        both = (late > 0) & (early > 0)
        return late[both], early[both]
    if after.n_items > MOST_PAIRED:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    late, early = (np.triu(_pairs(data), k=1) for data in (after, before))
    both = (late > 0) & (early > 0)
    return late[both].astype(np.int64), early[both].astype(np.int64)


def _pairs(data: Transactions) -> Any:
    matrix = data.to_scipy().astype(np.int32)
    return (matrix.T @ matrix).toarray()
