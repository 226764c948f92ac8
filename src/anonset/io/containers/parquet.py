"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from anonset.io.containers.container import Container, Needed, Read
from anonset.io.containers.database import Scan, quoted, scan_file
from anonset.io.containers.streams import KeptOpen
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File


class Parquet(Container):
    """Columns, compressed by themselves."""

    name = "parquet"
    endings = ("parquet",)
    binary = True

    def sniff(self, start: bytes) -> bool:
        """Four letters stand at the start and at the end."""
        return start.startswith(b"PAR1")

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """The columns that are needed; others are not even unpacked."""
        names: list[str] = []
        table = scan_file(file, options, partial(_read, needed=needed, names=names), what=self.name, text_file=False)
        return table, tuple(name for name in dict.fromkeys(names) if name not in table.column_names)

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """Without the Arrow schema inside, so that every reader sees plain texts and lists."""
        from pyarrow.parquet import ParquetWriter

        first = next(tables)
        with ParquetWriter(KeptOpen(file), first.schema, compression="zstd", store_schema=False) as writer:
            for table in (first, *tables):
                writer.write_table(table)


def _read(database: Any, scan: Scan, *, needed: Needed, names: list[str]) -> pa.Table:
    """The table; `names` learns of all columns."""
    import duckdb

    found = database.sql(f"SELECT * FROM read_parquet({quoted(scan.path)}, binary_as_string=true)")
    names[:] = _own_names(database, scan, found.columns)
    places = needed(names)
    if places is not None:
        found = found.select(*(duckdb.ColumnExpression(found.columns[place]) for place in places))
    return found.to_arrow_table()


def _own_names(database: Any, scan: Scan, shown: list[str]) -> list[str]:
    """The names as the file has them: two columns of one name are shown under two."""
    tree = database.sql(f"SELECT name, num_children FROM parquet_schema({quoted(scan.path)})").fetchall()
    found, below = [], 0  # columns; how many nodes inside of one are still to come
    for name, children in tree[1:]:
        if not below:
            found.append(name)
        below = max(below - 1, 0) + (children or 0)
    return found if len(found) == len(shown) else shown
