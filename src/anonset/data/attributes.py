"""From columns beside the items to items, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.columns import NOTHING, Attribute, Columns, of_items
from anonset.data.errors import InputError, ParameterError, setting
from anonset.data.quantities import without_quantities
from anonset.data.transactions import Ints, Mask, Transactions


@dataclass(frozen=True, eq=False)
class Values:
    """A column: the code of each transaction's value (−1: it has none), and the values."""

    attribute: Attribute
    codes: Ints
    labels: pa.StringArray


def with_values(data: Transactions, columns: list[Values]) -> Transactions:
    """The transactions with these columns as items, behind all others.

    Examples
    --------
    >>> store = Values(Attribute("store"), np.array([0, -1], dtype=np.int32), pa.array(["Mitte"]))
    >>> with_values(Transactions.from_lists([["milk"], ["milk"]]), [store]).to_lists()
    [['milk', 'store=Mitte'], ['milk']]
    """
    if not columns:
        return data
    _require_free(data, columns)
    before = () if data.columns is None else data.columns.attributes
    rows, codes, labels = [data.rows], [data.items], [data.labels]
    size = data.n_items
    for column in columns:
        held = np.flatnonzero(column.codes >= 0)
        rows.append(held)
        codes.append((size + column.codes[held]).astype(np.int32))
        labels.append(pc.binary_join_element_wise(column.attribute.mark, column.labels, ""))
        size += len(column.labels)
    row, item = np.concatenate(rows), np.concatenate(codes)
    order = np.argsort(row, kind="stable")  # the codes of a later column are greater: rows stay ascending
    sizes = np.bincount(row, minlength=len(data))
    more, added = size - data.n_items, len(item) - data.nnz
    kinds = np.repeat([column.attribute.name for column in columns], [len(column.labels) for column in columns])
    order_of_columns = () if data.columns is None else data.columns.order
    return replace(
        data,
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        items=item[order],
        labels=pa.concat_arrays(labels),
        sensitive=None if data.sensitive is None else np.append(data.sensitive, np.zeros(more, dtype=np.bool_)),
        sensitivity=None if data.sensitivity is None else np.append(data.sensitivity, np.zeros(added))[order],
        counts=None if data.counts is None else np.append(data.counts, np.ones(added, dtype=np.int32))[order],
        attributes=None if data.attributes is None else pa.concat_arrays([data.attributes, pa.array(kinds.tolist())]),
        appearance=None if data.appearance is None else np.append(data.appearance, np.arange(data.n_items, size)),
        columns=Columns((*before, *(column.attribute for column in columns)), order_of_columns),
    )


def _require_free(data: Transactions, columns: list[Values]) -> None:
    """No item may read like the value of a column, and no two columns like one."""
    names = [column.attribute.name for column in columns] + list(() if data.columns is None else data.columns.names)
    for column in columns:
        mark, name = column.attribute.mark, column.attribute.name
        if sum(other == name or (other + "=").startswith(mark) for other in names) > 1:
            raise InputError(f"Two columns beside the items are called '{name}', or begin so. Rename one of them.")
        if "," in name or not name:
            raise InputError(f"A column beside the items must have a name without a comma. Got '{name}'. Rename it.")
        taken = int(pc.sum(pc.starts_with(data.labels, mark)).as_py() or 0)
        if taken:
            raise InputError(f"{taken:,} items begin with '{mark}', as values of the column '{name}' do. Rename them.")


def items_of(data: Transactions) -> Transactions:
    """The same transactions without columns beside the items."""
    if data.columns is None:
        return data
    kept: Mask = of_items(data.columns, data.labels) < 0
    place = np.cumsum(kept, dtype=np.int32) - 1
    part = data.only(kept)
    mask = pa.array(kept)
    marks = None if data.sensitive is None else data.sensitive[kept]
    return replace(
        part,
        items=place[part.items],
        labels=data.labels.filter(mask),
        sensitive=None if marks is None or not marks.any() else marks,
        attributes=None if data.attributes is None else data.attributes.filter(mask),
        appearance=None,
        columns=None,
    )


def bare_items(data: Transactions) -> Transactions:
    """The same transactions with nothing but items: without columns beside them, and without quantities."""
    return without_quantities(items_of(data))


def values_of(data: Transactions) -> list[Values]:
    """The columns beside the items, as they are published: `*` is the last label, and no code is −1."""
    if data.columns is None:
        return []
    place = data.columns.of_items(data.labels)
    rows, found = data.rows, []
    for number, attribute in enumerate(data.columns.attributes):
        mine = np.flatnonzero(place == number)
        labels = pc.utf8_slice_codeunits(data.labels.take(pa.array(mine)), start=len(attribute.mark))
        codes = np.full(len(data), len(mine), dtype=np.int32)
        held = place[data.items] == number
        codes[rows[held]] = np.searchsorted(mine, data.items[held])
        found.append(Values(attribute, codes, pa.concat_arrays([labels, pa.array([NOTHING], pa.string())])))
    return found


def require_no_columns(data: Transactions, method: str) -> None:
    """Refuse columns beside the items where a method knows nothing of them."""
    if data.columns is not None:
        names = ", ".join(data.columns.names)
        advice = f"Leave it out, or use {setting('method', 'crowd')} or {setting('method', 'km-refine')}."
        raise ParameterError("attribute", f"be left out for {method}, which knows items only", names, advice)
