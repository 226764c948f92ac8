"""One tree of items, of their quantities below them, and of the values of columns beside them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.columns import NOTHING, Columns, of_items
from anonset.data.hierarchy.tree import ROOT, Hierarchy
from anonset.data.quantities import ANY_TEXT, TIMES, has_quantities, split_quantities
from anonset.data.transactions import Ints, Mask, Transactions


def whole_tree(tree: Hierarchy | None, data: Transactions, *, complete: bool = False) -> Hierarchy:
    """The items' hierarchy (None: they have none) with all that the data say besides: quantities, columns.

    With `complete`, items that the hierarchy lacks have a place right below its root if they have quantities.
    """
    if has_quantities(data):
        labels = data.labels.filter(pa.array(of_items(data.columns, data.labels) < 0))
        tree = in_quantities(tree, labels, complete=complete or tree is None)
    return joined(tree, data.columns)


def in_quantities(tree: Hierarchy | None, labels: pa.StringArray, *, complete: bool = False) -> Hierarchy:
    """The hierarchy with the quantities of its items below them; an item in any quantity is called `milk × *`.

    Examples
    --------
    >>> food = Hierarchy.from_levels(["milk", "wine"], [["dairy", "drinks"]])
    >>> print(in_quantities(food, pa.array(["milk × 1", "milk × 2", "wine × 1"])).show())
    ALL  3 items
    ├── dairy  2 items
    │   └── milk × *  2 items
    │       ├── milk × 1
    │       └── milk × 2
    └── drinks  1 item
        └── wine × *  1 item
            └── wine × 1
    """
    names, _, said = split_quantities(labels)
    labels, names = labels.filter(pa.array(said)), names.filter(pa.array(said))
    some = pc.equal(labels, pc.binary_join_element_wise(names, ANY_TEXT, TIMES))
    labels, names = labels.filter(pc.invert(some)), names.filter(pc.invert(some))
    root = Hierarchy(np.array([-1], dtype=np.int32), pa.array([ROOT], pa.string()))
    tree = root if tree is None else without_quantities_below(tree)
    if complete:
        tree = _with_items(tree, pc.unique(names))
    leaf = tree.nodes_of(names)
    order = np.argsort(leaf[leaf >= 0], kind="stable")
    children = np.flatnonzero(leaf >= 0)[order]
    below = np.bincount(leaf[children], minlength=len(tree))
    place = np.arange(len(tree)) + np.concatenate(([0], np.cumsum(below)[:-1]))
    new = np.ones(len(tree) + len(children), dtype=np.bool_)
    new[place] = False
    parent = np.empty(len(new), dtype=np.int32)
    parent[place] = np.where(tree.parent >= 0, place[np.maximum(tree.parent, 0)], -1)
    parent[new] = place[leaf[children]]
    own = pc.if_else(pa.array(below > 0), pc.binary_join_element_wise(tree.labels, ANY_TEXT, TIMES), tree.labels)
    source = np.empty(len(new), dtype=np.int64)
    source[place], source[new] = np.arange(len(tree)), len(tree) + children
    return Hierarchy(parent, pa.concat_arrays([own, labels]).take(pa.array(source)), tree.notes)


def _with_items(tree: Hierarchy, items: pa.StringArray) -> Hierarchy:
    """The hierarchy with the items that it lacks right below its root."""
    lacking = items.filter(pa.array(tree.nodes_of(items) < 0))
    parent = np.concatenate((tree.parent, np.zeros(len(lacking), dtype=np.int32)))
    return Hierarchy(parent, pa.concat_arrays([tree.labels, lacking]), tree.notes)


def in_any_quantity(tree: Hierarchy) -> Mask:
    """Which nodes stand for one item in any quantity."""
    called = np.asarray(pc.ends_with(tree.labels, TIMES + ANY_TEXT), dtype=np.bool_)
    leaves = np.zeros(len(tree), dtype=np.bool_)
    leaves[tree.parent[tree.leaves]] = True
    return called & leaves & ~tree.is_leaf


def without_quantities_below(tree: Hierarchy) -> Hierarchy:
    """The hierarchy of items that `in_quantities` was given."""
    items = in_any_quantity(tree)
    if not items.any():
        return tree
    kept = ~items[np.maximum(tree.parent, 0)]
    place = np.cumsum(kept) - 1
    parent = np.where(tree.parent >= 0, place[np.maximum(tree.parent, 0)], -1)[kept]
    names = pc.if_else(pa.array(items), split_quantities(tree.labels)[0], tree.labels)
    return Hierarchy(parent, names.filter(pa.array(kept)), tree.notes)


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
    """The items' part of a joined tree, in which the columns come last; without quantities."""
    inside = np.flatnonzero(tops(tree, columns) >= 0)
    if len(inside):
        tree = Hierarchy(tree.parent[: inside[0]], tree.labels.slice(0, int(inside[0])), tree.notes)
    return without_quantities_below(tree)
