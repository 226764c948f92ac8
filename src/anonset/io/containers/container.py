"""What every kind of file can do: say that it is one, give its table, take a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar

import pyarrow as pa

from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File

TEXT = "text"
"""The container of the layouts that are plain lines."""

Read = tuple[pa.Table, tuple[str, ...]]
"""A table, and the names of the columns that were left out of it."""

Needed = Callable[[Sequence[str]], list[int] | None]
"""Which of a table's columns are needed; None: all of them."""


class Container:
    """A kind of file that holds a table.

    `endings` are those of its names, of which `only_read` are never written, and `usual` is the layout that a bare
    ending means. `binary` files have rows instead of lines, compress by themselves, and hold any character. `sampled`
    ones are known by their text, which layouts look at. People open `spreadsheet` ones where formulas run. `separator`
    always stands between fields.
    """

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    only_read: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[str] = "lists"
    binary: ClassVar[bool] = False
    sampled: ClassVar[bool] = False
    spreadsheet: ClassVar[bool] = False
    separator: ClassVar[str | None] = None

    def sniff(self, start: bytes) -> bool:
        """Whether a file that starts like this is one of these for certain."""
        return False

    def shape(self, file: File, layout: str | None, options: ReadOptions) -> Shape:
        """How to read a file of this kind that is not known by its text."""
        return Shape(layout, self.name)

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """The table in a file; where the shape names cells, these columns under their names."""
        raise NotImplementedError

    def line_of(self, file: File, shape: Shape, options: ReadOptions) -> Callable[[int], int] | None:
        """How to find the line of a row, where files of this kind have lines."""
        return None

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """Write one table in parts (at least one); `size` is about how many bytes of text that will be."""
        raise NotImplementedError

    def notation(self, names: list[str]) -> Any:
        """How these columns are written as text; None where rows are no text."""
        return None


class PlainLines(Container):
    """Plain lines: no table, so that the layouts read and write them themselves."""

    name = TEXT
    usual = ""
    sampled = True
