"""Writing the text formats: lines (FIMI, SPMF, basket), CSV and TSV tables, JSON lines.

Vocabularies are quoted once; then blocks of transactions are joined by Arrow and written as they are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.transactions import Transactions
from anonset.io.containers.columns import lists_table, long_table, membership, owner_columns
from anonset.io.containers.quoting import constant, csv_field, csv_quoted, joined, json_text, text_bytes

BLOCK_BYTES = 16_000_000
"""About as much text as is put together at once."""

SEPARATORS = {"csv": ",", "tsv": "\t"}


def write_lines(file: BinaryIO, data: Transactions, labels: pa.Array, separator: str) -> None:
    """One line per transaction: its labels with a separator between them."""
    labels = pc.cast(labels, pa.large_string())
    for start, stop in blocks(len(data), text_size(data, labels)):
        items = data.items[data.offsets[start] : data.offsets[stop]]
        bounds = (data.offsets[start : stop + 1] - data.offsets[start]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(bounds), labels.take(pa.array(items)))
        file.write(text_bytes(joined(pc.binary_join(lists, constant(separator)), "\n")))


def write_fimi(file: BinaryIO, data: Transactions) -> None:
    """Items separated by one space."""
    write_lines(file, data, data.labels, " ")


def write_basket(file: BinaryIO, data: Transactions) -> None:
    """Items separated by commas, in quotes where needed."""
    write_lines(file, data, csv_field(data.labels, ","), ",")


def write_spmf(file: BinaryIO, data: Transactions) -> None:
    """Items as whole numbers; other labels are numbered and named in the head of the file."""
    numbers = pc.all(pc.match_substring_regex(data.labels, r"^(0|[1-9][0-9]{0,8})$")).as_py()
    labels = data.labels
    if numbers is False:
        labels = pa.array(np.arange(1, data.n_items + 1)).cast(pa.large_string())
        file.write(b"@CONVERTED_FROM_TEXT\n")
        file.write(text_bytes(joined("@ITEM=", labels, "=", pc.cast(data.labels, pa.large_string()), "\n")))
    write_lines(file, data, labels, " ")


@dataclass(frozen=True)
class Notation:
    """How a kind of file writes texts, lists and missing values, and what goes around the fields of a row."""

    text: Callable[[pa.Array], pa.Array]
    lists: Callable[[pa.Array], pa.Array]
    missing: str
    before: tuple[str, ...]  # what stands before each field
    end: str = "\n"


def write_table(file: BinaryIO, data: Transactions, layout: str, container: str) -> None:
    """The layouts `long`, `lists` and `wide` as CSV, TSV or JSON lines."""
    if layout == "wide":
        _write_wide(file, data, container)
        return
    table = long_table(data) if layout == "long" else lists_table(data)
    write_rows(file, table, container, text_size(data, data.labels) + 20 * len(table))


def write_rows(file: BinaryIO, table: pa.Table, container: str, size: int | None = None) -> None:
    """Any table of one chunk as CSV, TSV or JSON lines; `size` is about how many bytes that will be."""
    notation = _notation(table.column_names, container)
    if container in SEPARATORS:
        file.write(text_bytes(_header(table.column_names, container)))
    ready = {name: _quoted(table[name], notation) for name in table.column_names}
    for start, stop in blocks(len(table), 2 * table.nbytes if size is None else size):
        texts = [_render(column.slice(start, stop - start), notation) for column in ready.values()]
        file.write(text_bytes(_rows(texts, notation)))


def _notation(names: list[str], container: str) -> Notation:
    if container == "jsonl":
        keys = json_text(pa.array(names, pa.string())).to_pylist()
        before = tuple(f"{',' if place else '{'}{key}:" for place, key in enumerate(keys))
        return Notation(json_text, lambda text: text, "null", before, "}\n")
    separator = SEPARATORS[container]
    before = tuple("" if place == 0 else separator for place in range(len(names)))
    return Notation(lambda values: csv_field(values, separator), csv_quoted, "", before)


def _header(names: list[str], container: str) -> pa.Array:
    separator = SEPARATORS[container]
    fields = csv_field(pa.array(names, pa.string()), separator).to_pylist()
    return pa.array([separator.join(fields) + "\n"], pa.large_string())


def _rows(texts: list[pa.Array], notation: Notation) -> pa.LargeStringArray:
    parts = [part for pair in zip(notation.before, texts, strict=True) for part in pair]
    return joined(*parts, notation.end)


def _quoted(column: pa.ChunkedArray, notation: Notation) -> pa.Array:
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


def _render(array: pa.Array, notation: Notation) -> pa.LargeStringArray:
    """A block of a quoted column as text."""
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        bounds = array.offsets.to_numpy()
        values = _render(array.flatten(), notation)
        lists = pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), values)
        return notation.lists(joined("[", pc.binary_join(lists, constant(",")), "]"))
    if pa.types.is_dictionary(array.type):
        return pc.cast(array.dictionary, pa.large_string()).take(array.indices)
    return pc.fill_null(pc.cast(array, pa.large_string()), constant(notation.missing))


def _write_wide(file: BinaryIO, data: Transactions, container: str) -> None:
    """Every row has the same text but for its digits: a template, copied and filled in."""
    owners = owner_columns(data)
    names = [*owners, *data.labels.to_pylist()]
    notation = _notation(names, container)
    if container in SEPARATORS:
        file.write(text_bytes(_header(names, container)))
    cells = [f"{before}0" for before in notation.before[len(owners) :]]
    template = np.frombuffer("".join(cells).encode(), dtype=np.uint8)
    digits = np.cumsum([len(cell.encode()) for cell in cells]) - 1
    ready = [_quoted(pa.chunked_array([column]), notation) for column in owners.values()]
    for start, stop in blocks(len(data), len(template) * len(data)):
        block = np.tile(template, (stop - start, 1))
        block[:, digits] += membership(data, start, stop)
        texts = [_render(column.slice(start, stop - start), notation) for column in ready]
        parts = [part for pair in zip(notation.before[: len(owners)], texts, strict=True) for part in pair]
        file.write(text_bytes(joined(*parts, _fixed_width(block), notation.end)))


def _fixed_width(block: np.ndarray) -> pa.LargeStringArray:
    """Rows of bytes, all equally long, as texts."""
    count, width = block.shape
    bounds = pa.py_buffer(np.arange(count + 1, dtype=np.int64) * width)
    return pa.LargeStringArray.from_buffers(count, bounds, pa.py_buffer(np.ascontiguousarray(block)))


def text_size(data: Transactions, labels: pa.Array) -> int:
    """The number of bytes that the labels of all transactions take, with separators."""
    lengths = pc.binary_length(labels).to_numpy(zero_copy_only=False).astype(np.int64)
    return int(lengths @ data.item_counts) + data.nnz + len(data)


def blocks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Bounds that cut `count` rows of `size` bytes in all into blocks of a good size."""
    step = max(1, min(count, BLOCK_BYTES * count // max(1, size)))
    return ((start, min(count, start + step)) for start in range(0, count, step))
