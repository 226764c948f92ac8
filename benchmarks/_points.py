"""Charts of points over time, relative to one of them, as plain SVG: panels side by side, one key above."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks._chart import COLORS

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 370, 250, 56, 16, 34, 42


@dataclass(frozen=True)
class Panel:
    """Points (time, value) by name, joined where there are several, and a level that none can go below."""

    title: str
    points: Mapping[str, Sequence[tuple[float, float]]]
    level: float


def time_charts(path: Path, panels: Sequence[Panel], level: str, x_name: str, y_name: str, columns: int = 2) -> None:
    """All panels with the same names in the same colours; time is logarithmic, and the values do not begin at 0."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.points))
    colors = {name: COLORS[i % len(COLORS)] for i, name in enumerate(names)}
    parts = [_key(i, name, colors[name]) for i, name in enumerate(names)]
    parts.append(f'<path d="M{LEFT + 130 * len(names)} 16h22" stroke="#444" stroke-dasharray="5 4"/>')
    parts.append(f'<text x="{LEFT + 130 * len(names) + 28}" y="20" fill="#333">{escape(level)}</text>')
    for i, panel in enumerate(panels):
        x, y = i % columns * WIDTH, 30 + i // columns * HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel, colors, x_name, y_name), "</g>"]
    width, height = max(columns * WIDTH, LEFT + 130 * len(names) + 150), 30 + -(-len(panels) // columns) * HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
    body = [f'{head} font-size="11">', f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(body) + "\n", encoding="utf-8")


def _key(place: int, name: str, color: str) -> str:
    x = LEFT + 130 * place
    mark = f'<circle cx="{x + 6}" cy="16" r="4" fill="{color}"/>'
    return f'{mark}<text x="{x + 16}" y="20" fill="#333">{escape(name)}</text>'


def _range(panel: Panel) -> tuple[float, float]:
    """From a little below the level to a little above all points: what matters is how far they are apart."""
    values = [panel.level, *(value for line in panel.points.values() for _, value in line)]
    room = 0.1 * (max(values) - min(values)) or 0.1
    return max(0.0, min(values) - room), max(values) + room


def _panel(panel: Panel, colors: Mapping[str, str], x_name: str, y_name: str) -> list[str]:
    times = [time for line in panel.points.values() for time, _ in line]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)) + 1e-9)
    bottom, top = _range(panel)

    def place(time: float, value: float) -> tuple[float, float]:
        across = (math.log10(time) - low) / ((high - low) or 1)
        up = (value - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up

    parts = [f'<text x="{LEFT}" y="14" font-size="13">{escape(panel.title)}</text>']
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}" fill="#555">{escape(y_name)}</text>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        value = bottom + share * (top - bottom)
        _, y = place(10.0**low, value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{value:.3f}</text>')
    for power in range(low, high + 1):
        x, y = place(10.0**power, bottom)
        parts.append(f'<text x="{x:.1f}" y="{y + 15:.1f}" text-anchor="middle" fill="#555">{10.0**power:g}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#555">{escape(x_name)}</text>')
    _, y = place(10.0**low, panel.level)
    parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#444" stroke-dasharray="5 4"/>')
    for name, line in panel.points.items():
        spots = [place(*point) for point in line]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline points="{joined}" stroke="{colors[name]}" stroke-width="1.5" fill="none"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colors[name]}"/>' for x, y in spots]
    return parts
