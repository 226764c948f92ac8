"""`anonset report DATA RELEASE -o report.html`: a report on a release that is there already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, warn
from anonset.cli.base.groups import (
    LINK,
    THREADS,
    WRITING,
    Source,
    as_read_options,
    dossier_options,
    model_options,
    planning,
    read_options,
    replace_options,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.spec import Param
from anonset.io.publish.certified import find_certificate

if TYPE_CHECKING:
    from anonset.data.hierarchy import Hierarchy
    from anonset.data.release import Release
    from anonset.data.transactions import Transactions

app = Application()

OUT = Param("out", "text", "Where to write the report: .html or .json. A private one will say so in its name.")
HIERARCHY = Param("hierarchy", "text", "The hierarchy that the release was generalized with.")
PUBLIC = Param("public", "bool", "Leave out everything that is computed from the original.")

Published = Annotated[
    str, typer.Argument(help="The release, ours or anybody's.", metavar="RELEASE", show_default=False)
]


@app.command(epilog="Example: anonset report sales.csv release.csv -o report.html")
@takes(
    writing=[
        Choice(OUT, WRITING, flags=("--out", "-o"), metavar="FILE"),
        Choice(PUBLIC, WRITING, switch=True),
        *dossier_options(),
        *replace_options(),
    ],
    comparing=[Choice(HIERARCHY, "Comparing", metavar="FILE"), Choice(LINK, "Comparing", metavar="FILE")],
    privacy=model_options(varied=True),
    reading=read_options(),
    running=run_options(THREADS),
)
def report(
    data: Source,
    release: Published,
    writing: Given,
    comparing: Given,
    privacy: Given,
    reading: Given,
    running: Given,
) -> None:
    """Write a report on RELEASE: its promise and verdict, an attacker before and after, and what was lost.

    With --dossier one page to file and sign, the report behind it; without --out then nothing else.

    The promise is taken from the certificate beside the release, or from the options; with neither, the weakest
    k-anonymity is checked and what really holds is said. Which transaction became which is known with --link only;
    without it some figures are upper bounds.
    """
    from anonset.api.reporting import findings_of, known_result
    from anonset.data.hierarchy import read_hierarchy
    from anonset.data.job import Job
    from anonset.io import read, read_release
    from anonset.io.publish.atomic import plain_errors, staging
    from anonset.io.publish.plan import Output, files_read, reading_inputs, release_inputs, require_plan
    from anonset.io.publish.private_link import linked
    from anonset.reports import stage_report
    from anonset.reports.dossier import stage_dossier

    public, (target, page) = "public" in writing, _targets(writing)
    inputs = {**reading_inputs(data, reading), **release_inputs(release), "hierarchy": comparing.get("hierarchy")}
    inputs["link"] = comparing.get("link")
    planned = {"out": target, "dossier": page}
    outputs = [Output(name, path) for name, path in planned.items() if path is not None]
    require_plan(outputs, inputs, **planning(writing))
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(0, running.get("threads"), display)
        with job.stage("read"):
            original = read(data, **as_read_options(reading))
            found = find_certificate(release)
            secret = found.certificate["sensitive_items"] if found else original.sensitive_names()
            published = read_release(release, **({"sensitive": secret} if secret else {}))
        tree = read_hierarchy(comparing["hierarchy"]) if "hierarchy" in comparing else None
        source = linked(comparing["link"], release, published, original) if "link" in comparing else None
        if (page is not None or not public) and source is None:
            _require_fitting(original, published, tree)
        result = known_result(published, found, privacy, original, source)
        with plain_errors(outputs[0].path), staging(**planning(writing)) as stage:
            if target is not None:
                stage_report(stage, result, original, target, public=public, job=job, hierarchy=tree)
            if page is not None:
                result = replace(result, read_from=files_read(data, reading))
                findings = findings_of(result, original, tree, job)
                said = {name: writing[name] for name in ("purpose", "responsible") if name in writing}
                stage_dossier(stage, result, original, page, findings, **said, hierarchy=tree, job=job)
            stage.publish()
    if "json" in running:
        places = {"report": target, "dossier": page}
        written = {name: None if path is None else str(path) for name, path in places.items()}
        show_json({"source": data, "release": release, **written, "holds": result.verdict.holds})
    elif "quiet" not in running:
        show(*(f"The {'report' if one.name == 'out' else 'dossier'} is in {one.path}." for one in outputs))


def _targets(writing: Given) -> tuple[Path | None, Path | None]:
    """Where report and dossier will be; the one that was not asked for is not written."""
    from anonset.reports import report_path
    from anonset.reports.dossier import dossier_path

    page = dossier_path(writing["dossier"]) if "dossier" in writing else None
    alone = page is not None and "out" not in writing
    return (None if alone else report_path(writing.get("out", "report.html"), "public" in writing)), page


def _require_fitting(original: Transactions, published: Release, hierarchy: Hierarchy | None) -> None:
    """Refuse a release of other data. Where users are published, transactions may have been invented: then say it."""
    from anonset.assess.align import pair
    from anonset.data.errors import InputError

    try:
        pair(original, published, None, hierarchy)
    except InputError as error:
        if published.transactions.users is None or len(published) <= len(original):
            raise
        warn([f"Not compared with the original: {error}"], "Warning")
