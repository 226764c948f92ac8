"""What every table comes down to: item occurrences, each with its transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anonset.data.errors import counted
from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions
from anonset.io.formats.cells import Coded
from anonset.io.formats.lines import Parsed, appearance, canonical


@dataclass(frozen=True)
class Occurrences:
    """One entry per item in a transaction, in any order.

    `marked`, `degrees` and `counts` belong to the entries; `where` says in words in how many places a mark can stand.
    """

    transactions: Ints | Longs
    count: int
    items: Coded
    marked: Mask | None = None
    degrees: Floats | None = None
    where: str = "lines"
    counts: Ints | None = None


def assemble(found: Occurrences, notes: tuple[str, ...], **columns: Any) -> Transactions:
    """The transactions, with their items in order, repeats merged, and marks turned into sensitive items."""
    place, labels = found.items.place()
    if found.marked is not None:
        columns["sensitive"], note = _sensitive(place[found.items.codes], found.marked, len(labels), found.where)
        notes += note
    order, offsets = _by_transaction(found.transactions, found.count)
    codes = found.items.codes if order is None else found.items.codes[order]
    if found.degrees is None and found.counts is None:
        return canonical(Parsed(offsets, codes, labels, notes), place, labels, **columns)
    for name, values in (("sensitivity", found.degrees), ("counts", found.counts)):
        if values is not None:
            columns[name] = values if order is None else values[order]
    columns["appearance"] = appearance(place)
    return Transactions.from_codes(offsets, place[codes], labels, notes=notes, **columns)


def _sensitive(items: Ints, marked: Mask, n_items: int, where: str) -> tuple[Mask, tuple[str, ...]]:
    """Which items are sensitive: those with a mark anywhere; a note where an item also occurs without one."""
    sensitive = np.zeros(n_items, dtype=np.bool_)
    sensitive[items[marked]] = True
    unmarked = np.zeros(n_items, dtype=np.bool_)
    unmarked[items[~marked]] = True
    torn = int((sensitive & unmarked).sum())
    note = f"{counted(torn, 'item')} marked sensitive in some {where} only and taken as sensitive everywhere"
    return sensitive, (note,) if torn else ()


def _by_transaction(codes: Ints | Longs, count: int) -> tuple[Longs | None, Longs]:
    """The order that brings each transaction's entries together (None: they are), and where each one starts."""
    sizes = np.bincount(codes, minlength=count)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if np.all(codes[1:] >= codes[:-1]):
        return None, offsets
    return np.argsort(codes, kind="stable"), offsets
