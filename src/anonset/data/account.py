"""What readers count while they read: notes with numbers in them, and the rows and columns of a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NULLS, REPEATS, BLANKS, KEPT_APART = "nulls", "repeats", "blanks", "kept_apart_by_blanks"


class Counted(str):
    """A note that also says what was counted, for machines.

    Examples
    --------
    >>> note = Counted("2 missing items were left out", NULLS, 2)
    >>> note, note.count_of
    ('2 missing items were left out', 2)
    """

    kind: str
    count_of: int

    def __new__(cls, text: str, kind: str, count_of: int) -> Counted:
        """The sentence, the kind of thing, and how many there were."""
        note = super().__new__(cls, text)
        note.kind, note.count_of = kind, count_of
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return Counted, (str(self), self.kind, self.count_of)


class PassedOver(str):
    """A note that a part of a file was not read: whatever stands there, no check has seen it."""


@dataclass(frozen=True)
class Arrived:
    """What a source had before it became transactions: rows, and the part and name of each column that plays one.

    Of a table in memory also its layout, the Arrow type of each column, and which ones are a data frame's index.
    """

    rows: int
    columns: tuple[tuple[str, str], ...] = ()

    def roles(self) -> dict[str, list[str]]:
        """The parts of each column: several columns may make the transaction, and one of them may name the user."""
        found: dict[str, list[str]] = {}
        for part, name in self.columns:
            found.setdefault(name, []).append(part.rstrip("0123456789").rstrip())
        return found

    layout: str = ""
    kinds: Mapping[str, Any] = field(default_factory=dict)
    index: tuple[str, ...] = ()

    def called(self, part: str) -> str:
        """What the source calls the column that plays a part; the part's own name where it says nothing."""
        return next((name for role, name in self.columns if role == part), part)


def total(notes: Iterable[str], kind: str) -> int:
    """How many of a kind the notes count."""
    return sum(note.count_of for note in notes if isinstance(note, Counted) and note.kind == kind)
