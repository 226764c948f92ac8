"""Which columns hold transactions and items, by their content, where names do not tell.

In a long table a transaction's value stands in several rows, mostly one after the other, and no item stands twice
beside it. Of the columns for which that is so, the one with the most values is the likeliest transaction, numbers and
dates before words, and the likeliest item is the column that repeats least beside it, words before numbers. Where no
column is one, but a column names the user and another one the day, the likeliest transaction is a user's day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa

from anonset.data.errors import DataError, setting
from anonset.data.transactions import as_text
from anonset.io.source.roles import Roles
from anonset.io.source.tables import is_list

FEWEST_ROWS = 3  # fewer say nothing
OFTEN_APART = 0.9  # of all rows, from which on a column is one of items that are not repeated in a transaction
MOST_ROWS = 10_000  # of a table, that are looked at
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
DAY = re.compile(r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}([ T,].*)?|(19|20)[0-9]{6}")
Columns = Sequence[Sequence[str]]


class UnclearColumns(DataError):
    """It is not clear which of the `columns` holds what is `missing`.

    `guess` names the likeliest, `sure` says that no other is possible.
    """

    def __init__(
        self,
        problem: str,
        source: str | None,
        guess: Mapping[str, str],
        sure: bool,
        columns: Sequence[str] = (),
        missing: Sequence[str] = (),
    ) -> None:
        super().__init__(problem, source=source)
        self.missing = tuple(missing)
        self.columns = tuple(columns)
        self.guess = dict(guess)
        self.sure = sure


def missing_role(roles: Roles, names: Sequence[str], source: str | None, columns: Columns = ()) -> UnclearColumns:
    """The error for a table where it is not clear which column holds what, with what its content makes likely."""
    missing = [role for role in ("transaction", "item") if getattr(roles, role) is None]
    found = likely(roles, columns)
    guess = {role: names[place] for role, place in found.items()}
    if (day := day_of(roles, columns, found.get("transaction"))) is not None and roles.user is not None:
        both = whole_key(columns, day, roles.user)
        more = likely(replace(roles, transaction=len(columns), more=(day,)), [*columns, both])
        found, guess = {}, {role: names[place] for role, place in more.items()}
        guess = {"transaction": f"{names[day]},{names[roles.user]}", **guess}
    asked = f"Name them: {' and '.join(map(setting, missing))}; or the format if this is no long table."
    if guess:
        shown = " ".join(setting(role, _quoted(name)) for role, name in guess.items())
        asked = f"Most likely: {shown}. Name them so, or otherwise, or give the format if this is no long table."
    problem = f"It is not clear which column holds the {' and which the '.join(missing)}."
    said = f"{problem} The columns are: {', '.join(names)}. {asked}"
    return UnclearColumns(said, source, guess, certain(roles, columns, found), names, missing)


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w.,-]+", name) else f"'{name}'"


def first_rows(table: pa.Table) -> Columns:
    """The columns of a table as texts, as far as they are looked at; nothing where one holds lists."""
    if any(is_list(kind) or pa.types.is_nested(kind) for kind in table.schema.types):
        return ()
    start = table.slice(0, MOST_ROWS)
    return [["" if value is None else value for value in as_text(column).to_pylist()] for column in start.columns]


def by_column(rows: Sequence[Sequence[str]], width: int) -> Columns:
    """The rows of a text table that have all fields, column by column."""
    return list(zip(*(row for row in rows if len(row) == width), strict=True))


def likely(roles: Roles, columns: Columns) -> dict[str, int]:
    """The likeliest columns for those of transaction and item that have none; empty where content says nothing.

    Examples
    --------
    >>> rows = [("1", "Ann", "milk"), ("1", "Ann", "tea"), ("2", "Ann", "tea"), ("2", "Ann", "oil")]
    >>> likely(Roles(), list(zip(*rows)))
    {'transaction': 0, 'item': 2}
    """
    if not columns or len(columns[0]) < FEWEST_ROWS:
        return {}
    free = [place for place in range(len(columns)) if place not in roles.places.values()]
    owners = _owners(free, columns) if roles.transaction is None else [roles.transaction]
    for owner in owners:
        found = [place for place in free if place != owner] if roles.item is None else [roles.item]
        items = sorted(((_apart(columns[owner], columns[place]), place) for place in found), key=_order(columns))
        if items and items[0][0] >= OFTEN_APART:
            both = {"transaction": owner, "item": items[0][1]}
            return {role: place for role, place in both.items() if getattr(roles, role) is None}
    return {}


def day_of(roles: Roles, columns: Columns, instead: int | None = None) -> int | None:
    """The column of days that makes a transaction together with the user's; None where there is none.

    Where another column is the likeliest transaction, that must be one of days itself.

    Examples
    --------
    >>> rows = [("1/2/2024", "7", "tea"), ("1/2/2024", "8", "tea"), ("1/3/2024", "7", "tea"), ("1/3/2024", "7", "oil")]
    >>> day_of(Roles(user=1, item=2), list(zip(*rows)))
    0
    """
    if roles.transaction is not None or roles.user is None or not columns or len(columns[0]) < FEWEST_ROWS:
        return None
    free = [place for place in range(len(columns)) if place not in roles.places.values()]
    for place in free if instead is None else [instead]:
        if all(DAY.fullmatch(value.strip()) for value in columns[place]):
            both = whole_key(columns, place, roles.user)
            items = [other for other in free if other != place] if roles.item is None else [roles.item]
            if len({*both}) < len(both) and any(_apart(both, columns[item]) >= OFTEN_APART for item in items):
                return place
    return None


def whole_key(columns: Columns, *places: int) -> list[str]:
    """Several columns as one."""
    return ["\0".join(values) for values in zip(*(columns[place] for place in places), strict=True)]


def certain(roles: Roles, columns: Columns, found: Mapping[str, int]) -> bool:
    """Whether a name tells one of both, and one column alone comes into question for the other."""
    if len(found) != 1:
        return False
    free = [place for place in range(len(columns)) if place not in roles.places.values()]
    if "transaction" in found:
        return len(_owners(free, columns)) == 1
    owner = columns[roles.transaction or 0]
    words = [place for place in free if not _numbers(columns[place])]
    return [place for place in words if _apart(owner, columns[place]) >= OFTEN_APART] == [found["item"]]


def _owners(places: Sequence[int], columns: Columns) -> list[int]:
    """The columns whose values stand in several rows, one after the other: numbers first, then those of most values."""
    found = []
    for place in places:
        values = columns[place]
        different = len(set(values))
        runs = 1 + sum(one != next_one for one, next_one in pairwise(values))
        if 1 < different < len(values) and runs == different:
            words = not all(any(map(str.isdigit, value)) for value in values)
            found.append((words, -different, place))
    return [place for *_, place in sorted(found)]


def _apart(owner: Sequence[str], values: Sequence[str]) -> float:
    """The share of rows that a value and its owner have for themselves; 0 for a column that says the owner again."""
    pairs = len(set(zip(owner, values, strict=True)))
    return 0.0 if pairs == len(set(owner)) else pairs / len(values)


def _numbers(values: Sequence[str]) -> bool:
    return all(NUMBER.fullmatch(value.strip()) for value in values if value.strip())


def _order(columns: Columns) -> Callable[[tuple[float, int]], tuple[bool, bool, float, int]]:
    def key(found: tuple[float, int]) -> tuple[bool, bool, float, int]:
        share, place = found
        return share < OFTEN_APART, _numbers(columns[place]), -share, place

    return key
