"""`anonset export RELEASE OUT --expected|--sample`: a release in groups for tools that know no groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json
from anonset.cli.base.groups import SEED, planning, replace_options, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

app = Application()

PANEL = "What to write"
EXPECTED = Param(
    "expected", "bool", "A matrix: 1 for an item, the expected share for a sensitive one. OUT: .npz, .csv."
)
SAMPLE = Param(
    "sample", "bool", "Transactions: each group's sensitive items handed out at random. OUT: as for convert."
)

Published = Annotated[str, typer.Argument(help="A release in groups.", metavar="RELEASE", show_default=False)]
Target = Annotated[str, typer.Argument(help="Where to write.", metavar="OUT", show_default=False)]


@app.command(epilog="Example: anonset export release clusters.npz --expected")
@takes(
    what=[Choice(param, PANEL, switch=True) for param in (EXPECTED, SAMPLE)],
    writing=replace_options(),
    running=run_options(SEED),
)
def export(release: Published, out: Target, what: Given, writing: Given, running: Given) -> None:
    """Write a release in groups as a matrix or as plain transactions, for clustering and mining tools.

    Neither says more than RELEASE does. The matrix holds all that is known; sampled transactions are one of many
    that fit, so mine several samples before you rely on a rule with a sensitive item.
    """
    from anonset.assess.expected import expected, sampled
    from anonset.data.job import Job
    from anonset.io import convert, read_release
    from anonset.io.publish.matrix import write_matrix
    from anonset.io.publish.plan import release_inputs, require_plan
    from anonset.io.publish.releases import release_outputs

    if len(what) != 1:
        got = "both" if what else "neither"
        raise ParameterError("export", "be told one of --expected and --sample", got)
    if out != "-":
        require_plan(release_outputs(out), release_inputs(release), **planning(writing))
    with Display(quiet="quiet" in running or "json" in running) as display, Job(progress=display).stage("export"):
        published = read_release(release)
        if "expected" in what:
            write_matrix(expected(published), published.transactions.labels, Path(out), source=release, **writing)
        else:
            convert(sampled(published, running.get("seed")), out, drop=("sensitive",), **writing)
    answer = {"release": release, "out": out, "written": next(iter(what)), "transactions": len(published)}
    if "json" in running:
        show_json(answer)
    elif "quiet" not in running and out != "-":
        show(facts([("written", out), ("transactions", len(published))]))
