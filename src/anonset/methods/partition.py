"""`partition`: k-anonymity by top-down local generalisation, the classic that `crowd` with categories is compared with.

Precondition   transactions, a hierarchy that holds every quasi-identifier item; n = 0 or n ≥ k ≥ 2.
Pseudo-code    one part ← all transactions, generalised to the root
               for each part: take the node of its set whose specialisation gains most (the greatest fall of NCP)
                   send each transaction to the sub-part of exactly those children that it holds
                   sub-parts of fewer than k join a left-over part, which keeps the node; if that one has fewer than k,
                   transactions come back from sub-parts that can spare them, those first that gain least
                   if it still has fewer than k, the node stays, and the next one is tried
               go on inside each part until nothing can be specialised
               publish for each transaction the nodes of its part
Persons        with `unit="user"` a part counts its different known users, and only a transaction of a user whom the
               left-over part lacks comes back to it.
Postcondition  every part has at least k members, and all of them publish the same nodes: k-anonymity. Every item lies
               in exactly one published node, and every published node holds an item of the transaction: nothing is
               added, nothing is left out. (The root, which says nothing, is not written.)

Y. He, J. F. Naughton, "Anonymization of set-valued data via top-down, local generalization", PVLDB 2(1), 2009; written
from its description.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.attributes import bare_items
from anonset.data.errors import InputError
from anonset.data.hierarchy.cut import lacking
from anonset.data.hierarchy.joining import tops, whole_tree
from anonset.data.hierarchy.nodes import Levels
from anonset.data.job import Job
from anonset.data.quantities import item_names
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.data.unit import require_users
from anonset.methods.steps.cuts import HIERARCHY, items_tree
from anonset.methods.steps.group.centers import require_enough


def run(data: Transactions, job: Job, *, k: int, hierarchy: Any, unit: Unit = "transaction") -> Draft:
    """Anonymize `data` so that every published set of nodes is shared by at least k transactions."""
    require_enough(len(data), k)
    if unit == "user":
        require_users(data, k)
    tree, notes = items_tree(data, hierarchy)
    levels = Levels(whole_tree(tree, data), data.labels, data.columns)
    levels.require_free_names()
    quasi = data.quasi()
    used = quasi.item_counts > 0
    if (levels.leaf[used] < 0).any():
        raise InputError(lacking(item_names(data, used & (levels.leaf < 0))))
    offsets, leaves = _by_place(quasi, levels.leaf)
    persons = data.users if unit == "user" else None
    with job.stage("specialise", total=len(data)) as monitor:
        part, bounds, nodes = _native.partition(offsets, leaves, levels.tree.end, _losses(levels), k, monitor, persons)
    published = _published(data, levels, part, bounds, nodes)
    known = Levels(tree, bare_items(data).labels)
    figures = {"groups": len(bounds) - 1}
    return replace(Draft.of_rows(published, figures), groups=part, levels=known, notes=notes)


def _by_place(quasi: Transactions, leaf: Ints) -> tuple[Longs, Ints]:
    """The leaves of each transaction, ascending in the tree."""
    found = leaf[quasi.items]
    return quasi.offsets, found[np.lexsort((found, quasi.rows))]


def _losses(levels: Levels) -> Longs:
    """What an occurrence loses that is published as each node: how many items it stands for, 0 for an item itself.

    Of a value of a column beside the items all values of its column count as much as all items.
    """
    tree = levels.tree
    top = tops(tree, levels.columns)
    scale = np.where(top >= 0, tree.n_items / np.maximum(tree.leaf_counts[np.maximum(top, 0)], 1), 1.0)
    return np.where(tree.is_leaf, 0, np.ceil(tree.leaf_counts * scale)).astype(np.int64)


def _published(data: Transactions, levels: Levels, part: Ints, bounds: Longs, nodes: Ints) -> Transactions:
    """The nodes of each transaction's part, with its sensitive items beside them."""
    tree, items = levels.tree, data.n_items
    code = np.full(len(tree), -1, dtype=np.int64)  # of each node among items and categories; −1: it says nothing
    code[levels.categories] = items + np.arange(len(levels.categories))
    held = levels.leaf >= 0
    code[levels.leaf[held]] = np.flatnonzero(held)
    top = tops(tree, levels.columns)
    code[top[top >= 0]] = -1
    code[0] = -1
    sizes = np.diff(bounds)[part] if len(part) else np.empty(0, dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    source = np.repeat(bounds[part] - offsets[:-1], sizes) + np.arange(offsets[-1])
    rows, codes = np.repeat(np.arange(len(part)), sizes), code[nodes[source]]
    secret = data.sensitive_part()
    rows = np.concatenate((rows[codes >= 0], secret.rows))
    codes = np.concatenate((codes[codes >= 0], secret.items))
    order = np.lexsort((codes, rows))
    more = np.zeros(len(levels.categories), dtype=np.bool_)
    return replace(
        data,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(data))))),
        items=codes[order].astype(np.int32),
        labels=pa.concat_arrays([data.labels, levels.labels]),
        sensitive=None if data.sensitive is None else np.append(data.sensitive, more),
        sensitivity=None,
        counts=None,
        attributes=None,
        appearance=None,
    )


SPEC = MethodSpec(
    name="partition",
    title="Top-down local generalisation",
    model="k-anonymity",
    summary="Splits one part of all transactions node by node of a hierarchy as long as k of them stay together.",
    params=(HIERARCHY,),
    run=run,
    paper="Y. He, J. F. Naughton, Anonymization of set-valued data via top-down, local generalization, PVLDB 2(1), "
    "2009; from its description",
    units=("user", "transaction"),
    columns=True,
)
