"""Raise a cut until known items say little of the sensitive items beside it.

Precondition   a cut that is k^m-anonymous; every sensitive item in at most one of p transactions, and in at most one of
               p of those with quasi-identifier items.
Steps          find every set of at most m published nodes beside which more than one of p transactions holds the same
               sensitive item · raise one node of each such set, the one whose parent costs least · again until none.
Postcondition  `diversity=p` holds: the root alone, where all this ends at the latest, is beside nothing but what the
               precondition says. Raising nodes keeps k^m-anonymity: a set of raised nodes is held wherever one of the
               sets below it is.
In persons     the same of transactions and of different known users, in the precondition and in every step; an unknown
               user who holds a sensitive item is one more holder. Raising nodes loses no user, so it ends as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, setting
from anonset.data.hierarchy import Cut
from anonset.data.spec import Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.steps.cuts import Domain, recoded

Matrix = Any


@dataclass(frozen=True, eq=False)
class _Holders:
    """Published nodes and sensitive items of some transactions, and whose these are; None: each is somebody else's."""

    nodes: Matrix
    secrets: Matrix
    whose: Longs | None  # negative: unknown; counts for nobody, but as a holder of its own

    def everybody(self) -> int:
        """How many there are."""
        if self.whose is None:
            return int(self.nodes.shape[0])
        return len(distinct(self.whose[self.whose >= 0]))

    def of_nodes(self) -> Longs:
        """How many hold each node."""
        rows = np.repeat(np.arange(self.nodes.shape[0]), np.diff(self.nodes.indptr))
        return _different(self.nodes.indices, self.whose, rows, self.nodes.shape[1])

    def of_secrets(self) -> Longs:
        """How many hold each sensitive item."""
        rows = np.repeat(np.arange(self.secrets.shape[0]), np.diff(self.secrets.indptr))
        return _different(self.secrets.indices, self._holder(), rows, self.secrets.shape[1])

    def beside(self) -> Longs:
        """How many hold each node and sensitive item together: a table, nodes by sensitive items."""
        held = self.secrets.tocoo()
        there = self.nodes[held.coords[0]]
        many = np.diff(there.indptr)
        width = self.secrets.shape[1]
        keys = there.indices.astype(np.int64) * width + np.repeat(held.coords[1], many)
        rows = np.repeat(held.coords[0], many)
        return _different(keys, self._holder(), rows, self.nodes.shape[1] * width).reshape(self.nodes.shape[1], width)

    def _holder(self) -> Longs | None:
        if self.whose is None:
            return None
        own = int(self.whose.max(initial=0)) + 1 + np.arange(len(self.whose))
        return np.where(self.whose < 0, own, self.whose)

    def among(self, rows: Ints | Longs, after: int = -1) -> _Holders:
        """The same in these transactions only, for the nodes after one."""
        nodes = self.nodes[rows][:, after + 1 :]
        return _Holders(nodes, self.secrets[rows], None if self.whose is None else self.whose[rows])


def _different(keys: Ints | Longs, whose: Longs | None, rows: Longs, size: int) -> Longs:
    """For each of `size` keys in how many of the rows it is, or in those of how many different known persons."""
    if whose is None:
        return np.bincount(keys, minlength=size).astype(np.int64)
    who = whose[rows]
    width = int(who.max(initial=0)) + 1
    pairs = distinct(keys[who >= 0].astype(np.int64) * width + who[who >= 0])
    return np.bincount(pairs // width, minlength=size).astype(np.int64)


def diverse(found: Domain, cut: Cut, m: int, p: int, unit: Unit = "transaction") -> Cut:
    """The cut, raised where it must be; in persons so that p holds of transactions and of users."""
    users = found.data.users if unit == "user" else None
    counted = [None] if users is None else [None, users.astype(np.int64)]
    secrets = _matrix(found.secret)[:, np.flatnonzero(found.secret.item_counts)]
    for whose in counted:
        _require_diverse(_Holders(_matrix(found.data), secrets, whose), p)
    while True:
        published = recoded(found, cut)
        nodes = _matrix(published)
        bad = [itemset for whose in counted for itemset in _violations(_Holders(nodes, secrets, whose), m, p)]
        if not bad:
            return cut
        node = _nodes_of(cut, published)
        raised = {_cheapest(cut, node[list(itemset)], published.item_counts[list(itemset)]) for itemset in bad}
        kept = np.unique(cut.published[cut.published > 0])
        kept = kept[~cut.hierarchy.is_leaf[kept]]
        cut = Cut.of_nodes(cut.hierarchy, [*kept.tolist(), *raised])


def _require_diverse(data: _Holders, p: int) -> None:
    """Refuse what even a single node for everything could not promise."""
    filled = data.among(np.flatnonzero(np.diff(data.nodes.indptr)))
    for those in (data, filled):
        most, everybody = int(those.of_secrets().max(initial=0)), those.everybody()
        if most * p > everybody:
            raise _infeasible(most, everybody, p, in_persons=data.whose is not None)


def _infeasible(most: int, everybody: int, p: int, *, in_persons: bool) -> InfeasibleError:
    where = (
        f"is held by {most:,} of {everybody:,} users"
        if in_persons
        else f"occurs in {most:,} of {everybody:,} transactions"
    )
    lifted = f"lift the limit: {setting('diversity', 'off')}"
    if everybody < 2 * most:
        return InfeasibleError(
            f"'diversity' of 2 or more cannot be reached, because a sensitive item {where}. "
            f"Do not publish it, do not treat it as sensitive, or {lifted}."
        )
    return InfeasibleError(
        f"'diversity' must be at most {everybody // most:,}, because a sensitive item {where}. Got {p:,}. "
        f"Choose a smaller one, or {lifted}."
    )


def _matrix(data: Transactions) -> Matrix:
    from scipy.sparse import csr_array  # slow to load, and most runs keep nothing beside a cut

    return csr_array(data.to_scipy().astype(np.int64))


def _violations(data: _Holders, m: int, p: int) -> Iterator[tuple[int, ...]]:
    """Sets of at most m nodes beside which a sensitive item is too frequent."""
    total, beside = data.of_nodes(), data.beside()
    yield from ((int(node),) for node in np.flatnonzero((beside * p > total[:, None]).any(axis=1)))
    if m == 1:
        return
    columns = data.nodes.tocsc()
    for node in np.flatnonzero(beside.any(axis=1)).tolist():
        rows = columns.indices[columns.indptr[node] : columns.indptr[node + 1]]
        inner = _violations(data.among(rows, after=node), m - 1, p)
        yield from ((node, *(node + 1 + other for other in itemset)) for itemset in inner)


def _nodes_of(cut: Cut, published: Transactions) -> Ints:
    """The node of the hierarchy behind each published item."""
    names = {name: node for node, name in enumerate(cut.hierarchy.names.to_pylist())}
    return np.array([names[name] for name in published.labels.to_pylist()], dtype=np.int32)


def _cheapest(cut: Cut, nodes: Ints, counts: Longs) -> int:
    """The parent that generalises least, weighed by how often its child is published."""
    tree = cut.hierarchy
    parents = tree.parent[nodes]
    if (parents < 0).all():
        raise InfeasibleError("'diversity' must be smaller: no generalisation reaches it. Choose a smaller one.")
    cost = np.where(parents < 0, np.inf, (tree.leaf_counts[np.maximum(parents, 0)] - tree.leaf_counts[nodes]) * counts)
    return int(parents[int(np.argmin(cost))])
