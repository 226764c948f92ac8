"""Streams into files: compressed ones, and ones that stay open."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa


@contextmanager
def compressed(file: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """A stream into `file`; the same content gives the same bytes (no name, no time)."""
    if compression is None:
        yield file
    elif compression == "zstd":
        with pa.CompressedOutputStream(KeptOpen(file), "zstd") as stream:
            yield cast(BinaryIO, stream)
    elif compression == "gzip":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as stream:
            yield cast(BinaryIO, stream)
    elif compression == "xz":
        with lzma.LZMAFile(file, "wb", preset=2) as stream:  # the default is five times slower and hardly smaller
            yield cast(BinaryIO, stream)
    else:
        with bz2.BZ2File(file, "wb") as stream:
            yield cast(BinaryIO, stream)


class KeptOpen(io.RawIOBase):
    """A file that stays open when the writer on top of it is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, content: Any) -> int:
        """Pass everything on."""
        return self._file.write(content)
