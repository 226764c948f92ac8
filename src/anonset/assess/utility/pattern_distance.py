"""Pattern distance: how far the patterns of users after anonymization are from their patterns before.

For a user with maximal patterns P before and P′ after, PD = Σ over p ∈ P of the distance to the nearest p′ ∈ P′, and
the other way round; the distance between two patterns is the number of items that only one of them has. Where there is
no pattern to compare with, a pattern is as far away as it has items. PD of a release is the mean over the users.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013, section II.C.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.release import Release
from anonset.data.spec import as_count
from anonset.data.transactions import Longs, Transactions
from anonset.mining.distance import PatternDistance, between
from anonset.mining.itemsets import frequent, of_users


def pattern_distance(
    original: Transactions, release: Release, source: Longs, support: float, job: Job | None = None
) -> PatternDistance:
    """PD between the original and a release that publishes users; `source` aligns their transactions.

    Both are mined with the same `support`; a fraction is one of the original's transactions. Users of the release
    without any original transaction are virtual: they are counted, but have no distance.

    Examples
    --------
    >>> data = Transactions.from_lists([["a"], ["a"], ["b"]], users=["u", "v", "v"])
    >>> pattern_distance(data, Release(data), np.arange(3), support=1)
    PatternDistance(0.000 on average over 2 users, 1.500 for an empty table, 100.0% of the patterns kept)
    """
    published = release.transactions
    if original.users is None or published.users is None:
        raise ParameterError("users", "be known before and after", "a side without them", "Publish them, or leave PD.")
    job = job or Job()
    least = as_count(support, len(original))
    before, after = _quasi(original), _in_codes_of(original, published)
    real = source >= 0
    present, code = np.unique(original.users, return_inverse=True)
    owner = np.full(int(published.users.max(initial=-1)) + 1, -1, dtype=np.int64)
    owner[published.users[real]] = code[source[real]]
    virtual = np.flatnonzero(owner < 0)
    owner[virtual] = len(present) + np.arange(len(virtual))
    before = replace(before, users=code.astype(np.int32), user_labels=None)
    after = replace(after, users=owner[published.users].astype(np.int32), user_labels=None)
    old = of_users(before, frequent(before, least, job=job), len(present), job)
    new = of_users(after, frequent(after, least, job=job), len(present) + len(virtual), job)
    return replace(between(old, new), virtual_users=len(virtual))


def _quasi(data: Transactions) -> Transactions:
    return replace(data.quasi(), ids=None, sensitivity=None, counts=None)


def _in_codes_of(original: Transactions, published: Transactions) -> Transactions:
    """The published quasi-identifier items under the original's codes."""
    bare = _quasi(published)
    if bare.labels.equals(original.labels):
        return bare
    place = pc.index_in(bare.labels, value_set=original.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    if (place[bare.items] < 0).any():
        raise ParameterError("release", "hold no items but the original's", "others", "PD compares the same items.")
    return Transactions.from_codes(bare.offsets, place[bare.items], pa.array(original.labels), users=bare.users)


SUPPORT = 0.01


def _run(comparison: Comparison) -> dict[str, float | None]:
    assert comparison.row_origin is not None
    support = comparison.pattern_support or max(SUPPORT, min(0.5, 2 / max(1, len(comparison.data))))
    try:
        found = pattern_distance(comparison.data, comparison.release, comparison.row_origin, support, comparison.job)
    except ParameterError:  # too many patterns to mine
        return dict.fromkeys(figure.name for figure in METRIC.figures)
    return {
        "pattern_distance": found.average,
        "pattern_distance_of_nothing": found.empty,
        "patterns_kept": found.kept,
        "pattern_support": as_count(support, len(comparison.data)),
    }


METRIC = Metric(
    name="pattern-distance",
    title="Pattern distance",
    definition="Mean over users of the distances between their maximal patterns before and after.",
    reference="Hsu, Tsai, KAMP: Preserving k-anonymity for Combinations of Patterns, MDM 2013, section II.C",
    figures=(
        Figure("pattern_distance", "Pattern distance", "Items by which a user's patterns moved, on average."),
        Figure(
            "pattern_distance_of_nothing",
            "Pattern distance of an empty table",
            "What the distance would be if no user had a pattern left.",
            better="",
        ),
        Figure("patterns_kept", "Patterns kept", "Of users' maximal patterns, those they still have.", "share", "high"),
        Figure("pattern_support", "Support of a pattern", "So many transactions make an itemset one.", "count", ""),
    ),
    run=_run,
    needs=("users", "source"),
)
