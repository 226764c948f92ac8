"""What the line formats share: one transaction per line, read by a kernel, with errors that name the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.data.account import NULLS, Counted, PassedOver
from anonset.data.errors import DataError, InputError, counted
from anonset.data.transactions import Transactions
from anonset.io.containers.quoting import constant, joined, text_bytes
from anonset.io.containers.rows import blocks
from anonset.io.formats.degrees import BAD_DEGREE, split_degrees
from anonset.io.formats.layout import Lines, text_size
from anonset.io.formats.parsed import Parsed
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, as_array, text
from anonset.io.source.words import NAMES, plain

_NUMERIC = r"^[+-]?[0-9]+([.][0-9]+)?$"


class KernelLines(Lines):
    """Lines that a kernel takes apart; what differs is how, which line a row is in, and what the words mean."""

    headed = True  # whether a first line without numbers above nothing but numbers is a header

    def parse(self, data: Any, shape: Shape) -> Any:
        """What the kernel finds: offsets, codes, words, remarks, the end of the first line, nulls, a problem."""
        raise NotImplementedError

    def line(self, data: Any, shape: Shape, row: int) -> int:
        """The line, counted from 1, of a row, counted from 0."""
        raise NotImplementedError

    def named(self, parsed: Parsed, remarks: pa.StringArray) -> Parsed:
        """With the names that remarks in the file give."""
        return parsed

    def read(self, file: File, shape: Shape, options: ReadOptions) -> Parsed:
        """The transactions of one file, without its header if it has one."""
        data = as_array(text(file, options.encoding))
        parsed, first_end, remarks = self._parse(data, shape, options, file.name, 1)
        lines = 0
        if self._skips_first(parsed, options):
            names_columns = _names_columns(parsed)
            lines = int(np.count_nonzero(data[:first_end] == ord("\n")))
            data = data[first_end:]
            parsed, _, remarks = self._parse(data, shape, options, file.name, 1 + lines)
            note = f"The first line of {PurePath(file.name).name} is a header and was left out"
            notes = (*parsed.notes, note if names_columns else PassedOver(note))
            parsed = replace(parsed, notes=notes)
        if options.with_degrees:
            parsed = _with_degrees(parsed, lambda row: lines + self.line(data, shape, row), file.name)
        return self.named(parsed, remarks)

    def _parse(
        self, data: Any, shape: Shape, options: ReadOptions, source: str, first_line: int
    ) -> tuple[Parsed, int, pa.StringArray]:
        try:
            offsets, codes, words, remarks, first_end, nulls, problem = self.parse(data, shape)
        except ValueError as error:  # more items or longer names than 32 bits can count
            raise InputError(f"{source}: {error}.") from None
        if problem[0]:
            raise DataError(_QUOTES[problem[0]], source=source, line=first_line - 1 + problem[1])
        notes = _null_notes(nulls, options, source, first_line)
        return Parsed(offsets, codes, _texts(words), notes), first_end, _texts(remarks)

    def _skips_first(self, parsed: Parsed, options: ReadOptions) -> bool:
        """Whether the first line is a header: asked for, or without a number above nothing but numbers."""
        if options.header is not None or not self.headed or len(parsed.offsets) < 3:
            return bool(options.header) and len(parsed.offsets) > 1
        second = int(parsed.offsets[1])
        if second == 0 or second == len(parsed.codes):
            return False
        numeric = pc.match_substring_regex(parsed.labels, _NUMERIC).to_numpy(zero_copy_only=False)
        return not numeric[parsed.codes[:second]].any() and bool(numeric[parsed.codes[second:]].all())


def _names_columns(parsed: Parsed) -> bool:
    """Whether the words of the first line are what people call columns, and nobody's name."""
    words = parsed.labels.take(pa.array(parsed.codes[: int(parsed.offsets[1])])).to_pylist()
    known = {name for names in NAMES.values() for name in names}
    return all(plain(word) in known for word in words)


def spaced(data: Any, remarks: bool) -> Any:
    """Words with white space between them; with `remarks`, lines that start with a sign are none."""
    return _native.parse_spaced(_native.Monitor(), data, remarks, 0)


def write_lines(file: BinaryIO, data: Transactions, labels: pa.Array, separator: str) -> None:
    """One line per transaction: its labels with a separator between them."""
    labels = pc.cast(labels, pa.large_string())
    for start, stop in blocks(len(data), text_size(data, labels)):
        items = data.items[data.offsets[start] : data.offsets[stop]]
        bounds = (data.offsets[start : stop + 1] - data.offsets[start]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(bounds), labels.take(pa.array(items)))
        file.write(text_bytes(joined(pc.binary_join(lists, constant(separator)), "\n")))


_QUOTES = {
    1: 'A quote is opened and never closed. Double quotes that belong to a name ("").',
    2: 'Text follows a closing quote. Double quotes that belong to a name ("") or pass another separator.',
}


def _with_degrees(parsed: Parsed, line_of: Callable[[int], int], source: str) -> Parsed:
    """With the degree behind the last colon of every item; the line of an item without one is in the error."""
    names, degree, codes = split_degrees(parsed.labels, parsed.codes)
    bad = np.flatnonzero(np.isnan(degree[parsed.codes]))
    if len(bad):
        row = int(np.searchsorted(parsed.offsets, bad[0], side="right")) - 1
        raise DataError(BAD_DEGREE, source=source, line=line_of(row))
    return replace(parsed, labels=names, codes=codes, degrees=degree[parsed.codes])


def _null_notes(nulls: tuple[int, int], options: ReadOptions, source: str, first_line: int) -> tuple[str, ...]:
    count, line = nulls
    if not count:
        return ()
    if not options.skip_nulls:
        problem = "An item is missing between two separators. Use skip_nulls (--skip-nulls) to leave such gaps out."
        raise DataError(problem, source=source, line=first_line - 1 + line)
    return (Counted(f"{counted(count, 'missing item')} left out", NULLS, count),)


def _texts(found: tuple[Any, Any]) -> pa.StringArray:
    offsets, content = found
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(content))
