"""What all targets of the fuzzer share: a folder, and what may come out of a target."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import anonset
from anonset import AnonsetError
from anonset.io.containers import database as databases

SPLIT = b"\n--8<--\n"
"""What separates the parts of an input that stands for several files."""

_FOLDER = tempfile.TemporaryDirectory(prefix="anonset-fuzz-")
FOLDER = Path(_FOLDER.name)


def share_database() -> None:
    """Opening a database takes ten times as long as reading a small file: in a fuzzer one is enough for all."""
    database = databases.connect()

    @contextmanager
    def shared() -> Iterator[Any]:
        yield database

    databases.connect = shared


def reads(ending: str, *layouts: str) -> Callable[[bytes], None]:
    """Read the bytes as a file with this ending: as detected, then in every layout that it can hold."""

    def target(data: bytes) -> None:
        path = FOLDER / f"input.{ending}"
        path.write_bytes(data)
        for layout in (None, *layouts):
            only_ours(lambda layout=layout: measured(path, layout))

    return target


def measured(path: Path, layout: str | None) -> None:
    """What anybody does with a file: read it, and ask whether it keeps a promise."""
    release = anonset.read_release(path, format=layout)
    release.transactions.labels.validate(full=True)
    anonset.verify(release, k=2)


def only_ours(work: Callable[[], object]) -> None:
    """Nothing comes out of `work` but an error of ours, in one line that can be shown."""
    try:
        work()
    except AnonsetError as error:
        if not str(error) or not str(error).isprintable():
            raise ValueError("an error without a sentence, or with control characters") from error


def commanded(*words: str, codes: tuple[int, ...] = (0, 2, 3)) -> None:
    """A command line that ends with one of these exit codes; what it prints goes nowhere."""
    from anonset.cli.base.outcome import run

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):  # noqa: PTH123
        code = run(words)
    if code not in codes:
        raise ValueError(f"exit code {code}")
