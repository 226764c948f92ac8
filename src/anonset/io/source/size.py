"""How much memory a run will need, before anything is read: about so many rows, about so many bytes for each.

Measured with `crowd`, all its attackers and a CSV file as the target, on 12,000 to 3 M rows of a CSV file and of a
PostgreSQL table: 65 to 70 bytes for a row above what a tiny run takes. A hierarchy or long labels may need more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonset.data.address import Address
from anonset.data.errors import ParameterError
from anonset.io.containers.container import TEXT
from anonset.io.formats.registry import split_name
from anonset.io.source.detect import detect
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import File, find_files, head

BASE = 215 << 20
"""What a run needs whatever it reads: Python, its libraries, the code."""
DRIVER = 55 << 20
"""What the driver of a database adds."""
PER_ROW = 75
COMPRESSED = 6  # times that a compressed text grows, about
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)


def bytes_in(text: str) -> int:
    """A size as people write it.

    Examples
    --------
    >>> bytes_in("1.5G") == 3 << 29, bytes_in("500 MB") == 500 << 20
    (True, True)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ParameterError("memory_limit", "be a size", repr(text), "Try 500M or 2G.")
    return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))


def require_memory(source: Any, options: Mapping[str, Any], limit: int) -> int | None:
    """An error where a run would need more than `limit` bytes; gives about how many rows there are, None: not known."""
    rows = about_rows(source, ReadOptions(**options))
    if rows is None:
        return None
    base = BASE if Address.of(source) is None else BASE + DRIVER
    needed = base + PER_ROW * rows
    if needed > limit:
        fits = max(0, limit - base) // PER_ROW
        least = -(-needed // (1 << 20))
        raise ParameterError(
            "memory_limit",
            f"be at least {least:,} MB for about {rows:,} rows",
            f"{limit >> 20:,} MB",
            f"About {fits:,} rows would fit: read fewer, by a query, or allow more." if fits else "Allow more.",
        )
    return rows


def about_rows(source: Any, options: ReadOptions) -> int | None:
    """About how many rows a source has; None where that is not known without reading it."""
    address = Address.of(source)
    if address is not None:
        from anonset.io.database.reading import about_rows as rows_in_database

        return rows_in_database(address, options)
    several = source if isinstance(source, (list, tuple)) else [source]
    if options.query is not None or not all(isinstance(one, (str, os.PathLike)) and str(one) != "-" for one in several):
        return None
    found = [find_files(one, lambda path: split_name(path)[0] is not None)[0] for one in several]
    return sum(_rows_of(file, options) for files in found for file in files)


def _rows_of(file: File, options: ReadOptions) -> int:
    start = head(file, options.encoding) if file.path is not None else file.data or b""
    if start.startswith(b"PAR1") and file.path is not None:
        from pyarrow.parquet import ParquetFile

        return int(ParquetFile(file.path).metadata.num_rows)
    size = (len(file.data or b"") if file.path is None else Path(file.path).stat().st_size) * (
        COMPRESSED if file.compression else 1
    )
    ends = start.count(b"\n")
    if detect(file, options).container == TEXT:  # an item each, not a line
        ends = len(re.findall(rb"[ \t,;]+|\n", start))
    return -(-size * max(ends, 1) // max(len(start), 1))
