"""CSV and TSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from anonset._native import line_of_row
from anonset.io.containers.container import Container, Needed, Read
from anonset.io.containers.database import Scan, quoted, scan_file
from anonset.io.containers.quoting import csv_field, csv_quoted, text_bytes
from anonset.io.containers.rows import Notation, write_rows
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Cell, Shape
from anonset.io.source.streams import File, as_array, text


class Csv(Container):
    """Fields separated by commas, or by something else that the text shows."""

    name = "csv"
    endings = ("csv",)
    usual = "long"
    sampled = True
    spreadsheet = True
    written = ","  # what separates fields of a file that we write

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """The columns that the shape names."""
        if not shape.columns:
            return pa.table({}), ()
        read = partial(_read, shape=shape)
        return scan_file(file, options, read, what=self.name, line_of=partial(_line, shape)), shape.unread

    def line_of(self, file: File, shape: Shape, options: ReadOptions) -> Callable[[int], int]:
        """Line ends inside quotes count as lines, too."""

        def find(row: int) -> int:
            above, data = _below(text(file, options.encoding), shape.skip)
            return above + int(line_of_row(as_array(data), shape.separator, row + shape.header, False))

        return find

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """A header, then a line for each row."""
        for place, table in enumerate(tables):
            notation = self.notation(table.column_names)
            write_rows(file, table, notation if place == 0 else notation.without_head(), size)

    def notation(self, names: list[str]) -> Notation:
        """Quotes where they are needed; nothing for what is missing."""
        separator = self.written
        before = tuple("" if place == 0 else separator for place in range(len(names)))
        fields = csv_field(pa.array(names, pa.string()), separator).to_pylist()
        head = bytes(text_bytes(pa.array([separator.join(fields) + "\n"], pa.large_string())))
        return Notation(lambda values: csv_field(values, separator), csv_quoted, "", before, head=head)


class Tsv(Csv):
    """Fields separated by tabs."""

    name = "tsv"
    endings = ("tsv",)
    separator = written = "\t"


def _read(database: Any, scan: Scan, *, shape: Shape) -> pa.Table:
    flags = {cell.place for cell in shape.cells if cell.kind == "flag"}
    types = ", ".join(f"'c{at}': '{'BOOLEAN' if at in flags else 'VARCHAR'}'" for at in range(shape.columns))
    room = f", max_line_size={scan.longest}, buffer_size={4 * scan.longest}" if scan.longest else ""
    table = database.sql(
        f"SELECT {', '.join(map(_cell, shape.cells))} FROM read_csv({quoted(scan.path)}, "
        f"auto_detect=false, columns={{{types}}}, header={shape.header}, skip={shape.skip}, "
        f"delim={quoted(shape.separator)}, "
        f"quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, compression='{scan.compression}'{room})"
    ).to_arrow_table()
    return table.rename_columns([cell.name for cell in shape.cells])


def _cell(cell: Cell) -> str:
    """A column, or the list in it where a CSV cell holds a JSON list."""
    at = f"c{cell.place}"
    if cell.kind == "list":
        return f"CASE WHEN json_valid({at}) THEN TRY_CAST(CAST({at} AS JSON) AS VARCHAR[]) END AS {at}"
    return at


def _line(shape: Shape, data: bytes, row: int) -> int:
    """The line of a row as DuckDB counts; it does not count line ends inside quotes."""
    above, data = _below(data, shape.skip)
    return above + int(line_of_row(as_array(data), shape.separator, row - above - 1, True))


def _below(data: bytes, lines: int) -> tuple[int, bytes]:
    """The text below so many lines, and how many these are."""
    return (lines, data.split(b"\n", lines)[-1]) if lines else (0, data)
