"""A comparison of methods as files: a CSV of all runs, and one page with charts and a recommendation."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.reports import charts
from anonset.reports.page import harmless, templates
from anonset.reports.policy import sealed

FILES = ("results.csv", "comparison.PRIVATE.html")


def write_comparison(
    folder: Path,
    columns: list[str],
    rows: list[list[Any]],
    points: Sequence[Mapping[str, Any]],
    advice: Sequence[str],
    shared: SharedFolder = None,
    *,
    tables: Sequence[Mapping[str, Any]] = (),
    explained: Sequence[tuple[str, str, str]] = (),
) -> tuple[Path, Path]:
    """Write `results.csv` (the table) and `comparison.PRIVATE.html` (charts of the points, too); gives both paths.

    The page shows `tables`, one for each model, and says what every figure means: its name, its title, its meaning.
    """
    sheet, page = (folder / name for name in FILES)
    text = (
        templates()
        .get_template("compare.html.j2")
        .render(
            advice=harmless(advice),
            charts=_charts(points),
            tables=harmless(tables),
            explained=explained,
            plotly=get_plotlyjs(),
        )
    )
    with plain_errors(folder), staging(force=True, shared=shared) as stage:
        stage.file(sheet).write_text(_csv(columns, rows), encoding="utf-8")
        stage.file(page).write_text(sealed(text), encoding="utf-8")
        stage.publish()
    return sheet, page


def _csv(columns: list[str], rows: list[list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def _charts(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Loss against privacy and risk against loss for each model, and the times of all methods."""
    figures = {}
    for number, model in enumerate(dict.fromkeys(point["model"] for point in points)):
        own = [point for point in points if point["model"] == model]
        figure = charts.tradeoff(own, str(own[0]["measure"]))
        figures[f"tradeoff_{number}"] = figure.update_layout(title_text=f"Loss against privacy: {model}")
        if any(point.get("risk") is not None for point in own):
            figure = charts.risk(own, str(own[0]["measure"]))
            figures[f"risk_{number}"] = figure.update_layout(title_text=f"Risk against loss: {model}")
    if points:
        figures["times"] = charts.times(points)
    return {name: json.loads(figure.to_json()) for name, figure in figures.items()}
