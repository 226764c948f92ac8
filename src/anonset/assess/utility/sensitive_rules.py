"""Rules with sensitive items: does a release in groups still tell which items go together with a sensitive one?

For a sensitive item s and a quasi-identifier item y let c(s, y) be the number of transactions with both. The release
gives its expected value: over all groups, occurrences of s times members with y, divided by the size of the group
(Ghinita, Kalnis and Tao, Eq. 4). Rules s → y and y → s have a support of at least 5 and a confidence of at least 60 %;
precision, recall and F1 compare those of the original with those of the expected counts. Rules y → s cannot survive: no
member of a group holds s with a probability above 1/p, so no confidence is above 1/p either, and that is the promise.
*Pairs moved* is Σ |c − expected c| / 2 Σ c, the share of all such co-occurrences that the release puts elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset.assess.expected import expected
from anonset.assess.utility.itemsets import f1
from anonset.assess.utility.metric import LEAST_COUNT, Comparison, Figure, Metric
from anonset.assess.utility.rules import CONFIDENCE
from anonset.data.release import Release
from anonset.data.transactions import Floats, Mask, Transactions


def sensitive_rules(original: Transactions, release: Release) -> dict[str, Any]:
    """How many rules with a sensitive item there are, and how many of them the expected counts still show.

    Examples
    --------
    >>> import anonset
    >>> data = anonset.Transactions.from_lists([["a", "s"]] * 5 + [["a"]] * 5 + [["b"]] * 10, sensitive=["s"])
    >>> found = sensitive_rules(data, anonset.anonymize(data, method="nn", p=2, seed=1).release)
    >>> found["sensitive_rules"], found["sensitive_rules_recall"], found["sensitive_pairs_moved"]
    (1, 1.0, 0.0)
    """
    secret = np.flatnonzero(~original.quasi_mask & (original.item_counts > 0))
    quasi = np.flatnonzero(original.quasi_mask & (original.item_counts > 0))
    before = together(original.to_scipy().astype(np.float64), secret, quasi)
    places = pc.index_in(original.labels, value_set=release.transactions.labels)
    columns = np.asarray(places.fill_null(-1))
    after = _expected_together(release, columns[secret], columns[quasi])
    size = original.item_counts
    real, found = (_rules(pairs, size[secret], size[quasi]) for pairs in (before, after))
    both = int((real & found).sum())
    precision = both / int(found.sum()) if found.any() else None
    recall = both / int(real.sum()) if real.any() else None
    return {
        "sensitive_rules": int(real.sum()),
        "sensitive_rules_found": int(found.sum()),
        "sensitive_rules_precision": precision,
        "sensitive_rules_recall": recall,
        "sensitive_rules_f1": None if recall is None else f1(precision or 0.0, recall),
        "sensitive_pairs_moved": float(np.abs(before - after).sum() / (2 * before.sum())) if before.any() else None,
    }


def together(matrix: Any, rows: Any, columns: Any) -> Floats:
    """For each pair of two sets of items in how many transactions they occur together; shares count as shares."""
    return np.asarray((matrix[:, rows].T @ matrix[:, columns]).toarray(), dtype=np.float64)


def _expected_together(release: Release, secret: Any, quasi: Any) -> Floats:
    """The same, expected; an item that the release does not name occurs in nothing."""
    matrix = expected(release).tocsc()
    found = np.zeros((len(secret), len(quasi)))
    named = np.ix_(secret >= 0, quasi >= 0)
    found[named] = together(matrix, secret[secret >= 0], quasi[quasi >= 0])
    return found


def _rules(pairs: Floats, secret: Any, quasi: Any) -> Mask:
    """Which rules s → y (first) and y → s there are."""
    frequent = pairs >= LEAST_COUNT
    least = CONFIDENCE * np.stack([np.broadcast_to(secret[:, None], pairs.shape), np.broadcast_to(quasi, pairs.shape)])
    return np.asarray(frequent & (pairs >= least))


def _run(comparison: Comparison) -> dict[str, Any]:
    return sensitive_rules(comparison.data, comparison.release)


METRIC = Metric(
    name="sensitive-rules",
    title="Rules with sensitive items",
    definition="Precision, recall and F1 of the rules s → y and y → s of confidence ≥ 60 %, from expected counts.",
    reference="Ghinita, Kalnis, Tao, Anonymous publication of sensitive transactional data, TKDE 2011, section 3.2",
    figures=(
        Figure("sensitive_rules", "Sensitive rules in the original", "Rules s → y, y → s.", "count", ""),
        Figure("sensitive_rules_found", "Sensitive rules in the release", "… by expected counts.", "count", ""),
        Figure("sensitive_rules_precision", "Sensitive rules: true", "Of those found, the real ones.", "share", "high"),
        Figure("sensitive_rules_recall", "Sensitive rules: kept", "Of the real ones, those found.", "share", "high"),
        Figure("sensitive_rules_f1", "Sensitive rules: F1", "Both in one number.", "share", "high"),
        Figure("sensitive_pairs_moved", "Pairs moved", "Co-occurrences of s and y put elsewhere.", "share"),
    ),
    run=_run,
    needs=("groups", "sensitive"),
)
