"""A connection to a database, the same for PostgreSQL, SQLite and DuckDB: what can be read, and what is written.

Reading happens in a transaction that may only read. Whatever a database says goes through `plain`: what speaks about
the query or the connection is shown, what may quote data is not, and a password never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from anonset.data.address import Address
from anonset.data.errors import AnonsetError, InputError, OutputError
from anonset.io.source.tables import is_list

CERTIFICATE = "_certificate"
"""Behind the name of a released table: the table with its certificate."""
STAGING = "anonset_staging_"
"""Before the name of a table: what a run prepares, or what a killed one left."""


class CommitError(OutputError):
    """The database did not say that it has committed."""


class Session:
    """An open connection; made by `connections.connected`."""

    def __init__(self, address: Address, connection: Any) -> None:
        self.address = address
        self._connection = connection
        self._cursor: Any = None

    # --- what differs ------------------------------------------------------------------------------------------

    def all_tables(self) -> list[str]:
        """The tables and views that can be read, as people name them."""
        raise NotImplementedError

    def there(self, table: str) -> bool:
        """Whether something has this name already."""
        raise NotImplementedError

    def about_rows(self, source: str) -> int:
        """About how many rows a source has, cheaply."""
        raise NotImplementedError

    def require_query(self, query: str) -> None:
        """An error for a query that is more than one SELECT."""

    def keeps(self, kind: pa.DataType) -> bool:
        """Whether columns of this kind are read as they are; all others as text."""
        simple = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        return simple or pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_list(kind)

    def ingest(self, table: str, rows: pa.RecordBatchReader) -> None:
        """Make a table of these rows."""
        raise NotImplementedError

    def sources(self) -> list[str]:
        """The tables that may be meant where none is named: no releases, and nothing that anonset keeps for itself."""
        names = self.all_tables()
        known = set(names)
        own = {name for name in names if name.endswith(CERTIFICATE) and name.removesuffix(CERTIFICATE) in known}
        own |= {name for name in names if name.rpartition(".")[2].startswith(STAGING)}
        others = [name for name in names if name not in own]
        return [name for name in others if name + CERTIFICATE not in known] or others

    # --- reading -----------------------------------------------------------------------------------------------

    def schema(self, source: str) -> pa.Schema:
        """The columns of a source: of a table as `named` writes it, or of a query in brackets."""
        return self._reader(f"SELECT * FROM {source} AS q LIMIT 0").read_all().schema

    def batches(self, source: str, fields: Sequence[pa.Field], limit: int | None = None) -> Iterator[pa.RecordBatch]:
        """These columns of a source, part by part."""
        what = ", ".join(self._column(field) for field in fields)
        most = "" if limit is None else f" LIMIT {limit}"
        with self.plain():
            yield from self._reader(f"SELECT {what} FROM {source} AS q{most}")

    def named(self, table: str) -> str:
        """The name of a table, perhaps with its schema, as SQL writes it."""
        return ".".join(quoted(part) for part in self.split(table) if part)

    def split(self, table: str) -> tuple[str, str]:
        """Schema (empty: the usual one) and name."""
        schema, _, name = table.rpartition(".")
        return schema, name

    def value(self, query: str) -> Any:
        """The first value of the answer to a query of ours."""
        rows = self._reader(query).read_all()
        return rows.column(0)[0].as_py() if rows.num_rows else None

    def values(self, query: str) -> list[Any]:
        """The first column of the answer to a query of ours."""
        return list(self._reader(query).read_all().column(0).to_pylist())

    def _column(self, field: pa.Field) -> str:
        name = quoted(field.name)
        return f"q.{name}" if self.keeps(field.type) else f"CAST(q.{name} AS text) AS {name}"

    def _reader(self, query: str) -> pa.RecordBatchReader:
        if self._cursor is not None:
            self._cursor.close()
        self._cursor = self._connection.cursor()  # a reader lives as long as its cursor
        self._prepared(self._cursor)
        self._cursor.execute(query)
        return self._cursor.fetch_record_batch()

    def _prepared(self, cursor: Any) -> None:
        """Settings for what is read next."""

    # --- writing -----------------------------------------------------------------------------------------------

    def execute(self, statement: str) -> None:
        """One statement of ours."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.execute("BEGIN")
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self.execute("ROLLBACK")
            raise
        try:
            self.execute("COMMIT")
        except Exception as error:
            raise CommitError from error

    def close(self) -> None:
        """End the connection; what was not committed is gone."""
        for one in (self._cursor, self._connection):
            with suppress(Exception):
                one.close()

    # --- errors ------------------------------------------------------------------------------------------------

    @contextmanager
    def plain(self, writing: bool = False) -> Iterator[None]:
        """Errors of the database as one of ours."""
        with plain_errors(self.address, writing):
            yield


@contextmanager
def plain_errors(address: Address, writing: bool = False) -> Iterator[None]:
    """What a database says, as an error of ours that quotes neither data nor a password."""
    try:
        yield
    except (AnonsetError, KeyboardInterrupt, GeneratorExit):
        raise
    except Exception as error:
        kind = OutputError if writing else InputError
        raise kind(f"{address}: {said(error, address)}.") from None


def said(error: BaseException, address: Address) -> str:
    """The cause of an error in a few words; those of PostgreSQL about values quote them, and are told by their class.

    Examples
    --------
    >>> said(ValueError('ERROR:  invalid input syntax for type integer: "Anna". SQLSTATE: 22P02'), Address("db"))
    'a value does not have the type that is asked for (SQLSTATE 22P02); cast it to text, or leave it out'
    """
    text = str(error)
    found = re.search(r"SQLSTATE: ([0-9A-Z]{5})", text)
    state = str(getattr(error, "sqlstate", None) or (found[1] if found else ""))
    if state[:2] in _ABOUT_VALUES or (not state and _QUOTES_A_VALUE.search(text)):
        why = "a value does not have the type that is asked for"
        return f"{why}{f' (SQLSTATE {state})' if state else ''}; cast it to text, or leave it out"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = re.sub(r"^.*?(?:ERROR|FATAL):\s+", "", lines[0] if lines else type(error).__name__)
    line = re.sub(r"^(?:[A-Z_]+: )?(?:\[libpq\] )?(?:Failed to [a-z]+(?: query)?: )?", "", line)
    line = re.sub(r"\. SQLSTATE.*$", "", line)
    for secret in getattr(address, "secret", {}).values():
        line = line.replace(secret, "…")
    return line.rstrip(".!") or "the database gave up"


_ABOUT_VALUES = ("21", "22", "23", "P0")  # PostgreSQL's classes of errors whose texts quote a value
_QUOTES_A_VALUE = re.compile(r"invalid|convert|cast|decode|constraint|range|UTF", re.IGNORECASE)


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_of(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"
