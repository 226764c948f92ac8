"""Rows of a table as text: CSV, TSV, JSON lines.

Vocabularies are quoted once; then blocks of transactions are joined by Arrow and written as they are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.io.containers.quoting import constant, joined, json_text, text_bytes

BLOCK_BYTES = 16_000_000
"""About as much text as is put together at once."""


@dataclass(frozen=True)
class Notation:
    """How a kind of file writes texts, lists and missing values, and what goes around the fields of a row."""

    text: Callable[[pa.Array], pa.Array]
    lists: Callable[[pa.Array], pa.Array]
    missing: str
    before: tuple[str, ...]  # what stands before each field
    end: str = "\n"
    head: bytes = b""  # what stands before the first row

    def without_head(self) -> Notation:
        """The same for rows that follow others."""
        return replace(self, head=b"")


def write_rows(file: BinaryIO, table: pa.Table, notation: Notation, size: int | None = None) -> None:
    """Any table of one chunk as text; `size` is about how many bytes that will be."""
    file.write(notation.head)
    ready = {name: ready_column(table[name], notation) for name in table.column_names}
    for start, stop in blocks(len(table), 2 * table.nbytes if size is None else size):
        texts = [render(column.slice(start, stop - start), notation) for column in ready.values()]
        file.write(text_bytes(_rows(texts, notation)))


def _rows(texts: list[pa.Array], notation: Notation) -> pa.LargeStringArray:
    parts = [part for pair in zip(notation.before, texts, strict=True) for part in pair]
    return joined(*parts, notation.end)


def ready_column(column: pa.ChunkedArray, notation: Notation) -> pa.Array:
    """The column with its vocabulary quoted, ready to be cut into blocks."""
    array = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, notation.text(array.dictionary))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        values = array.values
        if pa.types.is_dictionary(values.type):
            values = pa.DictionaryArray.from_arrays(values.indices, json_text(values.dictionary))
        return type(array).from_arrays(array.offsets, values)
    return notation.text(array) if pa.types.is_string(array.type) else array


def render(array: pa.Array, notation: Notation) -> pa.LargeStringArray:
    """A block of a quoted column as text."""
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        bounds = array.offsets.to_numpy()
        values = render(array.flatten(), notation)
        lists = pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), values)
        return notation.lists(joined("[", pc.binary_join(lists, constant(",")), "]"))
    if pa.types.is_dictionary(array.type):
        return pc.cast(array.dictionary, pa.large_string()).take(array.indices)
    return pc.fill_null(pc.cast(array, pa.large_string()), constant(notation.missing))


def blocks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Bounds that cut `count` rows of `size` bytes in all into blocks of a good size."""
    step = max(1, min(count, BLOCK_BYTES * count // max(1, size)))
    return ((start, min(count, start + step)) for start in range(0, count, step))
