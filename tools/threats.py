"""Draw a picture of every attack: `python -m tools.threats docs/images/threats`.

Each shows what the attacker knows, what is published, and the candidates that are left (marked); the person's own is
ringed. The examples are made up; the words are those of the page on threats.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, LINE, LEFT, RIGHT = 560, 24, 16, 268
CANDIDATE, OWN, INK, PALE = "#f3c969", "#b3261e", "#1d2b3a", "#f4f6f8"


@dataclass(frozen=True)
class Picture:
    """What is known (a few lines), what is published (rows), which rows are candidates, which is the person's own."""

    known: tuple[str, ...]
    rows: tuple[str, ...]
    candidates: tuple[int, ...]
    own: int | None
    result: str
    published: str = "published"


BASKETS = ("bread, milk", "bread, milk", "bread, wine", "beer, wine", "beer")
GROUP = ("group 7: counts of test: 1", "  bread, milk", "  bread, milk, wine", "  beer", "  bread, beer, milk, wine")

PICTURES = {
    "known-items": Picture(("bread is in it",), BASKETS, (0, 1, 2), 2, "1 of 3 is right"),
    "absent-items": Picture(("bread is in it", "milk is not"), BASKETS, (2,), 2, "found for certain"),
    "nearest-match": Picture(("bread, milk, wine",), BASKETS, (0, 1, 2), 0, "three are equally near"),
    "whole-basket": Picture(("exactly bread, milk",), BASKETS, (0, 1), 0, "1 of 2 is right"),
    "longest-basket": Picture(
        ("nobody bought more",), ("bread, milk", "bread, milk, wine", "beer"), (1,), 1, "found for certain"
    ),
    "empty-basket": Picture(
        ("bought nothing",), ("bread, milk", "(empty)", "(empty)", "beer"), (1, 2), 2, "1 of 2 is right"
    ),
    "person-items": Picture(
        ("Ann bought bread once",),
        ("bread, milk      (Ann)", "bread, wine      (Ann)", "bread            (Bo)", "beer             (Cy)"),
        (0, 1, 2),
        0,
        "2 persons fit, not 3",
        "published, and whose it is",
    ),
    "history-items": Picture(
        ("Ann bought bread, beer,", "on whatever days"),
        ("u1: bread, milk | beer", "u2: bread | wine", "u3: beer"),
        (0,),
        0,
        "found for certain",
        "published under pseudonyms",
    ),
    "whole-history": Picture(
        ("everything Ann bought",),
        ("u1: bread, milk | beer", "u2: bread | wine", "u3: beer | beer, wine"),
        (0,),
        0,
        "the nearest history is hers",
        "published under pseudonyms",
    ),
    "two-baskets": Picture(
        ("Ann's basket of Monday:", "bread, milk"),
        ("u1  Mon  bread, milk", "u1  Tue  beer", "u1  Wed  test", "u2  Mon  bread"),
        (0, 1, 2),
        0,
        "u1 is Ann: all others follow",
        "published under pseudonyms",
    ),
    "two-releases": Picture(
        ("bought a1 and b1", "was in both releases"),
        ("first:   A, b1   fits 4", "second:  a1, B   fits 4", "both:    a1, b1  fits 1"),
        (2,),
        2,
        "together they find one",
        "two releases of the same data",
    ),
    "homogeneity": Picture(
        ("Ann bought bread, milk",),
        ("bread, milk   + test", "bread, milk   + test", "bread, milk   + test", "beer"),
        (0, 1, 2),
        None,
        "whichever is hers: she has it",
    ),
    "posterior": Picture(
        ("nobody's basket is empty",),
        ("group 3: counts of test: 1", "  bread, milk", "  (empty)", "  beer"),
        (2,),
        2,
        "the empty one holds the test",
    ),
    "minimality": Picture(
        ("groups are a holder and", "the nearest baskets"),
        (
            "group 7: counts of test: 1",
            "  bread, milk",
            "  bread, milk, wine",
            "  bread, wine",
            "outside: bread, milk",
            "outside: bread, wine",
        ),
        (2,),
        2,
        "the others have nearer ones outside",
    ),
    "longest-member": Picture(("who buys tests buys much",), GROUP, (4,), 4, "a guess that the data allow"),
}


def svg(name: str, picture: Picture) -> str:
    """The picture as SVG: text and boxes, nothing that has to be loaded."""
    height = 88 + LINE * max(len(picture.rows), len(picture.known) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(name)}: {escape("; ".join(picture.known))}. {escape(picture.result)}." '
        'font-family="ui-sans-serif, system-ui, sans-serif" font-size="14">',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{PALE}"/>',
        _text(LEFT, 28, name, 'font-weight="700" font-size="15"'),
        _text(LEFT, 56, "the attacker knows", 'fill-opacity="0.65" font-size="12"'),
        _text(RIGHT, 56, picture.published, 'fill-opacity="0.65" font-size="12"'),
    ]
    for place, line in enumerate(picture.known):
        parts.append(_text(LEFT, 80 + LINE * place, line))
    parts.append(f'<path d="M 222 84 h 26 m -7 -6 l 7 6 l -7 6" fill="none" stroke="{INK}" stroke-width="1.5"/>')
    for place, row in enumerate(picture.rows):
        parts += _row(place, row, picture)
    parts.append(_text(LEFT, height - 14, picture.result, f'font-weight="600" style="fill:{OWN}"'))
    return "\n".join([*parts, "</svg>", ""])


def _row(place: int, row: str, picture: Picture) -> list[str]:
    top = 64 + LINE * place
    fill = CANDIDATE if place in picture.candidates else "#ffffff"
    ring = f'stroke="{OWN}" stroke-width="2"' if place == picture.own else f'stroke="{INK}" stroke-opacity="0.2"'
    box = (
        f'<rect x="{RIGHT}" y="{top}" width="{WIDTH - RIGHT - LEFT}" height="{LINE - 3}" rx="3" fill="{fill}" {ring}/>'
    )
    mono = 'font-family="ui-monospace, monospace" font-size="12.5" xml:space="preserve"'
    return [box, _text(RIGHT + 8, top + 15, row, mono)]


def _text(x: int, y: int, text: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{INK}"{" " if more else ""}{more}>{escape(text)}</text>'


def main() -> None:
    """Write all pictures into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        (folder / f"{name}.svg").write_text(svg(name, picture), encoding="utf-8")


if __name__ == "__main__":
    main()
