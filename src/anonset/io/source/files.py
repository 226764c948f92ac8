"""Reading files, one or many: line formats here, tables there, and queries over them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from anonset.data.errors import DataError, ParameterError
from anonset.data.transactions import Transactions
from anonset.io.formats.lines import read_lines
from anonset.io.formats.registry import TEXT, parse_format
from anonset.io.source.detect import Shape, detect
from anonset.io.source.frames import as_table, build, by_role, from_table, is_frame, layout_of, others
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin, Part
from anonset.io.source.streams import File, find_files, head

Path = str | os.PathLike[str]


def read_files(sources: Iterable[Path], options: ReadOptions) -> Transactions:
    """The transactions of all files together; they must have one format."""
    found = [find_files(source) for source in sources]
    files = [file for group, _ in found for file in group]
    if len(files) > 1:
        files = [file for file in files if head(file)] or files[:1]
    shapes = [detect(file, options) for file in files]
    reader = _read_lines if all(shape.container == TEXT for shape in shapes) else _read_tables
    data = reader(files, shapes, options)
    notes = tuple(note for _, group in found for note in group)
    return replace(data, notes=notes + data.notes) if notes else data


def _read_lines(files: list[File], shapes: list[Shape], options: ReadOptions) -> Transactions:
    for name in ("transaction", "item", "user", "sensitivity", "sensitive_column", "attribute", "count"):
        if getattr(options, name) is not None:
            what = f"{files[0].name} is read as {shapes[0].layout}, which has no columns."
            advice = f"{what} Pass its format if it is a table."
            raise ParameterError(name, "name a column of a table", repr(getattr(options, name)), advice)
    _require_one_layout([shape.layout for shape in shapes], files)
    return read_lines(files, shapes, options)


def _read_tables(files: list[File], shapes: list[Shape], options: ReadOptions) -> Transactions:
    if options.with_degrees:
        what = f"{files[0].name} is read as a table, which has a column of degrees."
        raise ParameterError("with_degrees", "be off for tables", "on", f"{what} Name it with sensitivity=….")
    _require_one_layout(["lines" if shape.container == TEXT else "tables" for shape in shapes], files)
    tables, parts, layouts = [], [], []
    unread: list[str] = []
    for file, shape in zip(files, shapes, strict=True):
        layout, table, passed_over = _table(file, shape, options)
        unread += passed_over
        if layout is not None:
            layouts.append(layout)
            tables.append(table)
            parts.append(Part(file, shape, len(table), options.encoding))
    if not tables:
        return Transactions.from_lists([])
    _require_one_layout(layouts, files)
    data = build(layouts[0], _stacked(layouts[0], tables, files), options, Origin(tuple(parts)))
    return replace(data, unread=tuple(dict.fromkeys(unread)))


def _table(file: File, shape: Shape, options: ReadOptions) -> tuple[str | None, pa.Table, tuple[str, ...]]:
    """A file's layout (None: it is empty), its table with columns called by their roles unless it is wide, and which
    columns were left aside.
    """
    from anonset.io.containers.tables import read_table

    blank = shape.container == "jsonl" and not head(file, options.encoding).strip()
    table = pa.table({}) if blank else read_table(file, shape, options)
    if table.num_columns == 0:
        return None, table, ()
    layout = shape.layout or layout_of(table, options, file.name)
    if layout == "wide":
        return layout, table, ()
    if shape.container in ("csv", "tsv"):
        return layout, table, others(shape.names, shape.roles)
    return layout, *by_role(table, layout, options, file.name)


def _stacked(layout: str, tables: list[pa.Table], files: list[File]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    if layout == "wide" and any(table.column_names != tables[0].column_names for table in tables):
        raise DataError("The wide tables have different columns. Read them one by one.", source=files[0].name)
    return pa.concat_tables(tables, promote_options="permissive")


def _require_one_layout(layouts: Iterable[str | None], files: list[File]) -> None:
    names = sorted({str(layout) for layout in layouts})
    if len(names) > 1:
        problem = f"The files have different formats ({', '.join(names)}). Read them one by one, or pass the format."
        raise DataError(problem, source=files[0].name)


def read_query(source: Any, options: ReadOptions) -> Transactions:
    """The result of an SQL query as a table; `source`, if any, is its table `data`."""
    from anonset.io.containers.tables import run_query

    if options.query is None or (isinstance(source, str) and source == "-"):
        raise ParameterError("query", "name files", "standard input", "Save it as a file and name that in the query.")
    if source is None or isinstance(source, (str, os.PathLike)):
        table = run_query(options.query, None if source is None else os.fspath(source))
    elif is_frame(source):
        table = run_query(options.query, as_table(source))
    else:
        raise ParameterError("source", "be a path or a data frame where a query is given", type(source).__name__)
    return from_table(table, options, asked_layout(options), Origin())


def asked_layout(options: ReadOptions) -> str | None:
    """The layout that `format=` names, if any."""
    return None if options.format is None else parse_format(options.format)[0]
