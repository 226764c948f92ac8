"""What a format cannot hold is an error that names one that can, never a silent loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import items_of
from anonset.data.errors import InputError, setting, unknown
from anonset.data.transactions import Transactions
from anonset.io.formats.columns import positions
from anonset.io.formats.registry import LAYOUTS, Format

PARTS = {
    "users": "users",
    "ids": "transaction ids",
    "sensitive": "marks of sensitive items",
    "sensitivity": "sensitivity degrees",
    "counts": "item counts",
    "attributes": "attributes of items",
    "columns": "columns beside the items",
}
"""What can be left out on purpose (`drop`), in words."""


def without(data: Transactions, drop: str | Iterable[str]) -> Transactions:
    """The same transactions without the parts named."""
    names = [name.strip() for name in drop.split(",")] if isinstance(drop, str) else list(drop)
    for name in names:
        if name not in PARTS:
            raise unknown("drop", name, PARTS)
    if "columns" in names:
        data = items_of(data)
    if "users" in names:
        names.append("user_labels")
    nothing: dict[str, Any] = dict.fromkeys(names)
    return replace(data, **nothing)


def used_only(data: Transactions) -> tuple[Transactions, int]:
    """The same transactions with a vocabulary of the items that occur, and how many items do not."""
    used = np.zeros(data.n_items, dtype=np.bool_)
    used[data.items] = True
    if used.all():
        return data, 0
    place = np.cumsum(used, dtype=np.int32) - 1
    kept = pa.array(used)
    small = replace(
        data,
        items=place[data.items],
        labels=data.labels.filter(kept),
        sensitive=None if data.sensitive is None else data.sensitive[used],
        attributes=None if data.attributes is None else data.attributes.filter(kept),
        appearance=None,
    )
    return small, int((~used).sum())


def require_room(data: Transactions, format: Format) -> None:
    """An `InputError` if some part of the data has no place in the format."""
    layout = format.holds
    if data.ids is not None and not layout.ids and data.ids.equals(positions(len(data))):
        data = without(data, "ids")  # nothing is lost: they only say the position
    room = {
        "users": layout.users,
        "ids": layout.ids,
        "sensitive": layout.sensitive,
        "sensitivity": layout.degrees,
        "counts": layout.counts,
        "attributes": layout.attributes,
        "columns": layout.columns,
    }
    for part, fits in room.items():
        if getattr(data, part) is not None and not fits:
            raise _no_room(format, part)
    if pc.count_distinct(data.labels).as_py() != data.n_items:
        raise InputError("Two items have the same label, so a file could not tell them apart. Rename one of them.")
    _require_labels(data.labels, format)
    layout.require(items_of(data))


def require_parts(format: Format, parts: Iterable[str]) -> None:
    """An `InputError` if the format has no place for one of these parts, which a release cannot do without."""
    for part in parts:
        field = "degrees" if part == "sensitivity" else part
        if not getattr(format.holds, field):
            homes = " or ".join(name for name, layout in LAYOUTS.items() if getattr(layout, field))
            raise InputError(
                f"The format {format.name} cannot hold {PARTS[part]}, which this run publishes. "
                f"Use the format {homes} (a name such as release.csv, or {setting('format', homes)})."
            )


def _no_room(format: Format, part: str) -> InputError:
    field = "degrees" if part == "sensitivity" else part
    homes = [name for name, layout in LAYOUTS.items() if getattr(layout, field, False)]
    other = f"Use the format {' or '.join(homes)}, or leave" if homes else "Leave"
    return InputError(f"The format {format.name} cannot hold {PARTS[part]}. {other} them out (drop {part}).")


@dataclass(frozen=True)
class _Rule:
    """Labels that match the pattern do not fit where `unfit` says so; `homes` are formats for them."""

    labels: str
    pattern: str
    unfit: Callable[[Format], bool]
    homes: str


_RULES = (
    _Rule("without a single character", r"^$", lambda format: not format.holds.empty_labels, "lists"),
    _Rule(
        "with line breaks",
        r"[\r\n\v\f\x85\x{2028}\x{2029}]",
        lambda format: not format.holds.line_breaks,
        "basket, long or lists",
    ),
    _Rule(
        "with white space",
        r"[\s\v\x85\p{Z}\x{feff}\x1c-\x1f]",
        lambda format: not format.holds.white_space,
        "basket, spmf, long or lists",
    ),
    _Rule(
        "with a NUL character",
        r"\x00",
        lambda format: not (format.kind.binary and format.holds.nul_labels),
        "lists.parquet or lists.arrow",
    ),
    _Rule(
        "that look like the head of an SPMF file",
        r"^(@CONVERTED_FROM_TEXT|@ITEM=)",
        lambda format: not format.holds.spmf_heads,
        "basket, long or lists",
    ),
)


def _require_labels(labels: pa.StringArray, format: Format) -> None:
    for rule in _RULES:
        count = pc.sum(pc.match_substring_regex(labels, rule.pattern)).as_py() if rule.unfit(format) else 0
        if count:
            items = f"{count:,} item{'' if count == 1 else 's'}"
            raise InputError(
                f"The format {format.name} cannot hold labels {rule.labels} ({items}). Use the format {rule.homes}."
            )
