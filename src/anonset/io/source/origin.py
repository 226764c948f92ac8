"""Where a row of a table came from, so that an error can name the line of the file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from anonset._native import line_of_row
from anonset.data.errors import DataError
from anonset.io.source.detect import Shape
from anonset.io.source.streams import File, as_array, text


@dataclass(frozen=True)
class Part:
    """The rows of a table that came from one file."""

    file: File
    shape: Shape
    rows: int
    encoding: str | None = None


@dataclass(frozen=True)
class Origin:
    """The files behind a table, in the order of their rows; none for a data frame."""

    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str | None:
        """The first file, if there is one."""
        return self.parts[0].file.name if self.parts else None

    @property
    def unit(self) -> str:
        """What a row of the table is called in errors and notes."""
        return "line" if any(part.shape.container in ("csv", "tsv", "jsonl") for part in self.parts) else "row"

    def error(self, problem: str, row: int) -> DataError:
        """The error for a problem in this row, counted from 0."""
        for part in self.parts:
            if row < part.rows:
                return _error(problem, part, row)
            row -= part.rows
        return DataError(problem, row=row + 1)


def _error(problem: str, part: Part, row: int) -> DataError:
    if part.shape.container not in ("csv", "tsv", "jsonl"):
        return DataError(problem, source=part.file.name, row=row + 1)
    data = text(part.file, part.encoding)
    if part.shape.container == "jsonl":
        line = json_line(data, row)
    else:
        line = line_of_row(as_array(data), part.shape.separator, row + part.shape.header, False)
    return DataError(problem, source=part.file.name, line=line)


def broken_json_line(data: bytes) -> int | None:
    """The first line, counted from 1, that is neither blank nor a JSON object or list."""
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip() and not isinstance(json.loads(line), (dict, list)):
                return number
        except ValueError:
            return number
    return None


def json_line(data: bytes, record: int) -> int:
    """The line, counted from 1, of an object, counted from 0; blank lines hold none."""
    filled = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return filled[record]
