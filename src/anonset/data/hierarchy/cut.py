"""`Cut`: which node each item is published as.

A cut takes every item to itself or to a node above it, and everything below a node that is published goes to that
node: so the published nodes never overlap, and what a published name stands for is always the same. An item may
instead be left out altogether.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from anonset.data.boundary import reads_input
from anonset.data.errors import DataError, InputError
from anonset.data.hierarchy.drawing import draw
from anonset.data.hierarchy.tree import Hierarchy, write_csv
from anonset.data.transactions import Ints, Transactions

LEFT_OUT = -1


@dataclass(frozen=True, eq=False, repr=False)
class Cut:
    """A cut through a hierarchy: `published[i]` is the node that leaf `i` is published as, or −1 to leave it out.

    Examples
    --------
    >>> tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
    >>> cut = Cut.of_nodes(tree, [1])
    >>> cut.mapping()
    {'milk': 'dairy', 'brie': 'dairy', 'wine': 'wine'}
    >>> cut.apply(Transactions.from_lists([["milk", "brie"], ["wine", "milk"]])).to_lists()
    [['dairy'], ['dairy', 'wine']]
    """

    hierarchy: Hierarchy
    published: Ints

    def __post_init__(self) -> None:
        published = np.ascontiguousarray(self.published, dtype=np.int32)
        published.flags.writeable = False
        object.__setattr__(self, "published", published)
        _validate(self.hierarchy, published)

    def __repr__(self) -> str:
        changed = int((self.published != self.hierarchy.leaves).sum())
        return f"Cut({changed:,} of {self.hierarchy.n_items:,} items published as something more general)"

    @classmethod
    def of_nodes(cls, hierarchy: Hierarchy, nodes: Any) -> Cut:
        """The cut that publishes these nodes, and every item below none of them as itself."""
        chosen = np.unique(np.asarray(nodes, dtype=np.int32))
        ends = hierarchy.end[chosen]
        covered = np.concatenate(([0], np.maximum.accumulate(ends)))[:-1]
        chosen = chosen[chosen >= covered]  # of nested nodes the upper one counts
        begin = np.searchsorted(hierarchy.leaves, chosen)
        sizes = np.searchsorted(hierarchy.leaves, hierarchy.end[chosen]) - begin
        published = hierarchy.leaves.copy()
        inside = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        published[inside] = np.repeat(chosen, sizes)
        return cls(hierarchy, published)

    def mapping(self) -> dict[str, str]:
        """Item → published name; the empty text where the item is left out."""
        table = self.to_table()
        return dict(zip(table["item"].to_pylist(), table["published"].to_pylist(), strict=True))

    def to_table(self) -> pa.Table:
        """Two columns, `item` and `published`, in the order of the leaves."""
        names = self.hierarchy.names.take(pa.array(np.maximum(self.published, 0)))
        shown = pc.if_else(pa.array(self.published == LEFT_OUT), pa.scalar(""), names)
        return pa.table({"item": self.hierarchy.items, "published": shown})

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write as CSV `item,published`, to review, edit and apply again."""
        write_csv(self.to_table(), path, force)

    def show(self, depth: int | None = None, widest: int = 50) -> str:
        """A text tree down to the cut: at most `depth` levels below the root, `widest` children of each node.

        Examples
        --------
        >>> tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
        >>> print(Cut.of_nodes(tree, [1]).show())
        ALL  3 items
        ├── dairy  2 items  ← published for all below
        └── drinks  1 item
            └── wine
        """
        tree = self.hierarchy
        general = set(self.published[self.published != tree.leaves].tolist())
        out = set(tree.leaves[self.published == LEFT_OUT].tolist())

        def note(node: int) -> str:
            return "  ← published for all below" if node in general else "  ← left out" if node in out else ""

        return draw(tree, depth, widest, note, general.__contains__)

    def apply(self, data: Transactions) -> Transactions:
        """The transactions with every item replaced by the node it is published as; marks and degrees are dropped."""
        leaves = self.hierarchy.nodes_of(data.labels)
        used = np.bincount(data.items, minlength=data.n_items) > 0
        if (leaves[used] < 0).any():
            missing = data.labels.filter(pa.array((leaves < 0) & used))
            raise InputError(lacking(missing))
        node_of_leaf = np.full(len(self.hierarchy), LEFT_OUT, dtype=np.int32)
        node_of_leaf[self.hierarchy.leaves] = self.published
        node = np.where(leaves >= 0, node_of_leaf[np.maximum(leaves, 0)], LEFT_OUT)
        return recode(data, node, self.hierarchy.names)


def lacking(missing: pa.StringArray) -> str:
    """The sentence for items that a hierarchy does not hold."""
    shown = ", ".join(missing[:3].to_pylist()) + (", …" if len(missing) > 3 else "")
    return (
        f"'hierarchy' must hold every item of the data. Got one that lacks {len(missing):,} ({shown}). "
        "Add them, or let `anonset hierarchy lint --repair` hang them below a node of their own."
    )


def recode(data: Transactions, node: Ints, names: pa.StringArray) -> Transactions:
    """Every item replaced by its node (−1: left out), equal ones merged; labels are the names of the nodes used."""
    used = np.unique(node[node >= 0])
    place = np.full(len(node), -1, dtype=np.int64)
    place[node >= 0] = np.searchsorted(used, node[node >= 0])
    codes = place[data.items]
    keep = codes >= 0
    bits = max(len(used) - 1, 1).bit_length()
    key = (data.rows << bits | codes) if keep.all() else (data.rows[keep] << bits | codes[keep])
    if (key[1:] < key[:-1]).any():  # where the items are in the hierarchy's order, they stay in order
        key = np.sort(key)
    key = key[np.concatenate(([True], key[1:] != key[:-1]))] if len(key) else key
    sizes = np.bincount(key >> bits, minlength=len(data))
    return replace(
        data,
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        items=(key & ((1 << bits) - 1)).astype(np.int32),
        labels=names.take(pa.array(used)),
        sensitive=None,
        sensitivity=None,
        counts=None,
        attributes=None,
        appearance=None,
    )


@reads_input
def read_cut(source: Any, hierarchy: Hierarchy) -> Cut:
    """A cut from a CSV `item,published` (perhaps edited by hand) or a dictionary; an error unless it is a cut.

    Items that it does not name are published as themselves, unless a node above them is published.

    Examples
    --------
    >>> from anonset import read_hierarchy
    >>> tree = read_hierarchy({"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]})
    >>> read_cut({"milk": "dairy", "brie": "dairy"}, tree)
    Cut(2 of 3 items published as something more general)
    """
    if isinstance(source, Cut):
        return source
    items, names = _columns(source)
    leaves = hierarchy.nodes_of(items)
    if (leaves < 0).any():
        strangers = items.filter(pa.array(leaves < 0))
        raise InputError(f"'cut' must name items of the hierarchy. Got '{strangers[0]}', which is not one. Remove it.")
    nodes = pc.index_in(names, value_set=hierarchy.names).fill_null(-2).to_numpy(zero_copy_only=False)
    nodes = np.where(pc.equal(names, "").to_numpy(zero_copy_only=False), LEFT_OUT, nodes)
    if (nodes == -2).any():
        unknown = names.filter(pa.array(nodes == -2))
        raise InputError(
            f"'cut' must publish nodes of the hierarchy. Got '{unknown[0]}'. `anonset hierarchy show` lists them."
        )
    distinct, first, inverse = np.unique(leaves, return_index=True, return_inverse=True)
    if len(distinct) < len(leaves) and (differs := nodes != nodes[first][inverse.reshape(-1)]).any():
        twice = items.filter(pa.array(differs))[0]
        raise InputError(f"'cut' must publish an item as one thing. Got two for '{twice}'. Remove one of the lines.")
    published = np.full(hierarchy.n_items, -2, dtype=np.int32)
    published[np.searchsorted(hierarchy.leaves, leaves)] = nodes
    return Cut(hierarchy, _completed(hierarchy, published))


def _columns(source: Any) -> tuple[pa.StringArray, pa.StringArray]:
    if isinstance(source, dict):
        return pa.array(list(source), type=pa.string()), pa.array(list(source.values()), type=pa.string())
    if not Path(source).exists():
        raise DataError("There is no such file. Check the name of the cut.", source=str(source))
    if Path(source).is_dir():
        raise DataError("This is a folder. Give the file that holds the cut.", source=str(source))
    table = _read_csv(Path(source))
    if not {"item", "published"} <= set(table.column_names):
        raise DataError("A cut needs the columns 'item' and 'published'.", source=str(source))
    return table["item"].combine_chunks(), table["published"].combine_chunks()


def _read_csv(path: Path) -> pa.Table:
    """A table of texts; spreadsheets may have put semicolons or tabs between the columns, and a mark in front."""
    types = {"item": pa.string(), "published": pa.string()}
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            text = stream.read().decode("utf-8-sig")
        return pa_csv.read_csv(
            io.BytesIO(text.encode()),
            parse_options=pa_csv.ParseOptions(delimiter=max(",;\t", key=text.split("\n", 1)[0].count)),
            convert_options=pa_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (UnicodeDecodeError, pa.ArrowInvalid):
        raise DataError("A cut must be a CSV file with the columns 'item' and 'published'.", source=str(path)) from None


def _completed(hierarchy: Hierarchy, published: Ints) -> Ints:
    """Items that nobody named (−2) go to the published node above them, else to themselves."""
    open_ones = np.flatnonzero(published == -2)
    if not len(open_ones):
        return published
    chosen = np.zeros(len(hierarchy), dtype=np.bool_)
    chosen[published[published >= 0]] = True
    node = hierarchy.leaves[open_ones].copy()
    result = node.copy()
    while (node >= 0).any():
        result = np.where((node >= 0) & chosen[np.maximum(node, 0)], node, result)
        node = np.where(node >= 0, hierarchy.parent[np.maximum(node, 0)], node)
    published[open_ones] = result
    return published


def _validate(hierarchy: Hierarchy, published: Ints) -> None:
    if len(published) != hierarchy.n_items:
        raise InputError(f"A cut needs one node per item ({hierarchy.n_items:,}). Got {len(published):,}.")
    kept = published != LEFT_OUT
    leaves, nodes = hierarchy.leaves[kept], published[kept]
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= len(hierarchy)):
        raise InputError(f"A cut's nodes must lie between 0 and {len(hierarchy) - 1:,}.")
    outside = (leaves < nodes) | (leaves >= hierarchy.end[nodes])
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        item, node = hierarchy.labels[int(leaves[first])], hierarchy.names[int(nodes[first])]
        raise InputError(f"'cut' must take every item to a node above it. Got '{item}' published as '{node}'.")
    torn = _torn(hierarchy, leaves, nodes)
    if torn is not None:
        item, node = hierarchy.labels[torn[0]], hierarchy.names[torn[1]]
        raise InputError(
            f"'cut' must publish all items below a node alike. Got '{node}' published, but not for '{item}' below it. "
            f"Publish '{item}' as '{node}' too, or leave it out."
        )


def _torn(hierarchy: Hierarchy, leaves: Ints, nodes: Ints) -> tuple[int, int] | None:
    """An item below a published node that is published as something else."""
    chosen = np.zeros(len(hierarchy), dtype=np.bool_)
    chosen[nodes] = True
    above = leaves.copy()
    while (above >= 0).any():
        inside = (above >= 0) & chosen[np.maximum(above, 0)] & (above != nodes)
        if inside.any():
            first = int(np.flatnonzero(inside)[0])
            return _pair(leaves, nodes, above, first)
        above = np.where(above >= 0, hierarchy.parent[np.maximum(above, 0)], above)
    return None


def _pair(leaves: Ints, nodes: Ints, above: Ints, first: int) -> tuple[int, int]:
    """The item and the upper one of the two nodes that compete for it."""
    if above[first] < nodes[first]:
        return int(leaves[first]), int(above[first])
    inside = np.flatnonzero(nodes == above[first])
    return int(leaves[inside[0]]), int(nodes[first])


def ncp(original: Transactions, cut: Cut) -> float:
    """The NCP of publishing `original` by this cut, between 0 (exact) and 1 (nothing is left).

    A node that stands for u of the hierarchy's I items loses u / I of an occurrence, an item left out all of it.

    Examples
    --------
    >>> tree = Hierarchy.from_levels(["a1", "a2", "b1", "b2"], [["A", "A", "B", "B"]])
    >>> data = Transactions.from_lists([["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]])
    >>> round(ncp(data, Cut.of_nodes(tree, [1])) * 11, 3)
    2.5
    """
    if not original.nnz:
        return 0.0
    tree = cut.hierarchy
    kept = cut.published != LEFT_OUT
    stands_for = tree.leaf_counts[np.maximum(cut.published, 0)]
    penalty = np.where(kept, np.where(stands_for > 1, stands_for / tree.n_items, 0.0), 1.0)
    by_node = np.zeros(len(tree) + 1)
    by_node[tree.leaves] = penalty  # the last entry stays 0: items that do not occur
    return float(original.item_counts @ by_node[tree.nodes_of(original.labels)] / original.nnz)
