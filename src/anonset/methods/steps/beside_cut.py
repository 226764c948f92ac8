"""Raise a cut until known items say little of the sensitive items beside it.

Precondition   a cut that is k^m-anonymous; every sensitive item in at most one of p transactions, and in at most one of
               p of those with quasi-identifier items.
Steps          find every set of at most m published nodes beside which more than one of p transactions holds the same
               sensitive item · raise one node of each such set, the one whose parent costs least · again until none.
Postcondition  `diversity=p` holds: the root alone, where all this ends at the latest, is beside nothing but what the
               precondition says. Raising nodes keeps k^m-anonymity: a set of raised nodes is held wherever one of the
               sets below it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from anonset.data.errors import InfeasibleError
from anonset.data.hierarchy import Cut
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.methods.steps.cuts import Domain, recoded

Matrix = Any


def diverse(found: Domain, cut: Cut, m: int, p: int) -> Cut:
    """The cut, raised where it must be."""
    secrets = _matrix(found.secret)
    _require_diverse(found.data, secrets, p)
    while True:
        published = recoded(found, cut)
        bad = list(_violations(_matrix(published), secrets, m, p))
        if not bad:
            return cut
        nodes = _nodes_of(cut, published)
        raised = {_cheapest(cut, nodes[list(itemset)], published.item_counts[list(itemset)]) for itemset in bad}
        kept = np.unique(cut.published[cut.published > 0])
        kept = kept[~cut.hierarchy.is_leaf[kept]]
        cut = Cut.of_nodes(cut.hierarchy, [*kept.tolist(), *raised])


def _require_diverse(data: Transactions, secrets: Matrix, p: int) -> None:
    """Refuse what even a single node for everything could not promise."""
    filled = np.flatnonzero(data.lengths > 0)
    for rows in (np.arange(len(data)), filled):
        most = int(secrets[rows].sum(axis=0).max(initial=0)) if secrets.shape[1] and len(rows) else 0
        if most * p > len(rows):
            raise InfeasibleError(
                f"'diversity' must be at most {len(rows) // most:,}: a sensitive item occurs in {most:,} of "
                f"{len(rows):,} transactions. Got {p:,}. Choose a smaller one."
            )


def _matrix(data: Transactions) -> Matrix:
    from scipy.sparse import csr_array  # slow to load, and most runs keep nothing beside a cut

    return csr_array(data.to_scipy().astype(np.int64))


def _violations(nodes: Matrix, secrets: Matrix, m: int, p: int) -> Iterator[tuple[int, ...]]:
    """Sets of at most m columns beside which a sensitive item is too frequent."""
    total = np.asarray(nodes.sum(axis=0)).reshape(-1)
    beside = (nodes.T @ secrets).tocoo()
    single = np.unique(beside.coords[0][beside.data * p > total[beside.coords[0]]])
    yield from ((int(node),) for node in single)
    if m == 1:
        return
    if m == 2:
        yield from _pairs(nodes, secrets, p)
        return
    columns = nodes.tocsc()
    for node in np.flatnonzero(np.asarray((nodes.T @ secrets).sum(axis=1)).reshape(-1)).tolist():
        rows = columns.indices[columns.indptr[node] : columns.indptr[node + 1]]
        inner = _violations(nodes[rows][:, node + 1 :], secrets[rows], m - 1, p)
        yield from ((node, *(node + 1 + other for other in itemset)) for itemset in inner)


def _pairs(nodes: Matrix, secrets: Matrix, p: int) -> Iterator[tuple[int, ...]]:
    together = (nodes.T @ nodes).tocsr()
    columns = secrets.tocsc()
    for item in range(secrets.shape[1]):
        holders = nodes[columns.indices[columns.indptr[item] : columns.indptr[item + 1]]]
        if not holders.shape[0]:
            continue
        inside = (holders.T @ holders).tocoo()
        one, other = inside.coords
        upper = one < other
        one, other, count = one[upper], other[upper], inside.data[upper]
        bad = count * p > np.asarray(together[one, other]).reshape(-1)
        yield from zip(one[bad].tolist(), other[bad].tolist(), strict=True)


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
