"""Which column of a table plays which part, by its name or because an option says so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonset.data.errors import InputError, ParameterError, unknown
from anonset.io.source.options import ReadOptions
from anonset.io.source.words import NAMES, last_part, plain

_OPTIONS = {"sensitive": "sensitive_column", "attribute": "item_attribute"}
PART = "transaction "
"""With a number behind it: the role of a further column of the transaction."""
BESIDE = "beside "
"""With its name behind it: the role of a column beside the items."""
ATTRIBUTE = "attribute"
_ROW_NAMES = ("", "__index_level_0__")  # how row names arrive from a spreadsheet or R, and from pandas
OF_ITEMS: dict[str, Any] = dict.fromkeys(("item", "sensitivity", "sensitive_column", "item_attribute", "count"))
"""The options that name columns of single items, all of them off."""
_OWNERS = frozenset(("transaction", "transactionid", "user", "userid"))


@dataclass(frozen=True)
class Roles:
    """The position of the column for each part, None where a table has none.

    `more` are further columns where several make the transaction together, `beside` those beside the items: the name
    and the position of each.
    """

    transaction: int | None = None
    item: int | None = None
    user: int | None = None
    sensitivity: int | None = None
    sensitive: int | None = None
    attribute: int | None = None
    count: int | None = None
    more: tuple[int, ...] = ()
    beside: tuple[tuple[str, int], ...] = ()

    @property
    def places(self) -> dict[str, int]:
        """The parts that columns play, and the positions of these columns."""
        several = ("more", "beside")
        found = {role: place for role, place in vars(self).items() if place is not None and role not in several}
        further = {f"{PART}{number}": place for number, place in enumerate(self.more, 2)}
        return {**found, **further, **{f"{BESIDE}{name}": place for name, place in self.beside}}

    def order(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Each part and the name of the column that plays it, in the order of the table."""
        played = sorted((place, ATTRIBUTE if part.startswith(BESIDE) else part) for part, place in self.places.items())
        return tuple((part, names[place]) for place, part in played)

    def others(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that play no part."""
        return tuple(name for place, name in enumerate(names) if place not in self.places.values())


NO_ROLES = Roles()


def find_roles(names: Sequence[str], options: ReadOptions) -> Roles:
    """The roles that options and names give to columns; an option must name a column that is there.

    Columns that `drop` names play no part. A column of a transaction that is made of several may also say the user.
    """
    dropped = {_position(names, name, "drop") for name in _here(options, columns_in(options.drop, names), names)}
    roles: dict[str, int] = {}
    beside = [_position(names, name, "attribute") for name in _beside(options, names)]
    keys = [_position(names, name, "transaction") for name in columns_in(options.transaction, names)]
    if keys:
        roles["transaction"] = keys[0]
    for role in NAMES:
        given = getattr(options, _OPTIONS.get(role, role))
        if given is not None and role != "transaction":
            roles[role] = _position(names, given, _OPTIONS.get(role, role))
    if both := dropped.intersection([*keys, *roles.values(), *beside]):
        raise ParameterError("drop", "name columns that play no other part", repr(names[min(both)]))
    if both := set(beside).intersection([*keys, *roles.values()]):
        raise ParameterError("attribute", "name columns that play no other part", repr(names[min(both)]))
    plain_names = [plain(last_part(name)) for name in names]
    for role, known in NAMES.items():
        if role in roles or (role == "user" and options.no_user):
            continue
        used = {place for one, place in roles.items() if not (one == "transaction" and role == "user" and keys[1:])}
        used |= (dropped if role == "user" else dropped.union(keys)).union(beside)
        place = next((at for name in known if (at := _first(plain_names, name, used)) is not None), None)
        if place is not None:
            roles[role] = place
    _require_once(names, {*keys, *roles.values(), *beside})
    named = tuple((names[place], place) for place in dict.fromkeys(beside))
    found: dict[str, Any] = {**roles, "more": tuple(keys[1:]), "beside": named}
    return Roles(**found)


def _require_once(names: Sequence[str], used: Collection[int]) -> None:
    """Refuse a column that plays a part and shares its name with another one: either may be meant."""
    for name in (names[place] for place in sorted(used)):
        if list(names).count(name) > 1:
            raise InputError(f"Columns must have different names. '{name}' is there twice. Rename one of them.")


def _first(names: Sequence[str], wanted: str, used: set[int]) -> int | None:
    """The first column of this name; None where there is none, or where it plays a part."""
    place = names.index(wanted) if wanted in names else None
    return None if place in used else place


def _beside(options: ReadOptions, names: Sequence[str]) -> list[str]:
    """The columns beside the items."""
    wanted = [*columns_in(options.attribute, names), *columns_in(options.attribute_sensitive, names)]
    return _here(options, wanted, names)


def _here(options: ReadOptions, wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of the columns to look for in this table: where there is a second one, those that this one has."""
    return [name for name in wanted if options.users is None or _is_there(names, name)]


def _is_there(names: Sequence[str], name: str) -> bool:
    return name in names or sum(plain(one) == plain(name) for one in names) == 1


def columns_in(given: str | None, names: Sequence[str]) -> list[str]:
    """The columns that an option names: one, or several separated by commas.

    Examples
    --------
    >>> columns_in("date, customer", ["date", "customer"]), columns_in("a,b", ["a,b"]), columns_in(None, [])
    (['date', 'customer'], ['a,b'], [])
    """
    if given is None:
        return []
    whole = given in names or (sum(plain(name) == plain(given) for name in names) == 1 and "," not in given)
    return [given] if whole else [name.strip() for name in given.split(",") if name.strip()]


def _position(names: Sequence[str], given: str, option: str) -> int:
    if given in names:
        return list(names).index(given)
    same = [place for place, name in enumerate(names) if plain(name) == plain(given)]
    if len(same) == 1:
        return same[0]
    raise unknown(option, given, names)


def wide_roles(names: Sequence[str], options: ReadOptions, is_flag: Callable[[int], bool]) -> Roles:
    """The columns of a wide table that say whose transaction it is; all others are items.

    A column of 0 and 1 is an item even if it is called `order` or `page`, unless its name leaves no doubt. A column of
    users that is to be ignored is no item all the same.
    """
    roles = find_roles(names, replace(options, **OF_ITEMS, no_user=False))
    if roles.more:
        advice = "Several columns make a transaction in long tables, where each item has a row of its own."
        raise ParameterError("transaction", "name one column of a wide table", repr(options.transaction), advice)
    owners: dict[str, Any] = {"beside": roles.beside}
    for role in ("transaction", "user"):
        place = getattr(roles, role)
        if place is None:
            continue
        if getattr(options, role) is not None or plain(names[place]) in _OWNERS or not is_flag(place):
            owners[role] = place
    for place, name in enumerate(names):
        if name in _ROW_NAMES and "transaction" not in owners:
            owners["transaction"] = place
    return Roles(**owners)
