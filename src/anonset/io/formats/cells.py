"""The cells of a column as codes, lists, degrees and flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import InputError
from anonset.data.labels import by_first_place
from anonset.data.quantities import quantity_code
from anonset.data.transactions import Floats, Ints, Longs, Mask, as_text, natural_order
from anonset.io.source.origin import Origin

_TRUE = ("1", "true", "t", "yes", "y", "x", "sensitive")
_FALSE = ("0", "false", "f", "no", "n", "", "-")


@dataclass(frozen=True)
class Coded:
    """A column of names: a code per cell (−1 where it is null) and the names, none twice.

    `own_order` says that the source numbered the names itself.
    """

    codes: Ints
    labels: pa.StringArray
    own_order: bool = False

    def place(self) -> tuple[Ints, pa.StringArray]:
        """The final code of each code and the names in that order: the source's own, or the natural one."""
        if self.own_order:
            return np.arange(len(self.labels), dtype=np.int32), self.labels
        order = natural_order(self.labels)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return place, self.labels.take(pa.array(order))

    def by_appearance(self) -> Coded:
        """The same, numbered by first appearance, without names that do not occur."""
        if not self.own_order:
            return self
        place = by_first_place(self.codes, len(self.labels))
        used = int(np.count_nonzero(np.bincount(self.codes, minlength=len(self.labels))))
        return Coded(place[self.codes], self.labels.take(pa.array(np.argsort(place)[:used])))

    def without(self, label: str) -> tuple[Coded, Mask]:
        """The same without one name, and which cells held it; their code is −1."""
        place = pc.index(self.labels, label).as_py()
        held = self.codes == place if place >= 0 else np.zeros(len(self.codes), dtype=np.bool_)
        if place < 0:
            return self, held
        codes = np.where(held, -1, self.codes - (self.codes > place)).astype(np.int32)
        labels = pa.concat_arrays([self.labels.slice(0, place), self.labels.slice(place + 1)])
        return Coded(codes, labels, self.own_order), held


def coded(column: pa.ChunkedArray) -> Coded:
    """Any column as names; whole numbers that arrive as floats are whole numbers."""
    if pa.types.is_dictionary(column.type):
        array = _one(column.unify_dictionaries())
        codes = np.asarray(array.indices.cast(pa.int32()).fill_null(-1))
        return _distinct(codes, as_text(array.dictionary))
    array = _one(pc.dictionary_encode(_encodable(column)))
    return Coded(np.asarray(array.indices.fill_null(-1)), as_text(array.dictionary))


def _encodable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = pc.all(pc.equal(pc.round(column), column)).as_py() is not False
        in_range = pc.all(pc.less(pc.abs(column), 2.0**53)).as_py() is not False
        return column.cast(pa.int64()) if whole and in_range else column
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_nested(kind):
        raise InputError(f"A column of names holds {kind}. Choose a column of texts or numbers.")
    return column


def _distinct(codes: Ints, labels: pa.StringArray) -> Coded:
    """A dictionary of the source, cleared of names that occur twice or are null."""
    unique = pc.dictionary_encode(labels)
    if unique.null_count == 0 and len(unique.dictionary) == len(labels):
        return Coded(codes, labels, own_order=True)
    place = np.append(np.asarray(unique.indices.fill_null(-1)), -1).astype(np.int32)
    return Coded(place[codes], unique.dictionary, own_order=True)


def _one(column: pa.ChunkedArray) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@dataclass(frozen=True)
class Lists:
    """A column of lists: where each list starts, and all values one after the other."""

    offsets: Longs
    values: pa.Array

    @property
    def rows(self) -> Longs:
        """For each value, the row it is in."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def emptied(self) -> Lists:
        """As many lists, all empty."""
        return Lists(np.zeros_like(self.offsets), self.values.slice(0, 0))


def lists(column: pa.ChunkedArray) -> Lists:
    """A column of lists without nulls, in one piece."""
    if not pa.types.is_large_list(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    array = _one(column)
    offsets = np.asarray(array.offsets)
    values = array.values.slice(offsets[0], offsets[-1] - offsets[0]) if len(offsets) else array.values
    return Lists(offsets - offsets[0] if len(offsets) else np.zeros(1, dtype=np.int64), values)


def degrees(column: pa.ChunkedArray, rows: Longs, origin: Origin) -> Floats:
    """Degrees of sensitivity; the row of one that is missing or not between 0 and 1 is in the error."""
    try:
        values = np.asarray(_one(column.cast(pa.float64())).fill_null(np.nan))
    except pa.ArrowInvalid:
        values = np.array([_number(cell) for cell in column.to_pylist()])
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(bad):
        raise origin.error("The degree of sensitivity must be a number between 0 and 1.", int(rows[bad[0]]))
    return values


def whole_numbers(column: pa.ChunkedArray, rows: Longs, origin: Origin) -> Ints:
    """Counts, among them `*` and ranges as a release has them; the row of one that is neither is in the error."""
    try:
        values = np.asarray(_one(column.cast(pa.float64())).fill_null(np.nan))
        bad = np.flatnonzero(~((values >= 0) & (values < 2**31) & (values == np.floor(values))))
    except pa.ArrowInvalid:
        cells = coded(column)
        found = [quantity_code(label) for label in cells.labels.to_pylist()] + [None]
        values = np.array([0 if code is None else code for code in found])[cells.codes]
        bad = np.flatnonzero(np.array([code is None for code in found])[cells.codes])
    if len(bad):
        raise origin.error(
            "The count must be a whole number from 0. Rename the column if it is none.", int(rows[bad[0]])
        )
    return values.astype(np.int32)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def flags(column: pa.ChunkedArray, rows: Longs, origin: Origin) -> Mask:
    """True and false in the words people use; null is false."""
    names = coded(column)
    words = [label.strip().lower().removesuffix(".0") for label in names.labels.to_pylist()]
    known = np.array([word in _TRUE or word in _FALSE for word in words] + [True])
    bad = np.flatnonzero(~known[names.codes])
    if len(bad):
        raise origin.error("The mark of a sensitive item must be true or false.", int(rows[bad[0]]))
    true: npt.NDArray[np.bool_] = np.array([word in _TRUE for word in words] + [False])
    return true[names.codes]
