"""Transactions from tables whose layout is given, or shown by their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from anonset.data.transactions import Transactions
from anonset.io.formats.layout import Table
from anonset.io.formats.registry import LAYOUTS
from anonset.io.source.columns import in_order_of, left_aside, whole_transaction
from anonset.io.source.guessing import first_rows, missing_role
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import find_roles


def from_table(table: pa.Table, options: ReadOptions, layout: str | None, index: tuple[str, ...] = ()) -> Transactions:
    """Transactions from a table in memory, which remember what it was like; `index` names columns that are one."""
    if table.num_columns == 0:
        return Transactions.from_lists([[]] * len(table))
    found = table_layout(table, layout, options, None)
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    order = found.order(table, options, None)
    table, unread = found.by_role(table, options, None)
    data = in_order_of(found.read(whole_transaction(table), options, Origin()), order, len(table))
    assert data.arrived is not None
    data = replace(data, arrived=replace(data.arrived, layout=found.name, kinds=kinds, index=index))
    unread += data.unread
    return replace(data, unread=unread, notes=(*left_aside(unread, options), *data.notes))


def table_layout(table: pa.Table, name: str | None, options: ReadOptions, source: str | None) -> Table:
    """The layout of this name, or the one that a table's columns show."""
    for layout in _tables(name):
        if name is not None or layout.fits(table, options):
            return layout
    raise missing_role(find_roles(table.column_names, options), table.column_names, source, first_rows(table))


def needed(names: Sequence[str], layout: str | None, options: ReadOptions) -> list[int] | None:
    """Which columns of a table are needed, as far as its names tell; None: all of them."""
    return next((places for one in _tables(layout) if (places := one.needed(names, options)) is not None), None)


def _tables(name: str | None) -> list[Table]:
    """The layout of this name, or all that are tables, later ones first."""
    chosen = reversed(LAYOUTS.values()) if name is None else [LAYOUTS[name]]
    return [layout for layout in chosen if isinstance(layout, Table)]
