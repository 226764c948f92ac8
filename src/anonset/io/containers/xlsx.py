"""Spreadsheets: `.xlsx`, `.xls` and `.ods` in, `.xlsx` out. Needs the extra `excel`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import PassedOver
from anonset.data.errors import DataError, InputError, ShortageError, unknown
from anonset.data.extras import load
from anonset.io.containers.container import Container, Needed, Read
from anonset.io.source.heading import MOST_TITLES, above_header, title_records
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, content
from anonset.io.source.words import NAMES, plain

MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""What a sheet holds: rows with the header, columns, characters of a cell."""

_PROGRAM = str(Path(__file__).with_name("sheets.py"))
_BYTES, _SECONDS = 2 << 30, 20
"""What reading a sheet may take, and 400 bytes more for each byte of the file, 10 seconds for each megabyte."""
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00:00$"


class Spreadsheet(Container):
    """Cells are read as text: a number as it is, a day as `2024-03-01`."""

    name = "xlsx"
    endings = ("xlsx", "xlsm", "xlsb", "xls", "ods")
    only_read = ("xlsm", "xlsb", "xls", "ods")
    usual = "long"
    binary = True

    def sniff(self, start: bytes) -> bool:
        """A zip archive or an OLE file; no other kind of file that is read here is one."""
        return start.startswith((_ZIP, _OLE))

    def shape(self, file: File, layout: str | None, options: ReadOptions) -> Shape:
        """Which sheet, and how many rows stand above its header."""
        sheets = json.loads(_told(file, 2 * MOST_TITLES))
        if options.sheet is not None and options.sheet not in sheets:
            raise unknown("sheet", options.sheet, list(sheets))
        filled = [options.sheet] if options.sheet is not None else [name for name, rows in sheets.items() if rows]
        sheet = (filled or list(sheets))[0]
        wanted = {value for value in (options.transaction, options.item, options.user) if value}
        rows = [[cell or "" for cell in row] for row in sheets[sheet]]
        skip = title_records(rows, lambda cells: bool({plain(cell) for cell in cells} & _KNOWN or wanted & {*cells}))
        notes: list[str] = [above_header(skip, "row")] if skip else []
        if len(filled) > 1:
            others = ", ".join(filled[1:])
            notes.append(PassedOver(f"The sheet {sheet} was read. There are others: {others}"))
        return Shape(layout, self.name, skip=skip, part=sheet, notes=tuple(notes))

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """The columns that are needed, as texts; columns without a name and without a cell are none."""
        table = _cells(file, str(shape.part), shape.skip)
        table = table.select([place for place, name in enumerate(table.column_names) if _holds(table, place, name)])
        table = table.filter(_filled(table)) if table.num_columns else table
        names = table.column_names
        places = needed(names)
        chosen = table if places is None else table.select(places)
        return chosen, tuple(name for name in names if name not in chosen.column_names)

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """One sheet; every text is a text, whatever it looks like, and no formula."""
        writer = load("xlsxwriter", "excel", "Writing .xlsx")
        options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        memory = io.BytesIO()
        with writer.Workbook(memory, options) as book:
            book.set_properties({"created": datetime(2000, 1, 1)})  # the same content gives the same bytes
            _fill(book.add_worksheet("release"), tables)
        file.write(memory.getbuffer())


_KNOWN = {name for names in NAMES.values() for name in names}


def _told(file: File, *question: object) -> bytes:
    """What another process says of a spreadsheet: one that is made to break its reader must not end this one."""
    load("fastexcel", "excel", "Reading a spreadsheet")
    data = content(file)
    memory = min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, _BYTES + 400 * len(data))
    seconds = _SECONDS + 10 * (len(data) >> 20)
    command = [sys.executable, "-P", _PROGRAM, *map(str, (memory, seconds, *question))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RUST_BACKTRACE": "0"}
    told = subprocess.run(command, input=data, env=environment, capture_output=True, check=False)
    if told.returncode == 0:
        return told.stdout
    if told.returncode < 0 or b"MemoryError" in told.stderr:
        problem = "The sheet needs too much memory or time: a cell stands far from all others, or the file is damaged."
        raise ShortageError(f"{problem} Save it once more, as CSV.", source=file.name)
    problem = "The file is no spreadsheet, is damaged, or needs a password. Save it once more as .xlsx."
    raise DataError(problem, source=file.name)


def _cells(file: File, sheet: str, skip: int) -> pa.Table:
    """The cells below some rows, the first of which are the names."""
    with pa.ipc.open_stream(_told(file, 0, sheet, skip)) as stream:
        table = stream.read_all()
    names = ["" if name.startswith("__UNNAMED__") else name.strip() for name in table.column_names]
    return pa.table([_days(column) for column in table.columns], names=names)


def _days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A day without a time is a day."""
    return pc.replace_substring_regex(column, pattern=_MIDNIGHT, replacement=r"\1")


def _holds(table: pa.Table, place: int, name: str) -> bool:
    return bool(name) or table.column(place).null_count < len(table)


def _filled(table: pa.Table) -> pa.ChunkedArray:
    """Which rows hold anything."""
    filled = pc.is_valid(table.column(0))
    for column in table.columns[1:]:
        filled = pc.or_(filled, pc.is_valid(column))
    return filled


def _fill(sheet: Any, tables: Iterator[pa.Table]) -> None:
    row = 1
    for place, table in enumerate(tables):
        if place == 0:
            sheet.write_row(0, 0, table.column_names)
        _require_room(row + len(table), table.num_columns)
        for at, column in enumerate(table.columns):
            for offset, cell in enumerate(column.to_pylist()):
                _write(sheet, row + offset, at, cell)
        row += len(table)


def _write(sheet: Any, row: int, column: int, cell: Any) -> None:
    if isinstance(cell, str):
        if len(cell) > LONGEST_TEXT:
            raise InputError(f"A sheet holds texts of up to {LONGEST_TEXT:,} characters. Use the format long.csv.")
        sheet.write_string(row, column, cell)
    elif isinstance(cell, float):
        sheet.write_string(row, column, repr(cell))  # readers round numbers
    elif cell is not None:
        sheet.write(row, column, cell)


def _require_room(rows: int, columns: int) -> None:
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise InputError(
            f"A sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns. Got {rows:,} and {columns:,}. "
            "Use the format long.csv or long.parquet."
        )
