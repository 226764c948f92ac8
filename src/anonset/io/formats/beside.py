"""Columns beside the items in tables: what a table says of each transaction, and how it says that again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import Values, values_of, with_values
from anonset.data.columns import NOTHING, Attribute
from anonset.data.errors import InputError, counted, setting
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.io.formats.cells import coded
from anonset.io.formats.columns import named
from anonset.io.source.origin import Origin
from anonset.io.source.roles import BESIDE

_EMPTY = (NOTHING, "")


def read_beside(
    data: Transactions, table: pa.Table, transactions: Ints | Longs, rows: Longs, origin: Origin
) -> Transactions:
    """The data with the columns that the table has beside the items; `transactions` says whose row each one is."""
    found = [
        _values(name, table[name], transactions, len(data), rows, origin)
        for name in table.column_names
        if name.startswith(BESIDE)
    ]
    data = with_values(data, [values for values, _ in found])
    return replace(data, notes=(*data.notes, *(note for values, blank in found for note in _missing(values, blank))))


def _values(
    name: str, column: pa.ChunkedArray, transactions: Ints | Longs, count: int, rows: Longs, origin: Origin
) -> tuple[Values, int]:
    """The value of each transaction, in which all its rows must agree; and how many are blank."""
    called = name.removeprefix(BESIDE)
    cells = coded(_dates(column))
    empty = np.asarray(pc.is_in(cells.labels, value_set=pa.array(_EMPTY)), dtype=np.bool_)
    codes = np.where((cells.codes >= 0) & ~np.append(empty, True)[cells.codes], cells.codes, -1).astype(np.int32)
    own = np.full(count, -1, dtype=np.int32)
    own[transactions[::-1]] = codes[::-1]
    torn = np.flatnonzero(own[transactions] != codes)
    if len(torn):
        raise origin.error(
            f"The column '{called}' has two values in one transaction, so it says nothing of the whole. "
            f"Leave it aside ({setting('drop', called)}), or give one value for each transaction.",
            int(rows[torn[0]]),
        )
    used = np.unique(own[own >= 0])
    kind = None if pa.types.is_dictionary(column.type) or _is_text(column.type) else column.type
    codes = np.where(own >= 0, np.searchsorted(used, own), -1).astype(np.int32)
    starred = np.append(np.asarray(pc.equal(cells.labels, NOTHING), dtype=np.bool_), False)[cells.codes]
    open_ones = np.ones(count, dtype=np.bool_)
    open_ones[transactions[starred]] = False
    values = Values(Attribute(called, kind), codes, cells.labels.take(pa.array(used)))
    return values, int(((own < 0) & open_ones).sum())


def _missing(column: Values, many: int) -> tuple[str, ...]:
    """What to say of transactions without a value; `*` says itself that there is none."""
    return (f"{counted(many, 'transaction')} without a value of '{column.attribute.name}'",) if many else ()


def _dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as people write them: without fractions of a second that are all zero, without a time that is always 0."""
    if not pa.types.is_timestamp(column.type):
        return column
    for unit, form in (("day", "%Y-%m-%d"), ("second", "%Y-%m-%d %H:%M:%S")):
        if pc.all(pc.equal(pc.floor_temporal(column, unit=unit), column)).as_py() is not False:
            return pc.strftime(column, form)
    return column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def columns_beside(data: Transactions, dates: bool) -> dict[str, pa.Array]:
    """The columns beside the items, one value for each transaction, in the source's type where none is generalised.

    `dates` says that there is a type for dates; otherwise they are texts.
    """
    return {column.attribute.name: _typed(column, dates) for column in values_of(data)}


def _typed(column: Values, dates: bool) -> pa.Array:
    texts = named(column.codes, column.labels)
    kind = column.attribute.kind
    if kind is None or (pa.types.is_temporal(kind) and not dates):
        return texts
    if pc.any(pc.equal(column.codes, len(column.labels) - 1)).as_py():
        return texts
    try:
        labels = column.labels.slice(0, len(column.labels) - 1).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return texts
    cells = labels.take(pa.array(column.codes))
    again = coded(_dates(pa.chunked_array([cells])))
    same = again.labels.take(pa.array(again.codes)).equals(texts.cast(pa.string()))
    return cells if same else texts


def as_in_source(table: pa.Table, data: Transactions) -> pa.Table:
    """The columns under the names, and in the order, that they have in the source; others come last."""
    if data.columns is None:
        return table
    new = {"items": data.columns.called("item")}
    names = [new.get(name) or data.columns.called(name) for name in table.column_names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Two columns of the release would be called '{twice}'. Rename that column of the data.")
    place = {name: number for number, (_, name) in enumerate(data.columns.order)}
    order = sorted(range(len(names)), key=lambda at: place.get(names[at], len(place) + at))
    return table.rename_columns(names).select(order)


def with_columns_beside(table: pa.Table, data: Transactions, rows: Longs, dates: bool) -> pa.Table:
    """A table of the items together with the columns beside them; `rows` says how often each transaction stands."""
    if data.columns is None:
        return table
    owner = np.repeat(np.arange(len(data)), rows)
    for name, column in columns_beside(data, dates).items():
        table = table.append_column(name, column.take(pa.array(owner)))
    return as_in_source(table, data)
