"""Histories: all transactions of a user as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonset.data.arrays import Longs
from anonset.data.transactions import Transactions


def histories(data: Transactions) -> Transactions:
    """The transactions of each known user merged into one; those of unknown users stay as they are.

    Items are united, their counts added up, of degrees the highest is kept. A history stands where the user's first
    transaction stood. Names of transactions are left out where some were merged.

    Examples
    --------
    >>> data = Transactions.from_lists([["a"], ["b"], ["a", "c"]], users=["Ann", "Bo", "Ann"])
    >>> histories(data).to_lists()
    [['a', 'c'], ['b']]
    """
    whose, first = history_of(data)
    if len(first) == len(data):
        return data
    order = np.argsort(whose, kind="stable")
    lines = data.take(order)
    ends = np.flatnonzero(np.diff(whose[order], append=-1)) + 1
    merged = Transactions.from_codes(
        np.concatenate(([0], lines.offsets[ends])),
        lines.items,
        data.labels,
        sensitivity=lines.sensitivity,
        counts=lines.counts,
        users=None if data.users is None else data.users[first],
        user_labels=data.user_labels,
        sensitive=data.sensitive,
        attributes=data.attributes,
        appearance=data.appearance,
        unread=data.unread,
        columns=data.columns,
    )
    return replace(merged, notes=data.notes, repeated=data.repeated)


def history_of(data: Transactions) -> tuple[Longs, Longs]:
    """For each transaction the number of the history it belongs to, and for each history its first transaction."""
    alone = np.arange(len(data), dtype=np.int64)
    if data.users is None or not len(data):
        return alone, alone
    key = np.where(data.users >= 0, data.users.astype(np.int64), -1 - alone)
    _, first, code = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code.reshape(-1)], np.sort(first).astype(np.int64)
