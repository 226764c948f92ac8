"""Basket files: one transaction per line, items separated by commas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from anonset import _native
from anonset.data.account import BLANKS, Counted
from anonset.data.errors import counted
from anonset.data.transactions import Transactions
from anonset.io.containers.container import TEXT
from anonset.io.containers.quoting import csv_field
from anonset.io.formats.lines import KernelLines, write_lines
from anonset.io.formats.parsed import Parsed
from anonset.io.formats.sample import NUMBER, Sample
from anonset.io.source.guessing import by_column, missing_role
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, as_array, text


class Basket(KernelLines):
    """Lines of items, quoted where needed: any text with a separator that is no table."""

    name = "basket"
    help = "one transaction per line, items separated by commas, quoted where needed"
    endings = ("basket",)
    spreadsheet = True

    def sniff(self, sample: Sample) -> Shape | None:
        """What is left when no table was found in a text with a separator; an error where one should have been."""
        if not sample.tabular:
            return None
        options, roles, names = sample.options, sample.roles, sample.first
        one_role = (roles.item is None) != (roles.transaction is None)
        columns = sample.regular and len(names) > 1 and (one_role or _is_named(names, sample.rows))
        if sample.header and (options.item or options.transaction or columns):
            raise missing_role(roles, names, sample.name, by_column(sample.rows, len(names)))
        return self.shape(sample)

    def shape(self, sample: Sample) -> Shape:
        """Only the separator has to be found."""
        return Shape(self.name, TEXT, sample.separator or ",")

    def read(self, file: File, shape: Shape, options: ReadOptions) -> Parsed:
        """As all lines, and how many blanks beside items were trimmed."""
        parsed = super().read(file, shape, options)
        trimmed = _blanks(as_array(text(file, options.encoding)), ord(shape.separator))
        if not trimmed:
            return parsed
        said = counted(trimmed, "end of an item with blanks", "ends of items with blanks")
        note = Counted(f"{said} trimmed", BLANKS, trimmed)
        return replace(parsed, notes=(*parsed.notes, note))

    def parse(self, data: Any, shape: Shape) -> Any:
        """Fields, with quotes."""
        return _native.parse_separated(_native.Monitor(), data, shape.separator)

    def line(self, data: Any, shape: Shape, row: int) -> int:
        """Line ends inside quotes do not end a transaction."""
        return int(_native.line_of_row(data, shape.separator, row, True))

    def write(self, file: BinaryIO, data: Transactions) -> None:
        """Items separated by commas, in quotes where needed."""
        write_lines(file, data, csv_field(data.labels, ","), ",")


def _blanks(data: Any, separator: int) -> int:
    """How many ends of fields have a blank beside them; what stands between quotes is not looked at."""
    if len(data) == 0:
        return 0
    outside = np.cumsum(data == ord('"')) % 2 == 0 if (data == ord('"')).any() else True
    edge = ((data == separator) | (data == ord("\n"))) & outside
    blank = ((data == ord(" ")) | (data == ord("\t"))) & (data != separator)
    before = np.append(edge[1:], True) & blank
    behind = np.append(True, edge[:-1]) & blank
    return int(np.count_nonzero(before) + np.count_nonzero(behind))


def _is_named(names: tuple[str, ...], rows: list[list[str]]) -> bool:
    """Whether the first record must be a header: one column, not all, is numeric but for it."""
    if len(rows) < 3 or any(len(row) != len(names) for row in rows):
        return False
    numeric = [all(NUMBER.fullmatch(row[place].strip()) for row in rows) for place in range(len(names))]
    return not all(numeric) and any(
        number and not NUMBER.fullmatch(name) for number, name in zip(numeric, names, strict=True)
    )
