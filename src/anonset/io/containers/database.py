"""DuckDB as a reader of files for the containers; `query.py` asks it for the result of a query over files.

DuckDB runs in memory: it spills nothing to disk and loads no extensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from anonset.data.errors import DataError, ShortageError
from anonset.io.containers.room import is_limited, must_start
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import File, content, decoded, memory_file, needs_decoding, open_path, text
from anonset.io.source.tables import valid

SETTINGS = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
"""DuckDB spills nothing to disk and loads no extensions."""
_LONG_LINES = re.compile(r"maximum.{0,3}line.{0,3}size|maximum_object_size", re.IGNORECASE)
_LINE_ENDS = re.compile(r"state machine reached an invalid state")


def connect() -> Any:
    """A DuckDB that lives in memory only; it is loaded when it is needed, since that takes a while."""
    import duckdb

    settings: dict[str, Any] = {**SETTINGS, "threads": 1} if is_limited() else SETTINGS
    if must_start():
        with duckdb.connect(":memory:", config=settings) as first:
            watched(first, lambda: first.sql("SELECT sum(range) FROM range(1000000)").to_arrow_table())
    return duckdb.connect(":memory:", config=settings)


def watched(database: Any, work: Callable[[], pa.Table]) -> pa.Table:
    """The result of `work` on a thread of its own: DuckDB itself does not always hear Ctrl-C, but this one does."""
    with _thread() as thread:
        result = thread.submit(work)
        try:
            return result.result()
        except KeyboardInterrupt:
            while not wait([result], timeout=0.05).done:  # an interrupt before the query has begun is forgotten
                database.interrupt()
            raise


@contextmanager
def _thread() -> Iterator[ThreadPoolExecutor]:
    """A thread; where memory is limited always the same one: a new one needs some, and the system ends the process
    that has none left for it."""
    global _kept
    if not is_limited():
        with ThreadPoolExecutor(1) as thread:
            yield thread
        return
    _kept = _kept or ThreadPoolExecutor(1)
    yield _kept


_kept: ThreadPoolExecutor | None = None


@dataclass(frozen=True)
class Scan:
    """What DuckDB opens, and how much room its longest line needs where the default is not enough."""

    path: str
    compression: str = "uncompressed"
    longest: int = 0


def scan_file(
    file: File,
    options: ReadOptions,
    read: Callable[[Any, Scan], pa.Table],
    *,
    what: str,
    text_file: bool = True,
    line_of: Callable[[bytes, int], int] | None = None,
    explain: Callable[[str, str, bytes], DataError] | None = None,
) -> pa.Table:
    """What `read` makes of a file with DuckDB, a second time with more room where the first try needs it.

    `what` is the kind of file, in errors. `line_of` finds the line that DuckDB speaks of; `explain` says what is wrong
    where a kind of file has its own words for that.
    """
    import duckdb

    def error(message: str) -> DataError:
        if "Out of Memory" in message:
            return ShortageError("The file needs more memory than there is.", source=file.name)
        # Reading the whole text names the line of a byte that is no text.
        data = text(file, options.encoding) if text_file else b""
        return (explain or partial(_plain_error, what=what, line_of=line_of))(message, file.name, data)

    with connect() as database:
        try:
            with _opened(file, text_file, options) as scan:
                return valid(watched(database, partial(read, database, scan)), file.name)
        except duckdb.Error as problem:
            message = str(problem)
            if not (_LONG_LINES.search(message) or _LINE_ENDS.search(message)):
                raise error(message) from None
        try:
            with _opened_again(file, options) as scan:
                return valid(watched(database, partial(read, database, scan)), file.name)
        except duckdb.Error as problem:
            raise error(str(problem)) from None


@contextmanager
def _opened(file: File, is_text: bool, options: ReadOptions) -> Iterator[Scan]:
    """The file itself, or its content in memory where DuckDB cannot unpack or decode it."""
    compression = file.compression or "uncompressed"  # a word that all versions of DuckDB know
    direct = compression in (("uncompressed", "gzip", "zstd") if is_text else ("uncompressed",))
    if file.path is not None and direct and not (is_text and needs_decoding(file, options.encoding)):
        with open_path(file) as path:
            yield Scan(path, compression)
        return
    data = content(file)
    with memory_file(decoded(data, options.encoding or file.encoding, file.name) if is_text else data) as path:
        yield Scan(path)


@contextmanager
def _opened_again(file: File, options: ReadOptions) -> Iterator[Scan]:
    """For very long lines and mixed line ends: room for any line, and one kind of line end."""
    data = decoded(content(file), options.encoding or file.encoding, file.name).replace(b"\r\n", b"\n")
    with memory_file(data) as path:
        yield Scan(path, longest=max(1 << 21, *map(len, data.split(b"\n"))) + 1)


# --- errors ----------------------------------------------------------------------------------------------------


def _plain_error(
    message: str, name: str, data: bytes, *, what: str, line_of: Callable[[bytes, int], int] | None
) -> DataError:
    """DuckDB's error in our words; its own would quote the line, which may be somebody's transaction."""
    fields = re.search(r"Expected Number of Columns: ([0-9]+) Found: ([0-9]+)", message)
    if fields:
        have = f"{fields[2]} field{'' if fields[2] == '1' else 's'}"
        problem = f"The line has {have}; {fields[1]} are expected. Quote fields that hold a separator."
    elif "onvert" in message:
        problem = "A cell of the wide table is neither 0 nor 1."
    elif "nterminated quote" in message:
        problem = 'A quote is not closed, or text follows a closing quote. Double quotes that belong to a name ("").'
    else:
        problem = f"The file cannot be read as {what}. Check that it is complete, or pass its format."
    row = re.search(r"on Line: ([0-9]+)", message)
    return DataError(problem, source=name, line=line_of(data, int(row[1])) if row and line_of else None)


def quoted(name: str) -> str:
    """A text of SQL."""
    return "'" + name.replace("'", "''") + "'"
