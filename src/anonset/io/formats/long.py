"""Long tables: one row per item of a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.errors import counted
from anonset.data.quantities import quantity_texts
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.io.formats.beside import read_beside
from anonset.io.formats.cells import Coded, coded, degrees, flags, whole_numbers
from anonset.io.formats.columns import named, transaction_names, user_names
from anonset.io.formats.layout import Table
from anonset.io.formats.occurrences import Occurrences, assemble, require_one_mark
from anonset.io.formats.owners import complete, known_only, user_columns
from anonset.io.formats.sample import NUMBER, Sample
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin
from anonset.io.source.roles import Roles, find_roles
from anonset.io.source.shape import Shape
from anonset.io.source.tables import is_list


class Long(Table):
    """A column of transactions and one of items; others may say more about either."""

    name = "long"
    help = "one line per item: transaction, item, perhaps user, attribute, count, sensitive, sensitivity"
    containers = (*Table.containers, "xlsx")
    users = ids = sensitive = degrees = counts = attributes = columns = True

    def sniff(self, sample: Sample) -> Shape | None:
        """A table whose names say which column holds transactions and which items."""
        return self.in_text(sample, header=True) if sample.regular and self.is_complete(sample.roles) else None

    def has_header(self, sample: Sample) -> bool:
        """Columns need no names: the first record is a header unless it looks like any other."""
        if sample.options.header is not None:
            return sample.options.header
        numbers = [any(NUMBER.fullmatch(field.strip()) for field in record) for record in sample.records[:2]]
        return sample.is_named or numbers == [False, True]

    def roles(self, names: Sequence[str], sample: Sample, header: bool) -> Roles:
        """Without names, the first of two columns holds transactions and the second items."""
        roles = super().roles(names, sample, header)
        return Roles(transaction=0, item=1) if not header and len(names) == 2 and not roles.places else roles

    def is_complete(self, roles: Roles) -> bool:
        """Both columns are needed."""
        return roles.item is not None and roles.transaction is not None

    def needed(self, names: Sequence[str], options: ReadOptions) -> list[int] | None:
        """Columns that play no part are not read."""
        roles = find_roles(names, options)
        return sorted(set(roles.places.values())) if self.is_complete(roles) else None

    def fits(self, table: pa.Table, options: ReadOptions) -> bool:
        """Both columns are there, and that of items holds single ones."""
        roles = find_roles(table.column_names, options)
        return self.is_complete(roles) and not is_list(table.schema.types[roles.item or 0])

    def read(self, table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
        """Transactions by first appearance; an item that is the empty text stands for a transaction without items."""
        table, rows, notes = complete(table, ("transaction", "item", "attribute", "count"), options, origin)
        names = coded(table["transaction"]).by_appearance()
        items, empty = coded(table["item"]).without("")
        notes += _idle_markers(names.codes, empty)
        columns = {"ids": names.labels, **_users(table, names, rows, origin)}
        whole, whole_rows, transactions = table, rows, names.codes
        if empty.any():
            kept = ~empty
            table, rows, transactions = table.filter(pa.array(kept)), rows[kept], transactions[kept]
            items = Coded(items.codes[kept], items.labels, items.own_order)
        found = Occurrences(
            transactions,
            len(names.labels),
            items,
            flags(table["sensitive"], rows, origin) if "sensitive" in table.column_names else None,
            degrees(table["sensitivity"], rows, origin) if "sensitivity" in table.column_names else None,
            counts=whole_numbers(table["count"], rows, origin) if "count" in table.column_names else None,
        )
        if found.marked is not None:
            require_one_mark(found.items.codes, found.marked, rows, origin)
        if "attribute" in table.column_names:
            columns["attributes"] = _attributes(table, found.items, rows, origin)
        return read_beside(assemble(found, notes, **columns), whole, names.codes, whole_rows, origin)

    def table(self, data: Transactions) -> pa.Table:
        """One row per item of a transaction; a transaction without items has one row with the item `""`."""
        shown = np.maximum(data.lengths, 1)
        rows = np.repeat(np.arange(len(data), dtype=np.int32), shown)
        filled = np.repeat(data.lengths > 0, shown)
        codes = np.full(len(rows), data.n_items, dtype=np.int32)
        codes[filled] = data.items
        columns = {"transaction": named(rows, transaction_names(data))}
        if data.users is not None:
            columns["user"] = user_names(data, rows)
        columns["item"] = named(codes, pa.concat_arrays([data.labels, pa.array([""], pa.string())]))
        if data.attributes is not None:
            columns["attribute"] = named(codes, pa.concat_arrays([data.attributes, pa.array([""], pa.string())]))
        if data.counts is not None:
            counts = np.zeros(len(rows), dtype=np.int32)
            counts[filled] = data.counts
            columns["count"] = _counts(counts)
        if data.sensitive is not None:
            columns["sensitive"] = pa.array(np.append(data.sensitive, False)[codes])
        if data.sensitivity is not None:
            degrees = np.zeros(len(rows))
            degrees[filled] = data.sensitivity
            columns["sensitivity"] = pa.array(degrees, mask=~filled)
        return pa.table(columns)

    def parts(self, data: Transactions) -> tuple[str, ...]:
        """Both, and that of counts."""
        return ("transaction", "item") if data.counts is None else ("transaction", "item", "count")

    def rows(self, data: Transactions) -> Longs:
        """One for each item, and at least one."""
        return np.maximum(data.lengths, 1)


def _counts(counts: Ints) -> pa.Array:
    """Counts as numbers, or as texts where some are ranges or `*`."""
    if not (counts < 0).any():
        return pa.array(counts)
    codes, place = np.unique(counts, return_inverse=True)
    return named(place.reshape(-1).astype(np.int32), pa.array(quantity_texts(codes), pa.string()))


def _idle_markers(transactions: Ints, empty: Mask) -> tuple[str, ...]:
    """A note about empty items in transactions that have others."""
    if not empty.any():
        return ()
    filled = np.zeros(transactions.max() + 1, dtype=np.bool_)
    filled[transactions[~empty]] = True
    idle = int(filled[transactions[empty]].sum())
    note = f"{counted(idle, 'empty item beside others', 'empty items beside others')} ignored"
    return (note,) if idle else ()


def _attributes(table: pa.Table, items: Coded, rows: Longs, origin: Origin) -> pa.StringArray:
    """The attribute of each item, in the order in which items will be numbered; all its rows must agree."""
    names = coded(table["attribute"])
    of_item = np.zeros(len(items.labels), dtype=np.int32)
    of_item[items.codes[::-1]] = names.codes[::-1]
    torn = np.flatnonzero(of_item[items.codes] != names.codes)
    if len(torn):
        problem = "This item occurs with two different attributes. Every item must belong to one attribute."
        raise origin.error(problem, int(rows[torn[0]]))
    place, _ = items.place()
    final = np.empty_like(of_item)
    final[place] = of_item
    return names.labels.take(pa.array(final))


def _users(table: pa.Table, names: Coded, rows: Longs, origin: Origin) -> dict[str, Any]:
    """The user of each transaction: that of its first row that names one; all others that name one must agree."""
    if "user" not in table.column_names:
        return {}
    users = known_only(coded(table["user"]))
    said = users.codes >= 0
    owner = np.full(len(names.labels), -1, dtype=np.int32)
    owner[names.codes[said][::-1]] = users.codes[said][::-1]
    strangers = np.flatnonzero((owner[names.codes] != users.codes) & said)
    if len(strangers):
        problem = "This transaction occurs with two different users. Every transaction must belong to one user."
        raise origin.error(problem, int(rows[strangers[0]]))
    return user_columns(Coded(owner, users.labels, users.own_order))
