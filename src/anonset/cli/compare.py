"""`anonset compare DATA --methods … -k 5,10,20`: which method, which parameters?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, number, show, show_json, table
from anonset.cli.base.groups import SHARED, WRITING, Source, as_read_options, read_options, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

app = Application()

PANEL = "Grid"
METHODS = Param("methods", "text", "The methods, separated by commas. Default: all that fit the data.")
K = Param("k", "text", "The values of k, separated by commas.", "5,10,20", short="-k")
P = Param("p", "text", "The values of p, separated by commas.", short="-p")
M = Param("m", "text", "The values of m, separated by commas.", short="-m")
GRID = Param("grid", "text", "Values of another parameter: segments=100,1000. May be given several times.")
SEEDS = Param("seeds", "text", "The seeds, separated by commas, for methods that draw at random.", "1")
HIERARCHY = Param("hierarchy", "text", "The hierarchy, for methods that generalize.")
OUT = Param("out", "text", "The folder for results; a comparison that was stopped there is continued.", "comparison")
BUDGET = Param("budget_seconds", "float", "Stop after so many seconds; what is finished is compared.", minimum=0)
BOUND = Param("bound", "bool", "Also find the least loss that any k-anonymous release can have, for each k.")
WORKERS = Param("workers", "int", "How many runs go side by side. Default: all cores.", minimum=1, maximum=1024)


@app.command(epilog="Example: anonset compare sales.csv --methods pta,crowd -k 5,10,20")
@takes(
    trying=[
        *(Choice(param, PANEL, metavar="LIST") for param in (METHODS, K, P, M)),
        Choice(GRID, PANEL, metavar="LIST", repeated=True),
        Choice(SEEDS, PANEL, metavar="LIST"),
        Choice(HIERARCHY, PANEL, metavar="FILE"),
        Choice(OUT, PANEL, flags=("--out", "-o"), metavar="DIR"),
        Choice(BUDGET, PANEL),
        Choice(WORKERS, PANEL),
        Choice(BOUND, PANEL, switch=True),
    ],
    writing=[Choice(SHARED, WRITING, metavar="DIR")],
    reading=read_options(),
    running=run_options(),
)
def compare(data: Source, trying: Given, writing: Given, reading: Given, running: Given) -> None:
    """Try methods and parameters on DATA, measure them alike, and say which one to take.

    Writes a CSV of all runs and a page with charts of loss against privacy and of time. Everything it writes is
    private. Started again with the same folder, it does only what is missing.
    """
    from anonset.choose.compare import RUNS
    from anonset.choose.compare import compare as run_grid
    from anonset.choose.recommend import explained, points, recommend, tables
    from anonset.choose.recommend import table as as_table
    from anonset.io import read
    from anonset.io.publish.plan import reading_inputs, require_files_in
    from anonset.reports.comparison import FILES, write_comparison

    folder, shared = Path(trying.get("out", OUT.default)), writing.get("shared_folder")
    inputs = {**reading_inputs(data, reading), "hierarchy": trying.get("hierarchy")}
    require_files_in(folder, (RUNS, *FILES), inputs, force=True, shared=shared)
    asked = 0

    def told(done: int, total: int) -> None:
        nonlocal asked
        asked = total
        display("compare", done, total)

    with Display(quiet="quiet" in running or "json" in running) as display:
        display("read", 0, None)
        transactions = read(data, **as_read_options(reading))
        runs, left_out = run_grid(
            transactions,
            folder,
            methods=trying["methods"].split(",") if "methods" in trying else None,
            grid=_grid(trying),
            seeds=_values("seeds", trying.get("seeds", SEEDS.default)),
            workers=trying.get("workers"),
            budget_seconds=trying.get("budget_seconds"),
            bound="bound" in trying,
            told=told,
        )
        advice = recommend(runs)
        sheet, page = write_comparison(
            folder, *as_table(runs), points(runs), advice, shared, tables=tables(runs), explained=explained(runs)
        )
    if "json" in running:
        show_json(
            {
                "source": data,
                "asked": asked,
                "runs": [vars(run) for run in runs],
                "left_out": left_out,
                "advice": advice,
            }
        )
    elif "quiet" not in running:
        show(*_page(runs, asked, left_out, advice), "", facts([("table", str(sheet)), ("charts", str(page))]))


def _grid(trying: Given) -> dict[str, list[Any]]:
    """Names and values of the grid; what is not said is left to the methods' defaults."""
    grid: dict[str, list[Any]] = {}
    for name in ("k", "p", "m"):
        given = trying.get(name, K.default if name == "k" and "p" not in trying else None)
        if given is not None:
            grid[name] = _values(name, given)
    for part in filter(None, trying.get("grid", "").split(";")):
        name, equals, values = part.partition("=")
        if not equals:
            raise ParameterError("grid", "look like segments=100,1000", repr(part))
        tried = grid.setdefault(name.strip().replace("-", "_"), [])
        tried += [value for value in map(str.strip, values.split(",")) if value not in tried]
    if "hierarchy" in trying:
        grid["hierarchy"] = [trying["hierarchy"]]
    return grid


def _values(name: str, text: str) -> list[Any]:
    number: Any = _number if name == "p" else int
    try:
        return [number(value) for value in text.split(",")]
    except ValueError:
        raise ParameterError(name, "be numbers, separated by commas", repr(text), "Try 5,10,20.") from None


def _number(text: str) -> int | float:
    """A degree of privacy is a whole number, the share of (k, p)-anonymity a fraction."""
    return float(text) if "." in text else int(text)


def _page(runs: list[Any], asked: int, left_out: dict[str, str], advice: list[str]) -> list[Any]:
    from anonset.assess.risk.words import share

    columns = ("method", "parameters", "seed", "reached", "loss", "risk", "refused", "seconds")
    rows = [
        (
            run.method,
            ", ".join(f"{name}={value}" for name, value in run.params.items()),
            run.seed,
            number(run.strength),
            run.error or run.loss_text,
            "–" if run.risk is None else share(run.risk),
            "yes" if run.refused else "",
            f"{run.seconds:.2f}",
        )
        for run in runs
    ]
    losses = ", ".join(dict.fromkeys(run.loss_title for run in runs if run.loss is not None))
    page: list[Any] = [table(columns, rows, numbers=("seed", "reached", "risk", "seconds")), ""]
    page.append(
        f"loss: {losses}. risk: how often the best attack on what is promised is right. "
        "refused: what publishing would refuse."
    )
    for why in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, reason in left_out.items() if reason == why)
        page.append(f"Left out: {names} ({why}).")
    if len(runs) < asked:
        page.append(f"The time was up after {len(runs):,} of {asked:,} runs; the same command makes the others.")
    return [*page, "", *advice]
