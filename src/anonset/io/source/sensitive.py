"""Sensitive items by name: in an option, or in a file with one name per line."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from anonset.data.errors import ParameterError
from anonset.data.transactions import Transactions
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import find_files, text


def mark_sensitive(data: Transactions, options: ReadOptions) -> Transactions:
    """The data with the items marked that the options name, in addition to those that are marked already."""
    if options.sensitive is None and options.sensitive_file is None:
        return data
    names = _given(options.sensitive)
    if options.sensitive_file is not None:
        names += _listed(options.sensitive_file, options.encoding, data)
    marked = data.with_sensitive(names)
    if data.sensitive is None or marked.sensitive is None:
        return marked
    return replace(marked, sensitive=np.logical_or(marked.sensitive, data.sensitive))


def _given(names: str | Iterable[str] | None) -> list[str]:
    """The names in a list or a text, where commas separate them and quotes protect commas in a name."""
    if names is None:
        return []
    if not isinstance(names, str):
        return [str(name) for name in names]
    fields = next(csv.reader([names], skipinitialspace=True), [])
    return [field.strip() for field in fields if field.strip()]


def _listed(path: str, encoding: str | None, data: Transactions) -> list[str]:
    """The names in a file. Blanks around a name count only where an item has them."""
    files, _ = find_files(path)
    if len(files) != 1:
        raise ParameterError("sensitive_file", "be one file", f"{len(files)} files")
    lines = text(files[0], encoding).decode().split("\n")
    names = [line.removesuffix("\r") for line in lines]
    known = set(data.labels.to_pylist())
    return [name if name in known else name.strip() for name in names if name.strip() or (name in known and name)]
