"""How a file is to be read, as far as its name, its first bytes and the options say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anonset.io.source.roles import Roles


@dataclass(frozen=True)
class Cell:
    """A column of a text table that is needed: where it stands, what it will be called, what its cells hold."""

    place: int
    name: str
    kind: Literal["text", "flag", "list"] = "text"


@dataclass(frozen=True)
class Shape:
    """`layout` is None where the columns of a table decide. `columns` counts those of a text table, of which `unread`
    names those that play no part. `skip` lines stand above the header. `part` is the sheet or table of a file
    that holds several. `order` are the part and the name of each column that plays one. `notes` say
    what the reader of the data should know of that."""

    layout: str | None
    container: str
    separator: str = ","
    header: bool = True
    columns: int = 0
    cells: tuple[Cell, ...] = ()
    unread: tuple[str, ...] = ()
    skip: int = 0
    part: str | None = None
    notes: tuple[str, ...] = ()
    order: tuple[tuple[str, str], ...] = ()


def cells_of(roles: Roles, lists: tuple[str, ...] = ()) -> tuple[Cell, ...]:
    """The columns that play a part, called by their roles; those named in `lists` hold lists."""
    return tuple(Cell(place, role, "list" if role in lists else "text") for role, place in roles.places.items())
