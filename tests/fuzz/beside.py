"""Targets for what is given beside the data: columns, a table of users, degrees, project files, ledgers, links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

import anonset
from anonset import Transactions
from anonset.cli.base import project
from anonset.data.release import Release
from anonset.io import read_link
from anonset.nightly.ledger import opened
from tests.fuzz.common import FOLDER, SPLIT, only_ours

ROWS = Transactions.from_lists([["a"], ["a", "b"], ["b"], ["b"]], users=["ann", "bob", "ann", "cid"])
NAMED = replace(ROWS, ids=pa.array(["1", "2", "3", "4"]))


def nested(data: bytes) -> None:
    """Objects inside JSON lines; the first line is the path of the items."""
    item, _, lines = data.partition(b"\n")
    path = FOLDER / "nested.jsonl"
    path.write_bytes(lines)
    names = (None, item.decode(errors="replace"))
    for name in names:
        only_ours(lambda name=name: anonset.read(path, item=name))


def columns(data: bytes) -> None:
    """Receipts with columns beside the items, the hierarchy of one of them, and a table of users."""
    parts = [*data.split(SPLIT, 2), b"", b""][:3]
    receipts, stores, users = (FOLDER / f"{name}.csv" for name in ("receipts", "stores", "users"))
    for path, content in zip((receipts, stores, users), parts, strict=True):
        path.write_bytes(content)
    tree = {"store": str(stores)}
    only_ours(lambda: anonset.read(receipts, attribute=["store", "date", "age"], attribute_hierarchy=tree))
    only_ours(lambda: anonset.read(receipts, users=users))
    only_ours(lambda: _published(receipts, tree, users))


def _published(receipts: object, tree: dict[str, str], users: object) -> None:
    source = anonset.read(receipts, attribute=["store", "date", "age"], attribute_hierarchy=tree, users=users)
    result = anonset.anonymize(source, method="pta", k=2, unit="transaction", seed=1, threads=1)
    assert anonset.verify(result.release, k=2).holds


def degrees(data: bytes) -> None:
    """A file of degrees and one of sensitive items."""
    path = FOLDER / "beside.csv"
    path.write_bytes(data)
    only_ours(lambda: anonset.read(ROWS, degrees_file=path))
    only_ours(lambda: anonset.read(ROWS, sensitive_file=path))


def project_file(data: bytes) -> None:
    """A project file; what it says can be written, and then says the same."""
    path = FOLDER / "anonset.toml"
    path.write_bytes(data)

    def again() -> None:
        known = project.read_project(path)
        path.write_text(project.as_text(project.raw(path)), encoding="utf-8")
        assert project.read_project(path) == known

    only_ours(again)


def ledger(data: bytes) -> None:
    """A ledger that somebody has damaged: it is shown, settled, and asked what is new."""
    path = FOLDER / "sales.ledger"
    for ending in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)

    def asked() -> None:
        with opened(path, make=False) as book:
            book.batches()
            book.settle()
            book.fresh(NAMED)
            book.cut()

    only_ours(asked)


def link(data: bytes) -> None:
    """An owner's link: it fits its release and its data, or is refused."""
    path = FOLDER / "link.PRIVATE.csv"
    path.write_bytes(data)

    def used() -> None:
        found = read_link(path)
        found.user_codes()
        only_ours(lambda: found.require_release(path, Release(NAMED)))
        assert len(found.row_origin(NAMED)) == len(found)

    only_ours(used)


BESIDE: dict[str, Callable[[bytes], None]] = {
    "nested": nested,
    "columns": columns,
    "degrees": degrees,
    "project": project_file,
    "ledger": ledger,
    "link": link,
}
