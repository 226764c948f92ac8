"""`save`: plain transactions in any format. Nothing is checked here but that nothing is lost."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from anonset.data.transactions import Transactions
from anonset.io.containers import texts
from anonset.io.containers.columns import lists_table, long_table, wide_table
from anonset.io.containers.quoting import guarded
from anonset.io.formats.capacity import require_room, used_only, without
from anonset.io.formats.registry import Format, format_of

SPREADSHEET = ("csv", "tsv")
"""Containers that people open in a spreadsheet; basket files too."""


def save(
    transactions: Transactions,
    target: str | os.PathLike[str] | BinaryIO,
    format: Format | str | None = None,
    *,
    drop: str | Iterable[str] = (),
    keep_formulas: bool = False,
) -> tuple[str, ...]:
    """Write transactions as they are; returns what a reader of the file should know, in words.

    Parameters
    ----------
    transactions
        What to write. A part that the format cannot hold is an error.
    target
        A path, or a file opened for writing bytes (then `format` must be given).
    format
        `fimi`, `long.csv`, …; the default is what the name says.
    drop
        Parts to leave out on purpose: `users`, `ids`, `sensitive`, `sensitivity`, `counts`.
    keep_formulas
        Write labels that a spreadsheet would run as a formula as they are, not with an apostrophe before them.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> save(Transactions.from_lists([["wine", "bread"], []]), file, "long.csv")
    ()
    >>> print(file.getvalue().decode())
    transaction,item
    1,bread
    1,wine
    2,""
    <BLANKLINE>
    """
    opened = not isinstance(target, (str, os.PathLike))
    chosen = format if isinstance(format, Format) else format_of(None if opened else cast(str, target), format)
    data, notes = prepared(transactions, chosen, drop=drop, keep_formulas=keep_formulas)
    if opened:
        write_to(cast(BinaryIO, target), data, chosen)
    else:
        with Path(cast(str, target)).open("wb") as file:
            write_to(file, data, chosen)
    return notes


def prepared(
    data: Transactions, format: Format, *, drop: str | Iterable[str] = (), keep_formulas: bool = False
) -> tuple[Transactions, tuple[str, ...]]:
    """The transactions exactly as the format will hold them, and what changed on the way, in words."""
    notes: tuple[str, ...] = ()
    data = without(data, drop)
    if format.layout != "wide":
        data, unused = used_only(data)
        if unused:
            notes += (f"{_count(unused, 'item')} of the vocabulary without an occurrence left out.",)
    require_room(data, format)
    if not format.holds.ids:
        data = without(data, "ids")
    if format.layout == "basket" or format.container in SPREADSHEET:
        data, count = (data, 0) if keep_formulas else _guard(data, labels=format.layout != "lists")
        if count:
            notes += (f"{_count(count, 'name')} that a spreadsheet would run as a formula got an apostrophe in front.",)
    return data, notes


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_to(file: BinaryIO, data: Transactions, format: Format) -> None:
    """Write prepared transactions into an open file."""
    if format.container == "parquet":
        _write_parquet(file, data, format.layout)
    elif format.container == "arrow":
        _write_arrow(file, data, format.layout)
    else:
        with compressed(file, format.compression) as stream:
            _write_text(stream, data, format)


@contextmanager
def compressed(file: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """A stream into `file`; the same content gives the same bytes (no name, no time)."""
    if compression is None:
        yield file
    elif compression == "zstd":
        with pa.CompressedOutputStream(_KeptOpen(file), "zstd") as stream:
            yield cast(BinaryIO, stream)
    elif compression == "gzip":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as stream:
            yield cast(BinaryIO, stream)
    elif compression == "xz":
        with lzma.LZMAFile(file, "wb", preset=2) as stream:  # the default is five times slower and hardly smaller
            yield cast(BinaryIO, stream)
    else:
        with bz2.BZ2File(file, "wb") as stream:
            yield cast(BinaryIO, stream)


def _write_text(file: BinaryIO, data: Transactions, format: Format) -> None:
    lines = {"fimi": texts.write_fimi, "spmf": texts.write_spmf, "basket": texts.write_basket}
    if format.layout in lines:
        lines[format.layout](file, data)
    else:
        texts.write_table(file, data, format.layout, format.container)


def _tables(data: Transactions, layout: str) -> Iterator[pa.Table]:
    """The table, in parts where it would be much larger than the transactions (and at least one part)."""
    if layout != "wide":
        yield long_table(data) if layout == "long" else lists_table(data)
        return
    yield wide_table(data, 0, 0)
    for start, stop in texts.blocks(len(data), len(data) * data.n_items):
        yield wide_table(data, start, stop)


def _write_parquet(file: BinaryIO, data: Transactions, layout: str) -> None:
    from pyarrow.parquet import ParquetWriter

    tables = _tables(data, layout)
    first = next(tables)
    # Without the Arrow schema inside, every reader sees plain texts and lists.
    with ParquetWriter(_KeptOpen(file), first.schema, compression="zstd", store_schema=False) as writer:
        for table in (first, *tables):
            writer.write_table(table)


def _write_arrow(file: BinaryIO, data: Transactions, layout: str) -> None:
    tables = _tables(data, layout)
    first = next(tables)
    with pa.ipc.new_file(_KeptOpen(file), first.schema) as writer:
        for table in (first, *tables):
            writer.write_table(table)


def _guard(data: Transactions, labels: bool) -> tuple[Transactions, int]:
    """The data with names that a spreadsheet would not run, and how many were changed.

    A list of labels in one cell starts with a bracket and is never run.
    """
    changes: dict[str, pa.Array] = {}
    total = 0
    for name in ("labels", "user_labels", "ids"):
        if getattr(data, name) is not None and (labels or name != "labels"):
            changes[name], count = guarded(getattr(data, name))
            total += count
    return replace(data, **changes), total


class _KeptOpen(io.RawIOBase):
    """A file that stays open when the writer on top of it is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, content: Any) -> int:
        """Pass everything on."""
        return self._file.write(content)
