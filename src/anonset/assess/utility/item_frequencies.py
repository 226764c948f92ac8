"""Item-frequency error: how far the published count of an item is from the original one.

For each item that occurs in the original, |published − original| / original; mean and median over items, and the
total variation distance between the two distributions of item occurrences (0: the same, 1: nothing in common).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.transactions import Longs


def frequency_error(before: Longs, after: Longs) -> dict[str, Any]:
    """Errors of item counts.

    Examples
    --------
    >>> frequency_error(np.array([4, 2]), np.array([2, 2]))["item_error_mean"]
    0.25
    """
    there = before > 0
    error = np.abs(after[there] - before[there]) / before[there]
    lost = int((there & (after == 0)).sum())
    p, q = (counts / counts.sum() if counts.sum() else counts * 0.0 for counts in (before, after))
    return {
        "item_error_mean": float(error.mean()) if len(error) else 0.0,
        "item_error_median": float(np.median(error)) if len(error) else 0.0,
        "item_variation": float(np.abs(p - q).sum() / 2),
        "items_lost": lost,
    }


def _run(comparison: Comparison) -> dict[str, Any]:
    return frequency_error(comparison.pair.original.item_counts, comparison.pair.published.item_counts)


METRIC = Metric(
    name="item-frequencies",
    title="Item frequencies",
    definition="|published − original| / original for each item's count; total variation of the two distributions.",
    reference="common practice; total variation distance",
    figures=(
        Figure("item_error_mean", "Item count error, mean", "Mean relative error of item counts.", "share"),
        Figure("item_error_median", "Item count error, median", "Median relative error of item counts.", "share"),
        Figure("item_variation", "Item distribution moved", "Share of all occurrences that moved.", "share"),
        Figure("items_lost", "Items lost", "Items of the original that are published nowhere.", "count"),
    ),
    run=_run,
)
