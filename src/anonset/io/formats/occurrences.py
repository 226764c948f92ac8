"""What every table comes down to: item occurrences, each with its transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anonset.data.transactions import Floats, Ints, Longs, Mask, Transactions
from anonset.io.formats.cells import Coded
from anonset.io.formats.parsed import Parsed, appearance, canonical
from anonset.io.source.origin import Origin


@dataclass(frozen=True)
class Occurrences:
    """One entry per item in a transaction, in any order.

    `marked`, `degrees` and `counts` belong to the entries.
    """

    transactions: Ints | Longs
    count: int
    items: Coded
    marked: Mask | None = None
    degrees: Floats | None = None
    counts: Ints | None = None


def assemble(found: Occurrences, notes: tuple[str, ...], **columns: Any) -> Transactions:
    """The transactions, with their items in order, repeats merged, and marks turned into sensitive items."""
    place, labels = found.items.place()
    if found.marked is not None:
        columns["sensitive"] = _sensitive(place[found.items.codes], found.marked, len(labels))
    order, offsets = _by_transaction(found.transactions, found.count)
    codes = found.items.codes if order is None else found.items.codes[order]
    if found.degrees is None and found.counts is None:
        return canonical(Parsed(offsets, codes, labels, notes), place, labels, **columns)
    for name, values in (("sensitivity", found.degrees), ("counts", found.counts)):
        if values is not None:
            columns[name] = values if order is None else values[order]
    columns["appearance"] = appearance(place)
    return Transactions.from_codes(offsets, place[codes], labels, notes=notes, **columns)


def _sensitive(items: Ints, marked: Mask, n_items: int) -> Mask:
    """Which items are sensitive: those with a mark."""
    sensitive = np.zeros(n_items, dtype=np.bool_)
    sensitive[items[marked]] = True
    return sensitive


def require_one_mark(items: Ints, marked: Mask, rows: Longs, origin: Origin) -> None:
    """An error with the line where an item is marked sensitive here and not there: nobody could say what is meant."""
    order = np.argsort(rows, kind="stable")
    order = order[items[order] >= 0]
    items, marked, rows = items[order], marked[order], rows[order]
    first = np.zeros(int(items.max(initial=0)) + 1, dtype=np.bool_)
    first[items[::-1]] = marked[::-1]
    torn = np.flatnonzero(first[items] != marked)
    if len(torn):
        problem = "An item that is marked sensitive elsewhere is not marked here, or the other way round."
        raise origin.error(f"{problem} Mark it everywhere or nowhere.", int(rows[torn[0]]))


def _by_transaction(codes: Ints | Longs, count: int) -> tuple[Longs | None, Longs]:
    """The order that brings each transaction's entries together (None: they are), and where each one starts."""
    sizes = np.bincount(codes, minlength=count)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if np.all(codes[1:] >= codes[:-1]):
        return None, offsets
    return np.argsort(codes, kind="stable"), offsets
