"""SQLite files: read and written through ADBC; queries are examined by Python's own SQLite first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from anonset.data.address import Address
from anonset.data.errors import InputError, argument
from anonset.data.extras import load
from anonset.io.database.session import Session, plain_errors, quoted, text_of

PATIENCE = 10_000  # milliseconds for other writers
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


class Sqlite(Session):
    """A session on a SQLite file. Its columns hold values of any kind, so all are read as text."""

    def all_tables(self) -> list[str]:
        """Tables and views."""
        known = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%'"
        return [str(name) for name in self.values(f"{known} ESCAPE '\\' ORDER BY name")]

    def split(self, table: str) -> tuple[str, str]:
        """A file has no schemas; a point is a letter."""
        return "", table

    def there(self, table: str) -> bool:
        """Names of tables, views and indexes are alike whatever their case."""
        wanted = f"SELECT count(*) FROM sqlite_master WHERE lower(name) = lower({text_of(table)})"
        return bool(self.value(wanted))

    def about_rows(self, source: str) -> int:
        """Counted: the file is here."""
        return int(self.value(f"SELECT count(*) FROM {source} AS q"))

    def keeps(self, kind: pa.DataType) -> bool:
        """Nothing: the type of a column is a guess from its first rows."""
        return False

    def require_query(self, query: str) -> None:
        """Have SQLite prepare the query with nothing allowed but reading."""
        with closing(_plainly(self.address)) as database:
            database.set_authorizer(
                lambda action, *names: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
            )
            try:
                database.execute(f"EXPLAIN SELECT * FROM (\n{query}\n) AS q")
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise InputError(
                    f"{argument('query')} must be one SELECT statement that SQLite understands. It says: {error}."
                ) from None

    def batches(self, source: str, fields: Sequence[pa.Field], limit: int | None = None) -> Iterator[pa.RecordBatch]:
        """A first row of texts tells the driver that all columns hold texts, and is left out again."""
        names = [quoted(field.name) for field in fields]
        texts = ", ".join(f"'' AS {name}" for name in names)
        cells = ", ".join(f"CAST(q.{name} AS text)" for name in names)
        most = "" if limit is None else f" LIMIT {limit}"
        with self.plain():
            whole = self._reader(f"SELECT {texts} UNION ALL SELECT * FROM (SELECT {cells} FROM {source} AS q{most})")
            for place, batch in enumerate(whole):
                yield batch.slice(1) if place == 0 else batch

    def ingest(self, table: str, rows: pa.RecordBatchReader) -> None:
        """In one go; fractions as texts, since SQLite shows fifteen digits of them."""
        schema = pa.schema([(f.name, pa.string() if pa.types.is_floating(f.type) else f.type) for f in rows.schema])
        parts = (batch.cast(schema) for batch in rows)
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(table, pa.RecordBatchReader.from_batches(schema, parts), mode="create")


def _plainly(address: Address) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(address.database).absolute().as_uri()}?mode=ro", uri=True)


def open_sqlite(address: Address, *, write: bool) -> Sqlite:
    """A session; one that writes makes the file where there is none."""
    driver: Any = load("adbc_driver_sqlite.dbapi", "db", "SQLite")
    mode = "rwc" if write else "ro"
    with plain_errors(address, write):
        uri = f"{Path(address.database).absolute().as_uri()}?mode={mode}"
        session = Sqlite(address, driver.connect(uri, autocommit=write))
        session.value("SELECT count(*) FROM sqlite_master")  # whether it is a database at all, and nobody has it locked
        if write:
            session.execute(f"PRAGMA busy_timeout = {PATIENCE}")
            session.execute("PRAGMA legacy_alter_table = ON")  # a view of the old table does not stop the new one
        return session
