"""Which transactions were released already, so that batches are disjoint: a private SQLite file.

Precondition   transactions with ids; a model whose promise holds for the union of disjoint batches
               (`ModelSpec.batches`).
Steps          lock the ledger · settle what an ended run left · keep the transactions whose keyed hash is not in it ·
               make and stage the release · write the batch down as *pending* · put the release in place · write it
               down as *released*.
Postcondition  every hash is in at most one batch. A batch that is pending when a run begins is settled by looking:
               its release is in place (released), or still in its hidden folder (not released, free again). Where
               neither is so, somebody has moved files, and a person must say which it was.

The ledger holds hashes of 16 bytes, counts, names of files and the cut of a k^m release; no id, no item set, no
password. Its key is `ANONSET_LEDGER_KEY` where that is set, and is then stored nowhere; otherwise a random one inside.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from anonset.data.address import Address
from anonset.data.errors import InputError, OutputError, ParameterError, argument, setting
from anonset.data.transactions import Longs, Transactions
from anonset.io.database.staged import became
from anonset.io.publish.slots import hidden_name

KEY = "ANONSET_LEDGER_KEY"
FORMAT = b"anonset ledger 1"
HASH, KEY_BYTES = 16, 32

_BESIDE = {
    "-journal": (b"\xd9\xd5\x05\xf9", bytes(4)),
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", bytes(4)),
}
"""How SQLite calls its own files beside a database, and how these begin."""

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE batch (number INTEGER PRIMARY KEY, day TEXT NOT NULL, target TEXT NOT NULL, sha256 TEXT NOT NULL,
                    transactions INTEGER NOT NULL, released INTEGER NOT NULL);
CREATE TABLE member (hash BLOB PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batch) WITHOUT ROWID;
CREATE INDEX member_batch ON member (batch);
"""


@dataclass(frozen=True)
class Batch:
    """One release, or the attempt at one."""

    number: int
    day: str
    target: str
    sha256: str
    transactions: int
    released: bool


class Ledger:
    """An open ledger, locked for this run; made by `opened`."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database
        self._key = self._find_key()

    # --- what it knows ---------------------------------------------------------------------------------------

    def batches(self) -> list[Batch]:
        """All batches, the oldest first."""
        names = "number, day, target, sha256, transactions, released"
        rows = self._database.execute(f"SELECT {names} FROM batch ORDER BY number").fetchall()
        if any(tuple(map(type, row)) != (int, str, str, str, int, int) for row in rows):
            raise TypeError("a batch that nobody wrote")
        return [Batch(number, day, to, sha256, n, bool(done)) for number, day, to, sha256, n, done in rows]

    def fresh(self, data: Transactions) -> Longs:
        """The rows of the transactions that were never released."""
        self._database.execute("CREATE TEMP TABLE asked (place INTEGER PRIMARY KEY, hash BLOB)")
        try:
            self._database.executemany("INSERT INTO asked VALUES (?, ?)", enumerate(self.hashes(data)))
            unknown = "SELECT place FROM asked WHERE hash NOT IN (SELECT hash FROM member) ORDER BY place"
            return np.fromiter((place for (place,) in self._database.execute(unknown)), dtype=np.int64)
        finally:
            self._database.rollback()

    def hashes(self, data: Transactions) -> list[bytes]:
        """A keyed hash of each transaction's id."""
        if data.ids is None:
            raise ParameterError(
                "ledger", "come with data that name their transactions", "transactions without ids",
                f"Name the column of ids: {setting('transaction')}.",
            )  # fmt: skip
        key = self._key
        hashes = [hashlib.blake2b(one.encode(), key=key, digest_size=HASH).digest() for one in data.ids.to_pylist()]
        if len(set(hashes)) < len(hashes):
            raise InputError("The ledger needs ids that differ from one another. The data name two transactions alike.")
        return hashes

    # --- the cut of k^m releases -----------------------------------------------------------------------------

    def cut(self) -> dict[str, str | None] | None:
        """What each item was published as by the first batch; None where no cut is known."""
        found = self._about("cut")
        if found is None:
            return None
        cut = json.loads(found)
        if not isinstance(cut, dict):
            raise TypeError("a cut that nobody wrote")
        return cut

    # --- a batch ---------------------------------------------------------------------------------------------

    def write_down(
        self, target: Path | Address, fingerprint: str, hashes: list[bytes], cut: Mapping[str, str | None] | None
    ) -> int:
        """Note a batch as pending; from now on its transactions are not fresh."""
        day = datetime.now(UTC).isoformat(timespec="seconds")
        with self._database:
            number = self._database.execute(
                "INSERT INTO batch (day, target, sha256, transactions, released) VALUES (?, ?, ?, ?, 0)",
                (day, _written(target), fingerprint, len(hashes)),
            ).lastrowid
            self._database.executemany("INSERT INTO member VALUES (?, ?)", ((one, number) for one in hashes))
            if cut is not None and self.cut() is None:
                self._database.execute("INSERT INTO about VALUES ('cut', ?)", (json.dumps(dict(cut)),))
                self._database.execute("INSERT OR REPLACE INTO about VALUES ('cut batch', ?)", (number,))
        assert number is not None
        return number

    def confirm(self, number: int) -> None:
        """The release of a batch is in place."""
        with self._database:
            self._database.execute("UPDATE batch SET released = 1 WHERE number = ?", (number,))

    def forget(self, number: int) -> None:
        """The release of a batch was not put in place: its transactions are fresh again."""
        with self._database:
            self._database.execute("DELETE FROM member WHERE batch = ?", (number,))
            self._database.execute("DELETE FROM batch WHERE number = ?", (number,))
            if self._about("cut batch") == number:
                self._database.execute("DELETE FROM about WHERE name IN ('cut', 'cut batch')")

    def settle(self, answer: str | None = None, beside: Address | None = None) -> list[str]:
        """Find out what became of batches that are pending; `answer` (released, discarded) decides unclear ones.

        `beside` is a table in the same database, whose password opens it.
        """
        notes = []
        for batch in self.batches():
            if batch.released:
                continue
            found = answer or _became(batch, beside)
            if found is None:
                raise InputError(
                    f"It is not known whether batch {batch.number:,} ({batch.transactions:,} transactions) was "
                    f"released: a run ended while it published {batch.target}, which is not there any more. "
                    f"Say which it was: {setting('settle', 'released')} or {setting('settle', 'discarded')} "
                    f"of 'anonset ledger {self.path}'."
                )
            (self.confirm if found == "released" else self.forget)(batch.number)
            was = "had put its release in place" if found == "released" else "had not put its release in place"
            notes.append(f"An earlier run ended early and {was}: batch {batch.number:,} was settled as {found}.")
        return notes

    # --- inside ----------------------------------------------------------------------------------------------

    def _about(self, name: str) -> Any:
        found = self._database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if found is None else found[0]

    def _find_key(self) -> bytes:
        """The key: from the environment, or from inside; an error where the environment's is not the ledger's."""
        salt, inside, said = self._about("salt"), self._about("key"), os.environ.get(KEY)
        if inside is not None:
            if said:
                raise InputError(f"{KEY} must not be set for {self.path}, which has a key of its own. Unset it.")
            if not isinstance(inside, bytes) or len(inside) != KEY_BYTES:
                raise TypeError("a key that nobody wrote")
            return inside
        if not said:
            raise InputError(f"{KEY} must be set: {self.path} was made with a key from the environment.")
        key = _derived(said, salt)
        if _proof(key) != self._about("proof"):
            raise InputError(f"{KEY} must be the key that {self.path} was made with. Got another one.")
        return key


@contextmanager
def opened(path: str | os.PathLike[str], *, make: bool = True) -> Iterator[Ledger]:
    """The ledger at this path, made where there is none (`make`), locked until the end."""
    place = Path(path)
    _require_own_files(place)
    descriptor = _locked(place, make)
    try:
        database = sqlite3.connect(place)
        try:
            yield _book(place, database)
        except sqlite3.DatabaseError as error:
            raise OutputError(f"The ledger {place} could not be used ({type(error).__name__}: {error}).") from error
        finally:
            database.close()
    finally:
        os.close(descriptor)


def _book(path: Path, database: sqlite3.Connection) -> Ledger:
    """The ledger in a database; a damaged one is an error before anything is done with it."""
    try:
        database.execute("PRAGMA synchronous = FULL")
        _prepare(path, database)
        book = Ledger(path, database)
        book.batches()
        book.cut()
    except InputError:  # a ValueError, too
        raise
    except (UnicodeError, ValueError, TypeError, MemoryError):  # as SQLite's own bytes make them
        raise InputError(f"The ledger {path} is damaged. Restore it from a copy.") from None
    return book


def _locked(path: Path, make: bool) -> int:
    """A descriptor of the file that holds the lock; the file is for its owner's eyes only."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if make else 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise OutputError(f"The ledger {path} could not be opened: {error.strerror}.") from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise InputError(f"{argument('ledger')} must be an ordinary file. {path} is not one; choose another name.")
        if info.st_size and os.pread(descriptor, 16, 0) != b"SQLite format 3\0":
            raise InputError(f"{argument('ledger')} must be a ledger of anonset. {path} is another kind of file.")
        if stat.S_IMODE(info.st_mode) & 0o077:
            raise InputError(f"{argument('ledger')} must be readable by its owner only. Do: chmod 600 {path}.")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(f"Another run uses the ledger {path} at this moment. Wait for it.") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_own_files(path: Path) -> None:
    """Refuse a file of somebody else under a name that SQLite takes for its own and would remove."""
    for ending, starts in _BESIDE.items():
        beside = Path(f"{path}{ending}")
        if not os.path.lexists(beside):
            continue
        with beside.open("rb") as file:
            head = file.read(4)
        if beside.is_symlink() or (head and head not in starts):
            raise InputError(
                f"{argument('ledger')} must have the name {beside} to itself, which is a file of another kind. "
                "Move that away, or choose another name."
            )


def _prepare(path: Path, database: sqlite3.Connection) -> None:
    """The tables of a new ledger; an error for a database of somebody else."""
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if {"about", "batch", "member"} <= tables:
        return
    if tables:
        raise InputError(f"{argument('ledger')} must be a ledger of anonset. {path} is another database.")
    salt, said = secrets.token_bytes(16), os.environ.get(KEY)
    secret = {"key": secrets.token_bytes(KEY_BYTES)} if not said else {"proof": _proof(_derived(said, salt))}
    about = {"format": FORMAT, "salt": salt, **secret}
    statements = "".join(f"INSERT INTO about VALUES ('{name}', x'{value.hex()}');" for name, value in about.items())
    database.executescript(f"BEGIN; {_TABLES} {statements} COMMIT;")


def _derived(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)


def _proof(key: bytes) -> bytes:
    return hashlib.blake2b(b"proof", key=key, digest_size=32).digest()


def _written(target: Path | Address) -> str:
    """A target as the ledger writes it: the whole path, or an address, which shows no password."""
    if isinstance(target, Path):
        return str(target.resolve())
    return target if target.kind == "postgresql" else f"{Path(target.database).resolve()}/{target.table}"


def _became(batch: Batch, beside: Address | None = None) -> str | None:
    """What became of a pending batch: released, discarded, or None where it cannot be told."""
    table = Address.of(batch.target)
    if table is not None:
        if beside is not None and beside.same_database(table):
            table.secret = beside.secret
        return became(table, batch.sha256)
    target = Path(batch.target)
    if fingerprint(target) == batch.sha256:
        return "released"
    waiting = target.with_name(hidden_name(target.name)) / target.name
    return "discarded" if fingerprint(waiting) == batch.sha256 else None


def fingerprint(release: Path) -> str | None:
    """The sha256 of a release: of the file, or of the certificate inside a folder of groups."""
    path = release / "certificate.json" if release.is_dir() else release
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
