"""Transactions as tables: the columns of the layouts `long`, `lists` and `wide`.

Texts stay dictionary-encoded, so that a table costs little more than the transactions themselves.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anonset.data.transactions import Ints, Longs, Mask, Transactions


def long_table(data: Transactions) -> pa.Table:
    """One row per item of a transaction; a transaction without items has one row with the item `""`."""
    shown = np.maximum(data.lengths, 1)
    rows = np.repeat(np.arange(len(data), dtype=np.int32), shown)
    filled = np.repeat(data.lengths > 0, shown)
    codes = np.full(len(rows), data.n_items, dtype=np.int32)
    codes[filled] = data.items
    columns = {"transaction": _named(rows, transaction_names(data))}
    if data.users is not None:
        columns["user"] = _named(data.users[rows], data.user_labels)
    columns["item"] = _named(codes, pa.concat_arrays([data.labels, pa.array([""], pa.string())]))
    if data.attributes is not None:
        columns["attribute"] = _named(codes, pa.concat_arrays([data.attributes, pa.array([""], pa.string())]))
    if data.counts is not None:
        counts = np.zeros(len(rows), dtype=np.int32)
        counts[filled] = data.counts
        columns["count"] = pa.array(counts)
    if data.sensitive is not None:
        columns["sensitive"] = pa.array(np.append(data.sensitive, False)[codes])
    if data.sensitivity is not None:
        degrees = np.zeros(len(rows))
        degrees[filled] = data.sensitivity
        columns["sensitivity"] = pa.array(degrees, mask=~filled)
    return pa.table(columns)


def lists_table(data: Transactions) -> pa.Table:
    """One row per transaction. Sensitive items have a list of their own; degrees follow items, then sensitive."""
    columns = owner_columns(data)
    if data.sensitive is None:
        columns["items"] = _lists(data.offsets, _named(data.items, data.labels))
    else:
        columns["items"] = _item_lists(data.quasi())
        columns["sensitive"] = _item_lists(data.sensitive_part())
    if data.sensitivity is not None:
        columns["sensitivity"] = _lists(data.offsets, pa.array(_degrees(data)))
    return pa.table(columns)


def owner_columns(data: Transactions) -> dict[str, pa.Array]:
    """The columns `transaction` (where there are ids) and `user` (where there are users)."""
    columns: dict[str, pa.Array] = {}
    if data.ids is not None:
        columns["transaction"] = data.ids
    if data.users is not None:
        columns["user"] = _named(data.users, data.user_labels)
    return columns


def membership(data: Transactions, start: int, stop: int) -> Mask:
    """Which of these transactions hold which items, as a matrix."""
    matrix = np.zeros((stop - start, data.n_items), dtype=np.bool_)
    rows = np.repeat(np.arange(stop - start), data.lengths[start:stop])
    matrix[rows, data.items[data.offsets[start] : data.offsets[stop]]] = True
    return matrix


def wide_table(data: Transactions, start: int, stop: int) -> pa.Table:
    """One row per transaction, one column of 0 and 1 per item."""
    columns = {name: column.slice(start, stop - start) for name, column in owner_columns(data).items()}
    cells = np.ascontiguousarray(membership(data, start, stop).T).view(np.uint8)
    names = [*columns, *data.labels.to_pylist()]
    return pa.table([*columns.values(), *(pa.array(column) for column in cells)], names=names)


def transaction_names(data: Transactions) -> pa.StringArray:
    """The transactions' ids, or 1, 2, 3, … where they have none."""
    return positions(len(data)) if data.ids is None else data.ids


def positions(count: int) -> pa.StringArray:
    """`1`, `2`, `3`, … as text."""
    return pa.array(np.arange(1, count + 1)).cast(pa.string())


def _named(codes: Ints, labels: pa.StringArray | None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes), labels)


def _item_lists(data: Transactions) -> pa.Array:
    return _lists(data.offsets, _named(data.items, data.labels))


def _lists(offsets: Longs, values: pa.Array) -> pa.Array:
    """A list array; with 32-bit offsets, which every reader knows, where they are enough."""
    if offsets[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _degrees(data: Transactions) -> np.ndarray:
    """The degrees in the order of the lists: those of `items`, then those of `sensitive`."""
    assert data.sensitivity is not None
    if data.sensitive is None:
        return data.sensitivity
    return data.sensitivity[np.lexsort((data.items, data.sensitive[data.items], data.rows))]
