"""Reading a release in groups back: the folder must be whole and as it was certified."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.boundary import reads_input
from anonset.data.errors import DataError
from anonset.data.release import GroupCounts, Release
from anonset.data.transactions import Ints, Longs, Transactions, as_text, encode, natural_order
from anonset.io.formats.registry import split_name
from anonset.io.publish.certificate import sha256

TRANSACTIONS, SENSITIVE, CERTIFICATE = "transactions", "sensitive", "certificate.json"
SIGNATURE = f"{CERTIFICATE}.sig"

LINES = {"group": True, "transaction": True, "user": False, "item": True}
LISTED = {"group": True, "transaction": False, "user": False, "items": True}
COUNTED = {"group": True, "item": True, "count": True}
"""The columns that the tables may have, and whether they must; everything else is what no check reads."""

_TYPES = {
    "group": pa.int64(),
    "transaction": pa.string(),
    "user": pa.string(),
    "item": pa.string(),
    "count": pa.int64(),
    "items": pa.list_(pa.string()),
}


def is_group_folder(path: Any) -> bool:
    """Whether this is a folder that holds a release in groups, be it damaged, and nothing else."""
    if not isinstance(path, (str, os.PathLike)) or not Path(path).is_dir():
        return False
    names = [entry.name for entry in Path(path).iterdir()]
    parts = {name.split(".")[0] for name in names if name not in (CERTIFICATE, SIGNATURE)}
    return parts <= {TRANSACTIONS, SENSITIVE} and (CERTIFICATE in names or SENSITIVE in parts)


@reads_input
def read_groups(folder: str | os.PathLike[str]) -> Release:
    """The release in a folder that `anonset.write` made; an error where a file is missing or was changed."""
    files = _certified_files(Path(folder))
    rows, lines = _read_all(files[TRANSACTIONS]), _read_all(files[SENSITIVE])
    first = {name: paths[0] for name, paths in files.items()}
    unread = (*_unread(rows, first[TRANSACTIONS]), *_unread(lines, first[SENSITIVE]))
    data, groups = _transactions(rows, first[TRANSACTIONS])
    return _release(replace(data, unread=unread), groups, lines, first[SENSITIVE])


def _read_all(paths: list[Path]) -> pa.Table:
    """A table that lies in one file, or in several that follow each other."""
    tables = [_read(path) for path in paths]
    if any(table.column_names != tables[0].column_names for table in tables):
        raise DataError("the files of one table have different columns. Restore the folder.", source=str(paths[0]))
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def _unread(table: pa.Table, path: Path) -> tuple[str, ...]:
    """The columns that are no part of a release in groups; an error where one that is needed is missing or torn."""
    names = table.column_names
    known = COUNTED if path.name.startswith(SENSITIVE) else LISTED if "items" in names else LINES
    for name, needed in known.items():
        if names.count(name) > 1 or (needed and name not in names):
            many = "twice" if name in names else "not"
            raise DataError(f"the column {name} is {many} there. Restore the folder.", source=str(path))
        if name in names and table[name].null_count:
            raise DataError(f"the column {name} has empty cells. Restore the folder.", source=str(path))
    return tuple(name for name in names if name not in known)


def _certified_files(folder: Path) -> dict[str, list[Path]]:
    """The files of each table, in the order of their names, all as certified."""
    named = _certificate(folder)
    found = {}
    for name in (TRANSACTIONS, SENSITIVE):
        names = sorted(one for one in named if one.split(".")[0] == name)
        if not names or any(Path(one).name != one for one in names):
            raise DataError(f"the certificate does not name a file '{name}'. Restore the folder.", source=str(folder))
        found[name] = [_certified(folder, one, named[one]) for one in names]
    return found


def _certified(folder: Path, file_name: str, digest: str) -> Path:
    path = folder / file_name
    if not path.is_file():
        raise DataError(f"the file {file_name} of this release is missing. Restore the folder.", source=str(folder))
    if sha256(path) != digest:
        raise DataError(
            f"the file {file_name} was changed after it was certified (its sha256 differs). Restore the folder.",
            source=str(folder),
        )
    return path


def _certificate(folder: Path) -> dict[str, str]:
    """The names and fingerprints of the files that the certificate speaks about."""
    path = folder / CERTIFICATE
    if not path.is_file():
        raise DataError(f"the file {CERTIFICATE} of this release is missing. Restore the folder.", source=str(folder))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError("this certificate cannot be read. Restore it.", source=str(path)) from error
    if not isinstance(content, dict) or not isinstance(content.get("files"), dict):
        raise DataError("this is not a certificate of anonset. Restore it.", source=str(path))
    return {str(name): str(digest) for name, digest in content["files"].items()}


def _transactions(table: pa.Table, path: Path) -> tuple[Transactions, Ints]:
    if "items" in table.column_names:
        owners = {name: table[name] for name in ("transaction", "user") if name in table.column_names}
        data = Transactions.from_arrow(table["items"].combine_chunks(), **_owners(owners))
        if data.ids is not None:
            _require_once(len(data), data.ids, path)
        _require_sets(data, path)
        return data, _numbers(table["group"], path)
    names = as_text(table["transaction"])
    rows = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    _require_once(len(starts), names, path)
    groups = _numbers(table["group"], path)
    sizes = np.diff(starts, append=len(rows))
    if (groups != np.repeat(groups[starts], sizes)).any():
        raise DataError("a transaction stands in two groups. Restore the folder.", source=str(path))
    items = as_text(table["item"])
    real = pc.not_equal(items, "").to_numpy(zero_copy_only=False)
    filled = np.add.reduceat(real.astype(np.int64), starts) if len(starts) else np.empty(0, np.int64)
    codes, labels = encode(items.filter(pa.array(real)))
    first = table.take(pa.array(starts))
    owners = {name: first[name] for name in ("transaction", "user") if name in table.column_names}
    if as_text(owners["transaction"]).equals(_positions(len(starts))):
        del owners["transaction"]
    offsets = np.concatenate(([0], np.cumsum(filled)))
    data = Transactions.from_codes(offsets, codes, labels, **_owners(owners))
    _require_sets(data, path)
    return data, groups[starts]


def _require_sets(data: Transactions, path: Path) -> None:
    if data.repeated:
        raise DataError("a transaction names an item twice. Restore the folder.", source=str(path))


def _require_once(count: int, names: pa.StringArray, path: Path) -> None:
    """Lines of one transaction stand together, so that nothing can be counted twice."""
    if pc.count_distinct(names).as_py() != count:
        problem = "the lines of a transaction do not stand together, or two transactions have one name."
        raise DataError(f"{problem} Restore the folder.", source=str(path))


def _owners(columns: dict[str, pa.ChunkedArray]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "transaction" in columns:
        found["ids"] = as_text(columns["transaction"])
    if "user" in columns:
        found["users"], found["user_labels"] = encode(as_text(columns["user"]))
    return found


def _positions(count: int) -> pa.StringArray:
    return pa.array(np.arange(1, count + 1)).cast(pa.string())


def _numbers(column: pa.ChunkedArray, path: Path) -> Ints:
    """Numbers of groups; one that is none would be read as another."""
    numbers = np.asarray(column) if pa.types.is_integer(column.type) else None
    if numbers is None or (len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < 2**31):
        raise DataError("a group must be a whole number from 0 to 2,147,483,647. Restore the folder.", source=str(path))
    return numbers.astype(np.int32)


def _release(data: Transactions, groups: Ints, lines: pa.Table, path: Path) -> Release:
    """Both tables under one vocabulary, in natural order."""
    if not pa.types.is_integer(lines["count"].type):
        raise DataError("a count must be a whole number. Restore the folder.", source=str(path))
    names = as_text(lines["item"])
    secret = pc.unique(names)
    labels = pc.unique(pa.concat_arrays([data.labels, secret]))
    labels = labels.take(pa.array(natural_order(labels)))
    place = _places(data.labels, labels)
    marks = np.zeros(len(labels), dtype=np.bool_)
    marks[_places(secret, labels)] = True
    data = replace(
        Transactions.from_codes(data.offsets, place[data.items], labels, sensitive=marks),
        ids=data.ids,
        users=data.users,
        user_labels=data.user_labels,
        unread=data.unread,
    )
    items = _places(names, labels).astype(np.int32)
    return Release(data, groups, GroupCounts(_numbers(lines["group"], path), items, np.asarray(lines["count"])))


def _places(names: pa.StringArray, labels: pa.StringArray) -> Longs:
    places: Longs = pc.index_in(names, value_set=labels).to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _read(path: Path) -> pa.Table:
    try:
        table = _parsed(path, *split_name(path))
        table.validate(full=True)  # a damaged file must not be looked into: its offsets may lead anywhere
        return table
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("this table cannot be read. Restore the folder.", source=str(path)) from error


def _parsed(path: Path, ending: str | None, compression: str | None) -> pa.Table:
    if ending == "parquet":
        from pyarrow.parquet import read_table

        return read_table(path)
    if ending == "arrow":
        return pa.ipc.open_file(pa.OSFile(str(path))).read_all()
    content = _unpacked(path, compression)
    return _read_json(content, path) if ending == "jsonl" else _read_csv(content, "\t" if ending == "tsv" else ",")


def _unpacked(path: Path, compression: str | None) -> bytes:
    if compression == "zstd":
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    content = path.read_bytes()
    if compression == "gzip":
        return gzip.decompress(content)
    if compression == "bz2":
        return bz2.decompress(content)
    return lzma.decompress(content) if compression == "xz" else content


def _read_csv(content: bytes, separator: str) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(
        io.BytesIO(content),
        read_options=csv.ReadOptions(block_size=max(1 << 20, min(len(content), 1 << 30))),
        parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=_TYPES, strings_can_be_null=False),
    )


def _read_json(content: bytes, path: Path) -> pa.Table:
    from pyarrow import json as arrow_json

    names = ("group", "item", "count") if path.name.startswith(SENSITIVE) else ("group", "items")
    schema = pa.schema([(name, _TYPES[name]) for name in names])
    if not content.strip():
        return schema.empty_table()
    return arrow_json.read_json(
        io.BytesIO(content),
        read_options=arrow_json.ReadOptions(block_size=max(1 << 20, min(len(content), 1 << 30))),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
    )
