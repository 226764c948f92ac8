"""Columns that several layouts write.

Texts stay dictionary-encoded, so that a table costs little more than the transactions themselves.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anonset.data.transactions import Ints, Transactions


def owner_columns(data: Transactions) -> dict[str, pa.Array]:
    """The columns `transaction` (where there are ids) and `user` (where there are users)."""
    columns: dict[str, pa.Array] = {}
    if data.ids is not None:
        columns["transaction"] = data.ids
    if data.users is not None:
        columns["user"] = user_names(data)
    return columns


def user_names(data: Transactions, rows: Ints | None = None) -> pa.DictionaryArray:
    """The name of each transaction's user (of these transactions); of one that is unknown, nothing."""
    assert data.users is not None
    labels = pa.array([], pa.string()) if data.user_labels is None else data.user_labels
    users = data.users if rows is None else data.users[rows]
    if not (users < 0).any():
        return named(users, labels)
    return named(np.where(users < 0, len(labels), users).astype(np.int32), pa.concat_arrays([labels, pa.array([""])]))


def transaction_names(data: Transactions) -> pa.StringArray:
    """The transactions' ids, or 1, 2, 3, … where they have none."""
    return positions(len(data)) if data.ids is None else data.ids


def positions(count: int) -> pa.StringArray:
    """`1`, `2`, `3`, … as text."""
    return pa.array(np.arange(1, count + 1)).cast(pa.string())


def named(codes: Ints, labels: pa.StringArray | None) -> pa.DictionaryArray:
    """A column of names, each written once."""
    return pa.DictionaryArray.from_arrays(pa.array(codes), labels)
