"""Rows taken and parted by the kernels, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from anonset import _native
from anonset.data.transactions import Ints, Longs

Rows = list[list[int]]


def to_arrays(rows: Rows) -> tuple[Longs, Ints]:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([item for row in rows for item in row], dtype=np.int32)


def to_rows(offsets: Longs, items: Ints) -> Rows:
    return [items[a:b].tolist() for a, b in pairwise(offsets)]


def some_rows(count: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    return [np.flatnonzero(rng.random(12) < 0.3).tolist() for _ in range(count)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_taken_rows(count: int, threads: int) -> None:
    rows = some_rows(count, count)
    order = np.random.default_rng(1).permutation(count)[: count - count // 3]
    taken = to_rows(*_native.take_rows(*to_arrays(rows), order, threads))
    assert taken == [rows[i] for i in order]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_parted_rows(count: int, threads: int) -> None:
    rows = some_rows(count, count)
    hidden = np.arange(12) % 5 == 0
    plain, secret = _native.part_rows(*to_arrays(rows), hidden, threads)
    assert to_rows(*plain) == [[item for item in row if not hidden[item]] for row in rows]
    assert to_rows(*secret) == [[item for item in row if hidden[item]] for row in rows]


def test_rows_that_fill_several_large_pages() -> None:
    offsets = np.arange(0, 3_000_001, 3, dtype=np.int64)
    items = np.tile(np.array([2, 5, 7], dtype=np.int32), 1_000_000)
    plain, secret = _native.part_rows(offsets, items, np.arange(8) == 5, 2)
    assert (plain[1].reshape(-1, 2) == [2, 7]).all()
    assert (secret[1] == 5).all()
    assert (secret[0] == np.arange(1_000_001)).all()
    _, back = _native.take_rows(offsets, items, np.arange(1_000_000)[::-1].copy(), 2)
    assert (back == items).all()
