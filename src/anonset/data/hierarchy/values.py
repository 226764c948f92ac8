"""Hierarchies of the values of a column beside the items.

*dates*    day → the part of its week that lies in its month → month → quarter → year
*numbers*  ranges whose bounds are multiples of 1 or 5 times a power of ten, each inside the next
*codes*    what a file says; without one, nothing but `*`
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.columns import NOTHING, Attribute
from anonset.data.errors import ParameterError
from anonset.data.hierarchy.reading import as_hierarchy
from anonset.data.hierarchy.tree import Hierarchy

_DATES = (
    (r"^\d{4}-\d{2}-\d{2}([T ].*)?$", "%Y-%m-%d"),
    (r"^\d{4}/\d{2}/\d{2}( .*)?$", "%Y/%m/%d"),
    (r"^\d{2}\.\d{2}\.\d{4}( .*)?$", "%d.%m.%Y"),
)
_LENGTH = 10  # of a date without its time
_MONTH = r"^\d{4}-(0[1-9]|1[0-2])$"
_NUMBER = r"^-?\d{1,15}(\.\d+)?$"
MOST_RANGES = 100


def tree_of(attribute: Attribute, values: pa.StringArray, hierarchy: Any = None, *, codes: bool = False) -> Hierarchy:
    """What is more general than each value: what a hierarchy says, else what dates and numbers say by themselves.

    `codes` says that numbers only name something, as those of stores do: no range of them means anything.

    Examples
    --------
    >>> print(tree_of(Attribute("age"), pa.array(["21", "24", "38"])).show())
    age=*  3 items
    ├── age=20..29  2 items
    │   └── age=20..24  2 items
    │       ├── age=21
    │       └── age=24
    └── age=30..39  1 item
        └── age=35..39  1 item
            └── age=38
    """
    levels = _of_file(attribute, values, hierarchy) if hierarchy is not None else _by_themselves(values, codes)
    root = attribute.mark + NOTHING
    marked = [pc.if_else(pc.equal(level, ""), "", _marked(attribute, level)) for level in levels]
    top = pa.array([root] * len(values), pa.string())
    if not len(values):
        return Hierarchy(np.array([-1], dtype=np.int32), pa.array([root]))
    return Hierarchy.from_levels(_marked(attribute, values), [top, *marked], root="")


def _marked(attribute: Attribute, names: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise(attribute.mark, names, "")


def _of_file(attribute: Attribute, values: pa.StringArray, hierarchy: Any) -> list[pa.StringArray]:
    """The levels of a hierarchy that holds every value."""
    tree = as_hierarchy(hierarchy)
    leaf = tree.nodes_of(values)
    if (leaf < 0).any():
        missing = values.filter(pa.array(leaf < 0))
        raise ParameterError(
            "attribute_hierarchy",
            f"hold every value of the column '{attribute.name}'",
            f"one that lacks {len(missing):,}",
            "Add them.",
        )
    table = tree.to_table()
    place = pc.index_in(values, value_set=tree.items)
    return [table[name].combine_chunks().take(place) for name in table.column_names[1:]]


def _by_themselves(values: pa.StringArray, codes: bool) -> list[pa.StringArray]:
    for pattern, form in _DATES:
        if len(values) and pc.all(pc.match_substring_regex(values, pattern)).as_py():
            days = pc.strptime(pc.utf8_slice_codeunits(values, 0, _LENGTH), form, "s", error_is_null=True)
            return [] if days.null_count else _calendar(days, timed=pc.max(pc.utf8_length(values)).as_py() > _LENGTH)
    if len(values) and pc.all(pc.match_substring_regex(values, _MONTH)).as_py():
        return _calendar(pc.strptime(pc.binary_join_element_wise(values, "-01", ""), "%Y-%m-%d", "s"), False)[:2]
    if not codes and len(values) and pc.all(pc.match_substring_regex(values, _NUMBER)).as_py():
        return _ranges(pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False), values)
    return []


def _calendar(days: pa.TimestampArray, timed: bool) -> list[pa.StringArray]:
    """Year, quarter, month, the part of a week in its month, and the day of values that say a time."""
    year = pc.strftime(days, "%Y")
    month = pc.strftime(days, "%Y-%m")
    quarter = pc.binary_join_element_wise(year, "-Q", pc.cast(pc.quarter(days), pa.string()), "")
    number = pc.utf8_lpad(pc.cast(pc.iso_week(days), pa.string()), 2, "0")
    week = pc.binary_join_element_wise(month, "-W", number, "")
    return [year, quarter, month, week, *([pc.strftime(days, "%Y-%m-%d")] if timed else [])]


def _ranges(numbers: np.ndarray, values: pa.StringArray) -> list[pa.StringArray]:
    """Ever narrower ranges, none wider than all numbers together, and not more than a hundred of them."""
    spread = float(numbers.max() - numbers.min())
    whole = bool((numbers == np.floor(numbers)).all())
    widths = [step * 10.0**power for power in range(14, -7, -1) for step in (5, 1)]
    fitting = [width for width in widths if spread / MOST_RANGES <= width <= spread]
    return [_range(numbers, width, whole) for width in fitting if width > 1 or not whole]


def _range(numbers: np.ndarray, width: float, whole: bool) -> pa.StringArray:
    """`20..29` for whole numbers, `20 to <30` for others."""
    place = np.floor(numbers / width).astype(np.int64)
    if whole:
        step = round(width)
        return pa.array([f"{cell * step}..{cell * step + step - 1}" for cell in place.tolist()], pa.string())
    return pa.array([f"{cell * width:.10g} to <{(cell + 1) * width:.10g}" for cell in place.tolist()], pa.string())
