"""Information loss: how many quasi-identifier items were added or removed.

With r items removed from a transaction and a items added to it, the Hamming distance counts r + a; the *item
differences* of Lin et al., "PTA", Definition 2, count an item that replaces another one once: max(r, a). Both are
summed over all transactions; ratios divide by the number of original quasi-identifier items. Tables and methods use the
Hamming distance, as the paper's own algorithms do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.release import Release
from anonset.data.transactions import Longs, Transactions


def information_loss(original: Transactions, release: Release, source: Longs) -> dict[str, Any]:
    """Items added and removed, their sum and its ratio; `source` aligns the release with the original."""
    before, after = original.quasi(), _in_codes_of(original, release.transactions)
    added, removed = _item_changes(before, after, source)
    loss = int(added.sum() + removed.sum())
    # max(r, a) = (r + a + |r − a|) / 2, and a − r is by how much a transaction grew
    grown = after.lengths[source >= 0] - before.lengths[source[source >= 0]]
    differences = (loss + int(np.abs(grown).sum())) // 2
    return {
        "information_loss": loss,
        "information_loss_ratio": loss / max(before.nnz, 1),
        "item_differences": differences,
        "item_differences_ratio": differences / max(before.nnz, 1),
        "items_added": int(added.sum()),
        "items_removed": int(removed.sum()),
    }


def item_changes(original: Transactions, release: Release, source: Longs) -> tuple[Longs, Longs]:
    """For each item of the original's vocabulary, how often it was added and how often removed."""
    return _item_changes(original.quasi(), _in_codes_of(original, release.transactions), source)


def _item_changes(before: Transactions, after: Transactions, source: Longs) -> tuple[Longs, Longs]:
    return _native.item_changes(before.offsets, before.items, after.offsets, after.items, source, before.n_items)


def _in_codes_of(original: Transactions, published: Transactions) -> Transactions:
    """The published quasi-identifier items under the original's codes."""
    if published.labels is original.labels or published.labels.equals(original.labels):
        return published.only(original.quasi_mask)
    place = pc.index_in(published.labels, value_set=original.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    known = place >= 0
    known[known] = original.quasi_mask[place[known]]
    quasi = published.only(known)
    return Transactions.from_codes(quasi.offsets, place[quasi.items], pa.array(original.labels))


def _run(comparison: Comparison) -> dict[str, Any]:
    pair = comparison.pair
    assert pair.row_origin is not None
    return information_loss(pair.original, Release(pair.published), pair.row_origin)


METRIC = Metric(
    name="information-loss",
    title="Information loss",
    definition="IL = Σ |original △ published|, items added or removed; item differences count a replaced item once.",
    reference="Lin et al., PTA, Definition 2",
    figures=(
        Figure("information_loss", "Items changed", "Items added to or removed from transactions.", "count"),
        Figure("information_loss_ratio", "Items changed, ratio", "… divided by the number of original items.", "share"),
        Figure("item_differences", "Item differences", "The same, but a replaced item counts once.", "count"),
        Figure("item_differences_ratio", "Item differences, ratio", "… divided by the original items.", "share"),
        Figure("items_added", "Items added", "Occurrences that are published but were not there.", "count"),
        Figure("items_removed", "Items removed", "Occurrences that were there but are not published.", "count"),
    ),
    run=_run,
    needs=("source",),
)
