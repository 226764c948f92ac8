"""Long tables: one row per item of a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import counted
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.io.formats.cells import Coded, coded, degrees, flags, whole_numbers
from anonset.io.formats.occurrences import Occurrences, assemble, require_one_mark
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin


def read_long(table: pa.Table, options: ReadOptions, origin: Origin) -> Transactions:
    """Transactions by first appearance; an item that is the empty text stands for a transaction without items.

    The columns of `table` are called by their roles.
    """
    table, rows, notes = complete(table, ("transaction", "item", "user", "attribute", "count"), options, origin)
    names = coded(table["transaction"]).by_appearance()
    items, empty = coded(table["item"]).without("")
    notes += _idle_markers(names.codes, empty)
    columns = {"ids": names.labels, **_users(table, names, rows, origin)}
    kept = ~empty
    if empty.any():
        table, rows = table.filter(pa.array(kept)), rows[kept]
    found = Occurrences(
        names.codes[kept],
        len(names.labels),
        Coded(items.codes[kept], items.labels, items.own_order),
        flags(table["sensitive"], rows, origin) if "sensitive" in table.column_names else None,
        degrees(table["sensitivity"], rows, origin) if "sensitivity" in table.column_names else None,
        counts=whole_numbers(table["count"], rows, origin) if "count" in table.column_names else None,
    )
    if found.marked is not None:
        require_one_mark(found.items.codes, found.marked, rows, origin)
    if "attribute" in table.column_names:
        columns["attributes"] = _attributes(table, found.items, rows, origin)
    return assemble(found, notes, **columns)


def complete(
    table: pa.Table, roles: Sequence[str], options: ReadOptions, origin: Origin
) -> tuple[pa.Table, Longs, tuple[str, ...]]:
    """The rows that lack none of these columns; where each one stood; and how many were left out."""
    rows = np.arange(len(table))
    needed = {role: table[role] for role in roles if role in table.column_names}
    missing = {role: mask for role, column in needed.items() if (mask := _missing(column)) is not None}
    if not missing:
        return table, rows, ()
    lost = np.logical_or.reduce(list(missing.values()))
    unit = origin.unit
    if not options.skip_nulls:
        row = int(np.argmax(lost))
        role = next(role for role, mask in missing.items() if mask[row])
        raise origin.error(f"The {unit} has no {role}. Use skip_nulls (--skip-nulls) to leave such {unit}s out.", row)
    lacking = "without " + " or ".join(f"an {role}" if role == "item" else f"a {role}" for role in needed)
    note = f"{counted(int(lost.sum()), f'{unit} {lacking}', f'{unit}s {lacking}')} left out"
    return table.filter(pa.array(~lost)), rows[~lost], (note,)


def _missing(column: pa.ChunkedArray) -> Mask | None:
    """Which cells are null (or no number, in a column of floats); None where none is."""
    floating = pa.types.is_floating(column.type)
    if not column.null_count and not floating:
        return None
    mask = np.asarray(pc.is_null(column, nan_is_null=floating))
    return mask if mask.any() else None


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
    """The user of each transaction: that of its first row; all its other rows must agree."""
    if "user" not in table.column_names:
        return {}
    users = coded(table["user"])
    owner = np.zeros(len(names.labels), dtype=np.int32)
    owner[names.codes[::-1]] = users.codes[::-1]
    strangers = np.flatnonzero(owner[names.codes] != users.codes)
    if len(strangers):
        problem = "This transaction occurs with two different users. Every transaction must belong to one user."
        raise origin.error(problem, int(rows[strangers[0]]))
    return user_columns(Coded(owner, users.labels, users.own_order))


def user_columns(users: Coded) -> dict[str, Any]:
    """The users of transactions, ready for `Transactions`."""
    place, labels = users.place()
    return {"users": place[users.codes], "user_labels": labels}


def owner_columns(table: pa.Table) -> dict[str, Any]:
    """Ids and users of a table with one row per transaction."""
    columns: dict[str, Any] = {}
    if "transaction" in table.column_names:
        names = coded(table["transaction"])
        columns["ids"] = names.labels.take(pa.array(names.codes))
    if "user" in table.column_names:
        columns |= user_columns(coded(table["user"]))
    return columns
