"""A release as a table in memory: in the layout, under the names and with the types of the frame that came in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.account import Arrived
from anonset.data.attributes import items_of
from anonset.data.errors import unknown
from anonset.data.quantities import apart
from anonset.data.release import Release
from anonset.data.transactions import Transactions
from anonset.io.formats.layout import Table
from anonset.io.formats.registry import LAYOUTS


def release_table(release: Release, arrived: Arrived | None = None, layout: str | None = None) -> pa.Table:
    """The published transactions as a table: `long`, `lists` or `wide`; in groups the group of each one comes first.

    Transactions are numbered anew where their ids are not published. The counts of sensitive items in groups are
    `release.counts`.

    Examples
    --------
    >>> from anonset.data.transactions import Transactions
    >>> release_table(Release(Transactions.from_lists([["wine"], ["wine"]]))).to_pydict()
    {'transaction': [1, 2], 'item': ['wine', 'wine']}
    """
    arrived = arrived or Arrived(0)
    tables = {name: one for name, one in LAYOUTS.items() if isinstance(one, Table)}
    chosen = layout or arrived.layout or next(iter(tables))
    if chosen not in tables:
        raise unknown("layout", chosen, tables)
    form = tables[chosen]
    data = apart(release.transactions) if form.counts else release.transactions  # else they say their quantities
    marked = any(part == "sensitive" for part, _ in arrived.columns)
    if release.groups is not None or (arrived.layout and not marked):
        data = replace(data, sensitive=None)  # as the frame that came in, which has no column for that
    form.require(items_of(data))
    table = _as_it_came(form.frame(data), data, form, arrived)
    if release.groups is None:
        return table
    return table.add_column(0, "group", pa.array(np.repeat(release.groups, form.rows(items_of(data)))))


def _as_it_came(table: pa.Table, data: Transactions, form: Table, arrived: Arrived) -> pa.Table:
    """The columns under the source's names, with its types where the values allow that."""
    parts = ["transaction", "user"] if form.unused_items else table.column_names
    new = {"items": arrived.called("item")} if arrived.layout == form.name else {}
    names = [new.get(name) or arrived.called(name) if name in parts else name for name in table.column_names]
    if data.columns is None and len(set(names)) == len(names):
        table = table.rename_columns(names)
    flags = form.unused_items and any(map(pa.types.is_boolean, arrived.kinds.values()))
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = arrived.kinds.get(name)
        if name == arrived.called("transaction") and data.ids is None:
            kind = pa.int64()
        elif kind is None and flags and pa.types.is_uint8(column.type):
            kind = pa.bool_()
        columns.append(_cast(column, kind))
    return pa.table(columns, names=table.column_names)


def _cast(column: pa.ChunkedArray, kind: pa.DataType | None) -> pa.ChunkedArray:
    """The column in this type if its values fit; texts that are written once each become plain ones by default."""
    if kind is not None and pa.types.is_dictionary(kind):
        return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if kind is None or plain.type == kind:
        return _without_codes(plain)
    try:
        return _without_codes(plain).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return _without_codes(plain)


def _without_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of plain values instead of codes."""
    kind: Any = column.type
    if pa.types.is_list(kind) and pa.types.is_dictionary(kind.value_type):
        return column.cast(pa.list_(kind.value_type.value_type))
    if pa.types.is_large_list(kind) and pa.types.is_dictionary(kind.value_type):
        return column.cast(pa.large_list(kind.value_type.value_type))
    return column
