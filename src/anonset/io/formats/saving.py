"""`save`: plain transactions in any format. Nothing is checked here but that nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.columns import Columns
from anonset.data.transactions import Transactions
from anonset.io.containers.quoting import guarded
from anonset.io.containers.streams import compressed
from anonset.io.formats.capacity import require_room, used_only, without
from anonset.io.formats.layout import Lines, Table
from anonset.io.formats.registry import Format, format_of


def save(
    transactions: Transactions,
    target: str | os.PathLike[str] | BinaryIO,
    format: Format | str | None = None,
    *,
    drop: str | Iterable[str] = (),
    keep_formulas: bool = False,
) -> tuple[str, ...]:
    """Write transactions as they are; returns what a reader of the file should know, in words.

    Parameters
    ----------
    transactions
        What to write. A part that the format cannot hold is an error.
    target
        A path, or a file opened for writing bytes (then `format` must be given).
    format
        `fimi`, `long.csv`, …; the default is what the name says.
    drop
        Parts to leave out on purpose: `users`, `ids`, `sensitive`, `sensitivity`, `counts`.
    keep_formulas
        Write labels that a spreadsheet would run as a formula as they are, not with an apostrophe before them.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> save(Transactions.from_lists([["wine", "bread"], []]), file, "long.csv")
    ()
    >>> print(file.getvalue().decode())
    transaction,item
    1,bread
    1,wine
    2,""
    <BLANKLINE>
    """
    opened = not isinstance(target, (str, os.PathLike))
    chosen = format if isinstance(format, Format) else format_of(None if opened else cast(str, target), format)
    data, notes = prepared(transactions, chosen, drop=drop, keep_formulas=keep_formulas)
    if opened:
        write_to(cast(BinaryIO, target), data, chosen)
    else:
        with Path(cast(str, target)).open("wb") as file:
            write_to(file, data, chosen)
    return notes


def prepared(
    data: Transactions, format: Format, *, drop: str | Iterable[str] = (), keep_formulas: bool = False
) -> tuple[Transactions, tuple[str, ...]]:
    """The transactions exactly as the format will hold them, and what changed on the way, in words."""
    notes: tuple[str, ...] = ()
    data = without(data, drop)
    if not format.holds.unused_items:
        data, unused = used_only(data)
        if unused:
            notes += (f"{_count(unused, 'item')} of the vocabulary without an occurrence left out.",)
    require_room(data, format)
    if not format.holds.ids:
        data = without(data, "ids")
    if format.holds.spreadsheet or format.kind.spreadsheet:
        data, count = (data, 0) if keep_formulas else _guard(data, labels=format.holds.bare_labels)
        if count:
            notes += (f"{_count(count, 'name')} that a spreadsheet would run as a formula got an apostrophe in front.",)
    return data, notes


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_to(file: BinaryIO, data: Transactions, format: Format) -> None:
    """Write prepared transactions into an open file."""
    layout = format.holds
    with compressed(file, format.compression) as stream:
        if isinstance(layout, Lines):
            layout.write(stream, data)
        elif isinstance(layout, Table):
            layout.write(stream, data, format.kind)


def _guard(data: Transactions, labels: bool) -> tuple[Transactions, int]:
    """The data with names that a spreadsheet would not run, and how many were changed.

    A list of labels in one cell starts with a bracket and is never run.
    """
    changes: dict[str, pa.Array] = {}
    total = 0
    for name in ("labels", "user_labels", "ids"):
        if getattr(data, name) is not None and (labels or name != "labels"):
            changes[name], count = _guarded(getattr(data, name), data.columns if name == "labels" else None)
            total += count
    return replace(data, **changes), total


def _guarded(names: pa.StringArray, columns: Columns | None) -> tuple[pa.StringArray, int]:
    """Names that a spreadsheet would not run, and how many were changed; of a column the values."""
    if columns is None:
        return guarded(names)
    place, total = columns.of_items(names), 0
    for number in range(-1, len(columns.attributes)):
        mark = "" if number < 0 else columns.attributes[number].mark
        mine = pa.array(place == number)
        safe, count = guarded(pc.utf8_slice_codeunits(names.filter(mine), start=len(mark)))
        names = pc.replace_with_mask(names, mine, pc.binary_join_element_wise(mark, safe, ""))
        total += count
    return names, total
