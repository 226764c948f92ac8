"""What is wrong with a hierarchy's source, said so that a person can mend it, and the repairs that can be made.

Every source becomes *rows* first: an item and its general names, coarse to fine. An **error** stops the reading (an
item with two parents, a cycle, an item without a name, items of the data that are missing); with `repair` it is
mended in the stated way instead. A **warning** never stops anything (a level gap, a node with a single child).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import DataError
from anonset.data.hierarchy.tree import ROOT, Hierarchy
from anonset.data.transactions import as_text

EXAMPLES = 3
UNLISTED = "unlisted"


@dataclass(frozen=True)
class Problem:
    """One kind of problem: what it is, how grave, how often it occurs, and what repairing does about it."""

    kind: Literal["two-parents", "cycle", "nameless", "missing", "gap", "ragged", "single-child", "repeated-label"]
    severity: Literal["error", "warning"]
    message: str
    repair: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}{' Repair: ' + self.repair if self.repair else ''}"


@dataclass(frozen=True, eq=False)
class Rows:
    """A hierarchy's source in one shape: per item its general names, coarse to fine (null where there is none)."""

    items: pa.StringArray
    levels: list[pa.StringArray]
    root: str = ROOT
    problems: tuple[Problem, ...] = ()
    levelled: bool = True  # whether the columns are levels, so that an empty one says something


def assemble(rows: Rows, items: Any = None) -> tuple[Hierarchy, list[Problem]]:
    """The hierarchy with every repair made, and what had to be repaired."""
    problems = list(rows.problems)
    rows = _named(rows, problems)
    rows = _one_path_each(rows, problems)
    _gaps(rows, problems)
    tree, missing = cover(Hierarchy.from_levels(rows.items, list(rows.levels), root=rows.root), items)
    return tree, [*problems, *missing]


def strict(tree: Hierarchy, problems: list[Problem], source: str | None, repair: bool) -> Hierarchy:
    """The hierarchy, with what was repaired as notes; the first error is raised unless repairs are wanted."""
    grave = [problem for problem in problems if problem.severity == "error"]
    if grave and not repair:
        more = f" ({len(grave) - 1} more kinds of errors.)" if len(grave) > 1 else ""
        advice = f" Mend the file, or let `repair` do this: {grave[0].repair}"
        raise DataError(f"{grave[0].message}{advice}{more}", source=source)
    notes = tuple(f"{problem.message} {problem.repair}".strip() for problem in grave)
    return Hierarchy(tree.parent, tree.labels, notes)


def _named(rows: Rows, problems: list[Problem]) -> Rows:
    named = pc.fill_null(pc.not_equal(rows.items, ""), False)
    nameless = len(rows.items) - pc.sum(named).as_py() if len(rows.items) else 0
    if not nameless:
        return rows
    what = f"{nameless:,} line{_s(nameless)} without an item."
    problems.append(Problem("nameless", "error", what, "leave these lines out."))
    return replace(rows, items=rows.items.filter(named), levels=[level.filter(named) for level in rows.levels])


def _one_path_each(rows: Rows, problems: list[Problem]) -> Rows:
    """Without the second and later lines of an item; another path than the first is an error."""
    codes = pc.dictionary_encode(rows.items).indices.to_numpy(zero_copy_only=False)
    distinct, first = np.unique(codes, return_index=True)
    if len(distinct) == len(codes):
        return rows
    keep = np.sort(first)
    path = np.zeros(len(codes), dtype=np.int64)
    for level in rows.levels:
        label = pc.dictionary_encode(pc.fill_null(level, "")).indices.to_numpy(zero_copy_only=False)
        path = np.unique(path * (int(label.max(initial=0)) + 1) + label, return_inverse=True)[1].reshape(-1)
    differs = path != path[first[codes]]
    bad = np.unique(codes[differs], return_index=True)[1]
    if len(bad):
        names = _examples(rows.items.take(pa.array(np.flatnonzero(differs)[bad])))
        has = "item has" if len(bad) == 1 else "items have"
        what = f"{len(bad):,} {has} two different paths ({names})."
        problems.append(Problem("two-parents", "error", what, "keep the first path of each."))
    place = pa.array(keep)
    return replace(rows, items=rows.items.take(place), levels=[level.take(place) for level in rows.levels])


def _gaps(rows: Rows, problems: list[Problem]) -> None:
    if not (rows.levels and rows.levelled):
        return
    absent = np.array([pc.fill_null(pc.equal(level, ""), True).to_numpy(zero_copy_only=False) for level in rows.levels])
    trailing = np.logical_and.accumulate(absent[::-1], axis=0)[::-1]
    gaps = (absent & ~trailing).any(axis=0)
    if gaps.any():
        names = _examples(rows.items.filter(pa.array(gaps)))
        what = (
            f"{int(gaps.sum()):,} item{_s(gaps.sum())} with a level left out between two others ({names}): closed up."
        )
        problems.append(Problem("gap", "warning", what))
    shorter = trailing.any(axis=0) & ~gaps
    if shorter.any():
        what = f"{int(shorter.sum()):,} item{_s(shorter.sum())} with fewer levels than the others: they hang higher."
        problems.append(Problem("ragged", "warning", what))


def cover(tree: Hierarchy, items: Any) -> tuple[Hierarchy, list[Problem]]:
    """The hierarchy with a leaf for every one of `items`; what is missing hangs below its namesake or `unlisted`."""
    if items is None:
        return tree, []
    wanted = as_text(items)
    missing = wanted.filter(pa.array(tree.nodes_of(wanted) < 0))
    if not len(missing):
        return tree, []
    are = "item of the data is" if len(missing) == 1 else "items of the data are"
    what = f"{len(missing):,} {are} not in the hierarchy"
    repair = f"hang each below the node of its own name, or below a node '{UNLISTED}'."
    problem = Problem("missing", "error", f"{what} ({_examples(missing)}).", repair)
    return _with_leaves(tree, missing), [problem]


def _with_leaves(tree: Hierarchy, items: pa.StringArray) -> Hierarchy:
    table = tree.to_table()
    inner = pc.index_in(items, value_set=tree.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    root = str(tree.labels[0])
    front = [] if root == ROOT else [root]  # a root with a name of its own is written as a level
    paths = [[*front, *(tree.path(int(node)) if node > 0 else (UNLISTED,))] for node in inner]
    levels = []
    names = table.column_names[1:]
    for place in range(max(len(names), *map(len, paths))):
        added = pa.array([path[place] if place < len(path) else "" for path in paths], type=pa.string())
        old = table[names[place]].combine_chunks() if place < len(names) else pa.array([""] * tree.n_items)
        levels.append(pa.concat_arrays([old, added]))
    leaves = pa.concat_arrays([tree.items, items])
    return Hierarchy.from_levels(leaves, levels, root=ROOT)


def shape_problems(tree: Hierarchy) -> list[Problem]:
    """Warnings about the tree itself."""
    problems = []
    children = np.bincount(tree.parent[1:], minlength=len(tree))
    single = np.flatnonzero(children == 1)
    if len(single):
        has = "inner node has" if len(single) == 1 else "inner nodes have"
        what = f"{len(single):,} {has} a single child; it tells nothing more than its child"
        names = _examples(tree.names.take(pa.array(single)))
        problems.append(Problem("single-child", "warning", f"{what} ({names})."))
    renamed = np.flatnonzero(pc.not_equal(tree.names, tree.labels).to_numpy(zero_copy_only=False))
    if len(renamed):
        names = _examples(tree.names.take(pa.array(renamed)))
        what = f"{len(renamed):,} inner nodes share their label with another node; they are published as {names} …"
        problems.append(Problem("repeated-label", "warning", what))
    return problems


def _examples(names: pa.StringArray) -> str:
    shown = ", ".join(names[:EXAMPLES].to_pylist())
    return shown + (", …" if len(names) > EXAMPLES else "")


def _s(count: Any) -> str:
    return "" if int(count) == 1 else "s"
