"""Line formats: FIMI, SPMF and basket files, one transaction per line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.data.errors import DataError, InputError, counted
from anonset.data.transactions import Floats, Ints, Longs, Transactions, natural_order
from anonset.io.formats.degrees import BAD_DEGREE, split_degrees
from anonset.io.source.detect import Shape
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import File, as_array, text

_NUMERIC = r"^[+-]?[0-9]+([.][0-9]+)?$"


@dataclass(frozen=True)
class Parsed:
    """The transactions of one file in codes by first appearance, repeats included."""

    offsets: Longs
    codes: Ints
    labels: pa.StringArray
    notes: tuple[str, ...] = ()
    degrees: Floats | None = None


def read_lines(files: list[File], shapes: list[Shape], options: ReadOptions) -> Transactions:
    """The transactions of all files, one after the other."""
    return in_order(joined([_read_file(file, shape, options) for file, shape in zip(files, shapes, strict=True)]))


def _read_file(file: File, shape: Shape, options: ReadOptions) -> Parsed:
    data = as_array(text(file, options.encoding))
    parsed, first_end, remarks = _parse(data, shape, options, file.name, 1)
    if _skips_first(parsed, shape, options):
        lines = int(np.count_nonzero(data[:first_end] == ord("\n")))
        parsed, _, remarks = _parse(data[first_end:], shape, options, file.name, 1 + lines)
        parsed = replace(
            parsed, notes=(*parsed.notes, f"The first line of {PurePath(file.name).name} is a header and was left out")
        )
        data = data[first_end:]
    else:
        lines = 0
    if options.with_degrees:
        parsed = _with_degrees(parsed, lambda row: lines + _line(data, shape, row), file.name)
    return _named(parsed, remarks) if shape.layout == "spmf" else parsed


def _with_degrees(parsed: Parsed, line_of: Callable[[int], int], source: str) -> Parsed:
    """With the degree behind the last colon of every item; the line of an item without one is in the error."""
    names, degree, codes = split_degrees(parsed.labels, parsed.codes)
    bad = np.flatnonzero(np.isnan(degree[parsed.codes]))
    if len(bad):
        row = int(np.searchsorted(parsed.offsets, bad[0], side="right")) - 1
        raise DataError(BAD_DEGREE, source=source, line=line_of(row))
    return replace(parsed, labels=names, codes=codes, degrees=degree[parsed.codes])


def _line(data: Any, shape: Shape, row: int) -> int:
    """The line, counted from 1, of a row, counted from 0."""
    if shape.layout == "basket":
        return int(_native.line_of_row(data, shape.separator, row, True))
    if shape.layout == "fimi":
        return row + 1
    rows = [n for n, line in enumerate(data.tobytes().split(b"\n"), 1) if not line.startswith((b"@", b"#", b"%"))]
    return rows[row]


def _parse(
    data: Any, shape: Shape, options: ReadOptions, source: str, first_line: int
) -> tuple[Parsed, int, pa.StringArray]:
    monitor = _native.Monitor()
    try:
        if shape.layout == "basket":
            found = _native.parse_separated(monitor, data, shape.separator)
        else:
            found = _native.parse_spaced(monitor, data, shape.layout == "spmf", 0)
    except ValueError as error:  # more items or longer names than 32 bits can count
        raise InputError(f"{source}: {error}.") from None
    offsets, codes, words, remarks, first_end, nulls, problem = found
    if problem[0]:
        raise DataError(_QUOTES[problem[0]], source=source, line=first_line - 1 + problem[1])
    notes = _null_notes(nulls, options, source, first_line)
    return Parsed(offsets, codes, _texts(words), notes), first_end, _texts(remarks)


_QUOTES = {
    1: 'A quote is opened and never closed. Double quotes that belong to a name ("").',
    2: 'Text follows a closing quote. Double quotes that belong to a name ("") or pass another separator.',
}


def _null_notes(nulls: tuple[int, int], options: ReadOptions, source: str, first_line: int) -> tuple[str, ...]:
    count, line = nulls
    if not count:
        return ()
    if not options.skip_nulls:
        problem = "An item is missing between two separators. Use skip_nulls (--skip-nulls) to leave such gaps out."
        raise DataError(problem, source=source, line=first_line - 1 + line)
    return (f"{counted(count, 'missing item')} left out",)


def _texts(found: tuple[Any, Any]) -> pa.StringArray:
    offsets, content = found
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(content))


def _skips_first(parsed: Parsed, shape: Shape, options: ReadOptions) -> bool:
    """Whether the first line is a header: asked for, or without a number above nothing but numbers."""
    if options.header is not None or shape.layout == "spmf" or len(parsed.offsets) < 3:
        return bool(options.header) and len(parsed.offsets) > 1
    second = int(parsed.offsets[1])
    if second == 0 or second == len(parsed.codes):
        return False
    numeric = pc.match_substring_regex(parsed.labels, _NUMERIC).to_numpy(zero_copy_only=False)
    return not numeric[parsed.codes[:second]].any() and bool(numeric[parsed.codes[second:]].all())


def _named(parsed: Parsed, remarks: pa.StringArray) -> Parsed:
    """With the names that `@ITEM=code=name` lines give to codes; a code without a name keeps its number."""
    pairs = pc.extract_regex(remarks, r"(?s)^@ITEM=(?P<code>[^=]*)=(?P<name>.*?)\r?$").drop_null()
    if not len(pairs):
        return parsed
    code, name = pairs.field("code"), pairs.field("name")
    place = pc.index_in(parsed.labels, value_set=code)
    labels = pc.coalesce(name.take(place), parsed.labels)
    merged = pc.dictionary_encode(labels)
    notes = parsed.notes
    if place.null_count:
        notes = (*notes, f"{counted(place.null_count, 'item')} kept by number for want of an @ITEM line")
    if len(merged.dictionary) < len(labels):
        twins = len(labels) - len(merged.dictionary)
        notes = (*notes, f"{counted(twins, 'item')} merged with another of the same name")
    codes = np.asarray(merged.indices)[parsed.codes]
    return Parsed(parsed.offsets, codes, merged.dictionary, notes, parsed.degrees)


def joined(parts: list[Parsed]) -> Parsed:
    """Several files as one."""
    if len(parts) == 1:
        return parts[0]
    merged = pc.dictionary_encode(pa.concat_arrays([part.labels for part in parts]))
    place = np.asarray(merged.indices)
    codes, offsets, words, items = [], [np.zeros(1, dtype=np.int64)], 0, 0
    for part in parts:
        codes.append(place[words + part.codes])
        offsets.append(part.offsets[1:] + items)
        words, items = words + len(part.labels), items + len(part.codes)
    notes = tuple(note for part in parts for note in part.notes)
    degrees = [part.degrees for part in parts if part.degrees is not None]
    return Parsed(
        np.concatenate(offsets),
        np.concatenate(codes),
        merged.dictionary,
        notes,
        np.concatenate(degrees) if degrees else None,
    )


def in_order(parsed: Parsed) -> Transactions:
    """Items numbered in natural order and ascending inside each transaction, repeats merged."""
    order = natural_order(parsed.labels)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return canonical(parsed, place, parsed.labels.take(pa.array(order)))


def canonical(parsed: Parsed, place: Ints, labels: pa.StringArray, **columns: Any) -> Transactions:
    """Code `c` becomes item `place[c]` of `labels`; repeats are merged and counted in a note."""
    columns["appearance"] = appearance(place)
    if parsed.degrees is not None:
        columns["sensitivity"] = parsed.degrees
        return Transactions.from_codes(parsed.offsets, place[parsed.codes], labels, notes=parsed.notes, **columns)
    offsets, items = _native.sort_rows(_native.Monitor(), parsed.offsets, parsed.codes, place, 0)
    repeated = len(parsed.codes) - len(items)
    notes = (*parsed.notes, f"{counted(repeated, 'repeated item')} merged") if repeated else parsed.notes
    return Transactions(offsets, items, labels, notes=notes, **columns)


def appearance(place: Ints) -> Ints | None:
    """The first code of each final one, where codes were given by first appearance; None where nothing moved."""
    codes = np.arange(len(place), dtype=np.int32)
    if np.array_equal(place, codes):
        return None
    first = np.empty_like(codes)
    first[place] = codes
    return first
