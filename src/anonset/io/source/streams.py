"""Where the bytes come from: files, folders, globs, pipes and standard input, compressed or not.

Nothing is ever unpacked into a named file: what another reader must open by name lives in memory.
"""

from __future__ import annotations

import codecs
import glob
import io
import lzma
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.account import PassedOver
from anonset.data.errors import DataError, ParameterError, counted, setting

HEAD = 1 << 16
_BLOCK = 1 << 25  # small enough for Ctrl-C to be heard between two blocks
_MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d%s" % (level, block): "bz2" for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_PLAIN_ENDINGS = ("", ".txt", ".text", ".data")
COMPRESSIONS = {"gz": "gzip", "bz2": "bz2", "xz": "xz", "zst": "zstd"}
"""What the last ending of a name says about compression."""


@dataclass(frozen=True)
class File:
    """One file to read. `data` holds its bytes where they can be read only once: standard input, a pipe.

    `encoding` is that of its text where its bytes show that it is not UTF-8 (see `guess_encoding`).
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    encoding: str | None = None

    def open(self) -> IO[bytes]:
        """The bytes as they are stored."""
        return io.BytesIO(self.data) if self.data is not None else open(self.path or "", "rb")  # noqa: PTH123

    @property
    def compression(self) -> str | None:
        """How the file is compressed; its first bytes say it, whatever its name."""
        with self.open() as file:
            start = file.read(max(map(len, _MAGIC)))
        return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


# --- finding ---------------------------------------------------------------------------------------------------


def split_compression(path: str | os.PathLike[str]) -> tuple[list[str], str | None]:
    """The endings of a name, without that of a compression, and the compression: `a.csv.gz` → `(["csv"], "gzip")`."""
    parts = Path(path).name.lower().split(".")[1:]
    compression = COMPRESSIONS.get(parts[-1]) if parts else None
    return (parts[:-1] if compression else parts), compression


def find_files(
    source: str | os.PathLike[str], known: Callable[[Path], bool] = lambda path: False
) -> tuple[list[File], tuple[str, ...]]:
    """The files that a path, a folder, a glob or `-` stands for, and what was passed over, in words.

    Of a folder, those whose names are `known`; where none is, those that look like plain text by name.
    """
    if source == "-":
        if sys.stdin is None:
            raise DataError("It is closed. Connect it, or name a file.", source="standard input")
        return [File("standard input", data=sys.stdin.buffer.read())], ()
    path = Path(source)
    if path.is_dir():
        return _folder(path, known)
    if not path.exists():
        names = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []  # noqa: PTH207
        found = [Path(name) for name in names if not Path(name).is_dir()]
        if not found:
            magic = glob.has_magic(str(path))
            raise DataError("No file matches this pattern." if magic else _missing(path), source=str(path))
        return [_file(name) for name in found], ()
    return [_file(path)], ()


def _missing(path: Path) -> str:
    """What to say of a file that is not there: perhaps another name was meant."""
    if not path.parent.is_dir():
        return f"There is no such file: the folder {path.parent} does not exist."
    names = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    near = get_close_matches(path.name, names, n=1)
    return f"There is no such file. Did you mean {near[0]}?" if near else "There is no such file."


def _file(path: Path) -> File:
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        with path.open("rb") as file:
            return File(str(path), path) if regular else File(str(path), data=file.read())
    except OSError as error:
        raise DataError(f"The file cannot be read: {error.strerror}.", source=str(path)) from None


def _folder(path: Path, known: Callable[[Path], bool]) -> tuple[list[File], tuple[str, ...]]:
    visible = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    ]
    chosen = [file for file in visible if known(file)]
    chosen = chosen or [file for file in visible if file.suffix.lower() in _PLAIN_ENDINGS or split_compression(file)[1]]
    if not chosen:
        raise DataError("The folder holds no file that can be read as transactions.", source=str(path))
    passed = len(visible) - len(chosen)
    files = counted(passed, "file of the folder", "files of the folder")
    note = PassedOver(f"{files} passed over for want of a known ending")
    return [_file(file) for file in chosen], (note,) if passed else ()


# --- bytes -----------------------------------------------------------------------------------------------------


@contextmanager
def _unpacked(file: File) -> Iterator[IO[bytes]]:
    compression = file.compression
    with file.open() as stored:
        if compression is None:
            yield stored
        elif compression == "xz":
            with io.BufferedReader(_Xz(stored)) as stream:
                yield stream
        else:
            with pa.input_stream(stored, compression=compression) as stream:
                yield stream


class _Xz(io.RawIOBase):
    """The content of `.xz` files. Anything else behind them is an error; Python's own reader would pass it over."""

    def __init__(self, stored: IO[bytes]) -> None:
        self._stored = stored
        self._unpack: lzma.LZMADecompressor | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes; none at the end."""
        block = b""
        while not block:
            given = b""
            if self._unpack is None or self._unpack.eof:
                given = (b"" if self._unpack is None else self._unpack.unused_data) or self._stored.read(_BLOCK)
                if not given:
                    return 0
                self._unpack = None if not given.strip(b"\0") else lzma.LZMADecompressor(lzma.FORMAT_XZ)
            elif self._unpack.needs_input and not (given := self._stored.read(_BLOCK)):
                raise EOFError("it ends too early")
            block = b"" if self._unpack is None else self._unpack.decompress(given, len(buffer))
        buffer[: len(block)] = block
        return len(block)


def _read(file: File, size: int | None) -> bytes:
    """The uncompressed content, or its first `size` bytes."""
    blocks: list[bytes] = []
    left = sys.maxsize if size is None else size
    try:
        with _unpacked(file) as stream:
            while left > 0 and (block := stream.read(min(left, _BLOCK))):
                blocks.append(block)
                left -= len(block)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"The file is damaged or incomplete ({error}).", source=file.name) from None
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def content(file: File) -> bytes:
    """All uncompressed bytes of a file."""
    if file.compression is not None:
        return _read(file, None)
    with file.open() as stored:
        return stored.read()


def text(file: File, encoding: str | None = None) -> bytes:
    """The whole text in UTF-8, checked, without a byte order mark and with `\\n` in every line end."""
    data = decoded(content(file), encoding or file.encoding, file.name)
    bad = _native.first_bad_byte(as_array(data))
    if bad >= 0:
        raise bad_byte(data, bad, file.name)
    return data.replace(b"\r", b"\n") if b"\r" in data[:HEAD] and b"\n" not in data else data


def head(file: File, encoding: str | None = None) -> bytes:
    """The first bytes of the text in UTF-8, cut after a whole character."""
    data = _read(file, HEAD)
    whole = len(data) < HEAD
    name = encoding or file.encoding or _encoding_by_mark(data)
    if name:
        return _decode(data, name, file.name, final=whole).encode()
    return data.removeprefix(codecs.BOM_UTF8)


def decoded(data: bytes, encoding: str | None, name: str) -> bytes:
    """`data` in UTF-8 without a byte order mark."""
    encoding = encoding or _encoding_by_mark(data)
    if encoding is None or _is_utf8(encoding):
        return data.removeprefix(codecs.BOM_UTF8)
    return _decode(data, encoding, name).removeprefix("\ufeff").encode()


def needs_decoding(file: File, encoding: str | None) -> bool:
    """Whether the text is in another encoding than UTF-8, as an option or its first bytes say."""
    return (encoding or file.encoding or _encoding_by_mark(_read(file, 4))) is not None


class NotUtf8(DataError):
    """A byte that UTF-8 does not know: perhaps the text is in another encoding."""


def guess_encoding(file: File) -> str | None:
    """The encoding of a text that is not UTF-8: Windows-1252, unless parts of it are UTF-8 all the same.

    A text in which UTF-8 letters stand beside broken ones is a damaged one, and no guess repairs it.
    """
    data = content(file)
    if _UTF8_LETTER.search(data) or _CONTROL.search(data):
        return None
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return "cp1252"


_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def _encoding_by_mark(data: bytes) -> str | None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros = bytes(byte == 0 for byte in data[:4])  # of four plain characters in UTF-16, every second byte is 0
    return {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _decode(data: bytes, encoding: str, name: str, *, final: bool = True) -> str:
    try:
        if not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
            raise LookupError(encoding)  # codecs from bytes to bytes, such as hex
        return codecs.getincrementaldecoder(encoding)().decode(data, final)
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = data.count(b"\n", 0, error.start) + 1
            problem = f"The text is not valid {encoding}. Pass another encoding."
            raise DataError(problem, source=name, line=line) from None
        raise ParameterError(
            "encoding", "be a known character encoding", repr(encoding), "Try utf-8, latin-1, cp1252 or utf-16."
        ) from None


def bad_byte(data: bytes, position: int, name: str) -> DataError:
    """The error for a byte that plain text cannot hold."""
    line = data.count(b"\n", 0, position) + 1
    if data[position] == 0:
        problem = f"A NUL byte: this is not plain text. If it is UTF-16, say so: {setting('encoding', 'utf-16')}."
        return DataError(problem, source=name, line=line)
    problem = f"The text is not valid UTF-8. Give its encoding ({setting('encoding', 'latin-1')}, …)."
    return NotUtf8(problem, source=name, line=line)


def as_array(data: bytes) -> Any:
    """The bytes as an array, without copying."""
    return np.frombuffer(data, dtype=np.uint8)


@contextmanager
def memory_file(data: bytes) -> Iterator[str]:
    """A path under which another reader finds `data`; there is no name on any disk."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = os.fdopen(os.memfd_create("anonset"), "wb")
    else:
        file = tempfile.TemporaryFile()  # unlinked as soon as it is open  # noqa: SIM115
    with file:
        file.write(data)
        file.flush()
        yield f"/dev/fd/{file.fileno()}"


@contextmanager
def open_path(file: File) -> Iterator[str]:
    """A path for another reader that means exactly this file, whatever signs its name holds."""
    with file.open() as stream:
        yield f"/dev/fd/{stream.fileno()}"
