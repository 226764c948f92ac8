"""Tables of databases, in and out: PostgreSQL (extra `db`), SQLite (extra `db`), DuckDB."""
