"""Which kind of session an address needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anonset.data.address import Address
from anonset.io.database.duck import open_duck
from anonset.io.database.postgres import open_postgres
from anonset.io.database.session import Session
from anonset.io.database.sqlite import open_sqlite

_OPENERS = {"postgresql": open_postgres, "sqlite": open_sqlite, "duckdb": open_duck}


def connect(address: Address, *, write: bool = False) -> Session:
    """An open session, to be closed."""
    return _OPENERS[address.kind](address, write=write)


@contextmanager
def connected(address: Address, *, write: bool = False) -> Iterator[Session]:
    """A session that is closed at the end."""
    session = connect(address, write=write)
    try:
        yield session
    finally:
        session.close()
