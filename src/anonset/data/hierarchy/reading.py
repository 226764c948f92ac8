"""Read a hierarchy: whatever the source looks like, it becomes rows of an item and its general names.

*table*    `item,level1,level2,…` with a header, coarse to fine or fine to coarse (detected)
*edges*    two columns `parent`/`child`, in any order
*arx*      no header, separated by semicolons: the item first, then ever more general names, often up to `*`
*amnesia*  a head (`distinct`, `name`, `type`, `height`), then lines `parent has child child …`
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from anonset.data.boundary import reads_input
from anonset.data.errors import DataError, InputError
from anonset.data.hierarchy.problems import Problem, Rows, assemble, cover, strict
from anonset.data.hierarchy.tree import Hierarchy
from anonset.data.transactions import Longs, as_text, encode

Format = Literal["table", "edges", "arx", "amnesia"]
Order = Literal["coarse-to-fine", "fine-to-coarse"]

ITEM_NAMES = ("item", "items", "leaf", "product", "code", "product_id", "item_id")
PARENT_NAMES = ("parent", "parent_id", "broader")
CHILD_NAMES = ("child", "child_id", "narrower", "item", "node")
MOST_LEVELS = 1000


@reads_input
def read_hierarchy(
    source: Any,
    *,
    format: Format | None = None,
    order: Order | None = None,
    items: Any = None,
    repair: bool = False,
) -> Hierarchy:
    """A hierarchy from a file (perhaps compressed), an Arrow table, a data frame or a dictionary of columns.

    Parameters
    ----------
    format, order
        What the source looks like and which way its levels run, where the detection is wrong.
    items
        The labels that the hierarchy must cover, for instance those of the data.
    repair
        Mend what can be mended and say so in the notes, instead of stopping at the first error.

    Examples
    --------
    >>> read_hierarchy({"child": ["milk", "brie", "dairy"], "parent": ["dairy", "dairy", "food"]}).height
    2
    """
    if isinstance(source, Hierarchy):
        return strict(*cover(source, items), None, repair)
    name = str(source) if isinstance(source, (str, os.PathLike)) else None
    tree, problems = assemble(parse(source, format, order), items)
    return strict(tree, problems, name, repair)


def as_hierarchy(value: Any) -> Hierarchy:
    """A `Hierarchy`, whatever was given for one: itself, a path, a table."""
    if isinstance(value, Hierarchy):
        return value
    return read_hierarchy(value)


@reads_input
def parse(source: Any, format: Format | None = None, order: Order | None = None) -> Rows:
    """The source as rows; nothing is judged here but cycles and second parents of an edge list."""
    if not isinstance(source, (str, os.PathLike)):
        return _from_table(_as_table(source), format, order)
    text = _text(source)
    head = text[:4096].lstrip("\ufeff \r\n").split("\n", 1)[0].strip()
    if format == "amnesia" or (format is None and head in ("distinct", "range")):
        return _from_amnesia(text, str(source))
    header = format != "arx" and _is_header(head)
    table = _read_csv(text, header, str(source))
    if not header and format is None and table.num_columns == 2 and _looks_like_edges(table):
        format = "edges"
    return _from_table(table, format or (None if header else "arx"), order)


def _text(source: str | os.PathLike[str]) -> str:
    if not Path(source).exists():
        raise DataError("There is no such file. Check the name of the hierarchy.", source=str(source))
    if Path(source).is_dir():
        raise DataError("This is a folder. Give the file that holds the hierarchy.", source=str(source))
    with pa.input_stream(str(source), compression="detect") as stream:
        content = stream.read()
    try:
        return str(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError("The hierarchy is not UTF-8 text. Save it as UTF-8.", source=str(source), line=line) from None


def _separator(line: str) -> str:
    return max(";,\t|", key=line.count) if any(mark in line for mark in ";,\t|") else ","


def _is_header(line: str) -> bool:
    cells = [cell.strip().strip('"').lower() for cell in line.split(_separator(line))]
    known = {*ITEM_NAMES, *PARENT_NAMES, *CHILD_NAMES}
    return any(cell in known or cell.rstrip("0123456789").strip(" _") == "level" for cell in cells)


def _read_csv(text: str, header: bool, source: str) -> pa.Table:
    first = text[:4096].lstrip("\r\n").split("\n", 1)[0]
    separator = _separator(first)
    names = first.rstrip("\r").split(separator) if not header else None
    columns = None if names is None else [f"column{i}" for i in range(len(names))]
    width = len(columns or first.split(separator))
    try:
        return pa_csv.read_csv(
            io.BytesIO(text.encode()),
            pa_csv.ReadOptions(column_names=columns),
            pa_csv.ParseOptions(delimiter=separator, newlines_in_values='"' in text),
            pa_csv.ConvertOptions(
                column_types={name: pa.string() for name in (columns or _cells(first, separator))},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"The hierarchy is not a table of {width} columns: {error}.", source=source) from None


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.rstrip("\r").split(separator)]


def _as_table(source: Any) -> pa.Table:
    if isinstance(source, Mapping):
        return pa.table({str(name): as_text(values) for name, values in source.items()})
    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return pa.table({str(name): as_text(source[name].fillna("").tolist()) for name in source.columns})
    raise InputError(f"Cannot read a hierarchy from a {type(source).__name__}. Give a path, a table or a Hierarchy.")


def _columns(table: pa.Table) -> dict[str, pa.StringArray]:
    if len(set(table.column_names)) < table.num_columns:
        raise InputError("Two columns of the hierarchy have the same name. Rename one of them.")
    return {name: pc.fill_null(as_text(table[name]), "") for name in table.column_names}


def _from_table(table: pa.Table, format: Format | None, order: Order | None) -> Rows:
    columns = _columns(table)
    lower = {name.lower(): name for name in columns}
    parent = next((lower[name] for name in PARENT_NAMES if name in lower), None)
    child = next((lower[name] for name in CHILD_NAMES if name in lower), None)
    if format == "edges" and (parent is None or child is None):
        child, parent = _edge_columns(columns)
    if parent and child and format in ("edges", None):
        return _from_edges(columns[child], columns[parent])
    item = next((lower[name] for name in ITEM_NAMES if name in lower), table.column_names[0])
    levels = [column for name, column in columns.items() if name != item]
    if order == "fine-to-coarse" or (order is None and _falling(levels)):
        levels = levels[::-1]
    return Rows(columns[item], levels)


def _falling(levels: list[pa.StringArray]) -> bool:
    """Whether the levels get coarser from left to right, judged by the items that have both the first and the last.

    Most fine names belong to one coarse name, most coarse ones to many fine ones; where that does not tell, the number
    of different names does.
    """
    if len(levels) < 2:
        return False
    both = pc.and_(pc.not_equal(levels[0], ""), pc.not_equal(levels[-1], ""))
    first, last = (encode(level.filter(both))[0].astype(np.int64) for level in (levels[0], levels[-1]))
    pairs = np.unique(first * (int(last.max(initial=0)) + 1) + last, return_index=True)[1]
    counts = [np.bincount(names[pairs], minlength=1) for names in (first, last)]
    branching = [float((count > 1).mean()) for count in counts]
    return branching[0] < branching[1] or (branching[0] == branching[1] and len(counts[0]) > len(counts[1]))


# --- parent/child lists -------------------------------------------------------------------------------------------


def _looks_like_edges(table: pa.Table) -> bool:
    first, second = (as_text(table[name]) for name in table.column_names)
    return bool(pc.any(pc.is_in(first, value_set=second)).as_py())


def _edge_columns(columns: dict[str, pa.StringArray]) -> tuple[str, str]:
    """Which of two unnamed columns is the child: the one whose values repeat less."""
    if len(columns) < 2:
        raise InputError("A list of edges needs two columns, the parent and the child. Got one. Check the format.")
    first, second = list(columns)[:2]
    repeats = [len(columns[name]) - pc.count_distinct(columns[name]).as_py() for name in (first, second)]
    return (first, second) if repeats[0] <= repeats[1] else (second, first)


def _from_edges(child: pa.StringArray, parent: pa.StringArray) -> Rows:
    """Rows of an edge list: a node without children is an item, one without a parent a top node."""
    codes, names = encode(pa.concat_arrays([child, parent]))
    children, parents = codes[: len(child)].astype(np.int64), codes[len(child) :].astype(np.int64)
    named = (pc.not_equal(names, "").to_numpy(zero_copy_only=False))[parents]  # an empty parent: a top node
    problems: list[Problem] = []
    above = _one_parent(children[named], parents[named], names, problems)
    above = _without_cycles(above, names, problems)
    is_parent = np.zeros(len(names), dtype=np.bool_)
    is_parent[above[above >= 0]] = True
    present = np.zeros(len(names), dtype=np.bool_)
    present[children] = True
    present &= pc.not_equal(names, "").to_numpy(zero_copy_only=False)
    leaves = np.flatnonzero(present & ~is_parent)
    return Rows(names.take(pa.array(leaves)), _chains(leaves, above, names), problems=tuple(problems), levelled=False)


def _one_parent(children: Longs, parents: Longs, names: pa.StringArray, problems: list[Problem]) -> Longs:
    """The parent of each node, −1 for none; where several are given the first, and a problem."""
    distinct, first, inverse = np.unique(children, return_index=True, return_inverse=True)
    above = np.full(len(names), -1, dtype=np.int64)
    above[distinct] = parents[first]
    differs = np.unique(children[parents != parents[first][inverse.reshape(-1)]])
    if len(differs):
        shown = ", ".join(names.take(pa.array(differs[:3])).to_pylist())
        has = "node has" if len(differs) == 1 else "nodes have"
        what = f"{len(differs):,} {has} two parents ({shown})."
        problems.append(Problem("two-parents", "error", what, "keep the first parent of each."))
    return above


def _without_cycles(above: Longs, names: pa.StringArray, problems: list[Problem]) -> Longs:
    """Parents without cycles: a node on one becomes a top node. Doubling the steps finds who never arrives."""
    size = len(above)
    jump = np.append(np.where(above >= 0, above, size), size)
    for _ in range(max(1, size).bit_length()):
        jump = jump[jump]
    lost = np.unique(jump[:size][jump[:size] < size])  # where those who never arrive go round
    if not len(lost):
        return above
    on_cycle = np.unique(np.concatenate([_round(int(node), above) for node in lost]))
    shown = ", ".join(names.take(pa.array(on_cycle[:3])).to_pylist())
    what = f"{len(on_cycle):,} node{'' if len(on_cycle) == 1 else 's'} lie above themselves, in a cycle ({shown})."
    problems.append(Problem("cycle", "error", what, "make each of them a top node."))
    mended = above.copy()
    mended[on_cycle] = -1
    return mended


def _round(start: int, above: Longs) -> list[int]:
    nodes, node = [start], int(above[start])
    while node != start:
        nodes.append(node)
        node = int(above[node])
    return nodes


def _chains(leaves: Longs, above: Longs, names: pa.StringArray) -> list[pa.StringArray]:
    """The names above each leaf, coarse to fine."""
    steps: list[Longs] = []
    node = np.where(leaves >= 0, above[leaves], -1)
    while (node >= 0).any():
        if len(steps) == MOST_LEVELS:
            raise InputError(f"A hierarchy may have at most {MOST_LEVELS:,} levels. Merge some.")
        steps.append(node)
        node = np.where(node >= 0, above[np.maximum(node, 0)], -1)
    coarse_first = steps[::-1]
    return [
        pc.if_else(pa.array(step >= 0), names.take(pa.array(np.maximum(step, 0))), pa.scalar(""))
        for step in coarse_first
    ]


# --- Amnesia ------------------------------------------------------------------------------------------------------


def _from_amnesia(text: str, source: str) -> Rows:
    """`parent has child child …` lines; the head is passed over. Names are separated by single blanks."""
    children: list[str] = []
    parents: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0] in ("distinct", "range") or (not parents and words[0] in ("name", "type", "height")):
            continue
        if len(words) < 3 or words[1] != "has":
            raise DataError("Expected 'parent has child child …'.", source=source, line=number)
        children.extend(words[2:])
        parents.extend([words[0]] * (len(words) - 2))
    if not children:
        raise DataError("The hierarchy holds no 'parent has child …' line.", source=source)
    return _from_edges(as_text(children), as_text(parents))
