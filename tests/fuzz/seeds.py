"""Make the corpus: small valid inputs for every target. `python -m tests.fuzz.seeds` writes them anew."""

from __future__ import annotations

import gzip
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import anonset
from anonset import Transactions
from anonset.io import save
from tests.fuzz.common import SPLIT
from tests.fuzz.workbooks import ods, xls

CORPUS = Path(__file__).parent / "corpus"
ROWS = [["bread", "wine"], ["bread"], ["Ünïcödé ☂", "a,b", "10"], []]


def main() -> None:
    """Write every seed."""
    plain = Transactions.from_lists(ROWS)
    numbers = Transactions.from_lists([["1", "2"], ["2"], ["3", "10"]])
    marked = Transactions.from_lists(ROWS, users=["ann", "bob", "ann", "cid"], sensitive=["wine"])
    _save("fimi", "dat", numbers, "fimi")
    _save("spmf", "spmf", plain, "spmf")
    _save("basket", "basket", plain, "basket")
    for container in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        for layout in ("long", "lists"):
            _save(container, container, marked, f"{layout}.{container}")
        _save(container, container, numbers, f"wide.{container}")
    table = "id,item\n1,Käse\n1,wine\n2,Käse\n"
    _write("unnamed", "utf-16", table.encode("utf-16"))
    _write("unnamed", "windows", table.encode("cp1252"))
    _write("unnamed", "objects", b'{"items": ["a", "b"]}\n{"items": []}\n')
    _write("unnamed", "lines", b"1 2 3\n2\n")
    _write("hierarchy", "table", b"item,level1,level2\nmilk,food,dairy\nwine,drinks,\n")
    _write("hierarchy", "edges", b"parent,child\nfood,milk\nALL,food\n")
    _write("hierarchy", "arx", b"milk;dairy;*\nwine;drinks;*\n")
    _write("hierarchy", "amnesia", b"distinct\nname x\ntype string\nheight 2\n\nALL has milk wine\n")
    _write("cut", "plain", b"item,published\nmilk,dairy\nbrie,dairy\n")
    _write("cut", "left-out", b"item;published\nwine;\n")
    for model in anonset.MODELS:
        for number in range(8):
            chosen = bytes([number, number, number, 1]) + bytes([4 * number + 1] * 12)
            _write(f"kernels-{model}", f"{number}", chosen + b"\x12\x30\x15\x30\x67\x40\x12\x40" * 6)
    _releases(marked)
    _books(plain)
    _databases()
    _beside()


def _books(data: Transactions) -> None:
    """A workbook as it is, and what is inside: cells, texts that they share."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.xlsx"
        save(data, path)
        _write("book", "xlsx", path.read_bytes())
        with zipfile.ZipFile(path) as file:
            parts = [file.read(f"xl/{name}.xml") for name in ("worksheets/sheet1", "sharedStrings")]
    _write("sheet", "long", SPLIT.join(parts))
    _write("book", "xls", xls([("id", "item"), ("1", "a"), ("2", "b")]))
    _write("sheet-ods", "long", ods([("id", "item"), ("1", "a"), ("2", "b")]).encode())
    for place, content in enumerate((b"id,item\n1,a\n1,b\n", b'{"items": ["a"]}\n', b"a b\n")):
        for number in range(4):
            _write("packed", f"{place}-{number}", bytes([8 * place + number]) + content)
    _write("packed", "raw", bytes([144]) + gzip.compress(b"id,item\n1,a\n", mtime=0))


def _databases() -> None:
    from tests.fuzz.books import SHOP

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.db"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("PRAGMA page_size = 512")
            for statement in SHOP:
                database.execute(statement)
        _write("sqlite", "shop", path.read_bytes())
    _write("duckdb", "as-it-is", bytes(4))
    _write("duckdb", "header", bytes([0, 0, 9, 255]))
    _write("duckdb", "block", bytes([0, 0x40, 0x20, 1]))
    for name, text in {"plain": "ann:hunter2@db:5432/shop/sales", "query": "db/shop?user=ann&password=x"}.items():
        _write("address", name, text.encode())


def _beside() -> None:
    orders = '{"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}]}\n{"id": 2, "lines": []}\n'
    _write("nested", "orders", f"lines[].sku\n{orders}".encode())
    _write("nested", "deep", b'a.b\n{"a": {"b": ["x", "y"], "c": {"d": 1}}, "id": 1}\n')
    receipts = b"id,user,item,store,date,age\n1,ann,a,Mitte,2024-03-01,30\n2,bob,a,Nord,2024-03-02,31\n"
    stores, users = b"item,level1\nMitte,Berlin\nNord,Berlin\n", b"user,city\nann,Berlin\nbob,Bonn\n"
    _write("columns", "receipts", SPLIT.join((receipts, stores, users)))
    _write("degrees", "items", b"item,user,sensitivity\na,,0.5\n,ann,0.25\n,,0\n")
    _write("degrees", "names", b"a\nb\n")
    _write("project", "whole", PROJECT.encode())
    with tempfile.TemporaryDirectory() as folder:
        data = replace(Transactions.from_lists([["a"], ["a"], ["b"], ["b"]]), ids=pa.array(["1", "2", "3", "4"]))
        out, book = Path(folder) / "release.csv", Path(folder) / "sales.ledger"
        with closing(sqlite3.connect(book)) as database:
            database.execute("PRAGMA page_size = 512")
            database.execute("VACUUM")
        book.chmod(0o600)
        targets = anonset.Targets(out=out, link=Path(folder) / "link.csv", ledger=book, accept=ACCEPTED)
        anonset.publish(data, targets, method="pta", k=2, seed=1)
        _write("ledger", "one-batch", book.read_bytes())
        _write("link", "ids", (Path(folder) / "link.PRIVATE.csv").read_bytes())


ACCEPTED = "singling-out,linkability,inference,loss"
PROJECT = """
[source]
data = "sales-*.csv"
transaction = ["date", "customer"]
drop = "price"

[privacy]
k = 5
method = "pta"

[targets]
out = "release-{date}.csv"
force = true

[run]
seed = 1
quiet = true
"""


def _save(target: str, ending: str, data: Transactions, format: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed.{ending}"
        save(data, path, format=format)
        _write(target, format, path.read_bytes())


def _releases(data: Transactions) -> None:
    several = Transactions.from_lists([["a", "b"], ["a"], ["b", "s"], ["a", "b"], ["c"], ["a", "c"]], sensitive=["s"])
    with tempfile.TemporaryDirectory() as folder:
        for container in ("csv", "jsonl", "parquet", "arrow"):
            out = Path(folder) / container
            anonset.publish(several, anonset.Targets(out=out, format=container), method="cahd-gray", p=2, seed=1)
            parts = [(out / f"{name}.{container}").read_bytes() for name in ("transactions", "sensitive")]
            _write(f"groups-{container}", "release", SPLIT.join(parts))
        release = Path(folder) / "release.dat"
        release.write_text("a b\na b\nc\nc\n")
        published = anonset.read_release(release)
        out = Path(folder) / "out" / "release.dat"
        out.parent.mkdir()
        anonset.write(published, anonset.verify(published, k=2), out)
        _write("certificate", "valid", out.with_name("release.dat.certificate.json").read_bytes())


def _write(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
