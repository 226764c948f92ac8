"""The hierarchy and the cut through it, as plain data that the page draws as a tree.

A big hierarchy is drawn from the top as far as the page can bear; what is not shown is counted.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from anonset.data.errors import printable
from anonset.data.hierarchy import Cut, Hierarchy
from anonset.data.hierarchy.cut import LEFT_OUT
from anonset.data.transactions import Longs, Transactions

MOST_NODES = 1500
MOST_CHILDREN = 60
MOST_LEVELS = 40
MOST_OPEN = 120  # nodes that the page shows at first


def drawing(cut: Cut, data: Transactions) -> dict[str, Any]:
    """How many items are published as what, and the tree with the cut through it."""
    tree = cut.hierarchy
    kept = cut.published != LEFT_OUT
    general = np.unique(cut.published[kept & (cut.published != tree.leaves)])
    return {
        "items": tree.n_items,
        "exact": int((cut.published == tree.leaves).sum()),
        "generalised": int((kept & (cut.published != tree.leaves)).sum()),
        "general_names": len(general),
        "left_out": int((~kept).sum()),
        "tree": _Drawing(cut, data).root(),
    }


class _Drawing:
    """Breadth first, so that what lies near the root is there before anything deeper."""

    def __init__(self, cut: Cut, data: Transactions) -> None:
        self.cut, self.tree = cut, cut.hierarchy
        self.state = _states(cut)
        self.occurrences = _occurrences(self.tree, data)
        self.loss = _losses(cut, self.occurrences)

    def root(self) -> dict[str, Any]:
        top = self._entry(0)
        waiting = deque([(0, top)])
        drawn = 1
        while waiting:
            node, entry = waiting.popleft()
            children = self.tree.children(node)
            room = 0 if self.tree.depth[node] >= MOST_LEVELS else min(MOST_CHILDREN, MOST_NODES - drawn)
            shown = children[:room]
            entry["children"] = [self._entry(child) for child in shown]
            entry["more"] = len(children) - len(shown)
            entry["open"] = entry["state"] == "above" and drawn + len(shown) <= MOST_OPEN
            drawn += len(shown)
            waiting.extend(zip(shown, entry["children"], strict=True))
        return top

    def _entry(self, node: int) -> dict[str, Any]:
        return {
            "label": printable(str(self.tree.labels[node]), keep=""),
            "items": int(self.tree.leaf_counts[node]),
            "occurrences": int(self.occurrences[node]),
            "state": self.state[node],
            "loss": float(self.loss[node]),
        }


def _states(cut: Cut) -> list[str]:
    """Of each node: `above` the cut, `exact` (an item as itself), `general` (for all below), `below` one, or `out`."""
    tree = cut.hierarchy
    names = np.array(["above", "exact", "general", "below", "out"])
    state = np.zeros(len(tree), dtype=np.int8)
    published = cut.published[cut.published != LEFT_OUT]
    reach = np.zeros(len(tree) + 1, dtype=np.int64)
    np.add.at(reach, np.unique(published) + 1, 1)
    np.add.at(reach, tree.end[np.unique(published)], -1)
    state[np.cumsum(reach)[:-1] > 0] = 3
    state[published] = np.where(tree.is_leaf[published], 1, 2)
    state[tree.leaves[cut.published == LEFT_OUT]] = 4
    return [str(name) for name in names[state]]


def _occurrences(tree: Hierarchy, data: Transactions) -> Longs:
    """Items at or below each node, over all original transactions."""
    at = np.zeros(len(tree) + 1, dtype=np.int64)
    nodes = tree.nodes_of(data.labels)
    np.add.at(at, nodes[nodes >= 0] + 1, data.item_counts[nodes >= 0])
    total = np.cumsum(at)
    return np.asarray(total[tree.end] - total[:-1], dtype=np.int64)


def _losses(cut: Cut, occurrences: Longs) -> npt.NDArray[np.float64]:
    """The share of the whole loss (NCP) that lies at or below each node."""
    tree = cut.hierarchy
    stands_for = np.where(cut.published == LEFT_OUT, tree.n_items, tree.leaf_counts[np.maximum(cut.published, 0)])
    lost = np.zeros(len(tree) + 1)
    lost[tree.leaves + 1] = np.where(stands_for > 1, occurrences[tree.leaves] * stands_for, 0)
    total = np.cumsum(lost)
    return np.asarray((total[tree.end] - total[:-1]) / max(float(total[-1]), 1.0), dtype=np.float64)
