"""`progress=True`: one line in a terminal, one bar in a notebook, nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from anonset.data.job import Progress

EVERY = 0.1
"""Seconds between two drawings."""


class Bar:
    """Shows the stage of a run and how far it is; gone when it is closed."""

    def __init__(self) -> None:
        self._next = 0.0
        self._stage = ""
        self._place: Any = None
        self._notebook = _notebook()
        self._terminal = not self._notebook and sys.stderr.isatty()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Draw it, unless it was drawn a moment ago."""
        now = time.monotonic()
        if now < self._next and stage == self._stage:
            return
        self._next, self._stage = now + EVERY, stage
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{stage}{f' {done / total:.0%}' if total else ''}")
            sys.stderr.flush()
        elif self._notebook:
            self._draw(stage, done, total)

    def _draw(self, stage: str, done: int, total: int | None) -> None:
        from IPython.display import HTML, display

        part = f' value="{done}" max="{total}"' if total else ""
        shown = HTML(f"<progress{part}></progress> {escape(stage)}")
        if self._place is None:
            self._place = display(shown, display_id=True)
        else:
            self._place.update(shown)

    def close(self) -> None:
        """Leave nothing behind."""
        if self._terminal and self._stage:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        if self._place is not None:
            from IPython.display import HTML

            self._place.update(HTML(""))


def _notebook() -> bool:
    """Whether this runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def watched(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """What hears of the progress: the function given, a bar for True, nobody for None and False.

    Examples
    --------
    >>> with watched(None) as nobody:
    ...     print(nobody)
    None
    """
    if not isinstance(progress, bool):
        yield progress
        return
    bar = Bar() if progress else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()
