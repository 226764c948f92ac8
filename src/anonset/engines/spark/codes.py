"""How a transaction travels through Spark: as bytes, beside its Gray key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import Ints, Longs

KEY, ROW, RANGE = "key", "row", "range"
"""The columns: Gray key, item codes, number of the range."""

CODES = np.dtype(">i4")
"""Item codes, big-endian, so that bytes sort as codes do."""


def encoded(offsets: Longs, items: Ints) -> pa.BinaryArray:
    """Rows of codes as bytes."""
    content = pa.py_buffer(items.astype(CODES).tobytes())
    bounds = pa.py_buffer((offsets * CODES.itemsize).astype(np.int32).tobytes())
    return pa.BinaryArray.from_buffers(pa.binary(), len(offsets) - 1, [None, bounds, content])


def decoded(rows: pa.Array) -> tuple[Longs, Ints]:
    """The opposite of `encoded`.

    Examples
    --------
    >>> offsets, items = decoded(encoded(np.array([0, 2, 3]), np.array([4, 500, 7], dtype=np.int32)))
    >>> offsets.tolist(), items.tolist()
    ([0, 2, 3], [4, 500, 7])
    """
    lengths = pc.binary_length(rows).to_numpy(zero_copy_only=False).astype(np.int64) // CODES.itemsize
    items = np.frombuffer(b"".join(rows.to_pylist()), dtype=CODES).astype(np.int32)
    return np.concatenate(([0], np.cumsum(lengths))), items
