"""All that an attacker may know of a transaction, and how the release shows it: items, quantities, columns beside them.

A *fact* is an item, an item in a quantity (`milk × 2`), or the value of a column (`store=Mitte`). Where a release
generalises group by group, one fact is shown in several ways: `store=Mitte`, `store=Berlin`, `store=*`. An attacker who
knows a fact takes every transaction for a candidate that shows it in one of its ways. No transaction shows it in two,
so the candidates of all ways together are counted by adding them up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.assess.align import Pair, bare, pair, without_categories, without_names
from anonset.data.columns import NOTHING, Columns, of_items
from anonset.data.hierarchy import Hierarchy
from anonset.data.hierarchy.joining import of_items_only, whole_tree
from anonset.data.hierarchy.nodes import holds_categories
from anonset.data.quantities import has_quantities, split_quantities
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Mask, Transactions


def facts(
    data: Transactions, release: Release, source: Longs | None = None, hierarchy: Hierarchy | None = None
) -> Pair:
    """Original and release in one vocabulary of facts; the same as `pair` where there are only items.

    Examples
    --------
    >>> original = Transactions.from_codes([0, 1, 2], [0, 0], ["milk"], counts=[2, 3], count_as="keep")
    >>> from anonset.data.quantities import with_quantities
    >>> published = replace(Transactions.from_lists([["milk × 2"], ["milk × *"]]), count_as="keep")
    >>> both = facts(with_quantities(original), Release(published))
    >>> both.known.labels.to_pylist(), both.ways.tolist()
    (['milk × 2', 'milk × 3'], [[0, 2], [2, -1]])
    """
    beside = data.columns is not None and release.transactions.columns is not None
    if not beside and not has_quantities(data):
        return pair(data, release, source, hierarchy)
    pair(data, release, source, hierarchy)  # an error where they do not belong together
    columns = data.columns if beside else None
    exact = data.quasi()
    published = without_names(release.transactions.quasi(), data.sensitive_names())
    local = hierarchy is None or holds_categories(published.labels)
    tree = None if local or hierarchy is None else of_items_only(hierarchy, data.columns)
    shown = with_stars(without_categories(published) if local else published, columns)
    own = exact.labels
    labels = pa.chunked_array([own, shown.labels.filter(pc.invert(pc.is_in(shown.labels, value_set=own)))], pa.string())
    union = labels.combine_chunks()
    there = np.asarray(pc.is_in(union, value_set=shown.labels), dtype=np.bool_)
    ways = _ways(exact, whole_tree(tree, replace(data, columns=columns), complete=local), union, there)
    seen_as = np.arange(len(own), dtype=np.int32) if local else ways[:, 0].copy()
    stars = with_stars(exact, columns)
    place = _places(stars.labels, union)
    place[: len(own)] = seen_as
    return Pair(
        bare(Transactions.from_codes(stars.offsets, place[stars.items], union)) if len(union) else bare(stars),
        Transactions.from_codes(shown.offsets, _places(shown.labels, union)[shown.items], union),
        source,
        bare(exact),
        seen_as,
        ways,
        _plain(columns, union),
    )


def with_stars(data: Transactions, columns: Columns | None) -> Transactions:
    """The transactions, in which `store=*` stands where there is no value of the column `store`."""
    if columns is None or not len(data):
        return data
    place, rows, codes = columns.of_items(data.labels), [data.rows], [data.items]
    for number in range(len(columns.attributes)):
        held = np.zeros(len(data), dtype=np.bool_)
        held[data.rows[place[data.items] == number]] = True
        rows.append(np.flatnonzero(~held))
        codes.append(np.full(int((~held).sum()), data.n_items + number, dtype=np.int32))
    row, code = np.concatenate(rows), np.concatenate(codes)
    stars = pa.array([attribute.mark + NOTHING for attribute in columns.attributes], pa.string())
    order = np.argsort(row, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(data)))))
    return Transactions(offsets, code[order], pa.concat_arrays([data.labels, stars]))


def _ways(exact: Transactions, tree: Hierarchy, union: pa.StringArray, there: Mask) -> Ints:
    """The codes under which the release shows each fact, the most specific first, filled up with −1.

    A fact that it shows in no way has its own code, which no published transaction holds.
    """
    node = tree.nodes_of(exact.labels)
    code_of = np.append(pc.index_in(tree.names, value_set=union).fill_null(-1).to_numpy(zero_copy_only=False), -1)
    own = np.arange(exact.n_items)
    found = [np.where(there[own], own, -1)]
    while (node > 0).any():
        code = code_of[node]
        found.append(np.where((code >= 0) & there[np.maximum(code, 0)] & (code != own), code, -1))
        node = np.where(node > 0, tree.parent[np.maximum(node, 0)], -1)
    table = np.stack(found, axis=1)
    table = np.take_along_axis(table, np.argsort(table < 0, axis=1, kind="stable"), axis=1)
    table[:, 0] = np.where(table[:, 0] < 0, own, table[:, 0])
    return table[:, : max(int((table >= 0).sum(axis=1).max(initial=1)), 1)].astype(np.int32)


def _places(labels: pa.StringArray, union: pa.StringArray) -> Ints:
    place = pc.index_in(labels, value_set=union).fill_null(len(union) - 1).to_numpy(zero_copy_only=False)
    codes: Ints = place.astype(np.int32)
    return codes


def _plain(columns: Columns | None, labels: pa.StringArray) -> Mask:
    """Which facts are items and nothing else: whoever lacks one shows it in no way."""
    return (of_items(columns, labels) < 0) & ~split_quantities(labels)[2]
