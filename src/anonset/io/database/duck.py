"""DuckDB files. The connection opens no other file, and a query is examined like one over files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from anonset.data.address import Address
from anonset.io.containers.database import SETTINGS, connect
from anonset.io.containers.query import require_reading_query
from anonset.io.database.session import Session, plain_errors, text_of

ROWS = 65_536  # of a part


class Duck(Session):
    """A session on a DuckDB file."""

    def all_tables(self) -> list[str]:
        """Tables and views; those of other schemas with theirs."""
        shown = "CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END"
        known = "table_schema NOT IN ('information_schema', 'pg_catalog')"
        return self.values(f"SELECT {shown} FROM information_schema.tables WHERE {known} ORDER BY 1")

    def there(self, table: str) -> bool:
        """Names are alike whatever their case."""
        schema, name = self.split(table)
        wanted = (
            f"lower(table_name) = lower({text_of(name)}) AND lower(table_schema) = lower({text_of(schema or 'main')})"
        )
        return bool(self.value(f"SELECT count(*) FROM information_schema.tables WHERE {wanted}"))

    def about_rows(self, source: str) -> int:
        """Counted: that takes no time."""
        return int(self.value(f"SELECT count(*) FROM {source} AS q"))

    def require_query(self, query: str) -> None:
        """One SELECT in which nothing writes."""
        require_reading_query(self._connection, query)

    def _reader(self, query: str) -> pa.RecordBatchReader:
        return self._connection.sql(query).to_arrow_reader(ROWS)

    def execute(self, statement: str) -> None:
        """One statement of ours."""
        self._connection.execute(statement)

    def ingest(self, table: str, rows: pa.RecordBatchReader) -> None:
        """From Arrow, part by part."""
        self._connection.register("anonset_rows", rows)
        self._connection.execute(f"CREATE TABLE {self.named(table)} AS SELECT * FROM anonset_rows")
        self._connection.unregister("anonset_rows")

    def batches(self, *args: Any, **settings: Any) -> Iterator[pa.RecordBatch]:
        """As always; on Ctrl-C the query is stopped."""
        try:
            yield from super().batches(*args, **settings)
        except KeyboardInterrupt:
            with suppress(Exception):
                self._connection.interrupt()
            raise


def open_duck(address: Address, *, write: bool) -> Duck:
    """A session; one that writes makes the file where there is none, and keeps everybody else out until its end."""
    import duckdb

    connect().close()  # whether there is room for DuckDB at all
    with plain_errors(address, write):
        connection = duckdb.connect(address.database, read_only=not write, config=SETTINGS)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return Duck(address, connection)
