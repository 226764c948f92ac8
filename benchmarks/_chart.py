"""Line charts as plain SVG, for pages that show measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

COLORS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5aa8", "#e08e0b", "#444444")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 320, 60, 150, 36, 44


def line_chart(path: Path, title: str, x: Sequence[float], y_name: str, lines: Mapping[str, Sequence[float]]) -> None:
    """One line per name; names that end in an apostrophe are dashed and share the colour of the one before them."""
    top = max((value for line in lines.values() for value in line), default=1.0) or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="13">{title}</text>',
        *_axes(x, y_name, top),
    ]
    color = -1
    for row, (name, values) in enumerate(lines.items()):
        dashed = name.endswith("'")
        color += not dashed
        parts += _line(name.rstrip("'"), COLORS[color % len(COLORS)], dashed, row, x, values, top)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _place(x: Sequence[float], i: int, value: float, top: float) -> tuple[float, float]:
    across = (x[i] - x[0]) / ((x[-1] - x[0]) or 1)
    return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)


def _axes(x: Sequence[float], y_name: str, top: float) -> list[str]:
    parts = [f'<text x="{LEFT}" y="{TOP - 4}" fill="#555">{y_name}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        _, y = _place(x, 0, share * top, top)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{share * top:.3g}</text>')
    for i, value in enumerate(x):
        across, y = _place(x, i, 0, top)
        parts.append(f'<text x="{across:.1f}" y="{y + 16:.1f}" text-anchor="middle" fill="#555">{value:g}</text>')
    parts.append(f'<text x="{(WIDTH - RIGHT + LEFT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="#555">M</text>')
    return parts


def _line(
    name: str, color: str, dashed: bool, row: int, x: Sequence[float], values: Sequence[float], top: float
) -> list[str]:
    points = " ".join("{:.1f},{:.1f}".format(*_place(x, i, value, top)) for i, value in enumerate(values))
    style = f'stroke="{color}" stroke-width="2" fill="none"' + (' stroke-dasharray="5 4"' if dashed else "")
    y = TOP + 10 + 17 * row
    start = WIDTH - RIGHT + 12
    return [
        f'<polyline points="{points}" {style}/>',
        f'<path d="M{start} {y - 4}h22" {style}/>',
        f'<text x="{start + 28}" y="{y}" fill="#333">{name}</text>',
    ]
