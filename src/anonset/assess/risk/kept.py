"""How much a release still tells: the share of the original item occurrences that are told at any level.

An occurrence is told if its transaction publishes the item, or a category of it that is not all items. What was added
does not count, nor does what a transaction that is left out held.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.assess.align import published_nodes
from anonset.assess.risk.spec import Case
from anonset.data.arrays import contained
from anonset.data.hierarchy import Hierarchy
from anonset.data.hierarchy.joining import without_quantities_below
from anonset.data.hierarchy.nodes import Levels, holds_categories
from anonset.data.quantities import without_quantities
from anonset.data.transactions import Ints, Longs, Transactions

Pairs = tuple[Longs, Longs | Ints]
_AT_ONCE = 1 << 20
"""Occurrences that are looked up at once."""


def kept_share(case: Case) -> float | None:
    """The share of ordinary item occurrences that are told; None where nobody knows whose transaction is whose."""
    data, published = (without_quantities(side.quasi()) for side in (case.data, case.release.transactions))
    if case.row_origin is None or not data.nnz:
        return None
    tree = None if case.hierarchy is None else without_quantities_below(case.hierarchy)
    before, after, width = _told_items(tree, data, published)
    occurrences = len(before[1])
    told = _keys(case.row_origin[after[0]], after[1], width)
    del after  # millions of occurrences: what was used is not kept
    told.sort()
    keys = _keys(*before, width)
    del before
    parts = range(0, len(keys), _AT_ONCE)
    return sum(int(contained(keys[at : at + _AT_ONCE], told).sum()) for at in parts) / occurrences


def _keys(rows: Longs, codes: Longs | Ints, width: int) -> Longs:
    """A number for each occurrence that has both a row and a code."""
    there = (rows >= 0) & (codes >= 0)
    keys = rows[there]
    keys *= width
    keys += codes[there]
    return keys


def _told_items(tree: Hierarchy | None, data: Transactions, published: Transactions) -> tuple[Pairs, Pairs, int]:
    """What the original and the release tell, as (transaction, code), and how many codes there are."""
    if tree is None:
        return (data.rows, data.items), (published.rows, _codes(published, data.labels)), data.n_items
    if holds_categories(published.labels):
        return _categories(Levels(tree, data.labels), data, published)
    node = published_nodes(tree.nodes_of(data.labels), published.labels, tree)
    told = np.where((node >= 0) & (tree.parent[np.maximum(node, 0)] < 0), -1, node)[data.items].astype(np.int64)
    return (data.rows, told), (published.rows, _codes(published, tree.names)), len(tree.names)


def _categories(levels: Levels, data: Transactions, published: Transactions) -> tuple[Pairs, Pairs, int]:
    """Items as their coarsest category, which every finer one and the item itself tell; without one, as they are."""
    own = levels.above[0] if len(levels.above) else np.full(data.n_items, -1)
    coarsest = np.where(own >= 0, own, len(levels.categories) + np.arange(data.n_items)).astype(np.int64)
    rows, categories = levels.at(published, 1) if levels.count else (published.rows[:0], published.items[:0])
    items = _codes(published, data.labels)
    exact = items >= 0
    after = (
        np.concatenate((rows, published.rows[exact])),
        np.concatenate((categories.astype(np.int64), coarsest[items[exact]])),
    )
    return (data.rows, coarsest[data.items]), after, len(levels.categories) + data.n_items


def _codes(published: Transactions, names: pa.StringArray) -> Ints:
    """Each published occurrence as the place of its name among these; −1 where it is none of them."""
    place = pc.index_in(published.labels, value_set=names).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(place[published.items], dtype=np.int32)
