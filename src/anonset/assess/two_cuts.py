"""Two k^m-anonymous releases of the same transactions by different cuts: what anybody can say from the two files alone.

Definition. Two cuts of one hierarchy have a join: of each item's two nodes the coarser one. Whatever a transaction is,
both releases publish it as sets that say the same in terms of the join. So a transaction of the one release can be one
of the other only if their joined sets are equal; and then it can be. Somebody who knows items of a person who is in
both is left, in each class of equal joined sets, with those that hold the items' nodes in both releases: at most the
smaller of the two numbers, and some way to pair the transactions reaches it. The sum over all classes is how many
candidates are left at most. Where it is less than k, although each release alone leaves k, the two together break the
promise. Of the known items m, two are looked at.

A node that is coarser in the one release is held there by every transaction of the class. So only nodes that are the
finer one of two are counted: pairs of them that one release holds, and pairs of which each release holds one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset.assess.risk.attackers.whole_basket import codes
from anonset.data.arrays import distinct
from anonset.data.errors import InputError, argument
from anonset.data.hierarchy import Hierarchy
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Mask, Transactions

MOST_PAIRS = 40_000_000
"""Pairs of nodes in transactions that are counted; where there are more, only single nodes are."""


@dataclass(frozen=True)
class TwoCuts:
    """Of `compared` sets of known items so many leave fewer than k candidates: `exposed`, the fewest of them `fewest`.

    `size` is how many items the sets have at most.
    """

    k: int
    size: int
    compared: int
    exposed: int
    fewest: int

    @property
    def holds(self) -> bool:
        """Whether both releases together leave everybody k candidates, as far as the files can say."""
        return not self.exposed

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**vars(self), "holds": self.holds}


@dataclass(frozen=True, eq=False)
class _Side:
    """A release: its transactions in nodes, the class of each, how many each class has, and which nodes are finer here.

    Nodes that both releases use are `equal`; they are counted on one side.
    """

    nodes: Transactions
    of: Longs
    sizes: Longs
    finer: Mask
    equal: Mask

    def counted(self, equal: bool) -> Transactions:
        """The transactions with those nodes alone that are counted here."""
        return self.nodes.only(self.finer | self.equal if equal else self.finer)


def together(new: Release, old: Release, k: int, m: int, tree: Hierarchy) -> TwoCuts:
    """How many candidates both releases leave who knows up to m (two at the most) items of a person who is in both.

    Examples
    --------
    >>> from anonset.data.hierarchy import read_hierarchy
    >>> tree = read_hierarchy({"item": ["a", "b", "c", "d"], "kind": ["X", "X", "Y", "Y"]})
    >>> one = Release(Transactions.from_lists([["X", "c"], ["X", "c"], ["X", "d"], ["X", "d"]]))
    >>> two = Release(Transactions.from_lists([["a", "Y"], ["a", "Y"], ["b", "Y"], ["b", "Y"]]))
    >>> together(one, two, k=2, m=1, tree=tree).holds
    True
    """
    later, earlier = (_in_nodes(release.transactions.quasi(), tree) for release in (new, old))
    one, other = _sides(later, earlier, tree)
    left = [_single(one, other, equal=True), _single(other, one, equal=False)]
    pairs = m > 1 and _pairs_of(one) + _pairs_of(other) + _mixed_of(one, other) <= MOST_PAIRS
    if pairs:
        left += [_double(one, other, equal=True), _double(other, one, equal=False), _mixed(one, other)]
    found = np.concatenate(left)
    found = found[found > 0]
    exposed = found[found < k]
    return TwoCuts(k, 2 if pairs else 1, len(found), len(exposed), int(exposed.min()) if len(exposed) else 0)


def _in_nodes(data: Transactions, tree: Hierarchy) -> Transactions:
    """The published names as nodes of the hierarchy; an error where they are none, or no cut."""
    node = pc.index_in(data.labels, value_set=tree.names).fill_null(-1).to_numpy(zero_copy_only=False)
    if (node[data.item_counts > 0] < 0).any():
        advice = "Give the one that both releases were cut through."
        raise InputError(f"{argument('hierarchy')} must hold every name that is published. {advice}")
    found = Transactions.from_codes(data.offsets, node[data.items], tree.names)
    used = found.item_counts > 0
    before = np.concatenate(([0], np.cumsum(used)))
    if (used & (before[tree.end] - before[np.arange(len(tree)) + 1] > 0)).any():
        raise InputError(
            "Only releases by a cut can be compared through a hierarchy; here a node stands beside its own."
        )
    return found


def _sides(new: Transactions, old: Transactions, tree: Hierarchy) -> tuple[_Side, _Side]:
    """Both releases with their classes of equal joined sets."""
    used = new.item_counts > 0, old.item_counts > 0
    joins = _join(tree, used[1]), _join(tree, used[0])
    of = codes(*(_joined(data, join) for data, join in zip((new, old), joins, strict=True)))
    many = max(int(part.max(initial=-1)) for part in of) + 1
    equal = used[0] & used[1]
    one, other = (
        _Side(data, part, np.bincount(part, minlength=many), mine & (join != np.arange(len(tree))), equal)
        for data, part, mine, join in zip((new, old), of, used, joins, strict=True)
    )
    return one, other


def _join(tree: Hierarchy, other: Mask) -> Ints:
    """For each node the one at or above it that the other release uses, else itself."""
    node = np.arange(len(tree))
    for _ in range(tree.height + 1):
        up = (node >= 0) & ~other[np.maximum(node, 0)]
        node[up] = tree.parent[node[up]]
    return np.where(node >= 0, node, np.arange(len(tree))).astype(np.int32)


def _joined(data: Transactions, join: Ints) -> Transactions:
    """Each transaction as the set of its joined nodes."""
    pairs = distinct(data.rows * data.n_items + join[data.items])
    bounds = np.concatenate(([0], np.cumsum(np.bincount(pairs // data.n_items, minlength=len(data)))))
    return Transactions.from_codes(bounds, (pairs % data.n_items).astype(np.int32), data.labels)


def _single(side: _Side, other: _Side, equal: bool) -> Longs:
    """For each node that is counted here how many candidates are left."""
    data = side.counted(equal)
    return _left(side.of[data.rows], data.items.astype(np.int64), other)


def _double(side: _Side, other: _Side, equal: bool) -> Longs:
    """The same for pairs of nodes in a transaction of this side; two equal ones are counted with the other side."""
    data = side.counted(True)
    after = np.repeat(data.offsets[1:], data.lengths) - np.arange(data.nnz) - 1
    first = np.repeat(np.arange(data.nnz), after)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    one, two = data.items[first].astype(np.int64), data.items[second]
    keep = slice(None) if equal else side.finer[one] | side.finer[two]
    return _left(side.of[data.rows[first]][keep], (one * data.n_items + two)[keep], other)


def _left(of: Longs, what: Longs, other: _Side) -> Longs:
    """For each thing the sum over classes of those that hold it, or of the other side's, if they are fewer."""
    things, thing = np.unique(what, return_inverse=True)
    lines, count = np.unique(of * max(1, len(things)) + thing.reshape(-1), return_counts=True)
    fewer = np.minimum(count, other.sizes[lines // max(1, len(things))])
    return np.bincount(lines % max(1, len(things)), fewer, minlength=len(things)).astype(np.int64)


def _mixed(new: _Side, old: _Side) -> Longs:
    """The same for a node that is finer here and one that is finer there."""
    lines = [_lines(side) for side in (new, old)]
    starts, ends = (np.searchsorted(lines[1][0], lines[0][0], side=side) for side in ("left", "right"))
    many = ends - starts
    one = np.repeat(np.arange(len(many)), many)
    two = np.repeat(starts, many) + np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many)
    fewer = np.minimum(lines[0][2][one], lines[1][2][two])
    _, pair = np.unique(lines[0][1][one] * new.nodes.n_items + lines[1][1][two], return_inverse=True)
    return np.bincount(pair.reshape(-1), fewer).astype(np.int64)


def _lines(side: _Side) -> tuple[Longs, Longs, Longs]:
    """Class, finer node, and how many transactions of the class hold it; by class."""
    data = side.counted(False)
    keys, count = np.unique(side.of[data.rows] * data.n_items + data.items, return_counts=True)
    return keys // data.n_items, keys % data.n_items, count


def _pairs_of(side: _Side) -> int:
    many = side.counted(True).lengths
    return int((many * (many - 1) // 2).sum())


def _mixed_of(new: _Side, old: _Side) -> int:
    size = len(new.sizes)
    one, two = (np.bincount(_lines(side)[0], minlength=size) for side in (new, old))
    return int((one * two).sum())
