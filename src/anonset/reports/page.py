"""The report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader
from plotly.offline import get_plotlyjs

from anonset.assess.align import pair
from anonset.assess.utility.discernibility import group_sizes
from anonset.assess.utility.information_loss import item_changes
from anonset.assess.utility.metric import LEVELS
from anonset.data.errors import printable
from anonset.data.hierarchy import Hierarchy
from anonset.data.release import Release, Result
from anonset.data.transactions import Transactions
from anonset.models import model_spec
from anonset.reports import charts
from anonset.reports.content import source_of
from anonset.reports.policy import own_styles, sealed

LOSSES = {
    "information_loss",
    "information_loss_ratio",
    "items_added",
    "items_removed",
    "ncp",
    "pattern_distance",
    "patterns_kept",
}


def page(said: dict[str, Any], result: Result, data: Transactions | None, hierarchy: Hierarchy | None = None) -> str:
    """The HTML of a report; `data` is the original of a private one and None for a public one."""
    shown = {name: json.loads(figure.to_json()) for name, figure in figures(said, result, data, hierarchy).items()}
    template = templates().get_template("report.html.j2")
    return sealed(template.render(said=harmless(said), charts=shown, plotly=get_plotlyjs()))


def harmless(value: Any) -> Any:
    """The same with control characters spelt out in all texts: a label must not turn the line round it stands in."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {name: harmless(entry) for name, entry in value.items()}
    return [harmless(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def figures(
    said: dict[str, Any], result: Result, data: Transactions | None, hierarchy: Hierarchy | None
) -> dict[str, Any]:
    """The charts of a report by name."""
    release = result.release
    sized = model_spec(result.verdict.model).group_size
    promised = None if sized is None else result.verdict.params[sized]
    figures = {"group_sizes": charts.group_sizes(group_sizes(release), promised)}
    if data is None or "not_compared" in said["private"]:
        published = release.transactions.quasi()
        labels = published.labels.to_pylist()
        figures["item_frequencies"] = charts.item_frequencies(labels, None, published.item_counts)
        figures["lengths"] = charts.lengths(None, published.lengths)
        return figures
    both = pair(data, release, source_of(result), hierarchy)
    labels = both.original.labels.to_pylist()
    before, after = both.original, both.published
    figures["item_frequencies"] = charts.item_frequencies(labels, before.item_counts, after.item_counts)
    figures["lengths"] = charts.lengths(before.lengths, after.lengths)
    if both.row_origin is not None:
        added, removed = item_changes(before, Release(after), both.row_origin)
        if (added + removed).any():
            figures["loss_per_item"] = charts.loss_per_item(labels, added, removed)
    if said["private"]["attacks"]:
        figures["attacks"] = charts.attacks(said["private"]["attacks"])
    return figures


@cache
def templates() -> Environment:
    """The page templates; everything they show is escaped."""
    environment = Environment(
        loader=PackageLoader("anonset.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    environment.filters["own_figures"] = _own_figures
    environment.filters["levels"] = _levels
    environment.filters["own_styles"] = own_styles
    return environment


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if isinstance(value, float) else "–" if value is None else str(value)


def _own_figures(measurements: Mapping[str, Any]) -> dict[str, Any]:
    """What the method did, beyond the losses that are measured for all methods alike."""
    plain = {name: value for name, value in measurements.items() if isinstance(value, (int, float, str))}
    return {name: value for name, value in plain.items() if name not in LOSSES}


def _levels(utility: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The figures about frequent itemsets as a table: one line for each support."""
    shown = {row["name"]: row["shown"] for row in utility if row["metric"] == "itemsets"}
    names = ("support", "kept", "lost", "invented", "precision", "recall", "f1")
    columns = {name: name.replace("f1", "F1") for name in names}
    return [{title: shown[f"itemsets_{name}_{level}"] for name, title in columns.items()} for level in LEVELS if shown]


def _percent(value: float) -> str:
    return f"{value:.1%}" if value >= 0.0005 or value == 0 else "<\N{NO-BREAK SPACE}0.1%"
