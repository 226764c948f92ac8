"""Transactions on their way from a file: codes by first appearance, which become numbered items in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.data.account import REPEATS, Counted
from anonset.data.errors import counted
from anonset.data.transactions import Floats, Ints, Longs, Transactions, natural_order


@dataclass(frozen=True)
class Parsed:
    """The transactions of one file in codes by first appearance, repeats included."""

    offsets: Longs
    codes: Ints
    labels: pa.StringArray
    notes: tuple[str, ...] = ()
    degrees: Floats | None = None


def joined(parts: list[Parsed]) -> Parsed:
    """Several files as one."""
    if len(parts) == 1:
        return parts[0]
    merged = pc.dictionary_encode(pa.concat_arrays([part.labels for part in parts]))
    place = np.asarray(merged.indices)
    codes, offsets, words, items = [], [np.zeros(1, dtype=np.int64)], 0, 0
    for part in parts:
        codes.append(place[words + part.codes])
        offsets.append(part.offsets[1:] + items)
        words, items = words + len(part.labels), items + len(part.codes)
    notes = tuple(note for part in parts for note in part.notes)
    degrees = [part.degrees for part in parts if part.degrees is not None]
    return Parsed(
        np.concatenate(offsets),
        np.concatenate(codes),
        merged.dictionary,
        notes,
        np.concatenate(degrees) if degrees else None,
    )


def in_order(parsed: Parsed) -> Transactions:
    """Items numbered in natural order and ascending inside each transaction, repeats merged."""
    order = natural_order(parsed.labels)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return canonical(parsed, place, parsed.labels.take(pa.array(order)))


def canonical(parsed: Parsed, place: Ints, labels: pa.StringArray, **columns: Any) -> Transactions:
    """Code `c` becomes item `place[c]` of `labels`; repeats are merged and counted in a note."""
    columns["appearance"] = appearance(place)
    if parsed.degrees is not None:
        columns["sensitivity"] = parsed.degrees
        return Transactions.from_codes(parsed.offsets, place[parsed.codes], labels, notes=parsed.notes, **columns)
    offsets, items = _native.sort_rows(_native.Monitor(), parsed.offsets, parsed.codes, place, 0)
    repeated = len(parsed.codes) - len(items)
    note = Counted(f"{counted(repeated, 'repeated item')} merged", REPEATS, repeated)
    notes = (*parsed.notes, note) if repeated else parsed.notes
    return Transactions(offsets, items, labels, notes=notes, repeated=repeated, **columns)


def appearance(place: Ints) -> Ints | None:
    """The first code of each final one, where codes were given by first appearance; None where nothing moved."""
    codes = np.arange(len(place), dtype=np.int32)
    if np.array_equal(place, codes):
        return None
    first = np.empty_like(codes)
    first[place] = codes
    return first
