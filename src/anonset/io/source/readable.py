"""Whether a source is there at all, without reading it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonset.data.address import Address
from anonset.data.errors import DataError
from anonset.io.formats.registry import split_name
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import find_files


def require_readable(source: Any, options: Mapping[str, Any]) -> None:
    """An error for files, tables and columns that are not there; frames and standard input are passed over."""
    if (address := Address.of(source)) is not None:
        from anonset.io.database.reading import require_database

        return require_database(address, ReadOptions(**options))
    named = [value for name, value in options.items() if name.endswith("_file") and value is not None]
    for place in (*(source if isinstance(source, (list, tuple)) else [source]), *named):
        if isinstance(place, (str, os.PathLike)) and "://" not in str(place) and str(place) != "-":
            files, _ = find_files(place, lambda path: split_name(path)[0] is not None)
            for file in files:
                if file.path is not None and not os.access(file.path, os.R_OK):
                    raise DataError("There is no permission to read it.", source=str(Path(file.path)))
    return None
