"""What the methods that cut through a hierarchy share: the domain they search, and how a cut is published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.data.attributes import bare_items, items_of
from anonset.data.errors import InfeasibleError, InputError
from anonset.data.hierarchy import Cut, Hierarchy, balanced
from anonset.data.hierarchy.cut import LEFT_OUT, lacking, ncp
from anonset.data.hierarchy.joining import in_any_quantity, tops, whole_tree
from anonset.data.hierarchy.reading import as_hierarchy
from anonset.data.job import Job
from anonset.data.quantities import has_quantities, item_names
from anonset.data.release import Draft, Release
from anonset.data.spec import Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.data.unit import require_users

FAN_OUT = 5
PAPER = "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008"

HIERARCHY = Param(
    "hierarchy",
    "hierarchy",
    "The item hierarchy: a file or table (item, level1, level2, …), or a Hierarchy. By default neighbouring items "
    "share a node, five by five.",
)


@dataclass(frozen=True, eq=False)
class Domain:
    """The items of the data in their hierarchy, without nodes that would change nothing.

    Kept are the items that occur, every node above at least two of them on different branches, and the root. All
    arrays are over these nodes, in depth-first order.
    """

    data: Transactions
    hierarchy: Hierarchy
    node: Ints  # the hierarchy's node behind each of ours
    parent: Ints
    leaf: Ints  # of each item code; −1 for items that do not occur
    notes: tuple[str, ...]
    secret: Transactions  # the sensitive items, which pass beside the cut

    @cached_property
    def size(self) -> Longs:
        """How many items of the whole hierarchy each node stands for.

        A value of a column beside the items counts among those of its column: all of them are as many as all items.
        """
        sizes = self.hierarchy.leaf_counts[self.node]
        if self.data.columns is None:
            return np.ascontiguousarray(sizes)
        top = self.top
        scaled = np.ceil(sizes * (self.hierarchy.n_items / self.hierarchy.leaf_counts[np.maximum(top, 0)]))
        return np.ascontiguousarray(np.where((top >= 0) & (sizes > 1), scaled, sizes).astype(np.int64))

    @cached_property
    def top(self) -> Ints:
        """The node of the hierarchy that stands for all values of a node's column; −1 for nodes of items."""
        return tops(self.hierarchy, self.data.columns)[self.node]

    @property
    def arrays(self) -> tuple[Longs, Ints, Ints, Longs, Ints]:
        """What every kernel takes."""
        return self.data.offsets, self.data.items, self.parent, self.size, self.leaf

    def counting(self, unit: Unit) -> tuple[tuple[Longs, Ints, Ints, Longs, Ints], Ints | None]:
        """What kernels take that can count persons: the arrays, transactions by user, and the users; or no users."""
        if unit == "transaction" or self.data.users is None:
            return self.arrays, None
        order = np.argsort(self.data.users, kind="stable")
        rows = _native.take_rows(self.data.offsets, self.data.items, order)
        return (*rows, self.parent, self.size, self.leaf), self.data.users[order]

    def cut(self, published: Ints) -> Cut:
        """The cut through the whole hierarchy for a kernel's answer: the published node of each of our nodes."""
        used = np.unique(published[self.leaf[self.leaf >= 0]])
        nodes = self.node[used]
        return Cut.of_nodes(self.hierarchy, nodes[~self.hierarchy.is_leaf[nodes]])


def domain(data: Transactions, hierarchy: Any) -> Domain:
    """The domain of this data; a balanced hierarchy where none is given."""
    tree, notes = items_tree(data, hierarchy)
    secret = data.sensitive_part()
    data = data.quasi()
    tree = whole_tree(tree, data)
    leaves = tree.nodes_of(data.labels)
    occurs = data.item_counts > 0
    if (leaves[occurs] < 0).any():
        raise InputError(lacking(item_names(data, (leaves < 0) & occurs)))
    keep, parent = _branching(tree, leaves[occurs])
    place = np.cumsum(keep, dtype=np.int32) - 1
    leaf = np.where(occurs, place[np.maximum(leaves, 0)], -1).astype(np.int32)
    node = np.flatnonzero(keep).astype(np.int32)
    return Domain(data, tree, node, place_parent(parent, keep, place), leaf, notes, secret)


def items_tree(data: Transactions, hierarchy: Any) -> tuple[Hierarchy, tuple[str, ...]]:
    """The hierarchy given, or a balanced one over the items, and what to say of it."""
    if hierarchy is None:
        note = f"No hierarchy was given: neighbouring items share a node, {FAN_OUT} by {FAN_OUT}."
        return balanced(bare_items(data).labels, FAN_OUT), (note,)
    tree = as_hierarchy(hierarchy)
    return tree, tree.notes


def _branching(tree: Hierarchy, used: Ints) -> tuple[Any, Ints]:
    """Which nodes make a difference to these items, and the nearest such node above each."""
    below = np.zeros(len(tree) + 1, dtype=np.int64)
    below[used + 1] = 1
    below = np.cumsum(below)
    has_items = below[tree.end] > below[:-1]
    branches = np.bincount(tree.parent[1:], weights=has_items[1:], minlength=len(tree))
    keep = branches >= 2
    keep[used] = True
    keep[0] = True
    parent = tree.parent.copy()
    while True:
        skipped = (parent > 0) & ~keep[np.maximum(parent, 0)]
        if not skipped.any():
            return keep, parent
        parent = np.where(skipped, tree.parent[np.maximum(parent, 0)], parent)


def place_parent(parent: Ints, keep: Any, place: Ints) -> Ints:
    """Parents among the kept nodes, under their new numbers."""
    kept = parent[keep]
    return np.where(kept >= 0, place[np.maximum(kept, 0)], -1).astype(np.int32)


def count_tree_size(found: Domain, m: int, job: Job, cut: Ints | None = None) -> int:
    """How many nodes the paper's count-tree has: what its plots show as memory.

    Without a cut the tree of all sets of up to m nodes, as OA and DA need it. With the cut after m − 1 rounds (a
    kernel's answer) that of the last round of AA: sets of m nodes that are not below the cut, and their beginnings.
    """
    nothing = np.full(len(found.node), -1, dtype=np.int32)
    with job.stage("count") as monitor:
        return _native.km_count_tree(*found.arrays, nothing if cut is None else cut, m, cut is not None, monitor)


def require_feasible(data: Transactions, k: int, unit: Unit = "transaction") -> None:
    """Refuse what even a single node for everything could not promise."""
    if unit == "user":
        require_users(data.take(np.flatnonzero(data.lengths > 0)), k)
    filled = int((data.lengths > 0).sum())
    if 0 < filled < k:
        what = "the number of transactions" if filled == len(data) else "the number of transactions with items"
        raise InfeasibleError(f"'k' must be at most {what} ({filled:,}). Got {k:,}. Choose a smaller k or add data.")


def largest_set(data: Transactions, m: int) -> int:
    """The largest sets worth looking at: none has more items than there are, however large m is."""
    return min(m, max(data.n_items, 1))


def publish(found: Domain, cut: Cut, m: int, job: Job, original: Transactions | None = None, **figures: Any) -> Draft:
    """The transactions recoded by the cut, with its loss and notes.

    Where items were left out before, `original` are the transactions with all of them.
    """
    with job.stage("recode"):
        published = with_secrets(recoded(found, cut), found.secret)
    source = (found.data if original is None else original).quasi()
    notes = found.notes
    left_out = source.nnz - found.data.nnz
    if left_out:
        notes = (*notes, f"{left_out:,} of {source.nnz:,} items ({left_out / source.nnz:.2%}) were left out.")
        figures["items_left_out"] = left_out
    longest = int(source.lengths.max(initial=0))
    if 0 < longest < m:
        notes = (*notes, f"No transaction has more than {longest:,} items: m = {longest:,} says the same as {m:,}.")
    changed = int(((cut.published != cut.hierarchy.leaves) & _occurring(found)).sum())
    loss = _loss(source, found, cut)
    measured = {"ncp": loss, "generalised_items": changed, "published_items": published.n_items, **figures}
    return Draft(Release(published), np.arange(len(published), dtype=np.int64), measured, notes, cut=cut)


def with_secrets(published: Transactions, secret: Transactions) -> Transactions:
    """The published transactions with their sensitive items as they are."""
    used = np.flatnonzero(secret.item_counts)
    if not len(used):
        return published
    names = secret.labels.take(pa.array(used))
    taken = pc.sum(pc.is_in(names, value_set=published.labels)).as_py()
    if taken:
        raise InputError(
            f"'hierarchy' must have no node that is called like a sensitive item. Got {taken:,}. Rename these nodes."
        )
    place = np.zeros(secret.n_items, dtype=np.int64)
    place[used] = published.n_items + np.arange(len(used))
    rows = np.concatenate((published.rows, secret.rows))
    codes = np.concatenate((published.items.astype(np.int64), place[secret.items]))
    order = np.argsort(rows, kind="stable")
    marks = np.zeros(published.n_items + len(used), dtype=np.bool_)
    marks[published.n_items :] = True
    return replace(
        published,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(published))))),
        items=codes[order].astype(np.int32),
        labels=pa.concat_arrays([published.labels, names]),
        sensitive=marks,
    )


def _loss(source: Transactions, found: Domain, cut: Cut) -> float:
    """NCP of the items, with 1 for each that was left out before."""
    items, kept = bare_items(source), items_of(found.data)
    if found.data.columns is None and not has_quantities(kept):
        return (ncp(kept, cut) * kept.nnz + items.nnz - kept.nnz) / max(items.nnz, 1)
    below, count = _items_below(cut.hierarchy, tops(cut.hierarchy, found.data.columns))
    leaf = cut.hierarchy.nodes_of(kept.labels)
    published = np.full(len(cut.hierarchy), LEFT_OUT)
    published[cut.hierarchy.leaves] = cut.published
    node = published[leaf]
    stands_for = below[np.maximum(node, 0)]
    penalty = np.where(node == LEFT_OUT, 1.0, np.where(stands_for > 1, stands_for / max(count, 1), 0.0))
    return float(kept.item_counts @ penalty + items.nnz - kept.nnz) / max(items.nnz, 1)


def _items_below(tree: Hierarchy, top: Ints) -> tuple[Longs, int]:
    """How many items each node stands for, whatever their quantity, and how many there are; values are none."""
    item = (tree.is_leaf | in_any_quantity(tree)) & (top < 0)
    item[in_any_quantity(tree)[np.maximum(tree.parent, 0)]] = False  # a quantity of one
    before = np.concatenate(([0], np.cumsum(item)))
    return (before[tree.end] - before[np.arange(len(tree))]).astype(np.int64), int(item.sum())


def recoded(found: Domain, cut: Cut) -> Transactions:
    """What `cut.apply` gives, without a search for the items' leaves; labels are the nodes that occur."""
    data, tree = found.data, cut.hierarchy
    node_of_leaf = np.full(len(tree), LEFT_OUT, dtype=np.int32)
    node_of_leaf[tree.leaves] = cut.published
    leaf = found.node[np.maximum(found.leaf, 0)]
    node = np.where(data.item_counts > 0, node_of_leaf[leaf], LEFT_OUT)
    top = tops(tree, data.columns)[leaf]
    node = np.where((top >= 0) & ((node == top) | (node == 0)), LEFT_OUT, node)  # `*` stands in the column, not here
    used = np.unique(node[node != LEFT_OUT])
    code = np.where(node != LEFT_OUT, np.searchsorted(used, node), LEFT_OUT).astype(np.int32)
    offsets, items = _native.recoded(data.offsets, data.items, code)
    labels = tree.names.take(pa.array(used))
    bare = replace(data, sensitive=None, sensitivity=None, counts=None, attributes=None, appearance=None)
    return replace(bare, offsets=offsets, items=items, labels=labels)


def _occurring(found: Domain) -> Any:
    """Which leaves of the hierarchy occur in the data."""
    mask = np.zeros(len(found.hierarchy), dtype=np.bool_)
    mask[found.node[found.leaf[found.leaf >= 0]]] = True
    return mask[found.hierarchy.leaves]
