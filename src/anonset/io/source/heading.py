"""Lines above the header: exports begin with a title, a date, an empty line, and only then with their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anonset.data.account import PassedOver
from anonset.data.errors import counted

MOST_TITLES = 30
"""A header that stands deeper than this is not looked for."""


def title_records(records: Sequence[Sequence[str]], is_header: Callable[[Sequence[str]], bool]) -> int:
    """How many records stand above the header: all of them with fewer filled fields than it and the rows below.

    Precondition   the first records of a table, empty ones included.
    Postcondition  0, or the place of the first record that `is_header` takes for names of columns, that is wider
                   than everything above it, and as wide as the widest row below.

    Examples
    --------
    >>> title_records([["Sales 2024"], [], ["Receipt", "Product"], ["1", "bread"]], lambda names: "Product" in names)
    2
    >>> title_records([["1", "bread"], ["2", "wine"]], lambda names: "Product" in names)
    0
    """
    filled = [sum(bool(field.strip()) for field in record) for record in records]
    for place in range(min(len(records), MOST_TITLES)):
        below = [count for count in filled[place + 1 :] if count]
        wide = filled[place] > max([1, *filled[:place]]) and all(field.strip() for field in _trimmed(records[place]))
        fits = below and below[0] > 1 and max(below) <= filled[place]
        if wide and fits and is_header(records[place]):
            return place
        if filled[place] > 2 and place == 0:
            return 0  # the first line is as wide as a table: nothing stands above it
    return 0


def above_header(lines: int, unit: str = "line") -> PassedOver:
    """What to say of the lines above a header."""
    return PassedOver(f"{counted(lines, f'{unit} above the header', f'{unit}s above the header')} left out")


def _trimmed(record: Sequence[str]) -> list[str]:
    """The record without empty fields at its end."""
    fields = list(record)
    while fields and not fields[-1].strip():
        fields.pop()
    return fields
