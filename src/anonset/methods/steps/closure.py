"""Categories where items cannot be kept: a hierarchy is ancestors in the set.

Precondition   transactions, a hierarchy of their quasi-identifier items, and a weight for items and for each level.
Steps          close every transaction under the categories of its items, everything as often as its weight says ·
               let a method for sets form groups and their centers · publish of each center the most specific nodes.
Postcondition  a category is held by every transaction that holds one of its items, so wherever most members of a group
               hold an item, most hold its categories: a majority center is closed as well, and its most specific nodes
               say the same as all of it. Members of a group have equal centers, so they publish equal sets: the
               promise of the method holds for what is published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.arrays import contained, distinct
from anonset.data.attributes import bare_items
from anonset.data.columns import of_items
from anonset.data.errors import ParameterError, unknown
from anonset.data.hierarchy.joining import whole_tree
from anonset.data.hierarchy.nodes import Levels
from anonset.data.hierarchy.reading import as_hierarchy
from anonset.data.job import Job
from anonset.data.quantities import has_quantities
from anonset.data.release import Draft, Release
from anonset.data.spec import Param
from anonset.data.transactions import Ints, Longs, Mask, Transactions

ITEM, QUANTITY = "item", "quantity"
USUAL = "item=3,level1=1"

HIERARCHY = Param(
    "hierarchy",
    "hierarchy",
    "Categories of items, to be published where an item cannot be: a file or table (item, level1, level2, …).",
)
LEVELS = Param(
    "levels",
    "text",
    f"How much items and each level of categories count, such as {USUAL}; what is not named counts nothing, but for "
    "columns beside the items (store=2) and quantities (quantity=2), which count 1. Default with a hierarchy: that. "
    "More for items keeps more of them, more for a level more of its categories.",
)
ADD = Param(
    "add",
    "choice",
    "majority: publish what more than half of a group hold; most: what two thirds hold, so less is added; none: only "
    "what every member holds, so nothing is added.",
    default="majority",
    choices=("majority", "most", "none"),
    example="majority",
)
LEAST = {"most": (2, 3), "none": (1, 1)}
"""The share of a group, as a fraction, that must hold what is published; without one the centers stay as they are."""
CATEGORIES = (HIERARCHY, LEVELS, ADD)


def with_categories(run: Callable[..., Draft]) -> Callable[..., Draft]:
    """The method, which takes a hierarchy now; without one nothing changes."""

    @wraps(run)
    def closed(
        data: Transactions,
        job: Job,
        *,
        hierarchy: Any = None,
        levels: str | None = None,
        add: str = "majority",
        **more: Any,
    ) -> Draft:
        if hierarchy is None and data.columns is None and not has_quantities(data):
            if levels is not None:
                raise ParameterError("levels", "come with a hierarchy", "none", "Give the hierarchy, too.")
            return _held_by(run(data, job, **more), data, add)
        closure = Closure.of(data, hierarchy, levels)
        return closure.opened(_held_by(run(closure.closed, job, **more), closure.closed, add))

    return closed


def weights(levels: str | None, count: int, columns: Sequence[str] = ()) -> dict[str, int]:
    """How often items, the categories of each level, and the values of columns and quantities are entered.

    Examples
    --------
    >>> weights("item=3,level2=1", 2), weights(None, 2)
    ({'item': 3, 'level2': 1}, {'item': 3, 'level1': 1})
    >>> weights("item=2,date=3", 0, ["store", "date"])
    {'store': 1, 'date': 3, 'item': 2}
    """
    known = (ITEM, *(f"level{level}" for level in range(1, count + 1)), *columns)
    found: dict[str, int] = dict.fromkeys(columns, 1)
    for part in (levels or (USUAL if count else ITEM)).split(","):
        name, _, text = part.strip().partition("=")
        if name not in known:
            raise unknown("levels", name, known)
        if not (text or "1").isdigit() or not 0 <= int(text or 1) <= 9:
            raise ParameterError("levels", "give weights from 0 to 9", part.strip(), f"Try {USUAL}.")
        found[name] = int(text or 1)
    if not found.get(ITEM):
        raise ParameterError("levels", "give items a weight of at least 1", levels, f"Try {USUAL}.")
    return {name: weight for name, weight in found.items() if weight}


@dataclass(frozen=True, eq=False)
class Closure:
    """Transactions closed under categories. Code `start[v] + c` is copy c of node v: first items, then categories."""

    data: Transactions
    levels: Levels
    weight: Longs  # of each node: how many copies
    start: Longs
    closed: Transactions
    notes: tuple[str, ...]
    of_items: Levels | None  # without the columns beside the items; None where items have no hierarchy

    @classmethod
    def of(cls, data: Transactions, hierarchy: Any, wanted: str | None) -> Closure:
        """Close these transactions."""
        tree = None if hierarchy is None else as_hierarchy(hierarchy)
        levels = Levels(whole_tree(tree, data, complete=True), data.labels, data.columns)
        levels.require_free_names()
        names = () if data.columns is None else data.columns.names
        names = (*names, QUANTITY) if has_quantities(data) else names
        counted = weights(wanted, 0 if tree is None else max(tree.height - 1, 0), names)
        weight = _node_weights(data, levels, counted)
        start = np.concatenate(([0], np.cumsum(weight)))[:-1]
        bare = bare_items(data)
        known = None if tree is None else Levels(tree, bare.labels)
        notes = () if tree is None or known is None else (*tree.notes, *_lacking(bare, known))
        return cls(data, levels, weight, start, _closed(data, levels, weight, start), notes, known)

    def opened(self, draft: Draft) -> Draft:
        """The draft with the most specific nodes of what it publishes."""
        published = draft.release.transactions
        node_of = np.repeat(np.arange(len(self.weight)), self.weight)
        nodes = node_of[published.items]
        first = published.items == self.start[nodes]
        rows, nodes = published.rows[first], nodes[first]
        rows, nodes = self._most_specific(rows, nodes)
        sizes = np.bincount(rows, minlength=len(published))
        data = replace(
            self.data,
            offsets=np.concatenate(([0], np.cumsum(sizes))),
            items=nodes.astype(np.int32),
            labels=pa.concat_arrays([self.data.labels, self.levels.labels]),
            sensitive=None if self.data.sensitive is None else _padded(self.data.sensitive, len(self.weight)),
            sensitivity=None,
            counts=None,
            attributes=None,
            appearance=None,
        )
        return replace(draft, release=Release(data), notes=(*draft.notes, *self.notes), levels=self.of_items)

    def _most_specific(self, rows: Longs, nodes: Longs) -> tuple[Longs, Longs]:
        """Without the categories that another published node of the same transaction lies in.

        A sensitive item lies in none: what is published beside it must not depend on it.
        """
        size = len(self.weight)
        covered = [np.empty(0, dtype=np.int64)]
        for level in range(self.levels.count):
            items = np.where(self.data.quasi_mask, self.levels.above[level], -1)
            category = np.concatenate((items, self._above_categories(level)))[nodes]
            there = category >= 0
            covered.append(rows[there] * size + len(items) + category[there])
        kept = ~contained(rows * size + nodes, distinct(np.concatenate(covered)))
        return rows[kept], nodes[kept]

    def _above_categories(self, level: int) -> Longs:
        """For each category the one at this level (counted from 0) that it lies in; −1 for itself and those above."""
        raised = self.levels.raised(level + 1).astype(np.int64)
        return np.where(raised == np.arange(len(raised)), -1, raised)


def _node_weights(data: Transactions, levels: Levels, counted: Mapping[str, int]) -> Longs:
    """Items as often as they count, sensitive ones once; categories as their level says, values as their column.

    Where items have quantities, `milk × *` is the item and `milk × 2` is its quantity.

    What stands for all values of a column says nothing.
    """
    names = () if data.columns is None else data.columns.names
    of_column = np.array([*(counted.get(name, 0) for name in names), 0])  # the last entry is read by items
    place = of_items(data.columns, data.labels)
    leaf = counted.get(QUANTITY, 0) if has_quantities(data) else counted[ITEM]
    items = np.where(data.quasi_mask, np.where(place < 0, leaf, of_column[place]), 1)
    by_level = np.array([counted.get(f"level{level}", 0) for level in range(levels.count + 1)])[levels.level]
    by_level = np.where(levels.in_any_quantity, counted[ITEM], by_level)
    values = np.where(levels.parent < 0, 0, of_column[levels.attribute])
    return np.concatenate((items, np.where(levels.attribute < 0, by_level, values))).astype(np.int64)


def _closed(data: Transactions, levels: Levels, weight: Longs, start: Longs) -> Transactions:
    rows, nodes = [data.rows], [data.items.astype(np.int64)]
    quasi = data.quasi_mask[data.items]
    for above in levels.above:
        category = np.where(quasi, above[data.items], -1)
        node = len(data.labels) + category
        there = (category >= 0) & (weight[np.where(category >= 0, node, 0)] > 0)
        rows.append(data.rows[there])
        nodes.append(node[there])
    keys = distinct(np.concatenate(rows) * len(weight) + np.concatenate(nodes))
    row, node = keys // max(len(weight), 1), keys % max(len(weight), 1)
    copies = weight[node]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row, weights=copies, minlength=len(data)).astype(np.int64))))
    place = np.arange(int(copies.sum())) - np.repeat(np.cumsum(copies) - copies, copies)
    codes = np.repeat(start[node], copies) + place
    total = int(weight.sum())
    return replace(
        data,
        offsets=offsets,
        items=codes.astype(np.int32),
        labels=pa.array([str(code) for code in range(total)], type=pa.string()),
        sensitive=None if data.sensitive is None else np.repeat(_padded(data.sensitive, len(weight)), weight),
        sensitivity=None,
        counts=None,
        attributes=None,
        appearance=None,
        columns=None,
        count_as=None,
    )


def _padded(mask: Mask, size: int) -> Mask:
    return np.concatenate((mask, np.zeros(size - len(mask), dtype=np.bool_)))


def _lacking(data: Transactions, levels: Levels) -> tuple[str, ...]:
    used = (data.item_counts > 0) & data.quasi_mask & (levels.leaf < 0)
    count = int(used.sum())
    return () if not count else (f"The hierarchy lacks {count:,} items of the data; they have no category.",)


def _held_by(draft: Draft, data: Transactions, add: str) -> Draft:
    """The draft with only those quasi-identifier items that so many of a published set's holders have.

    Transactions that publish the same set are one group, whatever the method called a group. A category is held by all
    who hold something in it, so what stays published is closed as before.
    """
    if add not in LEAST:
        return draft
    share, whole = LEAST[add]
    published = draft.release.transactions
    group = _equal_sets(published.quasi())
    quasi = data.quasi()
    size = np.bincount(group, minlength=1)
    keys, held = np.unique(group[quasi.rows] * data.n_items + quasi.items, return_counts=True)
    common = keys[held * whole >= size[keys // max(data.n_items, 1)] * share]
    of_group, item = common // max(data.n_items, 1), (common % max(data.n_items, 1)).astype(np.int32)
    bounds = np.searchsorted(of_group, np.arange(len(size) + 1))
    lengths = np.diff(bounds)[group] if len(group) else np.empty(0, dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    source = np.repeat(bounds[group] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(draft, release=Release(data.with_quasi(offsets, item[source])))


def _equal_sets(data: Transactions) -> Ints:
    """A number for each transaction, equal where the sets are."""
    item_bytes = pa.py_buffer(data.items.astype(np.int32).tobytes())
    bounds = pa.py_buffer((data.offsets * 4).tobytes())
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(data), [None, bounds, item_bytes])
    return np.asarray(keys.dictionary_encode().indices).astype(np.int64)
