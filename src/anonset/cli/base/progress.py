"""Progress on stderr: the stage's name, a bar and the time left; only on a terminal and only for longer work."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown


class Display:
    """A progress callback (see `anonset.data.job.Progress`) that shows itself once the work has taken a while.

    The display is drawn by a thread of its own, so that it appears also while a stage has nothing to report.
    """

    def __init__(self, *, quiet: bool, patience: float = PATIENCE) -> None:
        self._quiet = quiet
        self._timer = None if quiet or not sys.stderr.isatty() else threading.Timer(patience, self._start)
        self._lock = threading.Lock()
        self._now: tuple[str, int, int | None] = ("start", 0, None)
        self._bars: Any = None
        self._task: Any = None
        self._stage = ""

    def __enter__(self) -> Display:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Show nothing any more: the work is done, or somebody is asked."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bars is not None:
                self._bars.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """What the job reports."""
        with self._lock:
            self._now = (stage, done, total)
            if self._bars is not None:
                self._draw()

    def say(self, sentence: str) -> None:
        """A sentence for the user, at once; above the bar where there is one."""
        if self._quiet:
            return
        with self._lock:
            if self._bars is None:
                print(f"Note: {sentence}", file=sys.stderr, flush=True)
            else:
                self._bars.console.print(f"Note: {sentence}", markup=False, highlight=False)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        with self._lock:
            if self._timer is None:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bars.add_task("", total=None)
            self._draw()
            self._bars.start()

    def _draw(self) -> None:
        stage, done, total = self._now
        if stage != self._stage:
            self._stage = stage
            self._bars.reset(self._task, description=stage, total=total)
        self._bars.update(self._task, completed=done, total=total)
