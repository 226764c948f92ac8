"""What every layout is: a way to put transactions into lines or columns, and to find them there again.

A layout is one class in one file. `Lines` are plain text, `Table` is anything with columns in any container. Files are
sniffed in the reverse order of the registry, so that a layout that was added later is asked first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import items_of
from anonset.data.transactions import Longs, Transactions
from anonset.io.containers.container import TEXT, Container
from anonset.io.formats.beside import with_columns_beside
from anonset.io.formats.parsed import Parsed
from anonset.io.formats.sample import Sample
from anonset.io.source.guessing import by_column, first_rows, missing_role
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import Roles, find_roles
from anonset.io.source.shape import Shape, cells_of
from anonset.io.source.streams import File


class Layout:
    """How transactions become lines or columns, and what survives that.

    `users` … `columns` say which parts of the data have a place, `empty` whether transactions without items have
    one; `white_space` … `spmf_heads` say which labels do. `unused_items` have one where every item is a column, whether
    it occurs or not. `bare_labels` stand alone in a cell, where a spreadsheet may take them for formulas.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    containers: ClassVar[tuple[str, ...]]
    endings: ClassVar[tuple[str, ...]] = ()
    users: ClassVar[bool] = False
    ids: ClassVar[bool] = False
    sensitive: ClassVar[bool] = False
    degrees: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    attributes: ClassVar[bool] = False
    columns: ClassVar[bool] = False
    empty: ClassVar[bool] = True
    white_space: ClassVar[bool] = True
    line_breaks: ClassVar[bool] = True
    empty_labels: ClassVar[bool] = False
    nul_labels: ClassVar[bool] = True
    spmf_heads: ClassVar[bool] = True
    unused_items: ClassVar[bool] = False
    bare_labels: ClassVar[bool] = True
    spreadsheet: ClassVar[bool] = False

    def sniff(self, sample: Sample) -> Shape | None:
        """How to read a file that starts like this, if it is one of these."""
        return None

    def shape(self, sample: Sample) -> Shape:
        """How to read a file that is one of these because somebody says so."""
        return Shape(self.name, TEXT)

    def parts(self, data: Transactions) -> tuple[str, ...]:
        """Which of `transaction` and `item` are columns here, which may have other names."""
        return ()

    def require(self, data: Transactions) -> None:
        """An `InputError` where the transactions as a whole do not fit."""


class Lines(Layout):
    """One transaction per line of plain text."""

    containers = (TEXT,)

    def read(self, file: File, shape: Shape, options: ReadOptions) -> Parsed:
        """The transactions of one file."""
        raise NotImplementedError

    def write(self, file: BinaryIO, data: Transactions) -> None:
        """Write transactions that fit."""
        raise NotImplementedError


class Table(Layout):
    """Columns, in any container that holds a table."""

    containers: ClassVar[tuple[str, ...]] = ("csv", "tsv", "jsonl", "parquet", "arrow")
    lists: ClassVar[tuple[str, ...]] = ()  # roles whose cells hold lists

    def shape(self, sample: Sample) -> Shape:
        """The header is there unless the layout knows better; the columns must say what is needed."""
        return self.in_text(sample, self.has_header(sample))

    def has_header(self, sample: Sample) -> bool:
        """Whether the first line of a text table is its header."""
        return sample.options.header is not False

    def in_text(self, sample: Sample, header: bool) -> Shape:
        """How to read a text table of this layout."""
        names = sample.first if header else tuple(str(place + 1) for place in range(len(sample.first)))
        roles = self.roles(names, sample, header)
        if names and not self.is_complete(roles):
            raise missing_role(roles, names, sample.name, by_column(sample.rows, len(names)))
        cells = cells_of(roles, self.lists)
        return sample.table(self.name, header, len(names), cells, roles.others(names), roles.order(names))

    def roles(self, names: Sequence[str], sample: Sample, header: bool) -> Roles:
        """Which column of a text table plays which part."""
        return find_roles(names, sample.options)

    def is_complete(self, roles: Roles) -> bool:
        """Whether the columns that are needed are there."""
        return roles.item is not None

    def needed(self, names: Sequence[str], options: ReadOptions) -> list[int] | None:
        """The columns that are needed of a table in this layout; None: all, or it is not clear."""
        return None

    def fits(self, table: pa.Table, options: ReadOptions) -> bool:
        """Whether the columns of a table show this layout."""
        raise NotImplementedError

    def by_role(self, table: pa.Table, options: ReadOptions, source: str | None) -> tuple[pa.Table, tuple[str, ...]]:
        """The columns that play a part, called by their roles, and the names of the others."""
        roles = self.table_roles(table, options, source)
        if not self.is_complete(roles):
            raise missing_role(roles, table.column_names, source, first_rows(table))
        chosen = table.select(list(roles.places.values())).rename_columns(list(roles.places))
        return chosen, roles.others(table.column_names)

    def table_roles(self, table: pa.Table, options: ReadOptions, source: str | None) -> Roles:
        """Which column of a table plays which part."""
        return find_roles(table.column_names, options)

    def order(self, table: pa.Table, options: ReadOptions, source: str | None) -> tuple[tuple[str, str], ...]:
        """The part and the name of each column that plays one, in the order of the table."""
        return self.table_roles(table, options, source).order(table.column_names)

    def stacked(self, tables: list[pa.Table], source: str) -> pa.Table:
        """Tables of several files as one."""
        return pa.concat_tables(tables, promote_options="permissive")

    def read(self, table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
        """The transactions in a table whose columns are called by their roles."""
        raise NotImplementedError

    def table(self, data: Transactions) -> pa.Table:
        """The transactions as a table."""
        raise NotImplementedError

    def frame(self, data: Transactions, dates: bool = True) -> pa.Table:
        """The same with the columns beside the items; `dates` says that there is a type for dates."""
        items = items_of(data)
        return with_columns_beside(self.table(items), data, self.rows(items), dates)

    def rows(self, data: Transactions) -> Longs:
        """How many rows of the table each transaction takes."""
        raise NotImplementedError

    def write(self, file: BinaryIO, data: Transactions, container: Container) -> None:
        """Write transactions that fit into a file of some kind."""
        table = self.frame(data, container.binary)
        container.write(file, iter([table]), text_size(data, data.labels) + 20 * len(table))


def text_size(data: Transactions, labels: pa.Array) -> int:
    """The number of bytes that the labels of all transactions take, with separators."""
    lengths = pc.binary_length(labels).to_numpy(zero_copy_only=False).astype("int64")
    return int(lengths @ data.item_counts) + data.nnz + len(data)
