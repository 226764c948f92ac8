"""`anonset measure DATA RELEASE`: what a release lost, by every metric that can be computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, table
from anonset.cli.base.groups import LINK, SEED, THREADS, Source, as_read_options, read_options, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.utility import Measurements
    from anonset.assess.utility.workload import Workload

app = Application()

PANEL = "Measuring"
METRICS = Param("metrics", "text", "Which metrics, separated by commas. Default: all that can be computed.")
HIERARCHY = Param("hierarchy", "text", "The hierarchy that the release was generalized with.")
SAME_ORDER = Param("same_order", "bool", "The release kept the order of the data (--keep-order): compare one by one.")
PATTERN_SUPPORT = Param(
    "pattern_support",
    "count",
    "How many transactions make an itemset a pattern, for pattern distance. Default: 0.01 of DATA.",
)
QUERY_ITEMS = Param(
    "query_items", "int", "Reconstruction error: how many items each question names.", 4, minimum=1, maximum=20
)
QUERIES = Param("queries", "int", "Reconstruction error: how many questions.", 400, minimum=1, maximum=1_000_000)
QUERY_WEIGHTING = Param(
    "query_weighting",
    "choice",
    "Reconstruction error: whether questions name all items equally often, or frequent ones more often.",
    "uniform",
    choices=("uniform", "frequency"),
)

Published = Annotated[
    str, typer.Argument(help="A release of DATA, ours or anybody's.", metavar="RELEASE", show_default=False)
]


@app.command(epilog="Example: anonset measure sales.csv release.csv")
@takes(
    measuring=[
        Choice(METRICS, PANEL),
        Choice(HIERARCHY, PANEL, metavar="FILE"),
        Choice(LINK, PANEL, metavar="FILE"),
        Choice(SAME_ORDER, PANEL, switch=True),
        *(Choice(param, PANEL) for param in (PATTERN_SUPPORT, QUERY_ITEMS, QUERIES, QUERY_WEIGHTING)),
    ],
    reading=read_options(),
    running=run_options(SEED, THREADS),
)
def measure(data: Source, release: Published, measuring: Given, reading: Given, running: Given) -> None:
    """Measure what RELEASE lost compared with DATA.

    A release is shuffled, so that nobody can say which transaction became which; metrics that need this are left out
    here unless --link says it, the file that anonymize --link wrote. Each figure is explained in the reference.
    """
    import numpy as np

    from anonset.assess.utility import measure as take
    from anonset.data.errors import ParameterError
    from anonset.data.hierarchy import read_hierarchy
    from anonset.data.job import Job
    from anonset.io import read, read_release
    from anonset.io.publish.private_link import linked

    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed", 0), running.get("threads"), display)
        with job.stage("read"):
            original = read(data, **as_read_options(reading))
            secret = original.sensitive_names()
            published = read_release(release, **({"sensitive": secret} if secret else {}))
        tree = read_hierarchy(measuring["hierarchy"]) if "hierarchy" in measuring else None
        source = np.arange(len(published), dtype=np.int64) if "same_order" in measuring else None
        if "link" in measuring:
            if source is not None:
                raise ParameterError("same_order", "be left out beside a link", "both", "The link says the order.")
            source = linked(measuring["link"], release, published, original)
        names = measuring["metrics"].split(",") if "metrics" in measuring else None
        found = take(
            original,
            published,
            source,
            hierarchy=tree,
            metrics=names,
            pattern_support=measuring.get("pattern_support"),
            workload=_workload(measuring),
            job=job,
        )
    if "json" in running:
        show_json({"source": data, "release": release, **found.to_dict()})
    elif "quiet" not in running:
        show(*_page(found))


def _workload(measuring: Given) -> Workload:
    """The questions of the reconstruction error."""
    from anonset.assess.utility.workload import Workload

    named = {"query_items": "r", "queries": "queries", "query_weighting": "weighting"}
    return Workload(**{name: measuring[option] for option, name in named.items() if option in measuring})


def _page(found: Measurements) -> list[Any]:
    rows = [(one.figure.title, one.figure.write(one.value), one.figure.help) for one in found.figures]
    page: list[Any] = [table(("measure", "value", "meaning"), rows, numbers=("value",))]
    if found.left_out:
        page += ["", *(f"Not measured: {name} ({why})." for name, why in found.left_out.items())]
    return page
