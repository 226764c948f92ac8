"""What commands print: results on stdout, as text that reads well at 80 columns or as one JSON object."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from typing import Any

import typer

from anonset.cli.base import outcome
from anonset.data.errors import printable


def show(*parts: Any) -> None:
    """Print Rich renderables and plain texts (never read as markup) on stdout, each on its own lines."""
    from rich.console import Console
    from rich.text import Text

    target = Console()
    console = Console(
        file=StringIO(),
        width=min(target.width, 100),
        force_terminal=target.is_terminal,
        no_color=target.no_color,
        highlight=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(Text(printable(part)) if isinstance(part, str) else part)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    _write("".join(f"{line.rstrip()}\n" for line in lines))


def show_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    ascii_only = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") != "utf8"
    text = json.dumps(plain(answer), ensure_ascii=ascii_only, indent=2)
    # Escaped, marks that turn a line round and halves of characters stay what they are, and do nothing.
    _write("".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text) + "\n")


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 128 else json.dumps(char)[1:-1]


def warn(sentences: Iterable[str], word: str = "Note") -> None:
    """Say something on stderr that the user should know."""
    for sentence in sentences:
        with suppress(OSError):  # a full disk behind stderr must not stop what is under way
            print(f"{word}: {printable(sentence)}", file=sys.stderr)


def plain(value: Any) -> Any:
    """The value in JSON's own types: NumPy numbers become numbers, what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Sequence[str] = ()) -> Any:
    """A plain table; the columns named in `numbers` are right-aligned."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(number(cell)) for cell in row))
    return grid


def facts(pairs: Iterable[tuple[str, Any]]) -> Any:
    """Names and values side by side, the values aligned and wrapped in their own column."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(name, value if isinstance(value, Text) else Text(number(value)))
    return grid


def number(value: Any) -> str:
    """A value as people write it: 12,345 · 0.12 · yes · text without control characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or hasattr(value, "__index__"):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return printable("" if value is None else str(value))


def measured(values: Mapping[str, Any]) -> str:
    """What a check measured, in one line: `k = 10, groups = 8,331`."""
    return ", ".join(f"{name.replace('_', ' ')} = {number(value)}" for name, value in values.items())


def items(labels: Sequence[str], most: int = 12) -> str:
    """A set of items in braces, no more than `most` of them."""
    shown = ", ".join(labels[:most]) + (f", … ({len(labels) - most:,} more)" if len(labels) > most else "")
    return f"{{{shown}}}"


def _write(text: str) -> None:
    try:
        outcome.put(text)
    except BrokenPipeError:
        raise typer.Exit(outcome.closed_pipe()) from None
