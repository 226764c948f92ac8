"""The charts of the report, the comparison and the app: Plotly figures without a page around them.

Colours are readable on light and dark ground; backgrounds are transparent, and the page sets the colour of the text.
Labels are escaped: Plotly would read `<b>` in them as formatting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape, unescape
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anonset.data.errors import printable
from anonset.data.transactions import Longs

BEFORE, AFTER, ADDED, REMOVED = "#8a94a6", "#2f7ed8", "#2a9d6f", "#d1495b"
MOST_ITEMS = 25
MOST_BARS = 60
LONGEST_LABEL = 26


def group_sizes(sizes: Longs, promised: int | None = None) -> go.Figure:
    """How many transactions share a published set (or group): a histogram, with the promised size marked."""
    edges, counts = _bins(sizes)
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(edges)]
    figure = _figure("Group sizes", "transactions in the group", "groups")
    figure.add_bar(x=names, y=counts, marker_color=AFTER, hovertemplate="%{y:,} groups of %{x}<extra></extra>")
    figure.update_xaxes(type="category", nticks=12)
    if promised is not None and len(names):
        figure.add_annotation(
            x=0,
            y=1.12,
            xref="paper",
            yref="paper",
            showarrow=False,
            xanchor="left",
            text=f"promised: {promised:,} or more",
        )
    return figure


def item_frequencies(labels: Sequence[str], before: Longs | None, after: Longs) -> go.Figure:
    """The most frequent items, before and after (or as published only)."""
    first = after if before is None else before
    top = np.argsort(-first, kind="stable")[:MOST_ITEMS]
    top = top[first[top] > 0][::-1]
    names = [short(labels[i]) for i in top]
    figure = _figure("Most frequent items", "transactions", "")
    if before is not None:
        figure.add_bar(y=np.arange(len(names)), x=before[top], name="original", orientation="h", marker_color=BEFORE)
    figure.add_bar(y=np.arange(len(names)), x=after[top], name="published", orientation="h", marker_color=AFTER)
    return _named(figure, names, 2 if before is not None else 1)


def loss_per_item(labels: Sequence[str], added: Longs, removed: Longs) -> go.Figure:
    """The items that changed most: how often each was added and removed."""
    changed = added + removed
    top = np.argsort(-changed, kind="stable")[:MOST_ITEMS]
    top = top[changed[top] > 0][::-1]
    names = [short(labels[i]) for i in top]
    figure = _figure("Items that changed most", "transactions", "")
    figure.add_bar(y=np.arange(len(names)), x=-removed[top], name="removed", orientation="h", marker_color=REMOVED)
    figure.add_bar(y=np.arange(len(names)), x=added[top], name="added", orientation="h", marker_color=ADDED)
    figure.update_layout(barmode="relative")
    return _named(figure, names, 1)


def lengths(before: Longs | None, after: Longs) -> go.Figure:
    """How many items transactions have, before and after (or as published only)."""
    figure = _figure("Transaction lengths", "items", "share of the transactions")
    top = max(int(column.max(initial=0)) for column in (before, after) if column is not None)
    width = max(1, -(-(top + 1) // MOST_BARS))
    for values, name, colour in ((before, "original", BEFORE), (after, "published", AFTER)):
        if values is None:
            continue
        counts = np.bincount(values // width, minlength=top // width + 1)
        x = np.arange(len(counts)) * width
        figure.add_bar(x=x, y=counts / max(1, len(values)), name=name, marker_color=colour)
    figure.update_yaxes(tickformat=".0%")
    return figure


def attacks(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """The attacker's chance of success by the number of known items, before and after."""
    figure = _figure("Chance of finding a person", "items that the attacker knows", "chance of success")
    known = [str(row["m"]) for row in rows]
    before, after = ([row[f"success_{when}"] for row in rows] for when in ("before", "after"))
    figure.add_bar(x=known, y=before, name="original", marker_color=BEFORE, text=[_share(v) for v in before])
    figure.add_bar(x=known, y=after, name="published", marker_color=AFTER, text=[_share(v) for v in after])
    figure.update_traces(textposition="outside", textfont_size=10, textangle=0, cliponaxis=False)
    figure.update_layout(bargroupgap=0.15)
    figure.update_xaxes(type="category")
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def singled_out(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """The share of transactions that an attacker singles out in the original, by the number of known items."""
    figure = _figure("Singled out", "items that the attacker knows", "share of the transactions")
    known, shares = [str(row["m"]) for row in rows], [row["share"] for row in rows]
    figure.add_bar(x=known, y=shares, marker_color=REMOVED, text=[_share(v) for v in shares])
    figure.update_traces(textposition="outside", cliponaxis=False, hovertemplate="%{y:.1%}<extra></extra>")
    figure.update_xaxes(type="category")
    return figure.update_yaxes(tickformat=".0%", rangemode="tozero")


def _share(value: float) -> str:
    return f"{value:.1%}" if value >= 0.0005 or value == 0 else "&lt; 0.1%"


def series(figure: go.Figure) -> dict[str, Any]:
    """What a chart shows, as plain data: title, axes, and for each series its names and values."""
    layout = figure.layout
    names = layout.yaxis.ticktext
    lines = []
    for line in figure.data:
        sideways = line.orientation == "h"
        at, values = (line.y, line.x) if sideways else (line.x, line.y)
        at = [unescape(name) for name in names] if sideways and names is not None else at
        lines.append({"name": line.name or "", "at": _listed(at), "values": _listed(values)})
    axes = {"xaxis": layout.xaxis.title.text, "yaxis": layout.yaxis.title.text}
    return {"title": layout.title.text, **axes, "series": lines}


def _listed(values: Any) -> list[Any]:
    return list(np.asarray(values).tolist())


def short(label: str) -> str:
    """A label that fits an axis, escaped."""
    label = printable(label, keep="")
    text = label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"
    return escape(text, quote=False)


def _figure(title: str, x: str, y: str) -> go.Figure:
    return go.Figure(
        layout={
            "title": {
                "text": title,
                "font": {"size": 15},
                "x": 0,
                "xref": "container",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"l": 4, "t": 10},
            },
            "template": "none",
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": "#808080"},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 56, "r": 16, "t": 68, "b": 48},
            "height": 340,
            "bargap": 0.25,
            "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
            "xaxis": {"title": {"text": x}, "gridcolor": "rgba(128,128,128,0.2)", "automargin": True},
            "yaxis": {"title": {"text": y}, "gridcolor": "rgba(128,128,128,0.2)", "automargin": True},
        }
    )


def _named(figure: go.Figure, names: list[str], per_item: int) -> go.Figure:
    """One line per item with its name beside it; places are numbers, so that equal short names stay apart."""
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names, showgrid=False, zeroline=False)
    figure.update_traces(hovertemplate="%{x:,}")
    return figure.update_layout(height=150 + max(len(names), 3) * (18 if per_item == 1 else 22))


def _bins(sizes: Longs) -> tuple[list[int], list[int]]:
    """Edges and counts: one bar per size where they are few, else about thirty of growing width."""
    if not len(sizes):
        return [0], []
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < MOST_BARS // 2:
        edges = np.arange(low, high + 2)
    else:
        edges = np.unique(np.geomspace(low, high + 1, 31).astype(np.int64))
        edges[-1] = high + 1
    counts, _ = np.histogram(sizes, edges)
    return edges.tolist(), counts.tolist()


PALETTE = ("#2f7ed8", "#d1495b", "#2a9d6f", "#e09f3e", "#7b5ea7", "#3aa6b9", "#8a94a6", "#b5651d")


def tradeoff(rows: Sequence[Mapping[str, Any]], loss: str) -> go.Figure:
    """Loss against privacy: one line per method, the Pareto front ringed. Rows hold method, strength, loss, front."""
    figure = _figure("Loss against privacy", "strength that was reached (k or p)", short(loss))
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["strength"])
        rings = [3 if row["front"] else 0 for row in own]
        colour = PALETTE[number % len(PALETTE)]
        figure.add_scatter(
            x=[row["strength"] for row in own],
            y=[row["loss"] for row in own],
            name=method,
            mode="lines+markers",
            line={"color": colour, "width": 1.5},
            marker={"color": colour, "size": 10, "line": {"color": "#e8b400", "width": rings}},
        )
    return figure


def risk(rows: Sequence[Mapping[str, Any]], loss: str) -> go.Figure:
    """The greatest success of an attack against the loss, every run a point. Rows hold method, loss, risk, strength."""
    figure = _figure("Risk against loss", short(loss), "best attack on what is promised")
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method and row["risk"] is not None]
        figure.add_scatter(
            x=[row["loss"] for row in own],
            y=[row["risk"] for row in own],
            text=[f"{row['strength']:g}" for row in own],
            name=method,
            mode="markers",
            marker={"color": PALETTE[number % len(PALETTE)], "size": 10},
        )
    return figure.update_yaxes(tickformat=".0%", rangemode="tozero")


def times(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Seconds of each method, every run a point."""
    figure = _figure("Time on one thread", "", "seconds")
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row["seconds"] for row in rows if row["method"] == method]
        colour = PALETTE[number % len(PALETTE)]
        figure.add_scatter(
            x=[method] * len(own), y=own, name=method, mode="markers", marker={"color": colour, "size": 9}
        )
    if len({row["seconds"] for row in rows}) > 1:
        figure.update_yaxes(type="log", dtick="D2", minorloglabels="complete")
    figure.update_xaxes(type="category")
    return figure.update_layout(showlegend=False)
