"""How the nouns show themselves in a notebook: a small table, a few bars, and the same bars as a Plotly chart.

Labels of items are people's data: everything is escaped, and nothing is drawn by a script.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, HEIGHT = 240, 48
COLORS = ("#1b6ca8", "#d1495b")


@dataclass(frozen=True)
class Picture:
    """Bars: a name for each place, and one or two series of values."""

    title: str
    places: Sequence[str]
    series: tuple[tuple[str, Sequence[float]], ...]
    unit: str = ""

    def to_svg(self) -> str:
        """A drawing of some twenty pixels' height that needs nothing else."""
        values = [max(float(value), 0.0) for _, numbers in self.series for value in numbers]
        top, wide = max(values, default=0.0) or 1.0, WIDTH / max(len(values), 1)
        bars = []
        for place in range(len(self.places)):
            for which, (_, numbers) in enumerate(self.series):
                tall = HEIGHT * max(float(numbers[place]), 0.0) / top
                left = wide * (place * len(self.series) + which)
                bars.append(
                    f'<rect x="{left:.1f}" y="{HEIGHT - tall:.1f}" width="{0.8 * wide:.1f}" height="{tall:.1f}" '
                    f'fill="{COLORS[which % 2]}"/>'
                )
        return (
            f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(self.title)}">{"".join(bars)}</svg>'
        )

    def to_plotly(self) -> Any:
        """The same as a Plotly figure."""
        import plotly.graph_objects as go

        figure = go.Figure(
            [
                go.Bar(name=name, x=list(self.places), y=[float(value) for value in numbers], marker_color=color)
                for (name, numbers), color in zip(self.series, COLORS, strict=False)
            ]
        )
        figure.update_layout(title=self.title, yaxis_title=self.unit, template="plotly_white", barmode="group")
        return figure


class Shown:
    """Shows itself in notebooks: `facts` is what the table says, `picture` what the bars show."""

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What to say, in rows of a name and a value."""
        raise TypeError(f"{type(self).__name__} has nothing to say.")

    def picture(self) -> Picture | None:
        """What to draw; None where there is nothing to compare."""
        return None

    def plot(self) -> Any:
        """The picture as a Plotly figure, which notebooks show; an empty one where there is nothing to draw."""
        drawn = self.picture()
        return (drawn or Picture("Nothing to draw", (), ())).to_plotly()

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(str(name))}</th>'
            f'<td style="text-align:left">{escape(_said(value))}</td></tr>'
            for name, value in self.facts()
        )
        drawn = self.picture()
        bars = "" if drawn is None else f"<div>{escape(drawn.title)}</div>{drawn.to_svg()}"
        return f"<div><strong>{escape(type(self).__name__)}</strong><table>{rows}</table>{bars}</div>"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def histogram(title: str, numbers: Any, bars: int = 12) -> Picture:
    """How often each of these whole numbers occurs, the larger ones together in the last bar.

    Examples
    --------
    >>> histogram("lengths", [1, 1, 2, 9], bars=3).series[0][1]
    [0, 2, 2]
    """
    import numpy as np

    counts = np.bincount(np.minimum(np.asarray(numbers, dtype=np.int64), bars - 1), minlength=bars)
    places = [*map(str, range(bars - 1)), f"≥ {bars - 1}"]
    return Picture(title, places, (("count", counts.tolist()),))
