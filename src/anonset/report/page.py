"""The report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader
from plotly.offline import get_plotlyjs

from anonset.pairing import pair
from anonset.release import Release, Result
from anonset.report import charts
from anonset.report.content import source_of, tree_of
from anonset.transactions import Transactions
from anonset.utility.discernibility import group_sizes
from anonset.utility.information_loss import item_changes


def page(said: dict[str, Any], result: Result, data: Transactions | None) -> str:
    """The HTML of a report; `data` is the original of a private one and None for a public one."""
    figures = _figures(said, result, data)
    shown = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    return templates().get_template("report.html.j2").render(said=said, charts=shown, plotly=get_plotlyjs())


def _figures(said: dict[str, Any], result: Result, data: Transactions | None) -> dict[str, Any]:
    release = result.release
    figures = {"group_sizes": charts.group_sizes(group_sizes(release), result.verdict.params.get("k"))}
    if data is None or "not_compared" in said["private"]:
        published = release.transactions.quasi()
        labels = published.labels.to_pylist()
        figures["item_frequencies"] = charts.item_frequencies(labels, None, published.item_counts)
        figures["lengths"] = charts.lengths(None, published.lengths)
        return figures
    both = pair(data, release, source_of(result), tree_of(result))
    labels = both.original.labels.to_pylist()
    before, after = both.original, both.published
    figures["item_frequencies"] = charts.item_frequencies(labels, before.item_counts, after.item_counts)
    figures["lengths"] = charts.lengths(before.lengths, after.lengths)
    if both.source is not None:
        added, removed = item_changes(before, Release(after), both.source)
        if (added + removed).any():
            figures["loss_per_item"] = charts.loss_per_item(labels, added, removed)
    if said["private"]["attacks"]:
        figures["attacks"] = charts.attacks(said["private"]["attacks"])
    return figures


@cache
def templates() -> Environment:
    """The page templates; everything they show is escaped."""
    environment = Environment(
        loader=PackageLoader("anonset.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    return environment


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if isinstance(value, float) else "–" if value is None else str(value)


def _percent(value: float) -> str:
    return f"{value:.1%}" if value >= 0.0005 or value == 0 else "< 0.1%"
