"""A comparison of methods as files: a CSV of all runs, and one page with charts and a recommendation."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from anonset.choose.compare import Run, recommend, table
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.report import charts
from anonset.report.page import templates
from anonset.report.policy import sealed

FILES = ("results.csv", "comparison.PRIVATE.html")


def write_comparison(runs: Sequence[Run], folder: Path, shared: SharedFolder = None) -> tuple[Path, Path]:
    """Write `results.csv` and `comparison.PRIVATE.html`; gives both paths."""
    columns, rows = table(runs)
    sheet, page = (folder / name for name in FILES)
    with plain_errors(folder), staging(force=True, shared=shared) as stage:
        stage.file(sheet).write_text(_csv(columns, rows), encoding="utf-8")
        stage.file(page).write_text(_html(runs, columns, rows), encoding="utf-8")
        stage.publish()
    return sheet, page


def _csv(columns: list[str], rows: list[list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def _html(runs: Sequence[Run], columns: list[str], rows: list[list[Any]]) -> str:
    front = columns.index("pareto")
    points = [
        {
            "method": run.method,
            "model": run.model,
            "strength": run.strength,
            "loss": run.loss,
            "measure": run.loss_title,
            "seconds": run.seconds,
            "front": bool(row[front]),
        }
        for run, row in zip(runs, rows, strict=True)
        if not run.error and run.loss is not None and run.strength is not None
    ]
    figures = {}
    for number, model in enumerate(dict.fromkeys(point["model"] for point in points)):
        own = [point for point in points if point["model"] == model]
        figure = charts.tradeoff(own, str(own[0]["measure"]))
        figures[f"tradeoff_{number}"] = figure.update_layout(title_text=f"Loss against privacy: {model}")
    if points:
        figures["times"] = charts.times(points)
    shown = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    page = templates().get_template("compare.html.j2")
    drawn = page.render(advice=recommend(runs), charts=shown, columns=columns, rows=rows, plotly=get_plotlyjs())
    return sealed(drawn)
