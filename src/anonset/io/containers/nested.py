"""Objects inside JSON objects as columns called by their paths: `order.id`, `lines[].sku`.

A list of objects becomes a row for each of them (one list at most); an empty list becomes one row with an empty item,
so that its transaction is not lost. Objects are never names themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anonset.data.errors import InputError, setting
from anonset.io.source.options import ReadOptions
from anonset.io.source.words import NAMES, last_part, plain

EACH = "[]"


@dataclass(frozen=True)
class Leaf:
    """A value: the members that lead to it, those of them behind a list of objects, and whether it is a list."""

    outside: tuple[str, ...]
    inside: tuple[str, ...] = ()
    each: bool = False
    is_list: bool = False

    @property
    def path(self) -> str:
        """As people name it."""
        return ".".join(self.outside) + (f"{EACH}.{'.'.join(self.inside)}" if self.each else "")


def leaves(names: Sequence[str], kinds: Sequence[Any]) -> list[Leaf]:
    """All values in objects of these types; a list of lists is none."""
    return [leaf for name, kind in zip(names, kinds, strict=True) for leaf in _below(kind, (name,), None)]


def is_nested(kinds: Sequence[Any]) -> bool:
    """Whether there are objects inside."""
    return any("STRUCT" in str(kind) or "MAP" in str(kind) for kind in kinds)


def _below(kind: Any, outside: tuple[str, ...], inside: tuple[str, ...] | None) -> Iterator[Leaf]:
    if kind.id == "struct":
        for name, child in kind.children:
            yield from _below(child, outside if inside is not None else (*outside, name), _add(inside, name))
    elif kind.id == "list" and inside is None:
        child = kind.children[0][1]
        if child.id == "struct":
            yield from _below(child, outside, ())
        else:
            yield Leaf(outside, is_list=True)
    else:
        yield Leaf(outside, inside or (), inside is not None, kind.id == "list")


def _add(inside: tuple[str, ...] | None, name: str) -> tuple[str, ...] | None:
    return None if inside is None else (*inside, name)


def flattened(database: Any, source: str, found: Sequence[Leaf], options: ReadOptions) -> pa.Table:
    """A table with a column for each value outside of lists of objects, and for those in one of these lists."""
    each = _list_of_items(found, options)
    shown = [leaf for leaf in found if not leaf.each or leaf.outside == each]
    tops = dict.fromkeys(leaf.outside[0] for leaf in found)
    columns = ", ".join(f"{_text(name)}: 'JSON'" for name in tops)
    rows = f'SELECT *, row_number() OVER () AS "\\record" FROM read_json({source}, columns={{{columns}}})'
    if each is not None:
        at = f"json_extract({_name(each[0])}, {_text(_pointer(each[1:]) + '[*]')})"
        rows = f'SELECT *, unnest(CASE WHEN len({at}) > 0 THEN {at} ELSE [NULL] END) AS "\\each" FROM ({rows})'
    cells = [f"{_cell(leaf, options)} AS {_name(leaf.path)}" for leaf in shown]
    if not _names_transactions(shown, options):
        cells.insert(0, '"\\record" AS "transaction"')
    return database.sql(f"SELECT {', '.join(cells)} FROM ({rows})").to_arrow_table()


def _list_of_items(found: Sequence[Leaf], options: ReadOptions) -> tuple[str, ...] | None:
    """The list of objects that holds the items; None where there is none."""
    lists = list(dict.fromkeys(leaf.outside for leaf in found if leaf.each))
    if len(lists) < 2:
        return lists[0] if lists else None
    wanted = str(options.item or "").partition(EACH)[0]
    named = [each for each in lists if ".".join(each) == wanted]
    with_items = {leaf.outside for leaf in found if leaf.each and plain(last_part(leaf.path)) in NAMES["item"]}
    fitting = named or [each for each in lists if each in with_items]
    if len(fitting) == 1:
        return fitting[0]
    shown = ", ".join(leaf.path for leaf in found if leaf.each)
    raise InputError(
        f"Several lists hold objects. Name the item in one of them: {setting('item')}. There are: {shown}."
    )


def _names_transactions(shown: Sequence[Leaf], options: ReadOptions) -> bool:
    names = [plain(part) for leaf in shown for part in (leaf.path, last_part(leaf.path))]
    return options.transaction is not None or any(name in NAMES["transaction"] for name in names)


def _cell(leaf: Leaf, options: ReadOptions) -> str:
    if leaf.each:
        value = f'"\\each" ->> {_text(_pointer(leaf.inside))}'
        is_item = options.item == leaf.path or (options.item is None and plain(last_part(leaf.path)) in NAMES["item"])
        empty = f"len(json_extract({_name(leaf.outside[0])}, {_text(_pointer(leaf.outside[1:]) + '[*]')})) = 0"
        return f"CASE WHEN {empty} THEN '' ELSE {value} END" if is_item else value
    where = f"{_name(leaf.outside[0])}, {_text(_pointer(leaf.outside[1:]))}"
    if leaf.is_list:
        return f"CAST(json_extract({where}) AS VARCHAR[])"
    return f"json_extract_string({where})"


def _pointer(members: Sequence[str]) -> str:
    return "$" + "".join('."' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in members)


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
