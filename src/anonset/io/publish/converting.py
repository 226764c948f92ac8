"""`convert`: from any format into any other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from anonset.data.errors import OutputError
from anonset.data.transactions import Transactions
from anonset.io.formats.capacity import PARTS
from anonset.io.formats.registry import Format, format_of
from anonset.io.formats.saving import prepared, write_to
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.plan import reading_inputs, require_plan
from anonset.io.publish.releases import release_outputs
from anonset.io.source.reading import read


def convert(
    source: Any,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    source_format: str | None = None,
    force: bool = False,
    keep_formulas: bool = False,
    drop: str | Iterable[str] = (),
    shared_folder: SharedFolder = None,
    **options: Any,
) -> Transactions:
    """Read transactions from one format and write them in another; nothing is anonymized.

    Parameters
    ----------
    source
        Anything that `anonset.read` takes.
    target
        A path (the file appears whole or not at all, readable by its owner only), `-` for standard output, or a
        file opened for writing bytes.
    format, source_format
        The formats of the target and of the source; the default is what names and content say.
    force
        Replace an existing file.
    keep_formulas
        Write labels that a spreadsheet would run as a formula as they are.
    drop
        Parts to leave out on purpose: `users`, `ids`, `sensitive`, `sensitivity`, `counts`; or columns of a table.
    shared_folder
        The folder of the target, named once more, where others can write in it and that is wanted all the same.
    options
        How to read the source, as in `anonset.read`.

    Returns
    -------
    Transactions
        What was written, with notes on what reading and writing changed.

    Examples
    --------
    >>> import tempfile
    >>> convert([["bread", "wine"], ["bread"]], tempfile.mkdtemp() + "/data.csv")
    Transactions(2 transactions, 2 items, mean length 1.5)
    """
    settings: dict[str, Any] = {"force": force, "keep_formulas": keep_formulas, "drop": drop}
    return read_and_written(
        source, target, format=format, source_format=source_format, shared_folder=shared_folder, **settings, **options
    )[1]


def read_and_written(
    source: Any,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    source_format: str | None = None,
    force: bool = False,
    keep_formulas: bool = False,
    drop: str | Iterable[str] = (),
    shared_folder: SharedFolder = None,
    **options: Any,
) -> tuple[Transactions, Transactions]:
    """Convert; gives what was read and what was written."""
    path = Path(target) if isinstance(target, (str, os.PathLike)) and target != "-" else None
    if path is not None:
        inputs = reading_inputs(source, options)
        require_plan(release_outputs(target), inputs, force=force, shared=shared_folder)  # type: ignore[arg-type]
    chosen = format_of(path, format)
    parts, columns = _parts(drop)
    data = read(source, format=source_format, drop=columns, **options)
    written, notes = prepared(data, chosen, drop=parts, keep_formulas=keep_formulas)
    if path is not None:
        notes += _replace(path, written, chosen, force, shared_folder)
    else:
        if target == "-" and sys.stdout is None:
            raise OutputError("Standard output could not be written: it is closed. Nothing was changed.")
        file = sys.stdout.buffer if target == "-" else cast(BinaryIO, target)
        with plain_errors("Standard output" if target == "-" else "The file"):
            write_to(file, written, chosen)
            file.flush()
    return data, replace(written, notes=(*data.notes, *notes))


def _parts(drop: str | Iterable[str]) -> tuple[list[str], list[str] | None]:
    """The parts of transactions among the names to leave out, and the columns of a table."""
    names = [name.strip() for name in drop.split(",")] if isinstance(drop, str) else list(drop)
    return [name for name in names if name in PARTS], [name for name in names if name not in PARTS] or None


def _replace(path: Path, data: Transactions, format: Format, force: bool, shared: SharedFolder) -> tuple[str, ...]:
    with plain_errors(path), staging(force=force, shared=shared) as stage:
        with stage.file(path).open("wb") as file:
            write_to(file, data, format)
        for output in release_outputs(path):
            if output.path != path:
                stage.withdraw(output.path)  # it spoke about what was there before
        stage.publish()
        return tuple(stage.notes)
