"""A hierarchy as a tree of text lines, with or without a cut through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Tree(Protocol):
    """What of a hierarchy is drawn."""

    @property
    def labels(self) -> Any:
        """The name of each node."""

    @property
    def depth(self) -> Any:
        """How far below the root each node is."""

    @property
    def is_leaf(self) -> Any:
        """Whether each node is an item."""

    @property
    def leaf_counts(self) -> Any:
        """How many items each node stands for."""

    def children(self, node: int) -> list[int]:
        """The nodes right below one."""


def draw(
    tree: Tree,
    depth: int | None = None,
    widest: int = 50,
    note: Callable[[int], str] = lambda node: "",
    ends: Callable[[int], bool] = lambda node: False,
) -> str:
    """At most `depth` levels below the root, at most `widest` children of each node.

    `note` says something about a node, `ends` whether nothing below it is drawn.
    """
    lines: list[str] = []
    waiting: list[tuple[int, str, str]] = [(0, "", "")]  # node (or how many more, negative), what stands before it, …
    while waiting:
        node, front, indent = waiting.pop()
        if node < 0:
            lines.append(f"{front}… {-node:,} more")
            continue
        lines.append(f"{front}{tree.labels[node]}{_size(tree, node)}{note(node)}")
        if ends(node) or (depth is not None and tree.depth[node] >= depth):
            continue
        waiting.extend(reversed(_below(tree, node, indent, widest)))
    return "\n".join(lines)


def _below(tree: Tree, node: int, indent: str, widest: int) -> list[tuple[int, str, str]]:
    """The children to draw, each with what stands before it and before everything below it."""
    children = tree.children(node)
    shown = children[:widest] + ([widest - len(children)] if len(children) > widest else [])
    inner = [(child, f"{indent}├── ", f"{indent}│   ") for child in shown[:-1]]
    return inner + [(child, f"{indent}└── ", f"{indent}    ") for child in shown[-1:]]


def _size(tree: Tree, node: int) -> str:
    if tree.is_leaf[node]:
        return ""
    count = int(tree.leaf_counts[node])
    return f"  {count:,} item{'' if count == 1 else 's'}"
