"""Whether a source is there at all, and what its columns are, without reading more than its first lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonset.data.address import Address
from anonset.data.errors import DataError
from anonset.io.formats.registry import split_name
from anonset.io.source.detect import detect
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import File, NotUtf8, find_files, guess_encoding


def require_readable(source: Any, options: Mapping[str, Any]) -> None:
    """An error for files, tables and columns that are not there or unclear; frames and standard input are passed over.

    Columns of Parquet, Arrow, JSON and spreadsheets are looked at when they are read.
    """
    if (address := Address.of(source)) is not None:
        from anonset.io.database.reading import require_database

        return require_database(address, ReadOptions(**options))
    asked = ReadOptions(**options)
    named = [value for name, value in options.items() if name.endswith("_file") and value is not None]
    sources = source if isinstance(source, (list, tuple)) else [source]
    for number, place in enumerate((*sources, *named)):
        if isinstance(place, (str, os.PathLike)) and "://" not in str(place) and str(place) != "-":
            files, _ = find_files(place, lambda path: split_name(path)[0] is not None)
            for file in files:
                if file.path is not None and not os.access(file.path, os.R_OK):
                    raise DataError("There is no permission to read it.", source=str(Path(file.path)))
                if number < len(sources) and asked.query is None:
                    _require_clear(file, asked)
    return None


def _require_clear(file: File, options: ReadOptions) -> None:
    """An error where the first lines of a text do not show what its columns are."""
    try:
        detect(file, options)
    except NotUtf8:
        guess = guess_encoding(file)
        if guess is None or options.encoding is not None:
            raise
        detect(replace(file, encoding=guess), options)
