"""The arrays that data are made of, and what holds of rows of items whatever they mean."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anonset.data.errors import InputError

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
MAX_ITEMS = 2**31 - 1


Whole = TypeVar("Whole", bound=npt.NDArray[Any])


def distinct(keys: Whole) -> Whole:
    """The different keys, ascending. By sorting: by hashing, as NumPy 2.4 does it, two million take 60 times as long.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(keys, kind="stable")  # fast where the keys come in ascending runs, as those of rows do
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return cast("Whole", ordered[first])


def contained(keys: Longs, ordered: Longs) -> Mask:
    """Which of the keys are among the others, which are ascending.

    Examples
    --------
    >>> contained(np.array([3, 2]), np.array([1, 3])).tolist()
    [True, False]
    """
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.bool_)
    return np.asarray(ordered[np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)] == keys)


def merged(values: npt.NDArray[Any], first: Mask, name: str) -> npt.NDArray[Any]:
    """Repeated occurrences become one: the highest degree stays, counts add up (to −1, any, if one is unclear)."""
    if not len(values):
        return values
    starts = np.flatnonzero(first)
    if name == "counts":
        total = np.add.reduceat(np.maximum(values, 0).astype(np.int64), starts)
        unclear = np.add.reduceat((values < 0).astype(np.int64), starts) > 0
        alone = np.diff(np.append(starts, len(values))) == 1
        return np.where(unclear, np.where(alone, values[starts], -1), total)
    return np.maximum.reduceat(values, starts)


def exact(values: npt.ArrayLike, dtype: npt.DTypeLike, name: str) -> npt.NDArray[Any]:
    """The values in this type; whole numbers that it cannot hold are an error, since they would become others."""
    array = np.asarray(values)
    if array.dtype == dtype:
        return array
    wanted = np.dtype(dtype)
    if wanted.kind == "i" and array.dtype.kind in "iuO" and array.size:
        limits = np.iinfo(wanted)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise InputError(f"'{name}' must be whole numbers from {limits.min:,} to {limits.max:,}. Got others.")
    return array.astype(wanted)


def ascending(offsets: Longs, items: Ints) -> bool:
    """Whether the items of every row are strictly ascending."""
    if len(items) < 2:
        return True
    rising = items[1:] > items[:-1]
    starts = offsets[1:-1]
    rising[starts[(starts > 0) & (starts < len(items))] - 1] = True
    return bool(rising.all())
