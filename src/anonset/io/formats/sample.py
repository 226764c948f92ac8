"""The start of a text file, as layouts look at it to find out whether it is one of theirs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from anonset.data.errors import ParameterError
from anonset.io.containers.container import TEXT, Container
from anonset.io.source.heading import above_header, title_records
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import NO_ROLES, Roles, columns_in, find_roles
from anonset.io.source.shape import Cell, Shape
from anonset.io.source.streams import HEAD
from anonset.io.source.words import NAMES, plain

SEPARATORS = "\t;|,"  # a comma may also be a decimal point, so it comes last
FLAGS = frozenset(("0", "1", "t", "f", "true", "false"))
SPMF_HEADS = (b"@CONVERTED_FROM_TEXT", b"@ITEM=")
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
_SAMPLE = 200  # records that are looked at


@dataclass(frozen=True, eq=False)
class Sample:
    """The first bytes of a text, the kind of file that its name says (None: nothing), and what can be seen of it."""

    name: str
    start: bytes
    container: Container | None
    options: ReadOptions

    @cached_property
    def text(self) -> str:
        """The bytes as text."""
        return self.start.decode(errors="replace")

    @cached_property
    def names_items(self) -> bool:
        """Whether the text starts as SPMF files with names do, in a file that is not said to be a table."""
        return self.start.startswith(SPMF_HEADS) and (self.container is None or self.container.name == TEXT)

    @cached_property
    def separator(self) -> str | None:
        """What separates fields: as given, as the kind of file says, or as the text shows."""
        fixed = None if self.container is None else self.container.separator
        return _given(self.options.separator) or fixed or sniff_separator(self.text)

    @cached_property
    def tabular(self) -> bool:
        """Whether lines have fields with a separator; else they are words with spaces."""
        words = self.separator is None and (self.container is None or _all_numbers(self.text))
        return not self.names_items and not words

    @cached_property
    def _all_records(self) -> list[list[str]]:
        return _records(self.text, self.separator or ",", whole=len(self.start) < HEAD)

    @cached_property
    def titles(self) -> int:
        """How many records stand above the header."""
        if self.options.header is not None or self.separator is None:
            return 0
        return title_records(self._all_records, self._names_columns)

    @cached_property
    def records(self) -> list[list[str]]:
        """The first records, with a comma where nothing separates fields, without what stands above the header."""
        return self._all_records[self.titles :]

    @cached_property
    def skip(self) -> int:
        """How many lines stand above the header."""
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=self.separator or ",")
        for _ in range(self.titles):
            next(reader)
        return reader.line_num

    @cached_property
    def first(self) -> tuple[str, ...]:
        """The fields of the first record."""
        return tuple(name.strip() for name in self.records[0]) if self.records else ()

    @cached_property
    def is_named(self) -> bool:
        """Whether the first record holds a name that can only be that of a column."""
        return self._names_columns(self.first)

    def _names_columns(self, record: Sequence[str]) -> bool:
        options = self.options
        known = {name for names in NAMES.values() for name in names}
        wanted = [
            *columns_in(options.transaction, record),
            *columns_in(options.attribute, record),
            options.item,
            options.user,
            options.sensitivity,
            options.sensitive_column,
        ]
        wanted += [options.item_attribute, options.count]
        return any(plain(name) in known for name in record) or any(name in record for name in wanted if name)

    @cached_property
    def header(self) -> bool:
        """Whether a table whose layout is not known has a header: unless its first record looks like any other."""
        if self.options.header is not None:
            return self.options.header
        return self.is_named or (bool(self.first) and not any(name.lower() in FLAGS for name in self.first))

    @cached_property
    def rows(self) -> list[list[str]]:
        """The records after the header that are not blank."""
        records = self.records[1:] if self.header else self.records
        return [row for row in records if any(field.strip() for field in row)]

    @cached_property
    def regular(self) -> bool:
        """Whether this is a table with a header: most rows are as long as it, or its names leave no doubt.

        A table may have a broken line, which its reader will name; lines of all lengths are no table.
        """
        fitting = sum(len(row) == len(self.first) for row in self.rows)
        return self.tabular and self.header and (2 * fitting >= len(self.rows) or _names_both(self.first))

    @cached_property
    def roles(self) -> Roles:
        """What the names in the header say."""
        return find_roles(self.first, self.options) if self.header else NO_ROLES

    def flags(self, names: tuple[str, ...], rows: list[list[str]]) -> list[bool]:
        """Which columns hold nothing but 0 and 1, and at least one of them, in the rows of the right length."""
        rows = [row for row in rows if len(row) == len(names)]
        cells = [{row[place].strip().lower() for row in rows} for place in range(len(names))]
        return [column <= FLAGS | {""} and bool(column - {""}) for column in cells]

    def table(
        self,
        layout: str,
        header: bool,
        columns: int,
        cells: tuple[Cell, ...],
        unread: tuple[str, ...] = (),
        order: tuple[tuple[str, str], ...] = (),
    ) -> Shape:
        """How to read the text as a table of this layout."""
        container = self.container.name if self.container is not None and self.container.separator else "csv"
        notes = (above_header(self.skip),) if self.skip else ()
        separator = self.separator or ","
        return Shape(layout, container, separator, header, columns, cells, unread, self.skip, notes=notes, order=order)


def _given(given: str | None) -> str | None:
    if given is None:
        return None
    given = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(given) != 1 or given in '"\r\n':
        raise ParameterError("separator", "be one character, no quote and no line end", repr(given), "Try ','.")
    return given


def _records(sample: str, separator: str, whole: bool) -> list[list[str]]:
    """The first records of a text; one that the sample cuts off is left out."""
    records = []
    for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
        records.append(record)
        if len(records) > _SAMPLE:
            return records[:_SAMPLE]
    return records if whole or len(records) < 2 else records[:-1]


def _well_quoted(sample: str, separator: str) -> bool:
    """Whether quotes open and close fields as they should; the last of several records may be cut off."""
    read = 0
    try:
        for _ in csv.reader(io.StringIO(sample, newline=""), delimiter=separator, strict=True):
            read += 1
    except csv.Error as error:
        return read > 0 and "unexpected end" in str(error)
    return True


def sniff_separator(sample: str) -> str | None:
    """The separator that makes the most regular table, else the one in most lines; None where none occurs.

    One that would tear quoted names apart does not count if another one does not.
    """
    best: tuple[tuple[bool, bool, int, int], str] | None = None
    for separator in SEPARATORS:
        sizes = [len(record) for record in _records(sample, separator, whole=True) if record]
        split = sum(size > 1 for size in sizes)
        score = (_well_quoted(sample, separator), len(set(sizes)) == 1, split, sum(sizes))
        if split and (best is None or score > best[0]):
            best = (score, separator)
    return best[1] if best else None


def _all_numbers(sample: str) -> bool:
    return all(NUMBER.fullmatch(word) for word in sample.split())


def _names_both(names: tuple[str, ...]) -> bool:
    """Whether the names can only be those of a long table."""
    words = {plain(name) for name in names}
    return bool(words & {"transaction", "transactionid", "tid"}) and bool(words & {"item", "itemid", "product", "sku"})
