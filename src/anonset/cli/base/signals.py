"""Ctrl-C and `kill` end a run within a second, whatever it is doing.

The first SIGINT, SIGTERM or SIGHUP becomes a KeyboardInterrupt, so that every `finally` and `with` on the way out
removes what it made. Python delivers it only between two of its own steps, though, and a library may be busy for
long inside one. So a second thread is woken by the signal itself and ends the process if that takes too long.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

GRACE = 0.8  # seconds for an orderly end
SHOW_CURSOR = "\x1b[?25h"


class Stop:
    """Whether a signal came, and how the process then ends."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.begun = False  # before that there is nothing to tidy up
        self.over = False  # after that there is nothing to stop
        self.ended = threading.Event()

    @property
    def exit_code(self) -> int | None:
        """128 + the signal's number, as shells have it; None if none came."""
        return None if self.signal is None else 128 + self.signal

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first signal interrupts; later ones must not disturb the tidying up."""
        if not self.begun:
            sys.stderr.write("Stopped.\n")
            end_now(128 + number)
        if self.signal is None and not self.over:
            self.signal = number
            raise KeyboardInterrupt

    def watch(self, wakeup: int) -> None:
        """Wait for a signal, then for the orderly end, then end the process."""
        number = os.read(wakeup, 1)
        if number and not self.ended.wait(GRACE):
            _give_up(128 + number[0])


@contextmanager
def graceful_stop(stop: Stop | None = None, *, last: bool = False) -> Iterator[Stop]:
    """Inside, signals interrupt the work; `stop.exit_code` says afterwards whether one did.

    Where this is the `last` thing that a process does, signals are ignored afterwards: the work is done, and Python's
    own end would answer them with a traceback.
    """
    stop = stop or Stop()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = _install(stop)
    unraisable, sys.unraisablehook = sys.unraisablehook, _quiet_about_interrupts(sys.unraisablehook)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=stop.watch, args=(reader,), daemon=True).start()
    try:
        stop.begun = True
        yield stop
    except KeyboardInterrupt:  # it came so early that nobody was there to say so
        print("Stopped.", file=sys.stderr)
        if last:
            raise
    finally:
        stop.over = True
        stop.ended.set()
        signal.set_wakeup_fd(-1)
        os.close(writer)
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if last else handler)


def _quiet_about_interrupts(usual: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Where an interrupt lands in code that nobody can leave (a destructor), it is lost: the second thread ends the
    process then, and a traceback would help nobody."""

    def hook(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            usual(lost)

    return hook


def _install(stop: Stop) -> dict[int, Any]:
    """Handlers for the signals that nobody asked to ignore (`nohup` does); gives the former ones."""
    wanted = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    heard = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, stop.interrupt) for number in heard}


def _give_up(code: int) -> None:
    """Remove unfinished files and end the process from outside the thread that is busy."""
    writing = sys.modules.get("anonset.io.publish.atomic")
    if writing is not None:
        writing.discard_unfinished()
    sys.stderr.write(f"{SHOW_CURSOR if sys.stderr.isatty() else ''}Stopped.\n")
    end_now(code)


def end_now(code: int) -> NoReturn:
    """End the process without taking it apart piece by piece: with much memory that takes longer than people wait."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
