"""Sensitivity degrees for data that bring none themselves, from a file.

A file of degrees is a table with a column `sensitivity` and a column `item`, `user` or both; a cell left empty means
everybody, or every item. What somebody says about an item counts first; else the higher of what is said about the item
and what the user says about everything; else what is said about everything and everybody.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import DataError, InputError, ParameterError
from anonset.data.transactions import Floats, Ints, Transactions, as_text
from anonset.io.containers.csv import Csv
from anonset.io.formats.cells import degrees
from anonset.io.formats.sample import Sample
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin, Part
from anonset.io.source.roles import Roles, find_roles
from anonset.io.source.shape import Shape, cells_of
from anonset.io.source.streams import File, find_files, head


def give_degrees(data: Transactions, options: ReadOptions) -> Transactions:
    """The data with the degrees of the file that the options name."""
    if options.degrees_file is None:
        return data
    if data.sensitivity is not None:
        advice = "Leave the file out, or the column of degrees."
        raise ParameterError("degrees_file", "be left out where the data bring degrees themselves", "a file", advice)
    table, values = _read(options.degrees_file, options.encoding)
    item = _codes(table, "item", data.labels)
    user = _codes(table, "user", data.user_labels)
    if "user" in table and data.users is None and (user != _ALL).any():
        raise ParameterError("degrees_file", "name items only, since the data name no users", "a column of users")
    return replace(data, sensitivity=_look_up(data, item, user, values))


_ALL, _UNKNOWN = -1, -2


def _read(path: str, encoding: str | None) -> tuple[dict[str, pa.ChunkedArray], Floats]:
    """The columns `item` and `user` where there are any, and the degrees."""
    files, _ = find_files(path)
    if len(files) != 1:
        raise ParameterError("degrees_file", "be one file", f"{len(files)} files")
    options, kind = ReadOptions(encoding=encoding), Csv()
    separator = Sample(files[0].name, head(files[0], encoding), kind, options).separator or ","
    names = _header(files[0], separator, encoding)
    roles = find_roles(names, options)
    if roles.sensitivity is None or (roles.item is None and roles.user is None):
        shown = ", ".join(names)
        problem = f"A file of degrees needs a column sensitivity, and a column item or user. The columns are: {shown}."
        raise DataError(problem, source=files[0].name)
    cells = cells_of(Roles(item=roles.item, user=roles.user, sensitivity=roles.sensitivity))
    shape = Shape(None, kind.name, separator, True, len(names), cells)
    table, _ = kind.read(files[0], shape, options, lambda names: None)
    origin = Origin((Part(files[0].name, len(table), kind.line_of(files[0], shape, options)),))
    values = degrees(table["sensitivity"], np.arange(len(table)), origin)
    return {name: table[name] for name in ("item", "user") if name in table.column_names}, values


def _header(file: File, separator: str, encoding: str | None) -> list[str]:
    line = head(file, encoding).decode(errors="replace").splitlines()[:1]
    return [name.strip() for name in next(csv.reader(line, delimiter=separator), [])]


def _codes(table: dict[str, pa.ChunkedArray], name: str, labels: pa.StringArray | None) -> Ints:
    """The code of each name: −1 for everything (no column, an empty cell), −2 for one that the data do not know."""
    if name not in table:
        size = len(next(iter(table.values())))
        return np.full(size, _ALL, dtype=np.int32)
    cells = as_text(table[name])
    known = pa.array([], pa.string()) if labels is None else labels
    place = pc.index_in(cells, value_set=known).fill_null(_UNKNOWN).to_numpy(zero_copy_only=False)
    empty = pc.or_kleene(pc.is_null(cells), pc.equal(cells, "")).fill_null(True).to_numpy(zero_copy_only=False)
    return np.where(empty, _ALL, place).astype(np.int32)


def _look_up(data: Transactions, item: Ints, user: Ints, values: Floats) -> Floats:
    """The degree of each occurrence by the most particular line that speaks of it."""
    users = np.full(data.nnz, _ALL, dtype=np.int64) if data.users is None else data.users[data.rows].astype(np.int64)
    own = _found(users, data.items, user, item, values)
    of_item = _found(np.full(data.nnz, _ALL), data.items, user, item, values)
    of_user = _found(users, np.full(data.nnz, _ALL), user, item, values)
    general = np.fmax(of_item, of_user)
    rest = values[(item == _ALL) & (user == _ALL)]
    result = np.where(np.isnan(own), general, own)
    result = np.where(np.isnan(result), rest[0] if len(rest) else np.nan, result)
    missing = np.unique(data.items[np.isnan(result)])
    if len(missing):
        shown = ", ".join(data.labels.take(pa.array(missing[:3])).to_pylist()) + (", …" if len(missing) > 3 else "")
        raise InputError(
            f"'degrees_file' must give every item a degree. Got none for {len(missing):,} ({shown}). "
            "Add them, or a line with an empty item for all others."
        )
    return result


def _found(users: Any, items: Any, user: Ints, item: Ints, values: Floats) -> Floats:
    """For each pair the value of the last line with exactly this pair; no number where there is none."""
    width = int(max(items.max(initial=0), item.max(initial=0))) + 3
    keys = (user.astype(np.int64) + 2) * width + item + 2
    order = np.argsort(keys, kind="stable")
    wanted = (users.astype(np.int64) + 2) * width + items + 2
    if not len(order):
        return np.full(len(wanted), np.nan)
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    hit = (place >= 0) & (keys[order][np.maximum(place, 0)] == wanted)
    return np.where(hit, values[order][np.maximum(place, 0)], np.nan)
