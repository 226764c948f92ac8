"""Where a row of a table came from, so that an error can name the line of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anonset.data.errors import DataError


@dataclass(frozen=True)
class Part:
    """The rows of a table that came from one file; `line_of` finds the line of a row where files have lines."""

    name: str
    rows: int
    line_of: Callable[[int], int] | None = None


@dataclass(frozen=True)
class Origin:
    """The files behind a table, in the order of their rows; none for a data frame."""

    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str | None:
        """The first file, if there is one."""
        return self.parts[0].name if self.parts else None

    @property
    def unit(self) -> str:
        """What a row of the table is called in errors and notes."""
        return "line" if any(part.line_of is not None for part in self.parts) else "row"

    def error(self, problem: str, row: int) -> DataError:
        """The error for a problem in this row, counted from 0."""
        for part in self.parts:
            if row < part.rows:
                if part.line_of is None:
                    return DataError(problem, source=part.name, row=row + 1)
                return DataError(problem, source=part.name, line=part.line_of(row))
            row -= part.rows
        return DataError(problem, row=row + 1)
