"""Reports: what was published under which promise, what it cost, and what an attacker can still do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.release import Result
from anonset.data.transactions import Transactions
from anonset.io.publish.atomic import Staging, plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.plan import Output, require_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonset.data.hierarchy import Hierarchy

PRIVATE = "PRIVATE"


def write_report(
    result: Result,
    data: Any,
    path: str | os.PathLike[str],
    *,
    public: bool = False,
    force: bool = False,
    job: Job | None = None,
    hierarchy: Hierarchy | None = None,
    shared_folder: SharedFolder = None,
) -> Path:
    """Write a report on a release: one HTML file (`.html`) that needs nothing else, or the same as JSON (`.json`).

    A private report compares with the original. It says so, and so does its name: `report.html` is written as
    `report.PRIVATE.html`. A public one leaves out everything that is computed from the original.

    Parameters
    ----------
    result
        What `anonset.anonymize` returned.
    data
        The original (`Transactions` or anything that `anonset.read` takes); not looked at for a public report.
    path
        Where to write.
    public
        Whether the report may be published with the release.
    force
        Replace a file that is there already.
    hierarchy
        What the release was generalized with, where `result` does not know it itself.
    shared_folder
        The folder of the report, named once more, where others can write in it and that is wanted all the same.

    Returns
    -------
    Path
        Where the report is: the path given, or the one that says PRIVATE.

    Examples
    --------
    >>> import anonset, tempfile
    >>> baskets = [["wine", "bread"]] * 3
    >>> write_report(anonset.anonymize(baskets, k=3, seed=1), baskets, tempfile.mkdtemp() + "/report.html").name
    'report.PRIVATE.html'
    """
    target = report_path(path, public)
    require_plan([Output("report", target)], {"data": data}, force=force, shared=shared_folder)
    with plain_errors(target), staging(force=force, shared=shared_folder) as stage:
        stage_report(stage, result, data, target, public=public, job=job, hierarchy=hierarchy)
        stage.publish()
    return target


def stage_report(
    stage: Staging,
    result: Result,
    data: Any,
    target: Path,
    *,
    public: bool,
    job: Job | None = None,
    hierarchy: Hierarchy | None = None,
) -> None:
    """Prepare a report for publishing with the rest; see `write_report`."""
    from anonset.reports.content import content, tree_of

    original = None if public else _transactions(data)
    tree = hierarchy or tree_of(result)
    said = content(result, original, public=public, job=job, hierarchy=tree)
    text = _writers()[target.suffix](said, result, original, tree)
    stage.file(target).write_text(text, encoding="utf-8")


def report_path(path: str | os.PathLike[str], public: bool) -> Path:
    """Where the report will be: a private one says so in its name."""
    target = Path(path)
    if target.suffix not in _writers():
        raise ParameterError("report", "end in .html or .json", target.name, "Try report.html.")
    if not public and PRIVATE not in target.stem:
        target = target.with_name(f"{target.stem}.{PRIVATE}{target.suffix}")
    return target


def _writers() -> dict[str, Callable[[dict[str, Any], Result, Transactions | None, Hierarchy | None], str]]:
    return {".html": _as_html, ".json": _as_json}


def _as_html(said: dict[str, Any], result: Result, data: Transactions | None, hierarchy: Hierarchy | None) -> str:
    from anonset.reports.page import page

    return page(said, result, data, hierarchy)


def _as_json(said: dict[str, Any], result: Result, data: Transactions | None, hierarchy: Hierarchy | None) -> str:
    from anonset.reports.charts import series
    from anonset.reports.page import figures

    drawn = {name: series(figure) for name, figure in figures(said, result, data, hierarchy).items()}
    return json.dumps({**said, "charts": drawn}, indent=2, ensure_ascii=False) + "\n"


def _transactions(data: Any) -> Transactions:
    if isinstance(data, Transactions):
        return data
    from anonset.io import read

    return read(data)
