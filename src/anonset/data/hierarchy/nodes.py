"""Items and categories side by side: how a category is named in a release, and what a transaction says at each level.

An item says its categories, too: who publishes `brie` says `some:dairy` with it. A release in items and categories
publishes only the most specific of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import distinct
from anonset.data.columns import Columns, of_items
from anonset.data.errors import InputError
from anonset.data.hierarchy.joining import in_any_quantity
from anonset.data.hierarchy.tree import Hierarchy
from anonset.data.transactions import Ints, Longs, Mask, Transactions

PREFIX = "some:"
"""Stands before the name of a category, so that nobody takes it for an item."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a hierarchy over the items of some data: level 1 is right below the root.

    Where there are `columns` beside the items, what generalises their values is called as it is, `date=2017-Q1`; so is
    an item in any quantity, `milk × *`.

    Examples
    --------
    >>> from anonset.data.hierarchy import read_hierarchy
    >>> tree = read_hierarchy({"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]})
    >>> levels = Levels(tree, pa.array(["brie", "wine", "salt"]))
    >>> levels.count, levels.above.tolist(), levels.lacking
    (1, [[0, 1, -1]], 1)
    >>> levels.labels.to_pylist()
    ['some:dairy', 'some:drinks']
    """

    tree: Hierarchy
    items: pa.StringArray
    columns: Columns | None = None

    @cached_property
    def leaf(self) -> Ints:
        """The node of each item; −1 where the hierarchy lacks it."""
        return self.tree.nodes_of(self.items)

    @property
    def lacking(self) -> int:
        """How many items the hierarchy lacks; they have no category."""
        return int((self.leaf < 0).sum())

    @property
    def count(self) -> int:
        """How many levels of categories there are."""
        return max(self.tree.height - 1, 0)

    @cached_property
    def categories(self) -> Ints:
        """The nodes between the root and the items, in the order of the tree."""
        inner = ~self.tree.is_leaf
        inner[0] = False
        return np.flatnonzero(inner).astype(np.int32)

    @cached_property
    def labels(self) -> pa.StringArray:
        """What each category is called in a release."""
        names = self.tree.names.take(pa.array(self.categories))
        marked = pc.binary_join_element_wise(pa.scalar(PREFIX), names, "")
        return pc.if_else(pa.array((of_items(self.columns, names) < 0) & ~self.in_any_quantity), marked, names)

    @cached_property
    def in_any_quantity(self) -> Mask:
        """Which categories are single items in any quantity."""
        return in_any_quantity(self.tree)[self.categories]

    @cached_property
    def attribute(self) -> Ints:
        """For each category the place of the column whose values it generalises; −1 for categories of items."""
        return of_items(self.columns, self.labels)

    @cached_property
    def level(self) -> Ints:
        """The level of each category."""
        return self.tree.depth[self.categories]

    @cached_property
    def parent(self) -> Ints:
        """The category right above each category; −1 at level 1."""
        above = self.tree.parent[self.categories]
        return np.where(above > 0, np.searchsorted(self.categories, above), -1).astype(np.int32)

    @cached_property
    def above(self) -> Ints:
        """For each level and item its category there; −1 where it has none: `above[level − 1, item]`."""
        table = np.full((self.count, len(self.items)), -1, dtype=np.int32)
        node = np.where(self.leaf >= 0, self.tree.parent[np.maximum(self.leaf, 0)], -1)
        while (node > 0).any():
            inside = np.flatnonzero(node > 0)
            table[self.tree.depth[node[inside]] - 1, inside] = np.searchsorted(self.categories, node[inside])
            node = np.where(node > 0, self.tree.parent[np.maximum(node, 0)], -1)
        return table

    def require_free_names(self) -> None:
        """Refuse items that read like categories."""
        taken = self.items.filter(pc.starts_with(self.items, PREFIX))
        if len(taken):
            raise InputError(
                f"{len(taken):,} items begin with '{PREFIX}', as categories do in a release. Rename these items."
            )

    def split(self, labels: pa.StringArray) -> tuple[Ints, Ints]:
        """For each label of a release its item and its category, −1 where it is none of them."""
        item = pc.index_in(labels, value_set=self.items).fill_null(-1).to_numpy(zero_copy_only=False)
        category = pc.index_in(labels, value_set=self.labels).fill_null(-1).to_numpy(zero_copy_only=False)
        return item.astype(np.int32), category.astype(np.int32)

    def at(self, data: Transactions, level: int) -> tuple[Longs, Ints]:
        """The categories of each transaction at a level, as pairs of transaction and category, each once, sorted.

        Items and categories below the level count for their category there; those above it say nothing.
        """
        item, category = self.split(data.labels)
        raised = self.raised(level)
        code = np.full(data.n_items, -1, dtype=np.int64)
        code[item >= 0] = self.above[level - 1, item[item >= 0]]
        code[category >= 0] = raised[category[category >= 0]]
        there = code[data.items] >= 0
        keys = distinct(data.rows[there] * len(self.categories) + code[data.items[there]])
        return keys // max(len(self.categories), 1), (keys % max(len(self.categories), 1)).astype(np.int32)

    def raised(self, level: int) -> Ints:
        """For each category the one at this level that it lies in, or is; −1 where it lies above."""
        node = np.arange(len(self.categories), dtype=np.int32)
        for _ in range(self.count):
            deep = (node >= 0) & (self.level[np.maximum(node, 0)] > level)
            node = np.where(deep, self.parent[np.maximum(node, 0)], node)
        return np.where((node >= 0) & (self.level[np.maximum(node, 0)] == level), node, -1).astype(np.int32)


def holds_categories(labels: pa.StringArray) -> bool:
    """Whether a vocabulary names categories beside items."""
    return bool(pc.any(pc.starts_with(labels, PREFIX)).as_py())
