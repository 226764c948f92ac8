"""Tables in memory, from Arrow, pandas, Polars or DuckDB, as Arrow tables of plain types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from anonset.data.account import REPEATS, Counted
from anonset.data.errors import DataError, InputError, counted
from anonset.data.transactions import is_list_view, plain_lists


def is_frame(source: Any) -> bool:
    """Whether `source` speaks the Arrow interface, as all data frames do."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def index_of(source: Any) -> tuple[str, ...]:
    """The names that the levels of a pandas frame's index get as columns; none where it only numbers the rows."""
    index = getattr(source, "index", None)
    if index is None or not hasattr(source, "columns") or type(index).__name__ == "RangeIndex":
        return ()
    return tuple(f"__index_level_{place}__" if name is None else str(name) for place, name in enumerate(index.names))


def is_cross_table(source: Any) -> bool:
    """Whether a pandas frame says both what its rows and what its columns are, as `pd.crosstab` and pivot tables do."""
    axes: list[tuple[Any, ...]] = [getattr(getattr(source, axis, None), "names", ()) for axis in ("index", "columns")]
    return all(len(names) == 1 and names[0] is not None for names in axes)


def counts_as_sets(source: Any) -> tuple[Any, tuple[str, ...]]:
    """A cross table of counts as one of 0 and 1, and a note; anything else as it is."""
    if not is_cross_table(source) or not source.size or any(kind.kind not in "iuf" for kind in source.dtypes):
        return source, ()
    if float(source.min().min()) < 0 or not float(source.max().max()) > 1:
        return source, ()
    repeated = int((source.where(source > 1, 1) - 1).to_numpy().sum())
    return (source > 0).astype("int8"), (Counted(f"{counted(repeated, 'repeated item')} merged", REPEATS, repeated),)


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
