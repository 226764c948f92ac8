"""JSON lines: one object in each line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from anonset.data.errors import DataError
from anonset.io.containers.container import Container, Needed, Read
from anonset.io.containers.database import Scan, quoted, scan_file
from anonset.io.containers.nested import flattened, is_nested, leaves
from anonset.io.containers.quoting import json_text
from anonset.io.containers.rows import Notation, write_rows
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, head, text


class JsonLines(Container):
    """Objects, one per line; values are read as text and lists as lists of texts."""

    name = "jsonl"
    endings = ("jsonl", "ndjson")

    def sniff(self, start: bytes) -> bool:
        """Whether the first line is an object or a list."""
        line = start.lstrip().partition(b"\n")[0]
        if line[:1] not in (b"{", b"["):
            return False
        try:
            return isinstance(json.loads(line), (dict, list))
        except ValueError:
            return False

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """All columns; none where the file is blank."""
        if not head(file, options.encoding).strip():
            return pa.table({}), ()
        return scan_file(file, options, partial(_read, options=options), what=self.name, explain=_explain), ()

    def line_of(self, file: File, shape: Shape, options: ReadOptions) -> Callable[[int], int] | None:
        """Blank lines hold no object; where objects hold lists of objects, rows are no lines."""
        if b"[{" in head(file, options.encoding).replace(b" ", b""):
            return None
        return lambda row: _line_of(text(file, options.encoding), row)

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """A line for each row."""
        for table in tables:
            write_rows(file, table, self.notation(table.column_names), size)

    def notation(self, names: list[str]) -> Notation:
        """Texts in quotes, lists as they are."""
        keys = json_text(pa.array(names, pa.string())).to_pylist()
        before = tuple(f"{',' if place else '{'}{key}:" for place, key in enumerate(keys))
        return Notation(json_text, lambda text: text, "null", before, "}\n")


def _read(database: Any, scan: Scan, *, options: ReadOptions) -> pa.Table:
    """Every value as text, every list as a list of texts: DuckDB's own guesses would change dates and numbers."""
    source = f"{quoted(scan.path)}, format='newline_delimited', compression='{scan.compression}'"
    if scan.longest:
        source += f", maximum_object_size={scan.longest}"
    found = database.sql(f"SELECT * FROM read_json({source}, sample_size=-1)")
    if is_nested(found.types):
        return flattened(database, source, leaves(found.columns, found.types), options)
    listed = [str(kind).endswith("[]") or _holds_lists(found, place) for place, kind in enumerate(found.types)]
    columns = ", ".join(
        f"{quoted(name)}: '{'VARCHAR[]' if is_list else 'VARCHAR'}'"
        for name, is_list in zip(found.columns, listed, strict=True)
    )
    return database.sql(f"SELECT * FROM read_json({source}, columns={{{columns}}})").to_arrow_table()


def _holds_lists(found: Any, place: int) -> bool:
    """Whether a column of mixed values holds lists among them."""
    if str(found.types[place]) != "JSON":
        return False
    column = '"' + found.columns[place].replace('"', '""') + '"'
    return bool(found.aggregate(f"bool_or(json_type({column}) = 'ARRAY')").fetchall()[0][0])


def _explain(message: str, name: str, data: bytes) -> DataError:
    """DuckDB counts objects, not lines, so the line is looked up."""
    line = _broken_line(data)
    if line is not None:
        return DataError("The line is not valid JSON.", source=name, line=line)
    line = _torn_line(data)
    if line is not None:
        return DataError("The line holds half of a character (\\ud800 to \\udfff).", source=name, line=line)
    record = re.search(r"in line ([0-9]+)", message)
    line = _line_of(data, int(record[1]) - 1) if record else None
    problem = "Other lines have a list where this one has none." if record else "The file cannot be read as JSON lines."
    return DataError(problem, source=name, line=line)


def _broken_line(data: bytes) -> int | None:
    """The first line, counted from 1, that is neither blank nor a JSON object or list."""
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip() and not isinstance(json.loads(line), (dict, list)):
                return number
        except ValueError:
            return number
    return None


def _torn_line(data: bytes) -> int | None:
    """The first line, counted from 1, with an escape for half of a character, which is no text."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if b"\\u" in line:
            try:
                json.dumps(json.loads(line), ensure_ascii=False).encode()
            except UnicodeEncodeError:
                return number
    return None


def _line_of(data: bytes, record: int) -> int:
    """The line, counted from 1, of an object, counted from 0."""
    filled = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return filled[record]
