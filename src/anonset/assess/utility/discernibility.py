"""Discernibility: how many others a transaction cannot be told from.

DM = Σ |G|² over the groups of transactions that look the same when published (or share a published group): each
transaction is charged with the size of its group. The share divides by n², the value of one single group.
R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset.assess.utility.metric import Figure, Metric
from anonset.data.release import Release
from anonset.data.transactions import Longs
from anonset.models.k_anonymity import equal_sets


def group_sizes(release: Release) -> Longs:
    """The sizes of the published groups: equal quasi-identifier sets, or the groups of a release in groups."""
    if release.groups is not None:
        sizes = np.bincount(release.groups).astype(np.int64)
        return sizes[sizes > 0]
    return equal_sets(release.transactions.quasi())[1]


def discernibility(release: Release) -> dict[str, Any]:
    """The sum of squared group sizes, and the mean group size.

    Examples
    --------
    >>> from anonset import Transactions
    >>> discernibility(Release(Transactions.from_lists([["a"], ["a"], ["b"]])))["discernibility"]
    5
    """
    sizes = group_sizes(release)
    return {
        "discernibility": int((sizes**2).sum()),
        "discernibility_share": float((sizes**2).sum() / max(1, len(release)) ** 2),
        "group_size_mean": float(sizes.mean()) if len(sizes) else 0.0,
    }


METRIC = Metric(
    name="discernibility",
    title="Discernibility",
    definition="DM = Σ |G|²: every transaction is charged with the number that it cannot be told from.",
    reference="Bayardo, Agrawal, Data privacy through optimal k-anonymization, ICDE 2005",
    figures=(
        Figure("discernibility", "Discernibility", "Σ |G|² over the published groups.", "count"),
        Figure("discernibility_share", "Discernibility, share", "… divided by that of one single group.", "share"),
        Figure("group_size_mean", "Mean group size", "Transactions per published group.", "number"),
    ),
    run=lambda comparison: discernibility(comparison.release),
)
