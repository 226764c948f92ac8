"""`anonset hierarchy build|lint|show`: get an item hierarchy, see whether it is sound, look at it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, table
from anonset.cli.base.groups import (
    WRITING,
    Source,
    as_read_options,
    planning,
    read_options,
    replace_options,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import InputError, ParameterError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.data.hierarchy import Hierarchy
    from anonset.data.transactions import Transactions

app = Application(help="Item hierarchies: what is more general than what.", no_args_is_help=True)

BROKEN = 3
MOST_DEEP, MOST_LINES = 12, 300
"""How many levels and lines of a tree are shown unless more are asked for."""

File = Annotated[
    str,
    typer.Argument(
        help="A hierarchy: a table (item,level1,…), a parent/child list, an ARX or an Amnesia file.",
        metavar="FILE",
        show_default=False,
    ),
]

OUT = Choice(
    Param("out", "text", "Where to write the hierarchy, as CSV: item,level1,level2,…, coarse to fine."),
    WRITING,
    flags=("--out", "-o"),
    metavar="FILE",
)

BUILDING = (
    Param(
        "by",
        "choice",
        "What puts items together: their order, how frequent they are, the beginning of their codes, or occurring "
        "together.",
        default="order",
        choices=("order", "frequency", "prefix", "cooccurrence"),
    ),
    Param("fanout", "int", "How many items or nodes share a node, by order, frequency and cooccurrence.", 5, minimum=2),
    Param("lengths", "text", "By prefix: the lengths that make a level, such as 1,3. Default: all that tell apart."),
    Param("prefix_separator", "text", "By prefix: levels end at this text, such as / in food/dairy/milk."),
)

FORMAT = (
    Param("format", "choice", "What FILE looks like.", choices=("table", "edges", "arx", "amnesia")),
    Param("order", "choice", "Which way its levels run.", choices=("coarse-to-fine", "fine-to-coarse")),
)


def format_options() -> list[Choice]:
    """What FILE looks like, where the detection is wrong."""
    return [Choice(param, "Hierarchy") for param in FORMAT]


@app.command(epilog="Example: anonset hierarchy build sales.csv --by cooccurrence -o tree.csv")
@takes(
    building=[Choice(param, "Hierarchy") for param in BUILDING],
    writing=[OUT, *replace_options()],
    reading=read_options(),
    running=run_options(),
)
def build(data: Source, building: Given, writing: Given, reading: Given, running: Given) -> None:
    """Make a hierarchy for the items of DATA, where there is none.

    By frequency and by cooccurrence the hierarchy says something about DATA: treat it like DATA. Nodes are called
    group1, group1.1, …, since names of items would tell which ones there were; by prefix after what their items share.
    """
    from anonset.data.job import Job
    from anonset.io import read
    from anonset.io.publish.plan import reading_inputs

    if "out" not in writing:
        raise InputError("--out is missing. Say where to write the hierarchy.")
    _planned(reading_inputs(data, reading), writing)
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            transactions = read(data, **as_read_options(reading))
        with job.stage("build"):
            tree = _built(transactions, building)
    _save(tree, writing)
    if "json" in running:
        show_json({"out": writing["out"], **_size(tree)})
    elif "quiet" not in running:
        show(facts([("written", writing["out"]), *_size(tree).items()]), "", tree.show(depth=1, widest=10))


def _built(data: Transactions, building: Given) -> Hierarchy:
    from anonset.data.hierarchy import balanced, by_cooccurrence, by_frequency, by_prefix

    by, fanout = building.get("by", "order"), building.get("fanout", 5)
    if by == "order":
        return balanced(data.labels, fanout)
    if by == "frequency":
        return by_frequency(data, fanout)
    if by == "cooccurrence":
        return by_cooccurrence(data, fanout)
    lengths = building.get("lengths")
    try:
        numbers = None if lengths is None else [int(number) for number in lengths.split(",")]
    except ValueError:
        raise ParameterError("lengths", "be whole numbers separated by commas", repr(lengths)) from None
    return by_prefix(data.labels, numbers, building.get("prefix_separator"))


@app.command(epilog="Example: anonset hierarchy lint tree.csv --data sales.csv --repair -o mended.csv")
@takes(
    looking=[
        *format_options(),
        Choice(Param("data", "text", "The transactions whose items must all be there."), "Hierarchy", metavar="DATA"),
        Choice(
            Param("repair", "bool", "Mend every error in the way that is said, and write to --out."),
            WRITING,
            switch=True,
        ),
    ],
    writing=[OUT, *replace_options()],
    reading=[choice for choice in read_options() if choice.param.name not in ("query",)],
    running=run_options(),
)
def lint(file: File, looking: Given, writing: Given, reading: Given, running: Given) -> None:
    """Say what is wrong with a hierarchy: items that are missing or have two parents, cycles, gaps between levels.

    The exit code is 0 if there is no error (warnings do not count) or everything was repaired, and 3 otherwise.
    """
    from anonset.data.hierarchy.problems import assemble, shape_problems, strict
    from anonset.data.hierarchy.reading import parse
    from anonset.io import read
    from anonset.io.publish.plan import reading_inputs

    if ("repair" in looking) != ("out" in writing):
        raise InputError("--repair and --out belong together. Give both to write a mended hierarchy, or neither.")
    _planned({**reading_inputs(looking.get("data"), reading), "file": file}, writing)
    items = None if "data" not in looking else read(looking["data"], **as_read_options(reading)).labels
    tree, problems = assemble(parse(file, looking.get("format"), looking.get("order")), items)
    problems += shape_problems(tree)
    if "repair" in looking:
        tree = strict(tree, problems, file, repair=True)
        _save(tree, writing)
    errors = sum(problem.severity == "error" for problem in problems)
    if "json" in running:
        show_json(
            {"source": file, "errors": errors, "problems": [vars(p) for p in problems], "out": writing.get("out")}
        )
    elif "quiet" not in running:
        rows = [(problem.severity, problem.message, problem.repair) for problem in problems]
        found: list[Any] = [table(("kind", "problem", "repair"), rows)] if rows else ["Nothing is wrong."]
        show(facts(_size(tree).items()), "", *found)
    if errors and "repair" not in looking:
        raise typer.Exit(BROKEN)


@app.command(name="show", epilog="Example: anonset hierarchy show tree.csv --depth 2")
@takes(
    looking=[
        *format_options(),
        Choice(
            Param("depth", "int", "How many levels below the root to show. Default: as fit a few screens.", minimum=1),
            "Hierarchy",
        ),
        Choice(Param("widest", "int", "How many children of a node to show.", 50, minimum=1), "Hierarchy"),
        Choice(Param("cut", "text", "Show what this cut publishes, down to the cut."), "Hierarchy", metavar="FILE"),
    ],
    running=run_options(),
)
def show_tree(file: File, looking: Given, running: Given) -> None:
    """Draw a hierarchy as a tree, with the number of items below each node."""
    from anonset.data.hierarchy import read_cut, read_hierarchy

    tree = read_hierarchy(file, format=looking.get("format"), order=looking.get("order"))
    if "json" in running:
        show_json({"source": file, **_size(tree), "notes": tree.notes})
    else:
        drawn = read_cut(looking["cut"], tree) if "cut" in looking else tree
        depth = looking.get("depth", _fitting(tree))
        hidden = [] if "depth" in looking else _hidden(tree, depth)
        show(drawn.show(depth, looking.get("widest", 50)), *hidden)


def _fitting(tree: Hierarchy) -> int:
    """As many levels as fit a few screens, and at least one."""
    import numpy as np

    lines = np.cumsum(np.bincount(tree.depth))[1:]
    return max(1, min(MOST_DEEP, int((lines <= MOST_LINES).sum())))


def _hidden(tree: Hierarchy, depth: int) -> list[str]:
    below = tree.height - depth
    if below <= 0:
        return []
    return ["", f"{below:,} more level{'s are' if below > 1 else ' is'} not shown; --depth {tree.height} shows all."]


def _planned(inputs: dict[str, Any], writing: Given) -> None:
    """Refuse a bad place for the hierarchy before any work is done."""
    from anonset.io.publish.plan import Output, require_plan

    if "out" in writing:
        require_plan([Output("out", Path(writing["out"]))], inputs, **planning(writing))


def _save(tree: Hierarchy, writing: Given) -> None:
    from anonset.io.publish.atomic import plain_errors, staging

    with plain_errors(writing["out"]), staging(**planning(writing)) as stage:
        tree.write(stage.file(Path(writing["out"])), force=True)
        stage.publish()


def _size(tree: Hierarchy) -> dict[str, int]:
    return {"items": tree.n_items, "inner nodes": len(tree) - tree.n_items - 1, "height": tree.height}
