"""A release as a table of a database, with the same steps as a file: written, read back, compared, checked, certified.

The sha256 in its certificate is that of the table as a CSV file (`anonset convert TABLE - --format long.csv`), since
rows of a table have no order and every database stores them in its own way.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.address import Address
from anonset.data.attributes import items_of
from anonset.data.errors import InputError, ParameterError, setting
from anonset.data.labels import natural_order
from anonset.data.release import Certificate, Release, Verdict
from anonset.data.targets import Targets
from anonset.data.transactions import Longs, Transactions
from anonset.io.database.reading import by_id
from anonset.io.database.staged import StagedTable, require_not_read, require_target
from anonset.io.formats.beside import with_columns_beside
from anonset.io.formats.layout import Table
from anonset.io.formats.registry import LAYOUTS, Format, parse_format
from anonset.io.formats.saving import write_to
from anonset.io.publish.atomic import Staging
from anonset.io.publish.certificate import certificate_text, certify
from anonset.io.publish.releases import as_published, check_again, reading_columns, require_publishable
from anonset.io.publish.signature import signed

LAYOUT = "long"
AS_TEXT = Format(LAYOUT, "csv")
AS_TABLE = Format(LAYOUT, "jsonl")  # what labels may hold: any text but one with a NUL


def require_table(target: Address, targets: Targets, form: str, reads: Mapping[str, Any]) -> None:
    """An error for a table that cannot be the release, before any work."""
    if form != "rows":
        raise InputError(f"A release in groups is a folder of two tables. {target} is one table; name a folder.")
    if targets.format is not None and parse_format(targets.format)[0] != LAYOUT:
        raise ParameterError("format", f"be {LAYOUT} for a table", targets.format, "Leave it out.")
    if targets.mode is not None:
        raise ParameterError("mode", "be left out for a table", f"{targets.mode:o}", "Use GRANT.")
    _require_other_table(target, reads, targets.force)
    require_target(target, force=targets.force)


def _require_other_table(target: Address, reads: Mapping[str, Any], force: bool) -> None:
    """Refuse to replace the table that is read, or that a query on the same database names."""
    source = Address.of(reads.get("data"))
    if source is None or not source.same_database(target):
        return
    name = str(target.table).rpartition(".")[2].lower()
    asked = reads.get("table") or source.table
    query = str(reads.get("query") or "").lower()
    if (asked is not None and asked.rpartition(".")[2].lower() == name) or name in query:
        raise InputError(f"{setting('out', target)} must not replace the table that is read. Choose another name.")
    if force:
        require_not_read(target, named=asked is not None or bool(query))


def stage_table(
    stage: Staging,
    release: Release,
    verdict: Verdict,
    *,
    key: str | os.PathLike[str] | None,
    about: Mapping[str, Any],
) -> Certificate:
    """Prepare a release and its certificate as tables, checked once more as they are stored."""
    require_publishable(verdict)
    table = stage.companion
    assert isinstance(table, StagedTable)
    data, changes = as_published(release.transactions, AS_TABLE, keep_formulas=True)
    data = by_id(data)
    table.digest = digest(data)
    certificate = certify(
        verdict,
        {table.target.rpartition("/")[2].partition("?")[0]: table.digest},
        transactions=len(data),
        sensitive_items=tuple(data.sensitive_names()),
        columns=reading_columns(data, AS_TABLE),
        **{**about, "notes": (*about["notes"], *changes)},
    )
    text = certificate_text(certificate)
    table.write(_rows(data), text, None if key is None else signed(text.encode(), key))
    check_again(table.staging, AS_TABLE, data, verdict)
    return certificate


def table_order(release: Release) -> Longs:
    """The place in the release of each transaction of the table, as it is read again: in the order of their ids."""
    ids = release.transactions.ids
    return np.arange(len(release), dtype=np.int64) if ids is None else natural_order(ids)


def digest(data: Transactions) -> str:
    """The sha256 of transactions as a long CSV file."""
    file = _Digest()
    write_to(file, by_id(data), AS_TEXT)  # type: ignore[arg-type]
    return file.sha256.hexdigest()


class _Digest(io.RawIOBase):
    """A file of which nothing is kept but its fingerprint."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return len(data)


def _rows(data: Transactions) -> pa.Table:
    """One row per item, with the columns beside the items; numbers of transactions as numbers."""
    layout = LAYOUTS[LAYOUT]
    assert isinstance(layout, Table)
    items = items_of(data)
    rows = layout.table(items)
    if data.ids is None:
        numbers = np.repeat(np.arange(1, len(data) + 1), layout.rows(items))
        rows = rows.set_column(0, "transaction", pa.array(numbers))
    return with_columns_beside(rows, data, layout.rows(items), dates=False)
