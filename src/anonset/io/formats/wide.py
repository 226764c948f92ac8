"""Wide tables: one row per transaction, one column of 0 and 1 per item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import DataError, counted
from anonset.data.transactions import Longs, Transactions, as_text
from anonset.io.formats.cells import Coded
from anonset.io.formats.long import complete, owner_columns
from anonset.io.formats.occurrences import Occurrences, assemble
from anonset.io.source.detect import FLAGS
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import Roles

_TRUE = pa.array(["1", "t", "true"])


def is_flag(column: pa.ChunkedArray) -> bool:
    """Whether a column can say for each transaction whether it holds an item: nothing but 0 and 1."""
    values = _numbers(column)
    return values is not None and bool(np.all((values == 0) | (values == 1) | (values != values)))


def read_wide(table: pa.Table, roles: Roles, options: ReadOptions, origin: Origin) -> Transactions:
    """Items in the order of the columns."""
    owners = table.select(list(roles.places.values())).rename_columns(list(roles.places))
    _, rows, notes = complete(owners, list(roles.places), options, origin)
    if notes:
        owners, table = owners.take(rows), table.take(rows)
    places = [place for place in range(table.num_columns) if place not in roles.places.values()]
    held, empty = [], 0
    for place in places:
        members, missing = _members(table, place, rows, origin)
        if len(missing) and not options.skip_nulls:
            problem = "A cell of the wide table is empty. Use skip_nulls (--skip-nulls) to read empty cells as 0."
            raise origin.error(problem, int(rows[missing[0]]))
        held.append(members)
        empty += len(missing)
    if empty:
        notes += (f"{counted(empty, 'empty cell')} read as 0",)
    return assemble(_occurrences(table, places, held), notes, **owner_columns(owners))


def _members(table: pa.Table, place: int, rows: Longs, origin: Origin) -> tuple[Longs, Longs]:
    """The rows that hold the item, and those whose cell is empty."""
    values = _numbers(table.column(place))
    if values is None:
        kind = table.schema.field(place).type
        raise DataError(f"A column of the wide table holds {kind}. Every item needs a column of 0 and 1.")
    bad = np.flatnonzero(~((values == 0) | (values == 1) | (values != values)))
    if len(bad):
        raise origin.error("A cell of the wide table is neither 0 nor 1.", int(rows[bad[0]]))
    return np.flatnonzero(values == 1), np.flatnonzero(values != values)


def _numbers(column: pa.ChunkedArray) -> Any:
    """The cells as numbers (empty ones are no number), words for true and false included; None for other types."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        words = pc.utf8_lower(column.cast(pa.large_string()))
        known = pc.is_in(words, value_set=pa.array(sorted(FLAGS), type=pa.large_string()))
        truth = pc.is_in(words, value_set=_TRUE.cast(pa.large_string())).cast(pa.int8())
        column = pc.if_else(pc.is_null(words), None, pc.if_else(known, truth, 2))
    elif not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    if column.null_count:
        column = (
            column.cast(pa.int8() if pa.types.is_boolean(kind) else column.type).cast(pa.float64()).fill_null(np.nan)
        )
    return column.to_numpy()


def _occurrences(table: pa.Table, places: list[int], held: list[Longs]) -> Occurrences:
    columns = table.column_names
    names = as_text([columns[place] for place in places]).dictionary_encode()
    rows = np.concatenate(held) if held else np.zeros(0, dtype=np.int64)
    items = np.repeat(np.asarray(names.indices).astype(np.int32), [len(members) for members in held])
    return Occurrences(rows, len(table), Coded(items, names.dictionary, own_order=True))
