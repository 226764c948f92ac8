"""Line charts as plain SVG, for pages that show measurements: one chart, or several side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLORS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5aa8", "#e08e0b", "#444444", "#3aa6b9", "#b5651d")
LEFT, TOP, BOTTOM = 60, 40, 44
WIDTH, HEIGHT, KEY = 410, 320, 150
PANEL_WIDTH, PANEL_HEIGHT, LINE = 370, 250, 18

Values = Sequence[float | None]
Look = tuple[str, bool]  # colour, dashed


@dataclass(frozen=True)
class Chart:
    """Lines over x. Names that end in an apostrophe are dashed and share the colour of the one before them.

    `even` puts the values of x at equal distances, `log` makes the other axis logarithmic. None is a gap, and so is 0
    where there is no place for it.
    """

    title: str
    x: Sequence[float]
    lines: Mapping[str, Values]
    x_name: str = ""
    y_name: str = ""
    log: bool = False
    even: bool = False

    def across(self, i: int, width: float) -> float:
        """Where the i-th value of x stands."""
        last = len(self.x) - 1
        share = i / (last or 1) if self.even else (self.x[i] - self.x[0]) / ((self.x[-1] - self.x[0]) or 1)
        return LEFT + share * (width - LEFT - 16)

    def numbers(self) -> list[float]:
        """All values that there are."""
        return [value for line in self.lines.values() for value in line if value is not None]


def line_chart(
    path: Path, title: str, x: Sequence[float], y_name: str, lines: Mapping[str, Values], x_name: str = ""
) -> None:
    """One chart with its key on the right."""
    keyed(path, [Chart(title, x, lines, x_name, y_name)], columns=1)


def keyed(path: Path, charts: Sequence[Chart], columns: int = 2) -> None:
    """Charts side by side, each with a key of its own on the right."""
    most = max(len(chart.lines) for chart in charts)
    width, height = WIDTH + KEY, max(HEIGHT, TOP + 20 + 17 * most)
    parts = []
    for i, chart in enumerate(charts):
        looks = _looks([chart])
        key = [_entry(name, WIDTH + 2, TOP + 10 + 17 * row, *look) for row, (name, look) in enumerate(looks.items())]
        parts += _placed(i % columns * width, i // columns * height, [*_panel(chart, WIDTH, HEIGHT, looks), *key])
    _save(path, min(columns, len(charts)) * width, -(-len(charts) // columns) * height, parts)


def panels(path: Path, charts: Sequence[Chart], columns: int = 2) -> None:
    """Charts of the same lines side by side, with one key above them all."""
    looks = _looks(charts)
    each = max((len(name) for name in looks), default=1) * 7 + 47
    per_row = max(1, columns * PANEL_WIDTH // each)
    key = [
        _entry(name, LEFT + i % per_row * each, 20 + i // per_row * LINE, *look)
        for i, (name, look) in enumerate(looks.items())
    ]
    above = LINE * -(-len(looks) // per_row) + 8
    parts = []
    for i, chart in enumerate(charts):
        panel = _panel(chart, PANEL_WIDTH, PANEL_HEIGHT, looks)
        parts += _placed(i % columns * PANEL_WIDTH, above + i // columns * PANEL_HEIGHT, panel)
    rows = -(-len(charts) // columns)
    _save(path, min(columns, len(charts)) * PANEL_WIDTH, above + rows * PANEL_HEIGHT, [*key, *parts])


def _placed(x: float, y: float, parts: Sequence[str]) -> list[str]:
    return [f'<g transform="translate({x} {y})">', *parts, "</g>"]


def _looks(charts: Sequence[Chart]) -> dict[str, Look]:
    """Colour and dashes of each name, the same in all charts."""
    looks: dict[str, Look] = {}
    color = -1
    for name in dict.fromkeys(name for chart in charts for name in chart.lines):
        dashed = name.endswith("'")
        color += not dashed
        looks[name] = (COLORS[color % len(COLORS)], dashed)
    return looks


def _panel(chart: Chart, width: float, height: float, looks: Mapping[str, Look]) -> list[str]:
    parts = [f'<text x="{LEFT}" y="18" font-size="13">{escape(chart.title)}</text>']
    parts += _axes(chart, width, height)
    for name, values in chart.lines.items():
        parts += _line(chart, values, width, height, *looks[name])
    return parts


def _range(chart: Chart) -> tuple[float, float]:
    """The ends of the upright axis."""
    numbers = chart.numbers()
    if not chart.log:
        return 0.0, _round(max(numbers, default=1.0) or 1.0)
    positive = [number for number in numbers if number > 0] or [1.0]
    return 10.0 ** math.floor(math.log10(min(positive))), 10.0 ** math.ceil(math.log10(max(positive)) + 1e-9)


def _round(value: float) -> float:
    """The next larger number whose quarters are short, too."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10, 12) if step * power >= value)


def _up(chart: Chart, value: float, height: float) -> float:
    low, high = _range(chart)
    if chart.log:
        share = (math.log10(max(value, low)) - math.log10(low)) / ((math.log10(high) - math.log10(low)) or 1)
    else:
        share = value / high
    return height - BOTTOM - share * (height - TOP - BOTTOM)


def _ticks(chart: Chart) -> list[float]:
    low, high = _range(chart)
    if not chart.log:
        return [share * high for share in (0, 0.25, 0.5, 0.75, 1)]
    first, last = round(math.log10(low)), round(math.log10(high))
    step = max(1, (last - first) // 5)
    return [10.0**power for power in range(first, last + 1, step)]


def _axes(chart: Chart, width: float, height: float) -> list[str]:
    parts = [f'<text x="{LEFT}" y="{TOP - 6}" fill="#555">{escape(chart.y_name)}</text>']
    for tick in _ticks(chart):
        y = _up(chart, tick, height)
        shown = f"{tick:,.0f}" if tick >= 1000 else f"{tick:.3g}"
        parts.append(f'<path d="M{LEFT} {y:.1f}H{width - 16}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{shown}</text>')
    for i, value in enumerate(chart.x):
        place = f'x="{chart.across(i, width):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle" fill="#555"'
        parts.append(f"<text {place}>{value:{',' if value >= 1000 else 'g'}}</text>")
    middle = f'x="{(width - 16 + LEFT) / 2}" y="{height - 10}" text-anchor="middle" fill="#555"'
    return [*parts, f"<text {middle}>{escape(chart.x_name)}</text>"]


def _line(chart: Chart, values: Values, width: float, height: float, color: str, dashed: bool) -> list[str]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for i, value in enumerate(values):
        if value is None or (chart.log and value <= 0):
            pieces.append([])
        else:
            pieces[-1].append((chart.across(i, width), _up(chart, value, height)))
    lines = [" ".join(f"{x:.1f},{y:.1f}" for x, y in piece) for piece in pieces if len(piece) > 1]
    marks = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for piece in pieces for x, y in piece]
    return [*(f'<polyline points="{points}" {_style(color, dashed)}/>' for points in lines), *marks]


def _entry(name: str, x: float, y: float, color: str, dashed: bool) -> str:
    shown = escape(name.rstrip("'"))
    return f'<path d="M{x} {y - 4}h22" {_style(color, dashed)}/><text x="{x + 28}" y="{y}" fill="#333">{shown}</text>'


def _style(color: str, dashed: bool) -> str:
    return f'stroke="{color}" stroke-width="2" fill="none"' + (' stroke-dasharray="5 4"' if dashed else "")


def _save(path: Path, width: float, height: float, parts: Sequence[str]) -> None:
    size = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, ground, *parts, "</svg>"]) + "\n", encoding="utf-8")
