"""Arrow arrays of lists, in the forms in which other libraries hand them over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.errors import InputError


def one_chunk(column: Any) -> Any:
    """Anything that Arrow understands as a column of lists, as one plain list array."""
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        column = pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if is_list_view(column.type):
        column = plain_lists(column)
    elif pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise InputError(f"Expected a column of lists of items. Got a column of {column.type}.")
    return column


def is_list_view(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the two list views."""
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def plain_lists(views: pa.Array) -> pa.LargeListArray:
    """An array of list views as plain lists. (Arrow's own cast gives arrays whose offsets end too early.)"""
    valid = views.is_valid().to_numpy(zero_copy_only=False)
    sizes = np.where(valid, views.sizes.to_numpy(zero_copy_only=False), 0)
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    return pa.LargeListArray.from_arrays(pa.array(offsets), views.flatten(), mask=pa.array(~valid))
