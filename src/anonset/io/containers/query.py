"""`query=`: SQL over files in a sandbox. It reads the files that it names and nothing else, and writes nothing.

Precondition   a text from the user.
Steps          DuckDB's own parser turns it into a tree · every node of the tree must be one that reads · every file is
               named by a text in it, not computed · DuckDB may open these files and no others, and its settings are
               locked · delimited files are read as text.
Postcondition  the result as a table. No file, table or setting has changed, even where a part of a SELECT would
               write (`WITH x AS (COPY … TO 'file') SELECT …`). Errors quote the query, never the data.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pyarrow as pa

from anonset.data.errors import InputError, ParameterError, argument
from anonset.io.containers.database import connect, quoted, watched
from anonset.io.source.streams import split_compression

READING_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
"""The kinds of queries that only read; every other node of a tree that is a query writes, or may."""

FILE_FUNCTIONS = frozenset(
    f"{name}{kind}"
    for name in ("read_csv", "read_json", "read_ndjson", "read_parquet")
    for kind in ("", "_auto", "_objects")
)
TABLE_FUNCTIONS = frozenset(("unnest", "range", "generate_series")) | FILE_FUNCTIONS
DELIMITED = {"csv": ",", "tsv": "\t"}
_WRITES = re.compile(r"(copy|insert|update|delete|merge)", re.IGNORECASE)
_WORD = re.compile(r"\s*(?:--[^\n]*\n\s*)*([A-Za-z]+)")

Tree = dict[str, Any]


def run_query(query: str, data: pa.Table | str | None, scan: str | None = None) -> pa.Table:
    """The result of an SQL query over the files that it names, and over `data` (a table, or a file's path).

    `scan` says how that file is read, where its name does not.
    """
    import duckdb

    with connect() as database:
        tree = _tree(database, query)
        files = {name: _matches(name) for name in dict.fromkeys(_named_files(tree))}
        try:
            if isinstance(data, str):
                files[data] = _matches(data) or [data]
                database.execute(f"CREATE VIEW data AS SELECT * FROM {scan or _scan(data)}")
            elif data is not None:
                database.register("data", data)
            for name, found in files.items():
                if found and _is_delimited(name):  # the name of a view comes before that of a file
                    database.execute(f"CREATE VIEW {_identifier(name)} AS SELECT * FROM {_scan(name)}")
            _lock(database, [path for name, found in files.items() for path in (name, *found) if found])
            return watched(database, lambda: database.sql(query).to_arrow_table())
        except duckdb.Error as error:
            raise _failed(error, query) from None


# --- what a query is -------------------------------------------------------------------------------------------


def _tree(database: Any, query: str) -> Tree:
    """The tree of a query that only reads; an error for any other."""
    answer = json.loads(database.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()[0][0])
    if answer["error"] and answer["error_type"] == "parser":
        line = query.count("\n", 0, int(answer.get("position") or 0)) + 1
        raise InputError(f"{argument('query')} cannot be run: line {line} of the query: {answer['error_message']}.")
    statements = answer.get("statements", [])
    if len(statements) != 1:
        word = _WORD.match(query)
        got = f"{len(statements)} statements" if statements else f"{word[1].upper() if word else 'no'} statement"
        if not statements and word and word[1].upper() in ("SELECT", "WITH", "FROM", "VALUES"):
            got = "a further statement behind it"  # of statements that only read, all are told
        raise ParameterError("query", "be one SELECT statement", got, "It may only read.")
    for node in _nodes(statements[0]):
        _require_reading(node)
    return dict(statements[0])


def require_reading_query(database: Any, query: str) -> None:
    """An error for a query of a database that does more than read, or reads anything but its tables."""
    for node in _nodes(_tree(database, query)):
        if node.get("type") == "TABLE_FUNCTION" and node["function"]["function_name"].lower() in FILE_FUNCTIONS:
            raise ParameterError("query", "read tables of the database only", "a file", "Name a table after FROM.")


def _nodes(part: Any) -> Iterator[Tree]:
    """Every object in a tree, however deep."""
    waiting = [part]
    while waiting:
        now = waiting.pop()
        if isinstance(now, dict):
            yield now
            waiting.extend(now.values())
        elif isinstance(now, list):
            waiting.extend(now)


def _require_reading(node: Tree) -> None:
    """An error for a part of a query that does more than read."""
    kind = str(node.get("type", ""))
    if kind.endswith("_NODE") and kind not in READING_NODES:
        verb = _WRITES.match(kind)
        got = f"{verb[1].upper()} inside it" if verb else f"a part that does more ({kind})"
        raise ParameterError("query", "be one SELECT statement", got, "It may only read.")
    if kind == "SHOW_REF":
        raise ParameterError("query", "be one SELECT statement", "SHOW, DESCRIBE or SUMMARIZE", "It may only read.")
    if kind == "TABLE_FUNCTION":
        name = str(node["function"].get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            known = ", ".join(sorted(TABLE_FUNCTIONS))
            raise ParameterError("query", f"read tables with {known} only", name, "Name the file after FROM.")


def _named_files(tree: Tree) -> Iterator[str]:
    """The texts that name files: after FROM, and in functions that read files."""
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE":
            yield str(node["table_name"])
        elif node.get("type") == "TABLE_FUNCTION" and node["function"]["function_name"].lower() in FILE_FUNCTIONS:
            yield from _first_argument(node["function"])


def _first_argument(function: Tree) -> Iterator[str]:
    """The file name, or the list of them, that a function reads; it must be written out."""
    arguments = function.get("arguments", [])
    first = arguments[0]["expression"] if arguments else {}
    several = first.get("function_name") == "list_value"
    for part in [one["expression"] for one in first["arguments"]] if several else [first]:
        literal = part.get("literal", {}) if part.get("class") == "CONSTANT" else {}
        if literal.get("kind") != "STRING":
            name = function["function_name"]
            raise ParameterError("query", "name its files as texts", f"a computed name in {name}", "Write it out.")
        yield str(literal["text"])


# --- what it may open ------------------------------------------------------------------------------------------


def _matches(name: str) -> list[str]:
    """The files that a name stands for; none for an address, a table or what is not there."""
    if "://" in name:
        return []
    paths = [name] if Path(name).is_file() else glob(name, recursive=True) if has_magic(name) else []  # noqa: PTH207
    return [path for path in paths if Path(path).is_file()]


def _lock(database: Any, paths: list[str]) -> None:
    """From here on, these files can be opened and no others, and nothing of that can be changed."""
    names = {form for path in paths for form in (path, os.path.abspath(path))}  # noqa: PTH100
    database.execute(f"SET allowed_paths=[{', '.join(map(quoted, sorted(names)))}]")
    database.execute("SET old_implicit_casting=true")  # so that WHERE year = 2025 works although all cells are text
    database.execute("SET enable_external_access=false")
    database.execute("SET lock_configuration=true")


def _is_delimited(name: str) -> bool:
    endings, _ = split_compression(name)
    return bool(endings) and endings[-1] in DELIMITED


def _scan(name: str) -> str:
    """How a file is read: a delimited one as text, since a type that DuckDB guesses from the first lines may not fit
    the last, and would cost leading zeros."""
    return f"read_csv({quoted(name)}, all_varchar=true)" if _is_delimited(name) else quoted(name)


def scan_of(start: bytes, path: str) -> str:
    """How a file without a name is read that starts like this: Parquet, JSON lines, or delimited text."""
    if start.startswith(b"PAR1"):
        return f"read_parquet({quoted(path)})"
    if start.lstrip()[:1] in (b"{", b"["):
        return f"read_json({quoted(path)})"
    return f"read_csv({quoted(path)}, all_varchar=true)"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- what went wrong -------------------------------------------------------------------------------------------


def _failed(error: Exception, query: str) -> InputError:
    """DuckDB's error without what it may quote of the data: only some kinds speak of nothing but the query."""
    import duckdb

    message = str(error).strip()
    first = message.splitlines()[0].rstrip("!.")
    line = _line(message, first, query)
    where = f"line {line} of the query: " if line else ""
    if isinstance(error, duckdb.PermissionException):
        return InputError(
            f"{argument('query')} cannot be run: it may read the files that it names and no others; there is no such "
            "file, or it is an address. Name files after FROM, or in read_csv, read_parquet and read_json."
        )
    if isinstance(error, (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.IOException)):
        return InputError(f"{argument('query')} cannot be run: {where}{first}.")
    cause = {
        "ConversionException": "a value cannot be converted to the type that is asked for; TRY_CAST leaves it empty",
        "OutOfRangeException": "a number is out of range",
        "OutOfMemoryException": "there is not enough memory",
        "InvalidInputException": "a file or a value is not what it must be",
    }.get(type(error).__name__, "the database gave up")
    return InputError(f"{argument('query')} failed while it ran: {where}{cause} ({type(error).__name__}).")


def _line(message: str, first: str, query: str) -> int | None:
    """The line of the query that an error speaks of: it says so, or names something that stands in one line only."""
    said = re.search(r"^LINE ([0-9]+):", message, re.MULTILINE)
    if said:
        return int(said[1])
    name = re.search(r'"([^"]+)"|with name (\S+)', first)
    lines = [number for number, text in enumerate(query.splitlines(), 1) if name and (name[1] or name[2]) in text]
    return lines[0] if len(lines) == 1 else None
