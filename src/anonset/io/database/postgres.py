"""PostgreSQL, through ADBC: rows are streamed in the server's binary COPY format."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from anonset.data.address import Address
from anonset.data.errors import ExistsError
from anonset.data.extras import load
from anonset.io.database.session import Session, plain_errors, text_of

LONGEST_NAME = 63  # bytes; the server cuts off what is longer
PART = 1 << 20
"""Bytes that are taken from the server at once; with the driver's 16 MB, 3 M rows take 150 MB more at the peak."""

_TABLES = """
SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT c.relispartition AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1"""
_UNKNOWN = "SELECT reltuples < 0 AND relkind IN ('r', 'p', 'm') FROM pg_class WHERE oid ="


class Postgres(Session):
    """A session on a PostgreSQL server."""

    def all_tables(self) -> list[str]:
        """Tables, views and foreign tables that the user may read."""
        return self.values(_TABLES)

    def there(self, table: str) -> bool:
        """Whatever kind of relation it is: a view has a name, too."""
        return bool(self.value(f"SELECT to_regclass({text_of(self.named(table))}) IS NOT NULL"))

    def about_rows(self, source: str) -> int:
        """What the planner expects, from the server's statistics; a table that has none is counted."""
        if not source.startswith("(") and self.value(f"{_UNKNOWN} {text_of(source)}::regclass"):
            return int(self.value(f"SELECT count(*) FROM {source}"))
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # COPY takes no EXPLAIN
            cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {source} AS q")
            [plan] = cursor.fetchone()
        return int(json.loads(plan)[0]["Plan"]["Plan Rows"])

    def _prepared(self, cursor: Any) -> None:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": PART})

    def ingest(self, table: str, rows: pa.RecordBatchReader) -> None:
        """Through COPY."""
        schema, name = self.split(table)
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, rows, mode="create", db_schema_name=schema or None)

    def lock(self, table: str) -> None:
        """Take a lock that lasts as long as this session; an error where another run has it."""
        key = f"hashtextextended({text_of(f'anonset {self.named(table)}')}, 0)"
        if not self.value(f"SELECT pg_try_advisory_lock({key})"):
            raise ExistsError(
                f"Another run is writing {self.address} at this moment. Wait for it, or choose another name."
            )


def open_postgres(address: Address, *, write: bool) -> Postgres:
    """A session; one that may only read sees the database as it is at its begin."""
    driver: Any = load("adbc_driver_postgresql.dbapi", "db", "PostgreSQL")
    with plain_errors(address, write):
        session = Postgres(address, driver.connect(address.connection, autocommit=write))
        if not write:
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        session.execute("SET datestyle = 'ISO'")
        session.execute("SET standard_conforming_strings = on")
        return session
