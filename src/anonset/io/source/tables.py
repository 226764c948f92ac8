"""Tables in memory, from Arrow, pandas, Polars or DuckDB, as Arrow tables of plain types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from anonset.data.errors import DataError, InputError
from anonset.data.transactions import is_list_view, plain_lists


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


def is_list(kind: pa.DataType) -> bool:
    """Whether a column holds lists."""
    names = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(pa.types, name)(kind) for name in names)


def valid(table: pa.Table, source: str) -> pa.Table:
    """The table, if nothing in it leads astray: a damaged file may have offsets, codes and texts that are none."""
    try:
        table.validate(full=True)
    except pa.ArrowException:
        problem = "The file is damaged, or holds bytes that are no UTF-8 text. Write it anew."
        raise DataError(problem, source=source) from None
    return table
