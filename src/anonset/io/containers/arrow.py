"""Arrow files and streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from anonset.data.errors import DataError
from anonset.io.containers.container import Container, Needed, Read
from anonset.io.containers.streams import KeptOpen
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, content
from anonset.io.source.tables import as_table, valid

_FILE, _STREAM = b"ARROW1", b"\xff\xff\xff\xff"


class Arrow(Container):
    """Arrow's own file (also called Feather) or stream."""

    name = "arrow"
    endings = ("arrow", "feather", "ipc")
    binary = True

    def sniff(self, start: bytes) -> bool:
        """A file and a stream start differently."""
        return start.startswith((_FILE, _STREAM))

    def read(self, file: File, shape: Shape, options: ReadOptions, needed: Needed) -> Read:
        """All columns."""
        data = pa.py_buffer(content(file))
        opened = pa.ipc.open_file if data.slice(0, 6).to_pybytes() == _FILE else pa.ipc.open_stream
        try:
            table = opened(data).read_all()
        except (pa.ArrowException, OSError):
            raise DataError("The file is damaged or no Arrow file.", source=file.name) from None
        return as_table(valid(table, file.name)), ()

    def write(self, file: BinaryIO, tables: Iterator[pa.Table], size: int | None = None) -> None:
        """A file."""
        first = next(tables)
        with pa.ipc.new_file(KeptOpen(file), first.schema) as writer:
            for table in (first, *tables):
                writer.write_table(table)
