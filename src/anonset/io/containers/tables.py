"""Tables in files, read by DuckDB: CSV, TSV, JSON lines, Parquet, and the result of a query over files.

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

import duckdb
import pyarrow as pa

from anonset._native import line_of_row
from anonset.data.errors import DataError, InputError, ParameterError
from anonset.io.source.detect import Shape, missing_role
from anonset.io.source.frames import as_table, marked_left_out
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import broken_json_line, json_line
from anonset.io.source.roles import find_roles
from anonset.io.source.streams import File, as_array, content, decoded, memory_file, needs_decoding, open_path, text

_SETTINGS = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
_LONG_LINES = re.compile(r"maximum.{0,3}line.{0,3}size|maximum_object_size", re.IGNORECASE)
_LINE_ENDS = re.compile(r"state machine reached an invalid state")


def connect() -> Any:
    """A DuckDB that lives in memory only."""
    return duckdb.connect(":memory:", config=_SETTINGS)


def _watched(database: Any, work: Callable[[], pa.Table]) -> pa.Table:
    """The result of `work` on a thread of its own: DuckDB itself does not always hear Ctrl-C, but this one does."""
    with ThreadPoolExecutor(1) as worker:
        result = worker.submit(work)
        try:
            return result.result()
        except KeyboardInterrupt:
            while not wait([result], timeout=0.05).done:  # an interrupt before the query has begun is forgotten
                database.interrupt()
            raise


@dataclass(frozen=True)
class Scan:
    """What DuckDB opens, and how much room its longest line needs where the default is not enough."""

    path: str
    compression: str = "none"
    longest: int = 0


def read_table(file: File, shape: Shape, options: ReadOptions) -> pa.Table:
    """The columns of a file that are needed. Those of a CSV file are named by their roles, unless it is wide."""
    if shape.container == "arrow":
        return _read_arrow(file)
    reader = {"parquet": _read_parquet, "jsonl": _read_json}.get(shape.container, _read_csv)
    with connect() as database:
        try:
            with _opened(file, shape, options) as scan:
                return _valid(_watched(database, partial(reader, database, scan, shape, options)), file)
        except duckdb.Error as error:
            message = str(error)
            if not (_LONG_LINES.search(message) or _LINE_ENDS.search(message)):
                raise _plain_error(message, file, shape, options) from None
        try:
            with _opened_again(file, options) as scan:
                return _valid(_watched(database, partial(reader, database, scan, shape, options)), file)
        except duckdb.Error as error:
            raise _plain_error(str(error), file, shape, options) from None


@contextmanager
def _opened(file: File, shape: Shape, options: ReadOptions) -> Iterator[Scan]:
    """The file itself, or its content in memory where DuckDB cannot unpack or decode it."""
    is_text = shape.container != "parquet"
    compression = file.compression or "none"
    direct = compression in (("none", "gzip", "zstd") if is_text else ("none",))
    if file.path is not None and direct and not (is_text and needs_decoding(file, options.encoding)):
        with open_path(file) as path:
            yield Scan(path, compression)
        return
    data = content(file)
    with memory_file(decoded(data, options.encoding, file.name) if is_text else data) as path:
        yield Scan(path)


@contextmanager
def _opened_again(file: File, options: ReadOptions) -> Iterator[Scan]:
    """For very long lines and mixed line ends: room for any line, and one kind of line end."""
    data = decoded(content(file), options.encoding, file.name).replace(b"\r\n", b"\n")
    with memory_file(data) as path:
        yield Scan(path, longest=max(1 << 21, *map(len, data.split(b"\n"))) + 1)


# --- CSV -------------------------------------------------------------------------------------------------------


def _read_csv(database: Any, scan: Scan, shape: Shape, options: ReadOptions) -> pa.Table:
    if not shape.names:
        return pa.table({})
    wide = shape.layout == "wide"
    roles = shape.roles.places
    places = range(len(shape.names)) if wide else roles.values()
    flags = set(places) - set(roles.values())
    types = ", ".join(f"'c{at}': '{'BOOLEAN' if at in flags else 'VARCHAR'}'" for at in range(len(shape.names)))
    room = f", max_line_size={scan.longest}, buffer_size={4 * scan.longest}" if scan.longest else ""
    table = database.sql(
        f"SELECT {', '.join(_cell(at, shape) for at in places)} FROM read_csv({_quoted(scan.path)}, "
        f"auto_detect=false, columns={{{types}}}, header={shape.header}, delim={_quoted(shape.separator)}, "
        f"quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, compression='{scan.compression}'{room})"
    ).to_arrow_table()
    return table.rename_columns(list(shape.names) if wide else list(roles))


def _cell(place: int, shape: Shape) -> str:
    """A column, or the list in it where a CSV cell holds a JSON list."""
    roles = shape.roles
    if shape.layout == "lists" and place in (roles.item, roles.sensitive, roles.sensitivity):
        return f"CASE WHEN json_valid(c{place}) THEN TRY_CAST(CAST(c{place} AS JSON) AS VARCHAR[]) END AS c{place}"
    return f"c{place}"


# --- JSON lines, Parquet, Arrow ----------------------------------------------------------------------------------


def _read_json(database: Any, scan: Scan, shape: Shape, options: ReadOptions) -> pa.Table:
    """Every value as text, every list as a list of texts: DuckDB's own guesses would change dates and numbers."""
    source = f"{_quoted(scan.path)}, format='newline_delimited', compression='{scan.compression}'"
    if scan.longest:
        source += f", maximum_object_size={scan.longest}"
    found = database.sql(f"SELECT * FROM read_json({source}, sample_size=-1)")
    listed = [str(kind).endswith("[]") or _holds_lists(found, place) for place, kind in enumerate(found.types)]
    columns = ", ".join(
        f"{_quoted(name)}: '{'VARCHAR[]' if is_list else 'VARCHAR'}'"
        for name, is_list in zip(found.columns, listed, strict=True)
    )
    return database.sql(f"SELECT * FROM read_json({source}, columns={{{columns}}})").to_arrow_table()


def _holds_lists(found: Any, place: int) -> bool:
    """Whether a column of mixed values holds lists among them."""
    if str(found.types[place]) != "JSON":
        return False
    column = '"' + found.columns[place].replace('"', '""') + '"'
    return bool(found.aggregate(f"bool_or(json_type({column}) = 'ARRAY')").fetchall()[0][0])


def _read_parquet(database: Any, scan: Scan, shape: Shape, options: ReadOptions) -> pa.Table:
    found = database.sql(f"SELECT * FROM read_parquet({_quoted(scan.path)}, binary_as_string=true)")
    names = found.columns
    places = find_roles(names, options).places
    if shape.layout != "long" and not (shape.layout is None and {"transaction", "item"} <= set(places)):
        return found.to_arrow_table()
    if not {"transaction", "item"} <= set(places):
        raise missing_role(find_roles(names, options), names, None)
    found = found.select(*(duckdb.ColumnExpression(names[place]) for place in places.values()))
    return marked_left_out(found.to_arrow_table(), [name for at, name in enumerate(names) if at not in places.values()])


def _read_arrow(file: File) -> pa.Table:
    data = pa.py_buffer(content(file))
    try:
        opened = pa.ipc.open_file if data.slice(0, 6).to_pybytes() == b"ARROW1" else pa.ipc.open_stream
        table = opened(data).read_all()
    except (pa.ArrowException, OSError):
        raise DataError("The file is damaged or no Arrow file.", source=file.name) from None
    return as_table(_valid(table, file))


def _valid(table: pa.Table, file: File) -> pa.Table:
    """The table, if nothing in it leads astray: a damaged file may have offsets, codes and texts that are none."""
    try:
        table.validate(full=True)
    except pa.ArrowException:
        problem = "The file is damaged, or holds bytes that are no UTF-8 text. Write it anew."
        raise DataError(problem, source=file.name) from None
    return table


# --- queries ---------------------------------------------------------------------------------------------------


def run_query(query: str, data: pa.Table | str | None) -> pa.Table:
    """The result of an SQL query over the files that it names, and over `data` (a table, or a file's path)."""
    with connect() as database:
        try:
            if isinstance(data, str):
                database.execute(f"CREATE VIEW data AS SELECT * FROM {_quoted(data)}")
            elif data is not None:
                database.register("data", data)
            statements = database.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise ParameterError("query", "be one SELECT statement", repr(query))
            return _watched(database, lambda: database.sql(query).to_arrow_table())
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.IOException) as error:
            raise InputError(f"'query' cannot be run: {str(error).strip().splitlines()[0]}") from None
        except duckdb.Error as error:
            # Other messages may quote a value, and a value may be somebody's.
            raise InputError(f"'query' failed while it ran ({type(error).__name__}).") from None


# --- errors ----------------------------------------------------------------------------------------------------


def _plain_error(message: str, file: File, shape: Shape, options: ReadOptions) -> DataError:
    """DuckDB's error in our words; its own would quote the line, which may be somebody's transaction."""
    # Reading the whole text names the line of a byte that is no text.
    data = b"" if shape.container == "parquet" else text(file, options.encoding)
    if shape.container == "jsonl":
        return _json_error(message, file, data)
    fields = re.search(r"Expected Number of Columns: ([0-9]+) Found: ([0-9]+)", message)
    if fields:
        have = f"{fields[2]} field{'' if fields[2] == '1' else 's'}"
        problem = f"The line has {have}; {fields[1]} are expected. Quote fields that hold a separator."
    elif "onvert" in message:
        problem = "A cell of the wide table is neither 0 nor 1."
    elif "nterminated quote" in message:
        problem = 'A quote is not closed, or text follows a closing quote. Double quotes that belong to a name ("").'
    elif "Out of Memory" in message:
        problem = "The file needs more memory than there is."
    else:
        problem = f"The file cannot be read as {shape.container}. Check that it is complete, or pass its format."
    return DataError(problem, source=file.name, line=_csv_line(message, shape, data))


def _csv_line(message: str, shape: Shape, data: bytes) -> int | None:
    """The line that DuckDB speaks of; it does not count line ends inside quotes."""
    row = re.search(r"on Line: ([0-9]+)", message)
    return line_of_row(as_array(data), shape.separator, int(row[1]) - 1, True) if row else None


def _json_error(message: str, file: File, data: bytes) -> DataError:
    """DuckDB counts objects, not lines, so the line is looked up."""
    line = broken_json_line(data)
    if line is not None:
        return DataError("The line is not valid JSON.", source=file.name, line=line)
    record = re.search(r"in line ([0-9]+)", message)
    line = json_line(data, int(record[1]) - 1) if record else None
    problem = "Other lines have a list where this one has none." if record else "The file cannot be read as JSON lines."
    return DataError(problem, source=file.name, line=line)


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
