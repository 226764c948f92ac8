"""Tables with a column of lists: one row per transaction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from anonset.data.account import NULLS, Counted
from anonset.data.errors import DataError, counted, setting
from anonset.data.transactions import Floats, Longs, Mask, Transactions, as_text
from anonset.io.formats.beside import read_beside
from anonset.io.formats.cells import Coded, Lists, coded, degrees, lists
from anonset.io.formats.columns import named, owner_columns
from anonset.io.formats.layout import Table
from anonset.io.formats.occurrences import Occurrences, assemble, require_one_mark
from anonset.io.formats.owners import complete, owners_of
from anonset.io.formats.sample import Sample
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import OF_ITEMS, Roles, columns_in, find_roles
from anonset.io.source.shape import Shape
from anonset.io.source.tables import is_list
from anonset.io.source.words import plain


class ItemLists(Table):
    """A column of lists of items; sensitive items and degrees are lists beside it."""

    name = "lists"
    help = "one line per transaction with the list of its items in one column"
    users = ids = sensitive = degrees = empty_labels = columns = True
    bare_labels = False
    lists = ("item", "sensitive", "sensitivity")

    def sniff(self, sample: Sample) -> Shape | None:
        """A table whose column of items holds JSON lists."""
        place = sample.roles.item
        if not sample.regular or place is None:
            return None
        cells = [row[place].strip() for row in sample.rows if place < len(row)]
        listed = bool(cells) and all(cell.startswith("[") and cell.endswith("]") for cell in cells)
        return self.in_text(sample, header=True) if listed else None

    def fits(self, table: pa.Table, options: ReadOptions) -> bool:
        """Some column holds lists; items that are single ones make a long table."""
        roles = find_roles(table.column_names, options)
        listed = [is_list(kind) for kind in table.schema.types]
        single = roles.item is not None and roles.transaction is not None and not listed[roles.item]
        return any(listed) and not single

    def table_roles(self, table: pa.Table, options: ReadOptions, source: str | None) -> Roles:
        """Items, sensitive items and degrees are lists; ids and users are not."""
        names = table.column_names
        listed = [is_list(kind) for kind in table.schema.types]
        scalars = ["" if is_listed else name for name, is_listed in zip(names, listed, strict=True)]
        lists = [name if is_listed else "" for name, is_listed in zip(names, listed, strict=True)]
        dropped = columns_in(options.drop, names)
        owners = find_roles(scalars, replace(options, **OF_ITEMS, drop=_named(dropped, scalars)))
        of_items = replace(options, transaction=None, user=None, attribute=None, attribute_sensitive=None)
        roles = find_roles(lists, replace(of_items, drop=_named(dropped, lists)))
        item = roles.item
        if item is None:
            others = (roles.sensitive, roles.sensitivity)
            free = [place for place, name in enumerate(lists) if name and place not in others]
            if len(free) != 1:
                shown = ", ".join(names)
                unclear = f"It is not clear which column holds the lists of items. The columns are: {shown}."
                problem = f"{unclear} Name it: {setting('item')}."
                raise DataError(problem, source=source)
            item = free[0]
        found = {name: getattr(owners, name) for name in ("transaction", "user", "more", "beside")}
        return replace(roles, item=item, **found)

    def read(self, table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
        """The items of each row, together with those that a list of sensitive items names."""
        table, rows, notes = complete(table, ("item", "transaction"), options, origin)
        has = table.column_names
        items = lists(table["item"])
        secrets = lists(table["sensitive"]) if "sensitive" in has else items.emptied()
        found, kept = _united(_coded_together(items, secrets), items, secrets)
        if "sensitivity" in has:
            values = _aligned(lists(table["sensitivity"]), items, secrets, kept, rows, origin)
            found = replace(found, degrees=values[kept])
        if "sensitive" not in has:
            found = replace(found, marked=None)
        elif found.marked is not None:
            require_one_mark(found.items.codes, found.marked, rows[found.transactions], origin)
        found, note = _without_nulls(found, rows, options, origin)
        data = assemble(found, notes + note, **owners_of(table))
        return read_beside(data, table, np.arange(len(table)), rows, origin)

    def table(self, data: Transactions) -> pa.Table:
        """One row per transaction. Sensitive items have a list of their own; degrees follow items, then sensitive."""
        columns = owner_columns(data)
        if data.sensitive is None:
            columns["items"] = list_column(data.offsets, named(data.items, data.labels))
        else:
            columns["items"] = _item_lists(data.quasi())
            columns["sensitive"] = _item_lists(data.sensitive_part())
        if data.sensitivity is not None:
            columns["sensitivity"] = list_column(data.offsets, pa.array(_degrees(data)))
        return pa.table(columns)

    def parts(self, data: Transactions) -> tuple[str, ...]:
        """Transactions have a column where they have ids."""
        return ("item",) if data.ids is None else ("transaction", "item")

    def rows(self, data: Transactions) -> Longs:
        """One for each transaction."""
        return np.ones(len(data), dtype=np.int64)


def _named(wanted: list[str], names: list[str]) -> str | None:
    """Those of the wanted columns that are among these, as an option names them."""
    known = {plain(name) for name in names}
    return ",".join(name for name in wanted if plain(name) in known) or None


def _item_lists(data: Transactions) -> pa.Array:
    return list_column(data.offsets, named(data.items, data.labels))


def list_column(offsets: Longs, values: pa.Array) -> pa.Array:
    """A list array; with 32-bit offsets, which every reader knows, where they are enough."""
    if offsets[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _degrees(data: Transactions) -> np.ndarray:
    """The degrees in the order of the lists: those of `items`, then those of `sensitive`."""
    assert data.sensitivity is not None
    if data.sensitive is None:
        return data.sensitivity
    return data.sensitivity[np.lexsort((data.items, data.sensitive[data.items], data.rows))]


def _coded_together(items: Lists, secrets: Lists) -> Coded:
    """One vocabulary for both columns of lists."""
    if items.values.type == secrets.values.type:
        return coded(pa.chunked_array([items.values, secrets.values]))
    return coded(pa.chunked_array([as_text(items.values), as_text(secrets.values)], type=pa.string()))


def _united(names: Coded, items: Lists, secrets: Lists) -> tuple[Occurrences, Mask]:
    """Both lists as one set per transaction: an item in both is one marked item. Also which entries were kept."""
    size = len(items.values)
    rows = np.concatenate((items.rows, secrets.rows))
    keys = rows * (len(names.labels) + 1) + names.codes
    marked, kept = np.ones(len(keys), dtype=np.bool_), np.ones(len(keys), dtype=np.bool_)
    marked[:size] = _among(keys[:size], keys[size:])
    kept[size:] = ~_among(keys[size:], keys[:size])
    members = Coded(names.codes[kept], names.labels, names.own_order)
    count = len(items.offsets) - 1
    return Occurrences(rows[kept], count, members, marked[kept]), kept


def _among(keys: Longs, others: Longs) -> Mask:
    """Which keys are among the others. (np.isin hashes such keys badly: it takes seconds for a million.)"""
    if not len(keys) or not len(others):
        return np.zeros(len(keys), dtype=np.bool_)
    others = np.sort(others)
    place = np.searchsorted(others, keys)
    return np.equal(others[np.minimum(place, len(others) - 1)], keys)


def _aligned(values: Lists, items: Lists, secrets: Lists, kept: Mask, rows: Longs, origin: Origin) -> Floats:
    """The degree of each item, then of each sensitive item: lists of degrees follow `items`, then `sensitive`.

    Where every sensitive item is among the items, degrees for the items are enough.
    """
    sizes, item_sizes, secret_sizes = (np.diff(column.offsets) for column in (values, items, secrets))
    numbers = degrees(pa.chunked_array([values.values]), rows[values.rows], origin)
    if np.array_equal(sizes, item_sizes + secret_sizes):
        of_items = np.arange(len(numbers)) - values.offsets[values.rows] < item_sizes[values.rows]
        return np.concatenate((numbers[of_items], numbers[~of_items]))
    if np.array_equal(sizes, item_sizes) and not kept[len(items.values) :].any():
        return np.concatenate((numbers, np.zeros(len(secrets.values))))
    odd = np.flatnonzero(sizes != item_sizes + secret_sizes)
    raise origin.error("There must be one degree of sensitivity for each item.", int(rows[odd[0]]))


def _without_nulls(
    found: Occurrences, rows: Longs, options: ReadOptions, origin: Origin
) -> tuple[Occurrences, tuple[str, ...]]:
    lost = found.items.codes < 0
    if not lost.any():
        return found, ()
    if not options.skip_nulls:
        problem = "An item of the list is missing. Use skip_nulls (--skip-nulls) to leave such items out."
        raise origin.error(problem, int(rows[found.transactions[lost].min()]))
    kept = ~lost
    found = replace(
        found,
        transactions=found.transactions[kept],
        items=replace(found.items, codes=found.items.codes[kept]),
        marked=None if found.marked is None else found.marked[kept],
        degrees=None if found.degrees is None else found.degrees[kept],
    )
    count = int(lost.sum())
    return found, (Counted(f"{counted(count, 'missing item')} left out", NULLS, count),)
