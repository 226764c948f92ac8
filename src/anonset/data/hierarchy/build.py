"""Hierarchies for data that has none.

`balanced`         neighbours in the order of the items, `fanout` of them to a node, and so on up (the paper's)
`by_frequency`     the same, in order of frequency: rare items share nodes with rare ones
`by_prefix`        codes that carry their own hierarchy: ICD, ATC, EAN, category codes
`by_cooccurrence`  items that occur together share a node, so that a cut loses less

Nodes that mean nothing have numbers for names: `group2`, and `group2.4` inside it. A name made of the items' own would
publish items that one person may hold. Which items a group stands for is in the hierarchy and in the cut, both private.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import ParameterError
from anonset.data.hierarchy.tree import ROOT, Hierarchy
from anonset.data.transactions import Longs, Transactions, as_text

LONGEST_PREFIX = 64


def balanced(items: Any, fanout: int = 5) -> Hierarchy:
    """Every `fanout` neighbours share a node, every `fanout` of those the next, up to the root.

    Examples
    --------
    >>> print(balanced(["a", "b", "c", "d"], fanout=2).show(depth=1))
    ALL  4 items
    ├── group1  2 items
    └── group2  2 items
    """
    _check_fanout(fanout)
    leaves = as_text(items)
    size = len(leaves)
    widths = _powers(size, fanout)
    firsts = [np.arange(0, size, width) for width in (*widths, 1)]  # the first item of each node, level by level
    above = [np.full(len(firsts[0]), -1, dtype=np.int64)]
    numbered = 0
    for width, first in zip(widths, firsts[1:], strict=True):
        above.append(numbered + first // width)
        numbered += -(-size // width)
    order = np.lexsort((np.repeat(np.arange(len(firsts)), [*map(len, firsts)]), np.concatenate(firsts)))
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)  # depth first: by the first item, the wider node before; 0 is the root
    place[-1] = 0
    parent = np.concatenate(([-1], place[np.concatenate(above)[order]]))
    names = _numbered(leaves, firsts[:-1])
    labels = pa.concat_arrays([*names, leaves]).take(pa.array(order))
    return Hierarchy(parent, pa.concat_arrays([pa.array([ROOT], type=pa.string()), labels]))


def by_prefix(items: Any, lengths: Sequence[int] | None = None, separator: str | None = None) -> Hierarchy:
    """Items that begin alike share a node.

    Parameters
    ----------
    lengths
        The prefix lengths that make a level, for instance (1, 3) for ICD. Default: every length that tells items apart.
    separator
        Where given, the prefixes end at each occurrence of this text: `food/dairy/milk` with "/".

    Examples
    --------
    >>> print(by_prefix(["E10", "E11", "I10"], lengths=[1]).show())
    ALL  3 items
    ├── E*  2 items
    │   ├── E10
    │   └── E11
    └── I*  1 item
        └── I10
    """
    leaves = as_text(items)
    if separator is not None:
        return Hierarchy.from_levels(leaves, _separated(leaves, separator))
    if lengths is not None and (not lengths or min(lengths) < 1):
        raise ParameterError("lengths", "be whole numbers of at least 1", list(lengths))
    longest = min(pc.max(pc.utf8_length(leaves)).as_py() or 0, LONGEST_PREFIX)
    wanted = sorted(set(lengths)) if lengths is not None else list(range(1, longest))
    tree = Hierarchy.from_levels(leaves, [_prefix(leaves, length) for length in wanted])
    return tree if lengths is not None else _without_single_children(tree)


def by_frequency(data: Transactions, fanout: int = 5) -> Hierarchy:
    """Neighbours in order of frequency share a node: what is rare is generalised with what is rare.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "y"], ["a", "y"], ["b"], ["z"]])
    >>> by_frequency(data, fanout=2).items.to_pylist()
    ['a', 'y', 'b', 'z']
    """
    order = np.lexsort((np.arange(data.n_items), -data.item_counts))
    return balanced(data.labels.take(pa.array(order)), fanout)


def by_cooccurrence(data: Transactions, fanout: int = 5) -> Hierarchy:
    """Items that occur in the same transactions share a node: level by level, each takes its most similar free ones.

    The similarity of two nodes is the cosine of the sets of transactions that hold them. The most frequent node
    chooses first; those that nobody chose are grouped in order of frequency.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "z"], ["a", "z"], ["b", "y"], ["b", "y"]])
    >>> print(by_cooccurrence(data, fanout=2).show(depth=1))
    ALL  4 items
    ├── group1  2 items
    └── group2  2 items
    """
    _check_fanout(fanout)
    matrix = data.to_scipy().astype(np.float32)
    member = np.arange(data.n_items, dtype=np.int64)  # the group of each item, level by level
    levels: list[Longs] = []
    while matrix.shape[1] > fanout:
        group = _similar_groups(matrix, fanout)
        member = group[member]
        levels.append(member)
        matrix = _merged(matrix, group)
    order = np.lexsort((np.arange(data.n_items), *levels)) if levels else np.arange(data.n_items)
    leaves = data.labels.take(pa.array(order))
    return _of_groups(leaves, [level[order] for level in levels])


def _check_fanout(fanout: int) -> None:
    if fanout < 2:
        raise ParameterError("fanout", "be at least 2", fanout, "Choose a larger fan-out.")


def _powers(size: int, fanout: int) -> list[int]:
    """How many items the nodes of each level stand for, coarse first, as long as there is more than one node."""
    widths, width = [], fanout
    while width < size:
        widths.append(width)
        width *= fanout
    return widths[::-1]


def _numbered(leaves: pa.StringArray, starts: Sequence[Longs]) -> list[pa.StringArray]:
    """Names of contiguous groups that say nothing of their items; `starts` are their first items, coarse to fine.

    Examples
    --------
    >>> _numbered(pa.array(["a", "b", "c"]), [np.array([0, 2]), np.array([0, 1, 2])])[1].to_pylist()
    ['group1.1', 'group1.2', 'group2.1']
    """
    found: list[pa.StringArray] = []
    for level, first in enumerate(starts):
        above = starts[level - 1] if level else np.array([0])
        inside = np.searchsorted(above, first, side="right") - 1
        number = np.arange(len(first)) - np.searchsorted(first, above)[inside] + 1
        fronts = found[-1] if level else pa.array([_free_name(leaves)], pa.string())
        texts = pc.cast(pa.array(number), pa.string())
        found.append(pc.binary_join_element_wise(fronts.take(pa.array(inside)), texts, "." if level else ""))
    return found


def _free_name(leaves: pa.StringArray) -> str:
    """How groups are called: no item begins like that."""
    name = "group"
    while pc.any(pc.starts_with(leaves, name)).as_py():
        name += "_"
    return name


def _of_groups(leaves: pa.StringArray, fine_to_coarse: list[Longs]) -> Hierarchy:
    """A tree of contiguous groups."""
    levels = []
    starts = [np.flatnonzero(np.diff(group, prepend=-1)) for group in reversed(fine_to_coarse)]
    for names, first in zip(_numbered(leaves, starts), starts, strict=True):
        levels.append(names.take(pa.array(np.repeat(np.arange(len(first)), np.diff(first, append=len(leaves))))))
    return Hierarchy.from_levels(leaves, levels)


def _prefix(leaves: pa.StringArray, length: int) -> pa.StringArray:
    """`E*` for `E11`; empty for items that are no longer than the prefix."""
    front = pc.binary_join_element_wise(pc.utf8_slice_codeunits(leaves, 0, length), "*", "")
    return pc.if_else(pc.greater(pc.utf8_length(leaves), length), front, pa.scalar(""))


def _separated(leaves: pa.StringArray, separator: str) -> list[pa.StringArray]:
    parts = [str(label).split(separator) for label in leaves.to_pylist()]
    deepest = max((len(words) for words in parts), default=1)
    return [
        pa.array([separator.join(words[:depth]) if len(words) > depth else "" for words in parts], type=pa.string())
        for depth in range(1, deepest)
    ]


def _without_single_children(tree: Hierarchy) -> Hierarchy:
    """The same tree without inner nodes that have only one child."""
    children = np.bincount(tree.parent[1:], minlength=len(tree))
    drop = (children == 1) & ~tree.is_leaf
    drop[0] = False
    parent = tree.parent.copy()
    while (drop[parent[1:]]).any():
        parent[1:] = np.where(drop[parent[1:]], tree.parent[parent[1:]], parent[1:])
    place = np.cumsum(~drop) - 1
    kept = ~drop
    return Hierarchy(
        np.concatenate(([-1], place[parent[kept][1:]])), tree.labels.filter(pa.array(kept)), tree.notes
    )._without_double_root()


def _similar_groups(matrix: Any, fanout: int) -> Longs:
    """The group of each column: greedy, the most frequent first, with the free columns that are most similar to it."""
    together = (matrix.T @ matrix).tocsr()
    together.sort_indices()
    frequency = together.diagonal()
    order = np.lexsort((np.arange(len(frequency)), -frequency))
    scale = 1 / np.sqrt(np.maximum(frequency, 1))
    group = np.full(len(frequency), -1, dtype=np.int64)
    groups = 0
    for column in order.tolist():
        if group[column] >= 0:
            continue
        near = together.indices[together.indptr[column] : together.indptr[column + 1]]
        cosine = together.data[together.indptr[column] : together.indptr[column + 1]] * scale[near]
        free = (group[near] < 0) & (near != column)
        near, cosine = near[free], cosine[free]
        if len(near) < fanout - 1:
            continue  # too few friends: left to the end
        best = near[np.lexsort((near, -cosine))[: fanout - 1]]
        group[column] = group[best] = groups
        groups += 1
    lonely = order[group[order] < 0]
    group[lonely] = groups + np.arange(len(lonely)) // fanout
    return group


def _merged(matrix: Any, group: Longs) -> Any:
    """The transactions in terms of groups: a group is there if any of its columns is."""
    from scipy.sparse import csr_array

    shape = (matrix.shape[0], int(group.max()) + 1)
    merged = csr_array((np.ones(matrix.nnz, dtype=np.float32), group[matrix.indices], matrix.indptr), shape=shape)
    merged.sum_duplicates()
    merged.data[:] = 1
    return merged
