"""Transaction lengths: how many quasi-identifier items a transaction has before and after.

The mean before and after, and the largest difference between the two cumulative distributions (Kolmogorov–Smirnov).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.transactions import Longs


def length_change(before: Longs, after: Longs) -> dict[str, Any]:
    """How the lengths moved.

    Examples
    --------
    >>> length_change(np.array([1, 2, 3, 4]), np.array([2, 2, 2, 2]))["length_distance"]
    0.5
    """
    top = int(max(before.max(initial=0), after.max(initial=0))) + 1
    cumulative = [np.cumsum(np.bincount(lengths, minlength=top)) / max(1, len(lengths)) for lengths in (before, after)]
    return {
        "length_mean_before": float(before.mean()) if len(before) else 0.0,
        "length_mean_after": float(after.mean()) if len(after) else 0.0,
        "length_distance": float(np.abs(cumulative[0] - cumulative[1]).max()),
    }


def _run(comparison: Comparison) -> dict[str, Any]:
    return length_change(comparison.pair.original.lengths, comparison.pair.published.lengths)


METRIC = Metric(
    name="lengths",
    title="Transaction lengths",
    definition="Mean number of items before and after; Kolmogorov–Smirnov distance of the two distributions.",
    reference="Kolmogorov–Smirnov statistic",
    figures=(
        Figure("length_mean_before", "Mean length, original", "Items per original transaction.", "number", ""),
        Figure("length_mean_after", "Mean length, published", "Items per published transaction.", "number", ""),
        Figure("length_distance", "Length distribution moved", "Largest difference of the cumulatives.", "share"),
    ),
    run=_run,
)
