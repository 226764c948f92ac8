"""What tables share: rows that lack something, and whose transactions they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import NULLS, Counted
from anonset.data.errors import counted
from anonset.data.transactions import Longs, Mask
from anonset.io.formats.cells import Coded, coded
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin


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
    count = int(lost.sum())
    note = Counted(f"{counted(count, f'{unit} {lacking}', f'{unit}s {lacking}')} left out", NULLS, count)
    return table.filter(pa.array(~lost)), rows[~lost], (note,)


def _missing(column: pa.ChunkedArray) -> Mask | None:
    """Which cells are null (or no number, in a column of floats); None where none is."""
    floating = pa.types.is_floating(column.type)
    if not column.null_count and not floating:
        return None
    mask = np.asarray(pc.is_null(column, nan_is_null=floating))
    return mask if mask.any() else None


def known_only(users: Coded) -> Coded:
    """The same users; a name that is nothing but blanks is no name, like a null."""
    named = pc.not_equal(pc.utf8_trim_whitespace(users.labels), "").to_numpy(zero_copy_only=False)
    if named.all():
        return users
    place = np.where(named, np.cumsum(named) - 1, -1).astype(np.int32)
    codes = np.append(place, np.int32(-1))[users.codes]
    return Coded(codes, users.labels.filter(pa.array(named)), users.own_order)


def user_columns(users: Coded) -> dict[str, Any]:
    """The users of transactions, ready for `Transactions`; blank ones are unknown (−1)."""
    users = known_only(users)
    place, labels = users.place()
    return {"users": np.append(place, np.int32(-1))[users.codes], "user_labels": labels}


def owners_of(table: pa.Table) -> dict[str, Any]:
    """Ids and users of a table with one row per transaction."""
    columns: dict[str, Any] = {}
    if "transaction" in table.column_names:
        names = coded(table["transaction"])
        columns["ids"] = names.labels.take(pa.array(names.codes))
    if "user" in table.column_names:
        columns |= user_columns(coded(table["user"]))
    return columns
