"""Everything that is wrong with a hierarchy's source, at once."""

from __future__ import annotations

from typing import Any

from anonset.data.hierarchy.problems import Problem, assemble, cover, shape_problems
from anonset.data.hierarchy.reading import parse
from anonset.data.hierarchy.tree import Hierarchy


def lint(source: Any, items: Any = None) -> list[Problem]:
    """All problems of a hierarchy's source (a path, a table, a `Hierarchy`); `items` are the labels it must cover.

    Examples
    --------
    >>> for problem in lint({"item": ["milk", "milk"], "level1": ["dairy", "drinks"]}):
    ...     print(problem)
    error: 1 item has two different paths (milk). Repair: keep the first path of each.
    warning: 1 inner node has a single child; it tells nothing more than its child (dairy).
    """
    if isinstance(source, Hierarchy):
        return [*cover(source, items)[1], *shape_problems(source)]
    tree, problems = assemble(parse(source), items)
    return [*problems, *shape_problems(tree)]
