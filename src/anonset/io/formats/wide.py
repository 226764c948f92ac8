"""Wide tables: one row per transaction, one column of 0 and 1 per item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import items_of
from anonset.data.errors import DataError, InputError, counted
from anonset.data.transactions import Longs, Mask, Transactions, as_text
from anonset.io.containers.container import Container
from anonset.io.containers.quoting import joined, text_bytes
from anonset.io.containers.rows import blocks, ready_column, render
from anonset.io.formats.beside import as_in_source, columns_beside, read_beside
from anonset.io.formats.cells import Coded
from anonset.io.formats.columns import owner_columns
from anonset.io.formats.layout import Table
from anonset.io.formats.occurrences import Occurrences, assemble
from anonset.io.formats.owners import complete, owners_of
from anonset.io.formats.sample import FLAGS, Sample
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import Roles, find_roles, wide_roles
from anonset.io.source.shape import Cell, Shape
from anonset.io.source.tables import is_list

MOST_COLUMNS = 10_000
"""More items than this do not make a useful wide table."""

_TRUE = pa.array(["1", "t", "true"])


class Wide(Table):
    """A column of 0 and 1 for each item, and perhaps one of transactions and one of users."""

    name = "wide"
    help = "one line per transaction, one column of 0 and 1 per item"
    users = ids = unused_items = columns = True
    line_breaks = nul_labels = False

    def sniff(self, sample: Sample) -> Shape | None:
        """A table of flags, but for the columns that say whose transaction it is."""
        if not sample.regular or (sample.roles.item is not None and sample.roles.transaction is not None):
            return None
        flags = sample.flags(sample.first, sample.rows)
        owners = wide_roles(sample.first, sample.options, lambda place: flags[place]).places.values()
        wide = any(flags) and all(flag or place in owners for place, flag in enumerate(flags))
        return self.in_text(sample, header=True) if wide else None

    def in_text(self, sample: Sample, header: bool) -> Shape:
        """All columns; blanks belong to the name of an item."""
        names = tuple(str(place + 1) for place in range(len(sample.first)))
        if header and sample.records:
            names = tuple(sample.records[0])
        flags = sample.flags(names, sample.records[header:])
        roles = wide_roles(names, sample.options, lambda place: flags[place])
        owners = roles.places.values()
        cells = (Cell(place, name, "text" if place in owners else "flag") for place, name in enumerate(names))
        return sample.table(self.name, header, len(names), tuple(cells), order=roles.order(names))

    def fits(self, table: pa.Table, options: ReadOptions) -> bool:
        """Nothing but flags and owners, in a table that is neither long nor one of lists."""
        roles = find_roles(table.column_names, options)
        if any(map(is_list, table.schema.types)) or (roles.item is not None and roles.transaction is not None):
            return False
        flags = [is_flag(table.column(place)) for place in range(table.num_columns)]
        owners = wide_roles(table.column_names, options, lambda place: flags[place]).places.values()
        return any(flags) and all(flag or place in owners for place, flag in enumerate(flags))

    def by_role(self, table: pa.Table, options: ReadOptions, source: str | None) -> tuple[pa.Table, tuple[str, ...]]:
        """Every column plays a part under its own name."""
        return table, ()

    def stacked(self, tables: list[pa.Table], source: str) -> pa.Table:
        """Every file must have the same columns."""
        if any(table.column_names != tables[0].column_names for table in tables):
            raise DataError("The wide tables have different columns. Read them one by one.", source=source)
        return super().stacked(tables, source)

    def require(self, data: Transactions) -> None:
        """One column for each item, whose names every reader tells apart."""
        if not 0 < data.n_items <= MOST_COLUMNS:
            raise InputError(
                f"The format wide needs between 1 and {MOST_COLUMNS:,} items, one column each. Got {data.n_items:,}. "
                "Use the format lists or long."
            )
        if pc.count_distinct(pc.utf8_lower(data.labels)).as_py() != data.n_items:
            raise InputError(
                "The format wide cannot hold items that differ only in upper and lower case, because many readers do "
                "not tell such columns apart. Use the format lists or long."
            )
        reserved = pc.is_in(data.labels, value_set=pa.array(["transaction", "user"]))
        if pc.any(reserved).as_py():
            raise InputError(
                "The format wide cannot hold an item that is called 'transaction' or 'user', which name other columns. "
                "Use the format lists or long."
            )

    def read(self, table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
        """Items in the order of the columns."""
        roles = _roles(table, options)
        owners = table.select(list(roles.places.values())).rename_columns(list(roles.places))
        _, rows, notes = complete(owners, ("transaction",), options, origin)
        if notes:
            owners, table = owners.take(rows), table.take(rows)
        places = [place for place in range(table.num_columns) if place not in roles.places.values()]
        held, empty = [], 0
        for place in places:
            members, missing = _members(table, place, rows, origin)
            if len(missing) and not options.skip_nulls:
                problem = "A cell of the wide table is empty. Use skip_nulls (--skip-nulls) to read empty cells as 0."
                raise origin.error(problem, int(rows[missing[0]]))
            held.append(members)
            empty += len(missing)
        if empty:
            notes += (f"{counted(empty, 'empty cell')} read as 0",)
        data = assemble(_occurrences(table, places, held), notes, **owners_of(owners))
        ignored = () if roles.user is None or not options.no_user else (table.column_names[roles.user],)
        data = replace(data, unread=ignored)
        return read_beside(data, owners, np.arange(len(table)), rows, origin)

    def table(self, data: Transactions) -> pa.Table:
        """All of it at once; `write` takes it in parts."""
        return _part(data, 0, len(data), dates=True)

    def frame(self, data: Transactions, dates: bool = True) -> pa.Table:
        """All of it at once, with the columns beside the items."""
        return _part(data, 0, len(data), dates)

    def order(self, table: pa.Table, options: ReadOptions, source: str | None) -> tuple[tuple[str, str], ...]:
        """Those of the columns that are no items."""
        return _roles(table, options).order(table.column_names)

    def parts(self, data: Transactions) -> tuple[str, ...]:
        """Transactions have a column where they have ids."""
        return () if data.ids is None else ("transaction",)

    def rows(self, data: Transactions) -> Longs:
        """One for each transaction."""
        return np.ones(len(data), dtype=np.int64)

    def write(self, file: BinaryIO, data: Transactions, container: Container) -> None:
        """In parts, since the table is much larger than the transactions."""
        if container.binary:
            container.write(file, _parts(data))
        else:
            _write_text(file, data, container)


def _parts(data: Transactions) -> Iterator[pa.Table]:
    """The table in parts, the first of which is empty: it says what the columns are."""
    yield _part(data, 0, 0, dates=True)
    for start, stop in blocks(len(data), len(data) * data.n_items):
        yield _part(data, start, stop, dates=True)


def _part(data: Transactions, start: int, stop: int, dates: bool) -> pa.Table:
    """The rows of these transactions."""
    columns = {name: column.slice(start, stop - start) for name, column in _owners(data, dates).items()}
    data = items_of(data)
    cells = np.ascontiguousarray(_membership(data, start, stop).T).view(np.uint8)
    names = [*columns, *data.labels.to_pylist()]
    return pa.table([*columns.values(), *(pa.array(column) for column in cells)], names=names)


def _owners(data: Transactions, dates: bool) -> dict[str, pa.Array]:
    """Whose transaction it is, and what stands beside the items."""
    owners = pa.table({**owner_columns(data), **columns_beside(data, dates)})
    owners = as_in_source(owners, data)
    return {name: _one(column) for name, column in zip(owners.column_names, owners.columns, strict=True)}


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _membership(data: Transactions, start: int, stop: int) -> Mask:
    """Which of these transactions hold which items, as a matrix."""
    matrix = np.zeros((stop - start, data.n_items), dtype=np.bool_)
    rows = np.repeat(np.arange(stop - start), data.lengths[start:stop])
    matrix[rows, data.items[data.offsets[start] : data.offsets[stop]]] = True
    return matrix


def _write_text(file: BinaryIO, data: Transactions, container: Container) -> None:
    """Every row has the same text but for its digits: a template, copied and filled in."""
    owners = _owners(data, dates=False)
    data = items_of(data)
    names = [*owners, *data.labels.to_pylist()]
    notation = container.notation(names)
    file.write(notation.head)
    cells = [f"{before}0" for before in notation.before[len(owners) :]]
    template = np.frombuffer("".join(cells).encode(), dtype=np.uint8)
    digits = np.cumsum([len(cell.encode()) for cell in cells]) - 1
    ready = [ready_column(pa.chunked_array([column]), notation) for column in owners.values()]
    for start, stop in blocks(len(data), len(template) * len(data)):
        block = np.tile(template, (stop - start, 1))
        block[:, digits] += _membership(data, start, stop)
        texts = [render(column.slice(start, stop - start), notation) for column in ready]
        parts = [part for pair in zip(notation.before[: len(owners)], texts, strict=True) for part in pair]
        file.write(text_bytes(joined(*parts, _fixed_width(block), notation.end)))


def _fixed_width(block: np.ndarray) -> pa.LargeStringArray:
    """Rows of bytes, all equally long, as texts."""
    count, width = block.shape
    bounds = pa.py_buffer(np.arange(count + 1, dtype=np.int64) * width)
    return pa.LargeStringArray.from_buffers(count, bounds, pa.py_buffer(np.ascontiguousarray(block)))


def is_flag(column: pa.ChunkedArray) -> bool:
    """Whether a column can say for each transaction whether it holds an item: nothing but 0 and 1."""
    values = _numbers(column)
    return values is not None and bool(np.all((values == 0) | (values == 1) | (values != values)))


def _roles(table: pa.Table, options: ReadOptions) -> Roles:
    return wide_roles(table.column_names, options, lambda place: is_flag(table.column(place)))


def _members(table: pa.Table, place: int, rows: Longs, origin: Origin) -> tuple[Longs, Longs]:
    """The rows that hold the item, and those whose cell is empty."""
    values = _numbers(table.column(place))
    if values is None:
        kind = table.schema.field(place).type
        raise DataError(f"A column of the wide table holds {kind}. Every item needs a column of 0 and 1.")
    bad = np.flatnonzero(~((values == 0) | (values == 1) | (values != values)))
    if len(bad):
        raise origin.error("A cell of the wide table is neither 0 nor 1.", int(rows[bad[0]]))
    return np.flatnonzero(values == 1), np.flatnonzero(values != values)


def _numbers(column: pa.ChunkedArray) -> Any:
    """The cells as numbers (empty ones are no number), words for true and false included; None for other types."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        words = pc.utf8_lower(column.cast(pa.large_string()))
        known = pc.is_in(words, value_set=pa.array(sorted(FLAGS), type=pa.large_string()))
        truth = pc.is_in(words, value_set=_TRUE.cast(pa.large_string())).cast(pa.int8())
        column = pc.if_else(pc.is_null(words), None, pc.if_else(known, truth, 2))
    elif not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    if column.null_count:
        column = (
            column.cast(pa.int8() if pa.types.is_boolean(kind) else column.type).cast(pa.float64()).fill_null(np.nan)
        )
    return column.to_numpy()


def _occurrences(table: pa.Table, places: list[int], held: list[Longs]) -> Occurrences:
    columns = table.column_names
    names = as_text([columns[place] for place in places]).dictionary_encode()
    rows = np.concatenate(held) if held else np.zeros(0, dtype=np.int64)
    items = np.repeat(np.asarray(names.indices).astype(np.int32), [len(members) for members in held])
    return Occurrences(rows, len(table), Coded(items, names.dictionary, own_order=True))
