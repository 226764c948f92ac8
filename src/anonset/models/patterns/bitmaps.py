"""Tables of booleans as 64-bit words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonset.data.transactions import Longs

Bits = npt.NDArray[np.uint64]


def packed(matrix: npt.NDArray[np.bool_]) -> Bits:
    """Each line of a table of booleans as 64-bit words."""
    lines, columns = matrix.shape
    padded = np.zeros((lines, max(8, -(-columns // 64) * 8)), dtype=np.uint8)
    small = np.packbits(matrix, axis=1)
    padded[:, : small.shape[1]] = small
    return padded.view(np.uint64)


def unpacked(line: Bits, size: int) -> npt.NDArray[np.bool_]:
    """The first `size` bits of a line as booleans."""
    return np.unpackbits(line.view(np.uint8), count=size).view(np.bool_)


_ONES_IN_TWO_BYTES = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8)).reshape(-1, 16).sum(axis=1)


def ones(bits: Bits) -> Longs:
    """The number of ones in each line."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
    return np.asarray(_ONES_IN_TWO_BYTES[np.ascontiguousarray(bits).view(np.uint16)].sum(axis=1, dtype=np.int64))
