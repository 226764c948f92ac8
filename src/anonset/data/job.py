"""`Job`: what a running computation needs to know: seed, threads, how to report progress, how to stop."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonset.data.errors import CancelledError, ParameterError

if TYPE_CHECKING:
    import numpy as np

    from anonset._native import Monitor

Progress = Callable[[str, int, int | None], None]
"""Called with the stage's name, the steps done and the steps in all (None: not known)."""

Tell = Callable[[str], None]
"""Called with a sentence that the user should see while the work is going on."""


class Job:
    """One run: its seed, its threads, its stages and their times.

    Examples
    --------
    >>> job = Job(seed=7)
    >>> with job.stage("sort"):
    ...     pass
    >>> list(job.seconds)
    ['sort']
    """

    def __init__(
        self,
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        tell: Tell | None = None,
    ) -> None:
        from anonset._native import Monitor

        if seed is not None and seed < 0:
            raise ParameterError("seed", "be a whole number from 0", seed)
        if threads is not None and threads < 0:
            raise ParameterError("threads", "be at least 1 (or left out: all cores)", threads)
        self.seed = secrets.randbits(63) if seed is None else seed
        self.threads = threads or 0  # 0: all cores
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._tell = tell
        self._stage = ""
        self._total: int | None = None
        self.monitor: Monitor = Monitor(self._tick if progress else None)

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Monitor]:
        """A named, timed part of the work; gives the monitor that kernels report to."""
        self._stage, self._total = name, total
        self.monitor.reset()
        self.check()
        self._tick(0)
        start = time.perf_counter()
        try:
            yield self.monitor
        except Exception as error:
            if self.monitor.cancelled:
                raise CancelledError("Stopped on request; nothing was written.") from error
            raise
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        if total is not None:
            self._tick(total)

    def say(self, sentence: str) -> None:
        """Something to know before the work goes on, such as how long it may take."""
        if self._tell is not None:
            self._tell(sentence)

    def report(self, done: int, total: int | None) -> None:
        """How far the stage is, where the work is done elsewhere."""
        self._total = total
        self._tick(done)

    def cancel(self) -> None:
        """Ask the work to stop, from any thread; it ends with a `CancelledError` within a second."""
        self.monitor.cancel()

    def check(self) -> None:
        """Stop here if somebody asked for it."""
        if self.monitor.cancelled:
            raise CancelledError("Stopped on request; nothing was written.")

    def random(self, purpose: str) -> np.random.Generator:
        """A generator of its own for each purpose, so that adding one draw never changes another."""
        import numpy as np

        return np.random.default_rng([self.seed, *purpose.encode()])

    def _tick(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._stage, done, self._total)
