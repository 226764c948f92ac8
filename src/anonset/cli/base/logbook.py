"""`--log FILE|-`: what a run did and how it ended, a line each, without anything that could be about a person.

Lines name times, stages, counts, files, exit codes and options: no labels, no ids, no sentences of errors (these may
name an item). A line is added only to a file that is empty or that begins with a line of this log: nobody's data are
ever taken for a log.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anonset.data.errors import InputError, OutputError, argument
from anonset.data.version import VERSION

_book: Logbook | None = None


class Logbook:
    """An open log."""

    def __init__(self, place: str, form: str) -> None:
        self._form = form
        self._path = None if place == "-" else Path(place)
        self._is_new = self._path is not None and not os.path.lexists(self._path)
        self._descriptor = None if self._path is None else _opened(self._path)
        self.write("start", version=VERSION)

    def write(self, event: str, **facts: Any) -> None:
        """Add a line."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = (_json if self._form == "json" else _text)(now, event, facts) + "\n"
        if self._descriptor is not None:
            os.write(self._descriptor, line.encode())
        else:
            with suppress(OSError):
                sys.stderr.write(line)

    def close(self, *, unmade: bool = False) -> None:
        """End the log; `unmade` where it must not be where it is, so that a new one goes."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        if unmade and self._is_new and self._path is not None:
            self._path.unlink(missing_ok=True)


def begin(place: str | None, form: str = "text") -> None:
    """Log this run, if a place for it is named."""
    global _book
    _book = None if place is None else Logbook(place, form)


def reset(*, unmade: bool = False) -> None:
    """Forget the log of an earlier run of this process, or one that was refused (`unmade`)."""
    global _book
    if _book is not None:
        with suppress(OSError):
            _book.close(unmade=unmade)
    _book = None


def note(event: str, **facts: Any) -> None:
    """Add a line, if there is a log; a full disk behind it must not stop what is under way."""
    if _book is not None:
        try:
            _book.write(event, **facts)
        except OSError:
            reset()


def _text(now: str, event: str, facts: Mapping[str, Any]) -> str:
    return " ".join((now, "anonset", event, *(f"{name}={json.dumps(value)}" for name, value in facts.items())))


def _json(now: str, event: str, facts: Mapping[str, Any]) -> str:
    return json.dumps({"time": now, "program": "anonset", "event": event, **facts})


def _opened(path: Path) -> int:
    """A descriptor to add to a log of ours, or to a new one (mode 0600)."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise OutputError(f"The log {path} could not be opened: {error.strerror}.") from error
    info = os.fstat(descriptor)
    head = os.pread(descriptor, 80, 0).split(b"\n")[0] if stat.S_ISREG(info.st_mode) else b"?"
    if head and not _is_ours(head):
        os.close(descriptor)
        raise InputError(f"{argument('log')} must be a log of anonset or a new file. {path} is another kind of file.")
    return descriptor


def _is_ours(head: bytes) -> bool:
    return b" anonset start " in head or b'"program": "anonset", "event": "start"' in head
