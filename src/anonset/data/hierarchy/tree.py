"""`Hierarchy`: a tree whose leaves are the items.

Nodes are numbered depth first: node 0 is the root, and everything below node `v` is `v + 1 … end[v] − 1`. A node is
known by its whole path, so the same label may occur on two levels or in two branches.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from anonset.data.display import Picture, Shown
from anonset.data.errors import ExistsError, InputError
from anonset.data.hierarchy.drawing import draw
from anonset.data.transactions import Ints, Longs, Mask, as_text

ROOT = "ALL"


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(Shown):
    """An item hierarchy.

    Parameters
    ----------
    parent
        The parent of each node; −1 for the root, which is node 0. Nodes are in depth-first order.
    labels
        The label of each node. Leaves are the items, so their labels are all different; others may repeat.
    notes
        What reading or repairing changed, in words.

    Examples
    --------
    >>> tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
    >>> tree
    Hierarchy(3 items, 2 inner nodes below the root, height 2)
    >>> print(tree.show())
    ALL  3 items
    ├── dairy  2 items
    │   ├── milk
    │   └── brie
    └── drinks  1 item
        └── wine
    """

    parent: Ints
    labels: pa.StringArray
    notes: tuple[str, ...] = ()
    end: Ints = field(init=False)
    depth: Ints = field(init=False)
    leaves: Ints = field(init=False)

    def __post_init__(self) -> None:
        parent = np.ascontiguousarray(self.parent, dtype=np.int32)
        end, depth = _spans(parent)
        leaves = np.flatnonzero(end == np.arange(1, len(parent) + 1)).astype(np.int32)
        arrays = {"parent": parent, "end": end, "depth": depth, "leaves": leaves[leaves > 0]}
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "labels", as_text(self.labels))
        if len(self.labels) != len(parent):
            raise InputError(f"A hierarchy needs one label per node ({len(parent):,}). Got {len(self.labels):,}.")
        if pc.count_distinct(self.items).as_py() != self.n_items:
            raise InputError("An item occurs twice in the hierarchy. Give each item one place.")

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        inner = len(self) - len(self.leaves) - 1
        return f"Hierarchy({self.n_items:,} items, {inner:,} inner nodes below the root, height {self.height})"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: the size of the tree."""
        yield from (("items", self.n_items), ("nodes", len(self.parent)), ("height", self.height))

    def picture(self) -> Picture | None:
        """How many nodes each level has, from the root down."""
        counts = np.bincount(self.depth)
        return Picture("Nodes at each depth", [*map(str, range(len(counts)))], (("nodes", counts.tolist()),))

    @property
    def n_items(self) -> int:
        """The number of items: the leaves."""
        return len(self.leaves)

    @property
    def height(self) -> int:
        """The number of steps from the root to its deepest item."""
        return int(self.depth.max())

    @cached_property
    def items(self) -> pa.StringArray:
        """The items' labels, in the order of the leaves."""
        return self.labels.take(pa.array(self.leaves))

    @cached_property
    def leaf_counts(self) -> Longs:
        """For each node, the number of items that it stands for."""
        before = np.concatenate(([0], np.cumsum(self.is_leaf)))
        return (before[self.end] - before[np.arange(len(self))]).astype(np.int64)

    @cached_property
    def is_leaf(self) -> Mask:
        """Which nodes are items."""
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[self.leaves] = True
        return mask

    @cached_property
    def names(self) -> pa.StringArray:
        """A name for each node that no other node has: its label, with as much of its path as it takes."""
        return _distinct_names(self)

    def nodes_of(self, items: Any) -> Ints:
        """The leaf of each of these item labels; −1 for those that the hierarchy lacks."""
        place = pc.index_in(as_text(items), value_set=self.items).fill_null(-1).to_numpy(zero_copy_only=False)
        padded = np.concatenate((self.leaves, [-1]))  # position −1 is the missing one
        return np.asarray(padded[place], dtype=np.int32)

    def path(self, node: int) -> tuple[str, ...]:
        """The labels from below the root down to this node."""
        labels = []
        while node > 0:
            labels.append(str(self.labels[node]))
            node = int(self.parent[node])
        return tuple(reversed(labels))

    def children(self, node: int) -> list[int]:
        """The nodes right below this one, in order."""
        found, child = [], node + 1
        while child < self.end[node]:
            found.append(child)
            child = int(self.end[child])
        return found

    # --- making and writing ------------------------------------------------------------------------------------

    @classmethod
    def from_levels(cls, items: Any, levels: list[Any], *, root: str = ROOT, notes: tuple[str, ...] = ()) -> Hierarchy:
        """From one row per item: its label and its general names, coarse to fine; null or empty where there is none.

        Levels that are missing are closed up: the path of an item is the names that it has.
        """
        leaves = as_text(items)
        codes, names = _level_codes(levels, len(leaves))
        parent, label = _depth_first(codes)
        text = pa.concat_arrays([pa.array([root], type=pa.string()), names, leaves])
        # a node's label is a position in `text`: the root, then the levels' names, then the items
        place = np.where(label >= 0, label + 1, len(names) - label)
        place[0] = 0
        tree = cls(parent, text.take(pa.array(place)), notes)
        return tree._without_double_root()

    def _without_double_root(self) -> Hierarchy:
        """Where a single node holds everything (ARX's `*`), that node is the root."""
        if len(self) > 2 and self.end[1] == len(self) and not self.is_leaf[1]:
            return Hierarchy(np.concatenate(([-1], self.parent[2:] - 1)), self.labels[1:], self.notes)
        return self

    def to_table(self) -> pa.Table:
        """One row per item, in the order of the leaves: `item`, `level1` (coarse), `level2`, …; empty where shorter."""
        columns: dict[str, Any] = {"item": self.items}
        above = self._ancestors()
        if str(self.labels[0]) != ROOT:
            columns["level1"] = pa.array([str(self.labels[0])] * self.n_items, type=pa.string())
        for nodes in above:
            text = self.labels.take(pa.array(np.maximum(nodes, 0)))
            columns[f"level{len(columns)}"] = pc.if_else(pa.array(nodes >= 0), text, pa.scalar(""))
        return pa.table(columns)

    def _ancestors(self) -> list[Longs]:
        """For each depth below the root, the inner node above each leaf at that depth; −1 where there is none."""
        node = self.parent[self.leaves].astype(np.int64)
        table = np.full((max(self.height - 1, 0), self.n_items), -1, dtype=np.int64)
        while (node > 0).any():
            inside = np.flatnonzero(node > 0)
            table[self.depth[node[inside]] - 1, inside] = node[inside]
            node = np.where(node > 0, self.parent[np.maximum(node, 0)], node)
        return list(table)

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write as CSV: `item,level1,level2,…`, coarse to fine; `read_hierarchy` reads it back."""
        write_csv(self.to_table(), path, force)

    # --- looking -----------------------------------------------------------------------------------------------

    def show(self, depth: int | None = None, widest: int = 50) -> str:
        """A text tree: at most `depth` levels below the root, at most `widest` children of each node."""
        return draw(self, depth, widest)


def write_csv(table: pa.Table, path: str | os.PathLike[str], force: bool) -> None:
    """Write a table as CSV, whole or not at all; an existing file needs `force`."""
    target = Path(path)
    if target.exists() and not force:
        raise ExistsError(f"{target} is there already. Choose another name, or replace it with force.")
    if not target.parent.is_dir():
        raise InputError(f"The output's folder {target.parent} does not exist. Create it first.")
    temporary = target.with_name(f".{secrets.token_hex(6)}.{target.name}")
    try:
        with pa.output_stream(str(temporary), compression="detect") as out:
            pa_csv.write_csv(table, out, pa_csv.WriteOptions(quoting_style="needed"))
        temporary.chmod(0o600)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _spans(parent: Ints) -> tuple[Ints, Ints]:
    """The end of each node's subtree and each node's depth; an error unless the nodes are in depth-first order."""
    size = len(parent)
    nodes = np.arange(size, dtype=np.int32)
    if not size or parent[0] != -1 or (parent[1:] < 0).any() or (parent[1:] >= nodes[1:]).any():
        raise InputError("A hierarchy's nodes must be in depth-first order: the root first, parents before children.")
    depth = np.zeros(size, dtype=np.int32)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[np.maximum(above, 0)], above)
    end, size_below = nodes + 1, np.ones(size, dtype=np.int32)
    for level in range(int(depth.max()), 0, -1):
        at = np.flatnonzero(depth == level)
        np.maximum.at(end, parent[at], end[at])
        np.add.at(size_below, parent[at], size_below[at])
    if (end - nodes != size_below).any():  # a subtree with a stranger in its span
        raise InputError("A hierarchy's nodes must be in depth-first order: each subtree in one piece.")
    return end, depth


def _level_codes(levels: list[Any], rows: int) -> tuple[Longs, pa.StringArray]:
    """Codes of the levels' labels (rows × levels, missing ones closed up to the end as −1), and the labels."""
    if not levels:
        return np.empty((rows, 0), dtype=np.int64), pa.array([], type=pa.string())
    columns = [as_text(pa.array(level, type=pa.string()) if isinstance(level, list) else level) for level in levels]
    if any(len(column) != rows for column in columns):
        raise InputError("Every level of a hierarchy needs one entry per item.")
    encoded = pc.dictionary_encode(pc.fill_null(pa.concat_arrays(columns), ""))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64).reshape(len(levels), rows).T
    names = encoded.dictionary
    empty = pc.index(names, "").as_py()
    codes = np.where(codes == empty, -1, codes) if empty >= 0 else codes
    return np.take_along_axis(codes, np.argsort(codes < 0, axis=1, kind="stable"), axis=1), names


def _depth_first(codes: npt.NDArray[np.int64]) -> tuple[Ints, Longs]:
    """Parents and labels of all nodes, depth first; a label is a level code, or −(row + 1) for an item's leaf."""
    rows, levels = codes.shape
    paths = _path_codes(codes)
    order = np.lexsort(tuple(paths[:, level] for level in reversed(range(levels)))) if levels else np.arange(rows)
    paths, codes = paths[order], codes[order]
    opens = np.zeros((rows, levels), dtype=np.bool_)
    opens[:1] = True
    opens[1:] = paths[1:] != paths[:-1]
    opens &= paths >= 0
    first = 1 + np.concatenate(([0], np.cumsum(opens.sum(axis=1) + 1)))  # the first node that each row adds
    parent = np.full(first[-1], -1, dtype=np.int32)
    label = np.zeros(first[-1], dtype=np.int64)
    above = np.zeros(rows, dtype=np.int64)
    place = first[:-1].copy()
    for level in range(levels):
        new = opens[:, level]
        parent[place[new]] = above[new]
        label[place[new]] = codes[new, level]
        current = np.maximum.accumulate(np.where(new, place, 0))
        above = np.where(paths[:, level] >= 0, current, above)
        place += new
    parent[place] = above
    label[place] = -(order + 1)
    return parent, label


def _path_codes(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each level a number of the whole path down to it, by first appearance; −1 where the path is shorter."""
    paths = np.full(codes.shape, -1, dtype=np.int64)
    above = np.zeros(len(codes), dtype=np.int64)
    for level in range(codes.shape[1]):
        key = above * (int(codes.max(initial=0)) + 2) + codes[:, level] + 1
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        appearance = np.empty(len(first), dtype=np.int64)
        appearance[np.argsort(first, kind="stable")] = np.arange(len(first))
        above = appearance[inverse.reshape(-1)]
        paths[:, level] = np.where(codes[:, level] >= 0, above, -1)
    return paths


def _distinct_names(tree: Hierarchy) -> pa.StringArray:
    """Items keep their label; an inner node whose name is taken gets its parent's label in front, and so on up."""
    names = tree.labels
    above = tree.parent.copy()
    inner = ~tree.is_leaf
    while True:
        taken = _repeated(names) & inner & (above >= 0)
        if not taken.any():
            break
        front = tree.labels.take(pa.array(np.maximum(above, 0)))
        longer = pc.binary_join_element_wise(front, names, "/")
        names = pc.if_else(pa.array(taken), longer, names)
        above = np.where(taken, tree.parent[np.maximum(above, 0)], above)
    clash = _repeated(names) & inner  # a whole path that reads like another label: rare, told apart by number
    if clash.any():
        number = pc.cast(pa.array(np.arange(len(tree))), pa.string())
        names = pc.if_else(pa.array(clash), pc.binary_join_element_wise(names, number, " #"), names)
    return names


def _repeated(names: pa.StringArray) -> Mask:
    codes = pc.dictionary_encode(names).indices.to_numpy(zero_copy_only=False)
    return np.asarray(np.bincount(codes, minlength=1)[codes] > 1)
