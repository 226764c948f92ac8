"""What columns beside the items lost, column by column.

A value that is published loses nothing; one that is published as something more general loses the share of all values
that this stands for; `*`, and a value that is not the transaction's own, lose all of it (1). NCP is the mean over the
transactions that have a value. *False* counts published values in which the original's does not lie: a majority may
not be everybody's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.attributes import Values, values_of
from anonset.data.release import Release
from anonset.data.transactions import Floats, Longs, Mask, Transactions


def column_losses(original: Transactions, release: Release, source: Longs) -> dict[str, Any]:
    """Figures of each column that both have; `source` aligns the release with the original."""
    published = {column.attribute.name: column for column in values_of(release.transactions)}
    figures: dict[str, Any] = {}
    for column in values_of(original):
        name = column.attribute.name
        if name in published and not column.attribute.sensitive:
            known = source >= 0
            loss, wrong = _losses(column, published[name], np.flatnonzero(known), source[known], len(original))
            held = column.codes < len(column.labels) - 1
            figures[f"{name}_ncp"] = float(loss[held].mean()) if held.any() else 0.0
            figures[f"{name}_exact"] = float((loss[held] == 0).mean()) if held.any() else 1.0
            figures[f"{name}_false"] = float(wrong.mean()) if len(wrong) else 0.0
    return figures


def _losses(before: Values, after: Values, rows: Longs, origin: Longs, size: int) -> tuple[Floats, Mask]:
    """The loss of each original transaction's value, and whether a false one is published."""
    pairs = before.codes[origin].astype(np.int64) * len(after.labels) + after.codes[rows]
    used, place = np.unique(pairs, return_inverse=True)
    known = _pair_losses(before, after, used // len(after.labels), used % len(after.labels))
    loss, wrong = np.ones(size), np.zeros(size, dtype=np.bool_)
    loss[origin] = np.abs(known)[place]
    wrong[origin] = known[place] < 0
    return loss, wrong


def _pair_losses(before: Values, after: Values, own: Longs, published: Longs) -> Floats:
    """The loss of each pair of an original and a published value; −1 where the published one is false."""
    tree, mark = before.attribute.tree, before.attribute.mark
    labels = [pc.binary_join_element_wise(mark, values.labels, "") for values in (before, after)]
    leaf = tree.nodes_of(labels[0])[own]
    node = pc.index_in(labels[1], value_set=tree.names).fill_null(-1).to_numpy(zero_copy_only=False)[published]
    inside = (leaf >= 0) & (node >= 0) & (node <= leaf) & (leaf < tree.end[np.maximum(node, 0)])
    nothing = published == len(after.labels) - 1
    share = np.where(tree.leaf_counts[np.maximum(node, 0)] > 1, tree.leaf_counts[np.maximum(node, 0)], 0)
    loss = np.where(node == leaf, 0.0, share / max(tree.n_items, 1))
    return np.where(nothing, 1.0, np.where(inside, loss, -1.0))


def column_figures(values: dict[str, Any]) -> tuple[Figure, ...]:
    """What the figures of these columns are called."""
    said = {
        "ncp": ("NCP", "How much less is said of it; 1: nothing.", "low"),
        "exact": ("exact", "Values published as they are.", "high"),
        "false": ("false", "Transactions with another value than their own.", "low"),
    }
    return tuple(
        Figure(name, f"Column {column}: {said[kind][0]}", said[kind][1], "share", said[kind][2])  # type: ignore[arg-type]
        for name in values
        for column, _, kind in [name.rpartition("_")]
    )


def _run(comparison: Comparison) -> dict[str, Any]:
    assert comparison.row_origin is not None
    return column_losses(comparison.data, comparison.release, comparison.row_origin)


METRIC = Metric(
    name="columns",
    title="Columns beside the items",
    definition="NCP of each column: the share of all values that the published one stands for; lost or false ones: 1.",
    reference="Xu et al., Utility-based anonymization using local recoding, KDD 2006 (NCP of single attributes)",
    figures=(),
    run=_run,
    needs=("source", "columns"),
    figures_of=column_figures,
    whole=True,
)
