"""What quantities lost, where a release publishes how often an item occurs in its transaction.

Of the original occurrences that are published as their item: *exact* is the share with their own quantity (or the range
that was to be published), *told* the share with any. *False* is the share of published quantities that are not the
original's; that of an item which its transaction does not hold is false.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.quantities import ANY, has_quantities, split_quantities
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Mask, Transactions


def quantity_losses(original: Transactions, release: Release, source: Longs) -> dict[str, Any]:
    """The figures of this metric, where both have items with quantities; `source` aligns the release."""
    published = release.transactions
    if not (has_quantities(original) and has_quantities(published)):
        return {}
    sides = [split_quantities(side.labels) for side in (original, published)]
    names = pa.chunked_array([names for names, _, _ in sides], pa.string()).combine_chunks()
    item = pc.dictionary_encode(names).indices.to_numpy(zero_copy_only=False).astype(np.int64)
    before, own = _occurrences(original, original.rows, item[: original.n_items], *sides[0][1:])
    after, told = _occurrences(published, source[published.rows], item[original.n_items :], *sides[1][1:])
    order = np.argsort(before, kind="stable")
    place = np.minimum(np.searchsorted(before[order], after), max(len(before) - 1, 0))
    there = before[order][place] == after if len(before) else np.zeros(len(after), dtype=np.bool_)
    said = told != ANY
    exact = there & said & (own[order][place] == told if len(before) else False)
    return {
        "quantities_exact": float(exact.sum()) / max(int(there.sum()), 1),
        "quantities_told": float((there & said).sum()) / max(int(there.sum()), 1),
        "quantities_false": float((said & ~exact).sum()) / max(int(said.sum()), 1),
    }


def _occurrences(data: Transactions, rows: Longs, item: Longs, counts: Ints, said: Mask) -> tuple[Longs, Ints]:
    """The pair of transaction and item of each occurrence that can say a quantity, and what it says."""
    mine = said[data.items] & (rows >= 0)
    return rows[mine] * 2**31 + item[data.items[mine]], counts[data.items[mine]]


def _run(comparison: Comparison) -> dict[str, Any]:
    assert comparison.row_origin is not None
    return quantity_losses(comparison.data, comparison.release, comparison.row_origin)


METRIC = Metric(
    name="quantities",
    title="Quantities",
    definition="Of the published occurrences of original items: with their own quantity, with any; false ones.",
    reference="this project",
    figures=(
        Figure("quantities_exact", "Quantities kept", "Published items with their own quantity.", "share", "high"),
        Figure("quantities_told", "Quantities told", "Published items with any quantity.", "share", "high"),
        Figure("quantities_false", "Quantities, false", "Published quantities that are not the original's.", "share"),
    ),
    run=_run,
    needs=("source", "quantities"),
    whole=True,
)
