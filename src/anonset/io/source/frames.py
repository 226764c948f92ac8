"""Tables in memory, from Arrow, pandas, Polars, DuckDB or a file: long, with lists, or wide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from anonset.data.errors import DataError, InputError
from anonset.data.transactions import Transactions, is_list_view, plain_lists
from anonset.io.formats.cells import is_list
from anonset.io.formats.listed import read_lists
from anonset.io.formats.long import read_long
from anonset.io.formats.wide import is_flag, read_wide
from anonset.io.source.detect import missing_role
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import OF_ITEMS, Roles, find_roles, wide_roles

LEFT_OUT = b"anonset.left_out"


def is_frame(source: Any) -> bool:
    """Whether `source` speaks the Arrow interface, as all data frames do."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def as_table(source: Any) -> pa.Table:
    """Any data frame, or a single column, as an Arrow table, without copying where its library allows that."""
    try:
        column = pa.chunked_array(source) if hasattr(source, "__arrow_c_stream__") else pa.array(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
        # Arrow's own message may quote a value, and a value may be somebody's.
        raise InputError(
            "The data frame cannot be read through Arrow; perhaps a column mixes types. "
            "Turn it into text (astype(str))."
        ) from None
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    if pa.types.is_struct(column.type):
        batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks]
        table = pa.Table.from_batches(batches, schema=pa.schema(list(column.type)))
    else:
        table = pa.table({"items": pa.chunked_array(chunks, type=column.type)})
    return pa.table([_without_views(column) for column in table.columns], names=table.column_names)


def _without_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with plain texts and lists instead of views, which many of Arrow's functions do not take."""
    if is_list_view(column.type):
        lists = [plain_lists(chunk) for chunk in column.chunks]
        column = pa.chunked_array(lists, type=pa.large_list(column.type.value_type))
    plain = _plain(column.type)
    return column if plain == column.type else column.cast(plain)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    return pa.large_list(_plain(kind.value_type)) if is_list(kind) else kind


def from_table(table: pa.Table, options: ReadOptions, layout: str | None, origin: Origin) -> Transactions:
    """Transactions from a table whose layout is given or shown by its columns."""
    if table.num_columns == 0:
        return Transactions.from_lists([[]] * len(table))
    layout = layout or layout_of(table, options, origin.name)
    if layout == "wide":
        return build("wide", table, options, origin)
    table, unread = by_role(table, layout, options, origin.name)
    return replace(build(layout, table, options, origin), unread=unread)


def build(layout: str, table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
    """Transactions from a table in the given layout; long tables and lists have columns called by their roles."""
    if layout == "long":
        return read_long(table, options, origin)
    if layout == "lists":
        return read_lists(table, options, origin)
    roles = wide_roles(table.column_names, options, lambda place: is_flag(table.column(place)))
    return read_wide(table, roles, options, origin)


def layout_of(table: pa.Table, options: ReadOptions, source: str | None) -> str:
    """The layout that a table's columns show."""
    names, kinds = table.column_names, table.schema.types
    roles = find_roles(names, options)
    listed = [is_list(kind) for kind in kinds]
    if roles.item is not None and roles.transaction is not None and not listed[roles.item]:
        return "long"
    if any(listed):
        return "lists"
    flags = [is_flag(table.column(place)) for place in range(len(names))]
    owners = wide_roles(names, options, lambda place: flags[place]).places.values()
    if any(flags) and all(flag or place in owners for place, flag in enumerate(flags)):
        return "wide"
    raise missing_role(roles, names, source)


def by_role(table: pa.Table, layout: str, options: ReadOptions, source: str | None) -> tuple[pa.Table, tuple[str, ...]]:
    """The columns that play a part, called by their roles, and the names of the others."""
    roles = _list_roles(table, options, source) if layout == "lists" else find_roles(table.column_names, options)
    if roles.item is None or (layout == "long" and roles.transaction is None):
        raise missing_role(roles, table.column_names, source)
    chosen = list(roles.places.values())
    return table.select(chosen).rename_columns(list(roles.places)), (
        *left_out(table),
        *others(table.column_names, roles),
    )


def others(names: Sequence[str], roles: Roles) -> tuple[str, ...]:
    """The columns that play no part."""
    return tuple(name for place, name in enumerate(names) if place not in roles.places.values())


def left_out(table: pa.Table) -> tuple[str, ...]:
    """The columns that the reader of the container left out, as it says in the table's metadata."""
    return tuple(json.loads((table.schema.metadata or {}).get(LEFT_OUT, b"[]")))


def marked_left_out(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The table with a word on the columns that were left out of it."""
    return table.replace_schema_metadata({LEFT_OUT: json.dumps(list(names))})


def _list_roles(table: pa.Table, options: ReadOptions, source: str | None) -> Roles:
    """Items, sensitive items and degrees are lists; ids and users are not."""
    names = table.column_names
    listed = [is_list(kind) for kind in table.schema.types]
    scalars = ["" if is_listed else name for name, is_listed in zip(names, listed, strict=True)]
    lists = [name if is_listed else "" for name, is_listed in zip(names, listed, strict=True)]
    owners = find_roles(scalars, replace(options, **OF_ITEMS))
    roles = find_roles(lists, replace(options, transaction=None, user=None))
    item = roles.item
    if item is None:
        others = (roles.sensitive, roles.sensitivity)
        free = [place for place, name in enumerate(lists) if name and place not in others]
        if len(free) != 1:
            shown = ", ".join(names)
            problem = f"It is not clear which column holds the lists of items. The columns are: {shown}. Pass item=…."
            raise DataError(problem, source=source)
        item = free[0]
    return replace(roles, transaction=owners.transaction, user=owners.user, item=item)
