"""One tree of items and of the values of columns beside them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.columns import NOTHING, Columns
from anonset.data.hierarchy.tree import ROOT, Hierarchy
from anonset.data.transactions import Ints


def joined(tree: Hierarchy | None, columns: Columns | None) -> Hierarchy:
    """The items' hierarchy (None: they have none), and below its root one branch for each column.

    Examples
    --------
    >>> from anonset.data.columns import Attribute
    >>> from anonset.data.hierarchy.values import tree_of
    >>> age = Attribute("age", tree=tree_of(Attribute("age"), pa.array(["21", "24", "38"])))
    >>> food = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
    >>> print(joined(food, Columns((age,))).show(depth=1))
    ALL  6 items
    ├── dairy  2 items
    ├── drinks  1 item
    └── age=*  3 items
    """
    if columns is None and tree is not None:
        return tree
    parents = [np.array([-1], dtype=np.int32) if tree is None else tree.parent]
    labels = [pa.array([ROOT], pa.string()) if tree is None else tree.labels]
    size = len(parents[0])
    for attribute in () if columns is None else columns.attributes:
        branch = attribute.tree
        if branch is None or not branch.n_items:
            continue
        parents.append(np.where(branch.parent < 0, 0, branch.parent + size).astype(np.int32))
        labels.append(branch.labels)
        size += len(branch)
    return Hierarchy(np.concatenate(parents), pa.concat_arrays(labels), () if tree is None else tree.notes)


def tops(tree: Hierarchy, columns: Columns | None) -> Ints:
    """For each node the one that stands for all values of its column beside the items; −1 for nodes of items."""
    found = np.full(len(tree), -1, dtype=np.int32)
    for attribute in () if columns is None else columns.attributes:
        for top in np.flatnonzero(np.asarray(pc.equal(tree.labels, attribute.mark + NOTHING))).tolist():
            if tree.parent[top] == 0:
                found[top : tree.end[top]] = top
    return found


def of_items_only(tree: Hierarchy, columns: Columns | None) -> Hierarchy:
    """The items' part of a joined tree, in which the columns come last."""
    first = tops(tree, columns)
    inside = np.flatnonzero(first >= 0)
    return (
        tree
        if not len(inside)
        else Hierarchy(tree.parent[: inside[0]], tree.labels.slice(0, int(inside[0])), tree.notes)
    )
