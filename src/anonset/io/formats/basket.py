"""Basket files: one transaction per line, items separated by commas."""

from __future__ import annotations

from typing import Any, BinaryIO

from anonset import _native
from anonset.data.transactions import Transactions
from anonset.io.containers.container import TEXT
from anonset.io.containers.quoting import csv_field
from anonset.io.formats.lines import KernelLines, write_lines
from anonset.io.formats.sample import NUMBER, Sample
from anonset.io.source.guessing import by_column, missing_role
from anonset.io.source.shape import Shape


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

    def parse(self, data: Any, shape: Shape) -> Any:
        """Fields, with quotes."""
        return _native.parse_separated(_native.Monitor(), data, shape.separator)

    def line(self, data: Any, shape: Shape, row: int) -> int:
        """Line ends inside quotes do not end a transaction."""
        return int(_native.line_of_row(data, shape.separator, row, True))

    def write(self, file: BinaryIO, data: Transactions) -> None:
        """Items separated by commas, in quotes where needed."""
        write_lines(file, data, csv_field(data.labels, ","), ",")


def _is_named(names: tuple[str, ...], rows: list[list[str]]) -> bool:
    """Whether the first record must be a header: one column, not all, is numeric but for it."""
    if len(rows) < 3 or any(len(row) != len(names) for row in rows):
        return False
    numeric = [all(NUMBER.fullmatch(row[place].strip()) for row in rows) for place in range(len(names))]
    return not all(numeric) and any(
        number and not NUMBER.fullmatch(name) for number, name in zip(numeric, names, strict=True)
    )
