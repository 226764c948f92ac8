"""A table that appears whole or not at all, with its certificate in a table beside it.

Precondition   an address with a table; the name is free, or `force` was given.
Steps          take a lock on the name · make staging tables beside it and commit them, so that they can be read back as
               anybody would · check what was read · in one transaction: drop the old tables, rename the new ones.
Postcondition  at every moment, also after a crash, the table is absent, the old one or the new one, and the certificate
               beside it is its own. A killed run can leave staging tables, which the next run to the same name
               removes: the lock of a dead run is gone.

A server keeps the lock as long as the session lives. For a file it is the hidden folder that files are staged in, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from anonset.data.address import Address
from anonset.data.errors import DataError, ExistsError, InputError, OutputError, UnclearError, argument, setting
from anonset.io.database.connections import connect, connected
from anonset.io.database.postgres import LONGEST_NAME, Postgres
from anonset.io.database.session import CERTIFICATE, STAGING, CommitError, Session, plain_errors, text_of
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.slots import Slot

ROWS = 65_536  # of a part that is sent
COLUMNS = ("certificate", "signature")
"""Of the table with the certificate."""


class StagedTable:
    """A claimed table; made by `claim`. `digest` is the sha256 of what was written, as a CSV file."""

    def __init__(self, target: Address, force: bool, lock: Session | Slot) -> None:
        self.target = target
        self.digest = ""
        self.swept = False
        self._force = force
        self._lock = lock
        self._certificate = certificate_table(target)
        self.staging = staging_table(target)
        self._staging_certificate = certificate_table(self.staging)
        self._unclear = False

    @classmethod
    def claim(cls, target: Address, *, force: bool, shared: SharedFolder = None) -> StagedTable:
        """Take the name for this run; an error where another run has it, or where nothing can be written there."""
        require_name(target)
        lock: Session | Slot
        if target.kind == "postgresql":
            lock = connect(target, write=True)
        else:
            with plain_errors(target, writing=True):
                lock = Slot.claim(Path(f"{target.database}.{target.table}"), shared)
        table = cls(target, force, lock)
        new = target.kind != "postgresql" and not Path(target.database).exists()
        try:
            table._begin()
            if new:
                Path(target.database).chmod(0o600)
        except BaseException:
            table.release()
            raise
        return table

    def _begin(self) -> None:
        """Remove what a dead run left, and make the first table: whether that can be is known before the work."""
        with self._session() as session:
            if isinstance(session, Postgres):
                session.lock(str(self.target.table))
            if not self._force and session.there(str(self.target.table)):
                raise taken(self.target)
            self.swept = self._drop(session)
            session.execute(
                f"CREATE TABLE {session.named(self._staging_certificate)} (certificate text, signature text)"
            )

    def write(self, rows: pa.Table, certificate: str, signature: bytes | None) -> None:
        """Fill the staging tables."""
        parts = rows.cast(pa.schema([(field.name, _stored(field.type)) for field in rows.schema]))
        reader = pa.RecordBatchReader.from_batches(parts.schema, parts.to_batches(max_chunksize=ROWS))
        signed = "NULL" if signature is None else text_of(signature.decode("ascii"))
        with self._session() as session:
            session.ingest(str(self.staging.table), reader)
            into = f"INSERT INTO {session.named(self._staging_certificate)}"
            session.execute(f"{into} VALUES ({text_of(certificate)}, {signed})")

    def place(self) -> None:
        """Give the tables their names, in one transaction."""
        try:
            with self._session() as session, session.transaction():
                self._rename(session)
        except CommitError as error:
            with suppress(Exception):
                if became(self.target, self.digest) == "released":
                    return
            self._unclear = True
            raise UnclearError(
                f"It is not known whether {self.target} was put in place: the database did not answer at the end. "
                "Look whether the table is there."
            ) from error

    def _rename(self, session: Session) -> None:
        names = ((self.staging.table, self.target.table), (self._staging_certificate, self._certificate))
        for waiting, name in names:
            if session.there(str(name)):
                if not self._force:
                    raise taken(self.target)
                session.execute(f"DROP TABLE {session.named(str(name))}")
            last = session.named(session.split(str(name))[1])
            session.execute(f"ALTER TABLE {session.named(str(waiting))} RENAME TO {last}")

    def release(self) -> None:
        """Remove what was not put in place, and let go of the lock."""
        with suppress(Exception):
            if not self._unclear:
                with self._session() as session:
                    self._drop(session)
        if isinstance(self._lock, Slot):
            self._lock.release()
        else:
            self._lock.close()

    def _drop(self, session: Session) -> bool:
        """Remove staging tables; whether there were any."""
        found = [name for name in (str(self.staging.table), self._staging_certificate) if session.there(name)]
        for name in found:
            session.execute(f"DROP TABLE {session.named(name)}")
        return bool(found)

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """The session of the lock, or a new one that keeps others out of a file no longer than needed."""
        if isinstance(self._lock, Session):
            with self._lock.plain(writing=True):
                yield self._lock
        else:
            with connected(self.target, write=True) as session, session.plain(writing=True):
                yield session


def _stored(kind: pa.DataType) -> pa.DataType:
    """Plain columns: every database knows them."""
    return _stored(kind.value_type) if pa.types.is_dictionary(kind) else kind


def require_name(target: Address) -> None:
    """An error for an address that names no table, or one that is too long."""
    if target.table is None:
        raise InputError(f"{argument('out')} must name a table. Got {target}; add one: {target}/release.")
    name = str(target.table).rpartition(".")[2]
    most = LONGEST_NAME - len(CERTIFICATE)
    if not name or len(name.encode()) > most or name.startswith(STAGING) or "\0" in name:
        raise InputError(f"{argument('out')} must name a table with 1 to {most} bytes. Got {name!r}; choose another.")


def staging_table(target: Address) -> Address:
    """Where a table is prepared: a short name, whatever that of the table is."""
    schema, point, name = str(target.table).rpartition(".") if target.kind != "sqlite" else ("", "", str(target.table))
    return target.of_table(f"{schema}{point}{STAGING}{hashlib.sha256(name.encode()).hexdigest()[:12]}")


def certificate_table(target: Address) -> str:
    """The table with the certificate of a table."""
    return f"{target.table}{CERTIFICATE}"


def taken(target: Address) -> ExistsError:
    """The error for a table that is there already."""
    return ExistsError(f"{target} is there already. Choose another name, or replace it: {argument('force')}.")


def certificate_of(target: Address) -> tuple[str, str | None] | None:
    """The certificate of a table and its signature, as texts; None where there is none."""
    with connected(target) as session, session.plain():
        name = certificate_table(target)
        if not session.there(name):
            return None
        _require_certificates(session, name)
        if session.value(f"SELECT count(*) FROM {session.named(name)}") != 1:
            raise DataError("there must be one certificate here. Restore it or move it away.", source=_of(target, name))
        columns = [session.value(f"SELECT {column} FROM {session.named(name)}") for column in COLUMNS]
        return None if columns[0] is None else (str(columns[0]), columns[1])


def _require_certificates(session: Session, name: str) -> None:
    """An error where a table with the name of a certificate is another one."""
    if session.there(name) and session.schema(session.named(name)).names != list(COLUMNS):
        place = _of(session.address, name)
        raise InputError(
            f"{place} has the name of a certificate, and is another table. Choose another name for the release."
        )


def _of(target: Address, name: str) -> str:
    return str(target.of_table(name))


def is_release(target: Address) -> bool:
    """Whether a table has a certificate beside it."""
    with connected(target) as session, session.plain():
        name = certificate_table(target)
        _require_certificates(session, name)
        return session.there(name)


def require_not_read(target: Address, named: bool) -> None:
    """Refuse to replace a table of the database that is read: any but a release, and where no table is `named`, also a
    release that could be meant.
    """
    with connected(target) as session, session.plain():
        there = session.there(str(target.table))
        meant = not named and str(target.table).lower() in {name.lower() for name in session.sources()}
    if meant or (there and not is_release(target)):
        problem = (
            "must not replace a table of the database that is read, unless it is a release and the source is named"
        )
        raise InputError(f"{setting('out', target)} {problem}. Choose another name.")


def became(target: Address, digest: str) -> str | None:
    """What became of a table with this sha256: released, discarded (it still waits), or None where nobody can tell."""
    for place, answer in ((target, "released"), (staging_table(target), "discarded")):
        found = certificate_of(place)
        with suppress(ValueError, AttributeError):
            if found is not None and digest in json.loads(found[0]).get("files", {}).values():
                return answer
    return None


def require_target(target: Address, *, force: bool) -> None:
    """What can be known before the work without writing anything: the name, and whether it is free."""
    require_name(target)
    if target.kind != "postgresql" and not Path(target.database).exists():
        if not Path(target.database).parent.is_dir():
            raise OutputError(f"{target} could not be written: its folder does not exist. Create the folder first.")
        return
    with connected(target) as session, session.plain(writing=True):
        if not force and session.there(str(target.table)):
            raise taken(target)
        _require_certificates(session, certificate_table(target))
