"""Every column of a table with the part it plays, and why: what `anonset info` shows before anything is published."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.boundary import UNREADABLE
from anonset.data.errors import AnonsetError
from anonset.io.containers.query import run_query
from anonset.io.formats.cells import coded
from anonset.io.source.columns import whole_transaction
from anonset.io.source.guessing import first_rows, likely
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import BESIDE, Roles, columns_in, find_roles
from anonset.io.source.tables import as_table, is_frame, is_list
from anonset.io.source.words import NAMES, plain

MOST_ROWS = 200_000  # that are looked at
MOST_COLUMNS = 200
LEFT = "left aside"
COUNTED = ("quantity", "qty", "menge", "anzahl", "stueck", "quantite", "cantidad", "quantita", "quantidade", "aantal")
"""How columns are called that say how often an item occurs; nobody takes them for that unless asked."""


@dataclass(frozen=True)
class Column:
    """A column of the source: its part, how many values it has in the rows that were looked at, and why."""

    name: str
    role: str
    distinct: int
    why: str


def describe(source: Any, **options: Any) -> tuple[Column, ...]:
    """The columns of a table of transactions; none where the source is no such table, or too wide for one.

    Examples
    --------
    >>> items = {"receipt": [1, 1, 2], "product": ["a", "b", "a"]}
    >>> table = pa.table({**items, "store": ["x", "x", "y"], "price": [1, 2, 3]})
    >>> for column in describe(table):
    ...     print(column.name, "|", column.role, "|", column.why)
    receipt | transaction | by its name
    product | item | by its name
    store | left aside | one value in each transaction: attribute=store would publish it
    price | left aside | varies inside a transaction, so it says nothing of the whole
    """
    known = {name: value for name, value in options.items() if name in ReadOptions.__dataclass_fields__}
    for name in ("transaction", "drop", "attribute", "attribute_sensitive"):
        if known.get(name) is not None and not isinstance(known[name], str):
            known[name] = ",".join(known[name])
    asked = replace(ReadOptions(), **known)
    try:
        table = _table(source, asked)
        if table is None or not 1 < table.num_columns <= MOST_COLUMNS:
            return ()
        roles = find_roles(table.column_names, asked)
    except (AnonsetError, OSError, *UNREADABLE):
        return ()
    named = dict(roles.places)
    if not any(map(is_list, table.schema.types)):
        found: dict[str, Any] = dict(likely(roles, first_rows(table)))
        roles = replace(roles, **found)
    if roles.item is None or (roles.transaction is None and not is_list(table.schema.types[roles.item])):
        return ()
    return tuple(_described(table, roles, named, asked))


def _table(source: Any, options: ReadOptions) -> pa.Table | None:
    """The first rows of a table; None for what is none."""
    if is_frame(source):
        return as_table(source).slice(0, MOST_ROWS)
    if options.query is not None or not isinstance(source, (str, os.PathLike)) or str(source) == "-":
        return None
    return run_query(f"SELECT * FROM data LIMIT {MOST_ROWS}", os.fspath(source))


def _described(table: pa.Table, roles: Roles, named: Mapping[str, int], options: ReadOptions) -> list[Column]:
    whole = _transactions(table, roles)
    parts: dict[int, list[str]] = {}
    for role, place in roles.places.items():
        parts.setdefault(place, []).append("attribute" if role.startswith(BESIDE) else role.split(" ")[0])
    dropped = {plain(name) for name in columns_in(options.drop, table.column_names)}
    dropped |= set(NAMES["user"]) if options.no_user else set()
    given = _given(options, table.column_names)
    found = []
    for place, name in enumerate(table.column_names):
        nested = is_list(table.schema.types[place])
        cells = None if nested else coded(table.column(place))
        distinct = 0 if cells is None else len(np.unique(cells.codes[cells.codes >= 0]))
        if place in parts:
            why = "as asked" if plain(name) in given else "by its name" if place in named.values() else "by its content"
            found.append(Column(name, ", ".join(dict.fromkeys(parts[place])), distinct, why))
        elif plain(name) in dropped:
            found.append(Column(name, "drop", distinct, "as asked"))
        else:
            found.append(Column(name, LEFT, distinct, _why_left(name, None if cells is None else cells.codes, whole)))
    return found


def _transactions(table: pa.Table, roles: Roles) -> Any:
    """The transaction of each row; None where every row is one."""
    if roles.transaction is None:
        return None
    places = {role: place for role, place in roles.places.items() if role.startswith("transaction")}
    keys = table.select(list(places.values())).rename_columns(list(places))
    return coded(whole_transaction(keys)["transaction"]).codes


def _why_left(name: str, codes: Any, whole: Any) -> str:
    if codes is None:
        return "a list that is neither items nor sensitive ones"
    if whole is None or _constant(codes, whole):
        return f"one value in each transaction: attribute={name} would publish it"
    if plain(name) in COUNTED:
        return f"varies inside a transaction: count={name} would publish it with its items"
    return "varies inside a transaction, so it says nothing of the whole"


def _constant(codes: Any, whole: Any) -> bool:
    first = np.full(int(whole.max(initial=-1)) + 1, -1, dtype=np.int64)
    known = whole >= 0
    first[whole[known][::-1]] = codes[known][::-1]
    return bool((first[whole[known]] == codes[known]).all())


def _given(options: ReadOptions, names: list[str]) -> set[str]:
    several = (options.transaction, options.attribute, options.attribute_sensitive)
    single = (options.item, options.user, options.count, options.sensitivity, options.sensitive_column)
    listed = [name for given in several for name in columns_in(given, names)]
    return {plain(name) for name in (*listed, *filter(None, single), *filter(None, (options.item_attribute,)))}
