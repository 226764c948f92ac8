"""Attribute loss: how far published attribute counts are from the true ones.

IL = Σ |true count − published count| over all transactions and attributes; the ratio divides by the sum of the true
counts. What a transaction publishes as sensitive is not among its counts, neither before nor after.
B. Zhang et al., "A (k, p)-anonymity Framework …", 2019, Definition 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset.assess.align import published_nodes
from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.errors import InputError
from anonset.data.hierarchy import Hierarchy
from anonset.data.release import Release
from anonset.data.transactions import Longs, Mask, Transactions


def attribute_loss(data: Transactions, release: Release, source: Longs, hierarchy: Hierarchy) -> dict[str, Any]:
    """Counts added and removed, their sum and its ratio; `source` aligns the release with the original.

    Examples
    --------
    >>> from dataclasses import replace
    >>> tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drink"]])
    >>> data = Transactions.from_lists([["milk", "brie"], ["milk", "wine"]])
    >>> rows = replace(Transactions.from_lists([["dairy"], ["dairy"]]), counts=[1, 1])
    >>> attribute_loss(data, Release(rows), np.arange(2), tree)["attribute_loss"]
    2
    """
    published = release.transactions
    quasi = published.quasi()
    counts = np.ones(quasi.nnz, dtype=np.int64) if quasi.counts is None else quasi.counts.astype(np.int64)
    real = source[quasi.rows] >= 0
    width = len(hierarchy)
    codes = _nodes(published, hierarchy)[quasi.items[real]]
    after = source[quasi.rows[real]] * width + codes
    before = _true_keys(data, published, source, hierarchy)
    keys, place = np.unique(np.concatenate((before, after)), return_inverse=True)
    weights = np.concatenate((np.full(len(before), -1, dtype=np.int64), counts[real]))
    change = np.bincount(place.reshape(-1), weights=weights, minlength=len(keys))
    added, removed = int(change[change > 0].sum()), int(-change[change < 0].sum())
    return {
        "attribute_loss": added + removed,
        "attribute_loss_ratio": (added + removed) / max(1, len(before)),
        "attributes_added": added,
        "attributes_removed": removed,
    }


def _nodes(published: Transactions, hierarchy: Hierarchy) -> Longs:
    """The node of the hierarchy behind each published attribute."""
    node = pc.index_in(published.labels, value_set=hierarchy.names).fill_null(-1).to_numpy(zero_copy_only=False)
    if (node[published.quasi_mask] < 0).any():
        raise InputError("'hierarchy' must be the one that the release was made with. Got one that lacks attributes.")
    return np.asarray(node, dtype=np.int64)


def _true_keys(data: Transactions, published: Transactions, source: Longs, hierarchy: Hierarchy) -> Longs:
    """For each original occurrence that is not published as sensitive its transaction and attribute, as one number."""
    kept = ~_is_secret(data, published, source)
    there = np.zeros(len(data), dtype=np.bool_)
    there[source[source >= 0]] = True
    kept &= there[data.rows]
    attributes = published.labels.filter(published.quasi_mask)
    node = published_nodes(hierarchy.nodes_of(data.labels), attributes, hierarchy)
    # An attribute that every group lost is nobody's published ancestor; the parent stands for it.
    parent = hierarchy.parent[np.maximum(hierarchy.nodes_of(data.labels), 0)]
    node = np.where(node >= 0, node, parent)
    return (data.rows * len(hierarchy) + node[data.items])[kept].astype(np.int64)


def _is_secret(data: Transactions, published: Transactions, source: Longs) -> Mask:
    """Which original occurrences are published as they are."""
    secret = published.sensitive_part()
    place = pc.index_in(published.labels, value_set=data.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    origin = source[secret.rows]
    shown = (origin * data.n_items + place[secret.items])[(origin >= 0) & (place[secret.items] >= 0)]
    return np.isin(data.rows * data.n_items + data.items, shown)


def _run(comparison: Comparison) -> dict[str, Any]:
    assert comparison.row_origin is not None
    assert comparison.hierarchy is not None
    return attribute_loss(comparison.data, comparison.release, comparison.row_origin, comparison.hierarchy)


METRIC = Metric(
    name="attribute-loss",
    title="Attribute loss",
    definition="IL = Σ |true − published| over the attribute counts; the ratio divides by the sum of the true counts.",
    reference="Zhang et al., A (k, p)-anonymity Framework …, 2019, Definition 4",
    figures=(
        Figure("attribute_loss", "Attribute counts changed", "Sum of the differences of attribute counts.", "count"),
        Figure("attribute_loss_ratio", "Attribute counts changed, ratio", "… divided by all true counts.", "share"),
        Figure("attributes_added", "Attribute counts added", "By how much published counts are too high.", "count"),
        Figure("attributes_removed", "Attribute counts removed", "By how much they are too low.", "count"),
    ),
    run=_run,
    needs=("source", "hierarchy", "counts"),
)
