"""Reading files, one or many: line formats here, tables there, and queries over them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, cast

import pyarrow as pa

from anonset.data.errors import DataError, ParameterError, setting
from anonset.data.transactions import Transactions
from anonset.io.containers.container import TEXT
from anonset.io.containers.query import run_query, scan_of
from anonset.io.containers.registry import CONTAINERS
from anonset.io.containers.xlsx import Spreadsheet
from anonset.io.formats.layout import Lines, Table
from anonset.io.formats.parsed import in_order, joined
from anonset.io.formats.registry import LAYOUTS, parse_format, split_name
from anonset.io.source.columns import columns_there, in_order_of, left_aside, whole_transaction
from anonset.io.source.detect import detect
from anonset.io.source.frames import from_table, needed, table_layout
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin, Part
from anonset.io.source.roles import OF_ITEMS
from anonset.io.source.shape import Shape
from anonset.io.source.streams import (
    File,
    NotUtf8,
    content,
    decoded,
    find_files,
    guess_encoding,
    head,
    memory_file,
)
from anonset.io.source.tables import as_table, is_frame

Path = str | os.PathLike[str]


def no_spreadsheet(instead: str) -> ParameterError:
    """The error for a sheet where there are none."""
    return ParameterError("sheet", "come with a spreadsheet", instead, "Leave it out.")


OF_COLUMNS = ("transaction", "user", *OF_ITEMS, "attribute", "attribute_sensitive", "drop")


def read_files(sources: Iterable[Path], options: ReadOptions) -> Transactions:
    """The transactions of all files together; they must have one format."""
    found = [find_files(source, lambda path: split_name(path)[0] is not None) for source in sources]
    files = [file for group, _ in found for file in group]
    if len(files) > 1:
        files = [file for file in files if head(file)] or files[:1]
    data = _read_in_any_encoding(files, options)
    notes = tuple(note for _, group in found for note in group)
    return replace(data, notes=notes + data.notes) if notes else data


def _read_in_any_encoding(files: list[File], options: ReadOptions) -> Transactions:
    """The transactions of files, of which those that are not UTF-8 are read in the encoding that they show."""
    notes: tuple[str, ...] = ()
    while True:
        try:
            data = _read_found(files, options)
            return replace(data, notes=notes + data.notes) if notes else data
        except NotUtf8 as error:
            place = next((at for at, file in enumerate(files) if file.name == error.source), None)
            guess = None if place is None or files[place].encoding else guess_encoding(files[place])
            if place is None or guess is None or options.encoding is not None:
                raise
            files = [*files[:place], replace(files[place], encoding=guess), *files[place + 1 :]]
            notes += (f"{PurePath(files[place].name).name} is not UTF-8 and was read as Windows-1252",)


def _read_found(files: list[File], options: ReadOptions) -> Transactions:
    shapes = [detect(file, options) for file in files]
    if options.sheet is not None and all(shape.container != Spreadsheet.name for shape in shapes):
        raise no_spreadsheet(shapes[0].container)
    reader = _read_lines if all(shape.container == TEXT for shape in shapes) else _read_tables
    return reader(files, shapes, options)


def _read_lines(files: list[File], shapes: list[Shape], options: ReadOptions) -> Transactions:
    for name in OF_COLUMNS:
        if getattr(options, name) is not None:
            what = f"{files[0].name} is read as {shapes[0].layout}, which has no columns."
            advice = f"{what} Pass its format if it is a table."
            raise ParameterError(name, "name a column of a table", repr(getattr(options, name)), advice)
    _require_one_layout([shape.layout for shape in shapes], files)
    layout = cast(Lines, LAYOUTS[str(shapes[0].layout)])
    return in_order(joined([layout.read(file, shape, options) for file, shape in zip(files, shapes, strict=True)]))


def _read_tables(files: list[File], shapes: list[Shape], options: ReadOptions) -> Transactions:
    if options.with_degrees:
        what = f"{files[0].name} is read as a table, which has a column of degrees."
        raise ParameterError("with_degrees", "be off for tables", "on", f"{what} Name it: {setting('sensitivity')}.")
    _require_one_layout(["lines" if shape.container == TEXT else "tables" for shape in shapes], files)
    read = [_read_table(file, shape, options) for file, shape in zip(files, shapes, strict=True)]
    found = [one for one in read if one is not None]
    if not found:
        return Transactions.from_lists([])
    layout, table = found[0].layout, found[0].table
    _require_one_layout([one.layout.name for one in found], files)
    if len(found) > 1:
        table = layout.stacked([one.table for one in found], files[0].name)
    data = layout.read(table, options, Origin(tuple(one.part for one in found)))
    data = in_order_of(data, found[0].order, sum(one.part.rows for one in found))
    notes = tuple(dict.fromkeys(note for shape in shapes for note in shape.notes))
    unread = tuple(dict.fromkeys((*(name for one in found for name in one.unread), *data.unread)))
    return replace(data, unread=unread, notes=(*notes, *left_aside(unread, options), *data.notes))


@dataclass(frozen=True)
class _Found:
    """A file's layout, its table with columns called by their roles, where rows came from, and what was left aside."""

    layout: Table
    table: pa.Table
    part: Part
    unread: tuple[str, ...]
    order: tuple[tuple[str, str], ...]


def _read_table(file: File, shape: Shape, options: ReadOptions) -> _Found | None:
    """What a file holds; None where it is empty."""
    kind = CONTAINERS[shape.container]
    table, unread = kind.read(file, shape, options, lambda names: needed(names, shape.layout, options))
    if table.num_columns == 0:
        return None
    options = replace(options, drop=columns_there(options.drop, table.column_names))
    layout, order = table_layout(table, shape.layout, options, file.name), shape.order
    if not shape.cells:
        order = layout.order(table, options, file.name)
        table, others = layout.by_role(table, options, file.name)
        unread += others
    part = Part(file.name, len(table), kind.line_of(file, shape, options))
    return _Found(layout, whole_transaction(table), part, unread, order)


def _require_one_layout(layouts: Iterable[str | None], files: list[File]) -> None:
    names = sorted({str(layout) for layout in layouts})
    if len(names) > 1:
        problem = f"The files have different formats ({', '.join(names)}). Read them one by one, or pass the format."
        raise DataError(problem, source=files[0].name)


def read_query(source: Any, options: ReadOptions) -> Transactions:
    """The result of an SQL query as a table; `source`, if any, is its table `data`."""
    assert options.query is not None
    if isinstance(source, str) and source == "-":
        piped = find_files(source)[0][0]
        with memory_file(decoded(content(piped), options.encoding, piped.name)) as path:
            table = run_query(options.query, path, scan_of(head(piped, options.encoding), path))
    elif source is None or isinstance(source, (str, os.PathLike)):
        table = run_query(options.query, None if source is None else os.fspath(source))
    elif is_frame(source):
        table = run_query(options.query, as_table(source))
    else:
        raise ParameterError("source", "be a path or a data frame where a query is given", type(source).__name__)
    return from_table(table, options, asked_layout(options))


def asked_layout(options: ReadOptions) -> str | None:
    """The layout that `format=` names, if any."""
    return None if options.format is None else parse_format(options.format, "input_format")[0]
