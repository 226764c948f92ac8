"""Categories in k-anonymity, written with sets and loops: closed sets, centers, their most specific nodes, losses."""

from __future__ import annotations

from collections import Counter

Tree = dict[str, tuple[str, ...]]  # item: its categories, coarse to fine


def categories(item: str, tree: Tree) -> list[tuple[int, str]]:
    """The categories of an item with their levels; one is known by its whole path."""
    path = tree.get(item, ())
    return [(level + 1, "/".join(path[: level + 1])) for level in range(len(path))]


def closed(row: set[str], tree: Tree, levels: set[int]) -> set[tuple[int, str]]:
    """Items (level 0) and their categories at these levels."""
    nodes = {(0, item) for item in row}
    return nodes | {node for item in row for node in categories(item, tree) if node[0] in levels}


def center(rows: list[set[tuple[int, str]]], add: str) -> set[tuple[int, str]]:
    """What more than half hold, or two thirds, or all."""
    held = Counter(node for row in rows for node in row)
    enough = {
        "majority": lambda count: 2 * count > len(rows),
        "most": lambda count: 3 * count >= 2 * len(rows),
        "none": lambda count: count == len(rows),
    }
    return {node for node, count in held.items() if enough[add](count)}


def most_specific(nodes: set[tuple[int, str]], tree: Tree) -> set[tuple[int, str]]:
    """Without the categories of items and of finer categories that are there, too."""
    covered = {node for level, name in nodes if level == 0 for node in categories(name, tree)}
    for level, name in nodes:
        if level:
            path = name.split("/")
            covered |= {(place, "/".join(path[:place])) for place in range(1, level)}
    return nodes - covered


def at_level(nodes: set[tuple[int, str]], level: int, tree: Tree) -> set[str]:
    """What a published set says at a level."""
    said = set()
    for depth, name in nodes:
        path = tree.get(name, ()) if depth == 0 else tuple(name.split("/"))
        if len(path) >= level:
            said.add("/".join(path[:level]))
    return said


def penalty(item: str, nodes: set[tuple[int, str]], tree: Tree) -> float:
    """NCP of one item that is published like this."""
    if (0, item) in nodes:
        return 0.0
    for level, name in reversed(categories(item, tree)):
        if (level, name) in nodes:
            inside = [other for other in tree if (level, name) in categories(other, tree)]
            return len(inside) / len(tree)
    return 1.0
