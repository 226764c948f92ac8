"""Where a table is: in a PostgreSQL server, or in a SQLite or DuckDB file. An address never shows its password.

::

    postgresql://user@host:5432/database/schema.table      a table
    postgresql://host/database                             a database, beside a table or a query
    shop.db/receipts                                       a table of a file
    shop.db                                                a file

The text of an `Address` is what people wrote, without the password; only who opens the connection asks for `secret`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from anonset.data.errors import InputError

SERVERS = ("postgresql", "postgres")
ENDINGS = {"db": "sqlite", "sqlite": "sqlite", "sqlite3": "sqlite", "duckdb": "duckdb", "ddb": "duckdb"}
"""What the name of a database file that is not there yet says."""
SECRETS = ("password", "sslpassword")
"""What libpq takes as parameters and nobody must see."""

_COMPANIONS = {"sqlite": ("-journal", "-wal", "-shm"), "duckdb": (".wal",)}
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
_SCHEME = re.compile(r"^(\w+)://")


class Address(str):
    """The text of an address without its password, and apart from that what it means.

    Attributes
    ----------
    kind
        `postgresql`, `sqlite` or `duckdb`.
    database
        What to connect to: an address without a table and without a password, or the path of a file.
    table
        The table, perhaps with its schema; None where the address names none.
    secret
        What libpq is told besides: the password of the address, if it has one.

    Examples
    --------
    >>> place = Address.of("postgresql://ann:hunter2@db/shop/public.sales")
    >>> place, place.table
    ('postgresql://ann@db/shop/public.sales', 'public.sales')
    >>> Address.of("sales.csv") is None
    True
    """

    kind: str
    database: str
    table: str | None
    secret: dict[str, str]

    @classmethod
    def of(cls, text: Any) -> Address | None:
        """The address that a text or a path means; None for any other file and for what is no text at all."""
        if isinstance(text, Address) or not isinstance(text, (str, os.PathLike)):
            return text if isinstance(text, Address) else None
        name = os.fspath(text)
        if not isinstance(name, str) or name == "-":
            return None
        return cls._server(name) if name.startswith(tuple(f"{one}://" for one in SERVERS)) else cls._file(name)

    @classmethod
    def _server(cls, text: str) -> Address:
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise InputError(
                "The address of the database is damaged. Write postgresql://user@host:5432/name."
            ) from None
        _, _, table = parts.path.strip("/").partition("/")
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        secret = {name: value for name, value in pairs if name in SECRETS}
        if parts.password:
            secret["password"] = unquote(parts.password)
        login = quote(unquote(parts.username)) + "@" if parts.username else ""
        host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
        place = login + host + (f":{port}" if port is not None else "")
        rest = urlencode([(name, value) for name, value in pairs if name not in SECRETS])
        name = "/" + parts.path.strip("/").partition("/")[0]
        found = cls(_url(place, parts.path.rstrip("/"), rest))
        found.kind, found.table, found.secret = "postgresql", unquote(table) or None, secret
        found.database = _url(place, name if name != "/" else "", rest)
        return found

    @classmethod
    def _file(cls, text: str) -> Address | None:
        path = Path(text)
        table = None
        kind = kind_of(path)
        if kind is None and path.name and path.parent.name:
            table, path = path.name, path.parent
            kind = kind_of(path)
            if kind is None and not os.path.lexists(path):
                kind = ENDINGS.get(path.suffix[1:].lower())
        if kind is None:
            return None
        found = cls(text)
        found.kind, found.database, found.table, found.secret = kind, str(path), table, {}
        return found

    def of_table(self, table: str) -> Address:
        """The address of another table in the same database."""
        if self.kind == "postgresql":
            parts = urlsplit(self.database)
            text = _url(parts.netloc, f"{parts.path}/{quote(table)}", parts.query)
        else:
            text = f"{self.database}/{table}"
        found = Address(text)
        found.kind, found.database, found.table, found.secret = self.kind, self.database, table, self.secret
        return found

    @property
    def connection(self) -> str:
        """What libpq is given: with the password. Only for who opens the connection."""
        parts = urlsplit(self.database)
        pairs = [*parse_qsl(parts.query, keep_blank_values=True), *self.secret.items()]
        return _url(parts.netloc, parts.path, urlencode(pairs, quote_via=quote))

    def same_database(self, other: Address) -> bool:
        """Whether both mean one database, as far as their texts tell."""
        if self.kind != other.kind:
            return False
        if self.kind != "postgresql":
            return Path(self.database).resolve() == Path(other.database).resolve()
        here, there = urlsplit(self.database), urlsplit(other.database)
        return (here.hostname, here.port or 5432, here.path) == (there.hostname, there.port or 5432, there.path)


def companions(path: str | os.PathLike[str], kind: str | None = None) -> list[str]:
    """The names beside a database file that its engine takes for its own: it fills and removes what is there.

    Examples
    --------
    >>> companions("sales.ledger", "sqlite")
    ['sales.ledger-journal', 'sales.ledger-wal', 'sales.ledger-shm']
    """
    return [f"{os.fspath(path)}{ending}" for ending in _COMPANIONS.get(kind or kind_of(Path(path)) or "", ())]


def _url(place: str, path: str, query: str) -> str:
    return f"postgresql://{place}{path}" + (f"?{query}" if query else "")


def kind_of(path: Path) -> str | None:
    """Which database a file is, by its first bytes, or where it has none by its name; None where it is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError):
        return None
    if not start:
        return ENDINGS.get(path.suffix[1:].lower())
    return "sqlite" if start == _SQLITE else "duckdb" if start[8:12] == _DUCKDB else None


def without_password(text: str) -> str:
    """The text, if it is an address, without its password; any other text as it is.

    Examples
    --------
    >>> without_password("postgresql://db/shop?user=ann&password=hunter2")
    'postgresql://db/shop?user=ann'
    >>> without_password("sales.csv")
    'sales.csv'
    """
    if not _SCHEME.match(text):
        return text
    address = Address.of(text)
    return text if address is None else str(address)
