"""Equal transactions found once: a key for each, and which of them differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anonset.data.transactions import Longs, Transactions


def distinct_sets(data: Transactions) -> tuple[Longs, Longs, Longs]:
    """For each distinct set its first holder; for each transaction its set; for each set how many hold it.

    Where counts are given, sets are the same only if their counts are.
    """
    codes = keys_of(data).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, code, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return first.astype(np.int64), code.reshape(-1).astype(np.int64), sizes.astype(np.int64)


def keys_of(data: Transactions) -> pa.LargeBinaryArray:
    """A byte string for each transaction; equal sets (with equal counts) have equal strings."""
    content = data.items if data.counts is None else np.column_stack((data.items, data.counts))
    item_bytes = pa.py_buffer(content.tobytes())
    bounds = pa.py_buffer((data.offsets * (content.nbytes // max(1, data.nnz))).tobytes())
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(data), [None, bounds, item_bytes])
