"""Targets for files that are archives or databases: spreadsheets, compressed files, SQLite and DuckDB.

A fuzzer hardly ever makes a whole archive. So there is a target for the bytes as they are, and one that puts the bytes
into an archive that is valid.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from anonset import AnonsetError
from anonset.data.address import Address
from anonset.io.database.staged import certificate_of
from tests.fuzz.common import FOLDER, SPLIT, commanded, measured, only_ours
from tests.fuzz.workbooks import ODS, XLSX, archive


def _file(name: str, content: bytes) -> Path:
    path = FOLDER / name
    path.write_bytes(content)
    return path


def book(data: bytes) -> None:
    """A spreadsheet of any kind, as it is: readers look at the content."""
    path = _file("book.xlsx", data)
    only_ours(lambda: measured(path, None))


def sheet(data: bytes) -> None:
    """The cells of a sheet and the texts that they share, inside a workbook that is whole."""
    cells, _, texts = data.partition(SPLIT)
    path = _file("sheet.xlsx", archive({**XLSX, "xl/worksheets/sheet1.xml": cells, "xl/sharedStrings.xml": texts}))
    only_ours(lambda: measured(path, None))


def sheet_ods(data: bytes) -> None:
    """The content of an OpenDocument sheet."""
    path = _file("sheet.ods", archive({**ODS, "content.xml": data}))
    only_ours(lambda: measured(path, None))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def packed(data: bytes) -> None:
    """Compressed files as they are, and packed here; the first byte says how, and what is inside."""
    if not data:
        return
    ending = list(PACKED)[data[0] % len(PACKED)]
    inner = ("csv", "jsonl", "dat")[data[0] // 8 % 3]
    content = data[1:] if data[0] & 128 else PACKED[ending](data[1:])
    path = _file(f"packed.{inner}.{ending}", content)
    only_ours(lambda: measured(path, None))


def sqlite(data: bytes) -> None:
    """A SQLite file of 512-byte pages, as it is."""
    _asked(_file("shop.db", data))


@cache
def duckdb_file() -> bytes:
    """A small DuckDB file with sales, and a release with its certificate."""
    with duckdb.connect() as database:
        path = FOLDER / "made.duckdb"
        path.unlink(missing_ok=True)
        database.execute(f"ATTACH '{path}' AS made (BLOCK_SIZE 16384); USE made")
        for statement in SHOP:
            database.execute(statement)
        database.execute("USE memory; DETACH made")
    return path.read_bytes()


def edited(data: bytes) -> None:
    """A DuckDB file in which bytes are others: three bytes say where, one by how much."""
    content = bytearray(duckdb_file())
    for place in range(0, len(data) - 3, 4):
        content[int.from_bytes(data[place : place + 3]) % len(content)] ^= data[place + 3]
    _asked(_file("shop.duckdb", bytes(content)))


SHOP = (
    "CREATE TABLE sales (receipt INTEGER, product TEXT)",
    "INSERT INTO sales VALUES (1, 'bread'), (1, 'wine'), (2, 'bread'), (2, 'wine')",
    'CREATE TABLE release ("transaction" TEXT, item TEXT)',
    "INSERT INTO release VALUES ('1', 'bread'), ('2', 'bread')",
    "CREATE TABLE release_certificate (certificate TEXT, signature TEXT)",
    'INSERT INTO release_certificate VALUES (\'{"anonset": "certificate"}\', NULL)',
)
"""A shop's database, in every dialect of SQL."""


def _asked(path: Path) -> None:
    """A database: the only table that can be meant, tables by name, and a release with its certificate beside it."""
    if Address.of(path) is None:
        return
    for name in (path, path / "sales", path / "release"):
        only_ours(lambda name=name: measured(name, None))
    only_ours(lambda: certificate_of(Address.of(path / "release")))
    commanded("verify", str(path / "release"), "--quiet")


def address(data: bytes) -> None:
    """The text of an address: what is shown of it holds no password, and means the same again."""
    text = data.decode(errors="replace")
    try:
        found = Address.of(f"postgresql://{text}")
    except AnonsetError:
        return
    again = Address.of(str(found))
    assert again is not None
    assert not again.secret, "a password is shown"
    assert (again.database, again.table) == (found.database, found.table)


BOOKS: dict[str, Callable[[bytes], None]] = {
    "book": book,
    "sheet": sheet,
    "sheet-ods": sheet_ods,
    "packed": packed,
    "sqlite": sqlite,
    "duckdb": edited,
    "address": address,
}
