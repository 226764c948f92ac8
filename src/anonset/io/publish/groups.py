"""A release in groups is a folder that appears at once.

::

    release/
        transactions.csv    group, transaction, item    (or group, items: one line per transaction with its list)
        sensitive.csv       group, item, count
        certificate.json    the promise, and the sha256 of the two files

Precondition   a release in groups and a verdict on it that holds.
Steps          write both tables and the certificate into a hidden folder · read it back as anybody would · compare ·
               let the model check what was read · give the folder its name in one step.
Postcondition  the folder holds what the model has seen and passed, or it is not there (or still the old one).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import GuaranteeError, OutputError, ParameterError
from anonset.data.release import Certificate, GroupCounts, Release, Verdict
from anonset.data.transactions import Longs, natural_order
from anonset.io.containers.quoting import guarded
from anonset.io.containers.registry import CONTAINERS
from anonset.io.containers.streams import compressed
from anonset.io.formats.capacity import require_room
from anonset.io.formats.layout import Table
from anonset.io.formats.registry import Format, format_of, split_name
from anonset.io.publish.atomic import Staging
from anonset.io.publish.certificate import certify, write_certificate
from anonset.io.publish.group_reading import CERTIFICATE, SENSITIVE, TRANSACTIONS, is_group_folder, read_groups
from anonset.io.publish.signature import signature_path, signed
from anonset.io.source.streams import COMPRESSIONS
from anonset.models import model as make_model
from anonset.unlink import canonical_order, compact


def stage_groups(
    stage: Staging,
    release: Release,
    verdict: Verdict,
    target: Path,
    *,
    format: str | None,
    keep_formulas: bool,
    key: str | os.PathLike[str] | None,
    about: Mapping[str, Any],
) -> Certificate:
    """Prepare a release in groups as a folder; see `anonset.write`."""
    chosen = group_format(target, format)
    shown, changes, _ = _as_published(release, chosen, keep_formulas)
    folder = stage.folder(target, is_group_folder)
    files = {f"{name}{_ending(chosen)}": name for name in (TRANSACTIONS, SENSITIVE)}
    for file_name, name in files.items():
        _write(folder / file_name, _table(shown, name, chosen), chosen)
    certificate = certify(
        verdict,
        {name: folder / name for name in files},
        transactions=len(shown),
        sensitive_items=tuple(_counted(shown)),
        **{**about, "notes": (*about["notes"], *changes)},
    )
    beside = folder / CERTIFICATE
    beside.touch(mode=0o600)
    write_certificate(beside, certificate)
    if key is not None:
        signature_path(beside).touch(mode=0o600)
        signature_path(beside).write_bytes(signed(beside.read_bytes(), key))
    _check_again(folder, shown, verdict)
    return certificate


def group_format(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format of the two tables: as given, as the folder's name says, or CSV.

    Examples
    --------
    >>> group_format("release").name
    'long.csv'
    >>> group_format("release", "parquet").name
    'lists.parquet'
    """
    ending, _ = split_name(path)
    chosen = format_of(path, format or (None if ending else "csv"))
    if chosen.kind.usual != chosen.layout:
        known = ", ".join(name for name, kind in CONTAINERS.items() if kind.usual)
        raise ParameterError("format", f"be one of {known} for a release in groups", chosen.name)
    return chosen


def _ending(format: Format) -> str:
    packed = {name: ending for ending, name in COMPRESSIONS.items()}
    return f".{format.container}" + (f".{packed[format.compression]}" if format.compression else "")


def published_order(release: Release, target: Path, format: str | None, keep_formulas: bool) -> Longs:
    """Which transaction of the release stands at each place of what is written."""
    if release.groups is None:
        return np.arange(len(release), dtype=np.int64)
    return _as_published(release, group_format(target, format), keep_formulas)[2]


def _as_published(release: Release, format: Format, keep_formulas: bool) -> tuple[Release, tuple[str, ...], Longs]:
    """The release as the files will hold it: names that no spreadsheet runs, members in their order, and which."""
    as_it_is = np.arange(len(release), dtype=np.int64)
    release = compact(release)
    data = release.transactions
    require_room(replace(data, sensitive=None), format)
    if keep_formulas or not format.kind.spreadsheet:
        return release, (), as_it_is
    labels, count = guarded(data.labels)
    if not count:
        return release, (), as_it_is
    assert release.groups is not None
    named = replace(data, labels=labels)
    order = canonical_order(named, release.groups)
    note = f"{count:,} name{'s' * (count > 1)} that a spreadsheet would run as a formula got an apostrophe in front."
    return Release(named.take(order), release.groups[order], release.counts), (note,), order


def _table(release: Release, name: str, format: Format) -> pa.Table:
    assert release.groups is not None
    assert release.counts is not None
    data, counts = replace(release.transactions, sensitive=None), release.counts
    if name == SENSITIVE:
        items = data.labels.take(pa.array(counts.item))
        return pa.table({"group": counts.group, "item": items, "count": counts.count})
    layout = cast(Table, format.holds)
    groups = np.repeat(release.groups, layout.rows(data))
    return layout.table(data).add_column(0, "group", pa.array(groups))


def _write(path: Path, table: pa.Table, format: Format) -> None:
    path.touch(mode=0o600)
    with path.open("wb") as file, compressed(cast(BinaryIO, file), format.compression) as stream:
        format.kind.write(stream, iter([table.combine_chunks()]))


def _check_again(folder: Path, release: Release, verdict: Verdict) -> None:
    """Read the folder as anybody would and let the model judge what was read."""
    found = read_groups(folder)
    if not same_groups(release, found):
        raise OutputError(
            "What was read back from the folder is not what was written. Nothing was published. "
            "This is a defect; please report it, and use another format meanwhile."
        )
    again = make_model(verdict.model, **verdict.params).check(found)
    if not again.holds:
        raise GuaranteeError(
            f"The folder does not keep its promise ({again.promise}): {again.witnesses[0].statement}. "
            "Nothing was published."
        )
    if again.promise != verdict.promise or dict(again.measured) != dict(verdict.measured):
        raise GuaranteeError(
            "The verdict does not fit the release: checking it again gives other figures. Nothing was published. "
            "Check the very release that is written."
        )


def same_groups(one: Release, other: Release) -> bool:
    """Whether both publish the same transactions in the same groups with the same counts."""
    if one.groups is None or other.groups is None or not np.array_equal(one.groups, other.groups):
        return False
    return one.transactions.same_sets(other.transactions) and _lines(one) == _lines(other)


def _lines(release: Release) -> list[tuple[int, str, int]]:
    counts = cast(GroupCounts, release.counts)
    names = release.transactions.labels.take(pa.array(counts.item)).to_pylist()
    return sorted(zip(counts.group.tolist(), names, counts.count.tolist(), strict=True))


def _counted(release: Release) -> list[str]:
    counts = cast(GroupCounts, release.counts)
    names = pc.unique(release.transactions.labels.take(pa.array(counts.item)))
    return list(names.take(pa.array(natural_order(names))).to_pylist())
