"""Columns beside the items, once the transactions are read: a second table by user, hierarchies, sensitive values."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import Values, values_of, with_values
from anonset.data.columns import NOTHING, Attribute, Columns
from anonset.data.errors import DataError, ParameterError, counted, setting, unknown
from anonset.data.hierarchy.values import tree_of
from anonset.data.transactions import Transactions
from anonset.io.containers.query import run_query
from anonset.io.formats.cells import coded
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import ATTRIBUTE, columns_in, find_roles
from anonset.io.source.tables import as_table, is_frame
from anonset.io.source.words import plain

_CODES = ("id", "ids", "no", "nr", "num", "number", "nummer", "code", "key", "zip", "plz")
"""How the names of columns end whose numbers only name something."""


def give_columns(data: Transactions, options: ReadOptions) -> Transactions:
    """The data with all columns beside their items, each with its hierarchy, sensitive ones marked."""
    if options.one_per_user and data.columns is not None:
        advice = "Its transactions have a value each: leave the columns out, or bring those of users (users)."
        raise ParameterError("one_per_user", "be left out beside columns of transactions", "both", advice)
    if options.users is not None:
        data = _joined(data, options)
    asked = {"attribute": options.attribute, "attribute_sensitive": options.attribute_sensitive}
    for name, given in (*asked.items(), ("attribute_hierarchy", options.attribute_hierarchy)):
        if given is not None and data.columns is None:
            raise ParameterError(name, "name columns of the table that is read", repr(given), "There are none here.")
    return data if data.columns is None else _with_trees(data, data.columns, options)


def _joined(data: Transactions, options: ReadOptions) -> Transactions:
    """The data with the columns of a second table that says something of users."""
    if data.users is None or data.user_labels is None:
        advice = f"Name the column that holds them: {setting('user')}."
        raise ParameterError("users", "be left out where the data name no users", _shown(options.users), advice)
    table = _table(options.users)
    names = table.column_names
    key = find_roles(names, ReadOptions(user=options.user if options.user in names else None)).user
    if key is None:
        problem = f"It is not clear which column of the table of users names them. The columns are: {', '.join(names)}."
        raise DataError(f"{problem} Call it as in the data.", source=_shown(options.users))
    users = coded(table[names[key]])
    if len(users.labels) < len(users.codes):
        raise DataError("The table of users names a user twice, or none.", source=_shown(options.users))
    place = pc.index_in(data.user_labels, value_set=users.labels.take(pa.array(users.codes)))
    row_of_user = place.fill_null(-1).to_numpy(zero_copy_only=False)
    row = np.where(data.users >= 0, row_of_user[np.maximum(data.users, 0)], -1)
    wanted = _wanted(names, names[key], data, options)
    columns = [_of_users(name, table[name], row) for name in wanted]
    lacking = counted(int((row < 0).sum()), "transaction")
    notes = (f"{lacking} of users that the second table lacks",) if (row < 0).any() else ()
    joined = with_values(data, columns)
    order = (*(data.columns.order if data.columns else ()), *((ATTRIBUTE, name) for name in wanted))
    attributes = () if joined.columns is None else joined.columns.attributes
    return replace(joined, notes=(*joined.notes, *notes), columns=Columns(attributes, order) if attributes else None)


def _table(users: Any) -> pa.Table:
    if is_frame(users):
        return as_table(users)
    if not Path(users).is_file():
        raise DataError("There is no such file. Check the name of the table of users.", source=str(users))
    return run_query("SELECT * FROM data", os.fspath(users))


def _shown(users: Any) -> str:
    return str(users) if isinstance(users, (str, os.PathLike)) else "a data frame"


def _wanted(names: list[str], key: str, data: Transactions, options: ReadOptions) -> list[str]:
    """The columns that are asked for; all, where none of them is."""
    dropped = {plain(name) for name in columns_in(options.drop, names)}
    there = {plain(name) for name in names}
    if missing := dropped - there - {plain(name) for name in data.unread}:
        raise unknown("drop", min(missing), [*names, *data.unread])
    here = () if data.columns is None else data.columns.names
    given = (options.attribute, options.attribute_sensitive)
    asked = {plain(name) for one in given for name in columns_in(one, names)}
    for name in asked - there - {plain(name) for name in here}:
        raise unknown("attribute", name, [*names, *here])
    chosen = (asked & there) - {plain(name) for name in here} or there
    return [name for name in names if name != key and plain(name) in chosen and plain(name) not in dropped]


def _of_users(name: str, column: pa.ChunkedArray, row: Any) -> Values:
    cells = coded(column)
    empty = np.asarray(pc.is_in(cells.labels, value_set=pa.array([NOTHING, ""])), dtype=np.bool_)
    codes = np.where(row >= 0, cells.codes[np.maximum(row, 0)], -1) if len(cells.codes) else np.full(len(row), -1)
    codes = np.where((codes >= 0) & ~np.append(empty, True)[codes], codes, -1)
    used = np.unique(codes[codes >= 0])
    kind = column.type if pa.types.is_integer(column.type) or pa.types.is_temporal(column.type) else None
    place = np.where(codes >= 0, np.searchsorted(used, codes), -1).astype(np.int32)
    return Values(Attribute(name, kind), place, cells.labels.take(pa.array(used)))


def _with_trees(data: Transactions, columns: Columns, options: ReadOptions) -> Transactions:
    """The columns with what is more general than their values; sensitive ones marked."""
    files = _files(options.attribute_hierarchy, columns)
    secret = {plain(name) for name in columns_in(options.attribute_sensitive, columns.names)}
    found, marked = [], np.zeros(data.n_items, dtype=np.bool_)
    place = columns.of_items(data.labels)
    for number, column in enumerate(values_of(data)):
        name = column.attribute.name
        values = column.labels.slice(0, len(column.labels) - 1)
        tree = tree_of(column.attribute, values, files.get(name), codes=_is_code(name))
        sensitive = plain(name) in secret
        found.append(replace(column.attribute, tree=tree, sensitive=sensitive))
        marked[place == number] = sensitive
    if marked.any():
        data = replace(data, sensitive=marked if data.sensitive is None else data.sensitive | marked)
    return replace(data, columns=replace(columns, attributes=tuple(found)))


def _is_code(name: str) -> bool:
    """Whether the numbers of a column are names, as far as its own name tells."""
    return name.lower() in _CODES or name.replace("-", "_").replace(" ", "_").lower().split("_")[-1] in _CODES


def _files(given: Any, columns: Columns) -> dict[str, Any]:
    """The hierarchy of each column that has one: of `store=stores.csv,area=areas.csv`, or a dictionary."""
    if given is None:
        return {}
    pairs = given if isinstance(given, dict) else dict(_pair(part) for part in given.split(",") if part.strip())
    for name in pairs:
        if name not in columns.names:
            raise unknown("attribute_hierarchy", name, columns.names)
    return pairs


def _pair(part: str) -> tuple[str, str]:
    name, found, path = part.partition("=")
    if not found or not path.strip():
        raise ParameterError("attribute_hierarchy", "give columns and files, such as store=stores.csv", repr(part))
    return name.strip(), path.strip()
