"""Loss at every level of a hierarchy, where items and categories are published side by side.

At a level, a transaction is the set of categories that its items and finer categories lie in; its loss there is the
Hamming distance of the original's set and the published one, as a share of the original's categories. For single items:
*exact* is the share of original occurrences that are published as they are; the penalty of an occurrence (NCP) is 0 if
it is published, otherwise the share of all items that its nearest published category stands for, and 1 if there is
none;
In a set with `brie`, a lost `milk` still says that there was some dairy: *NCP, items imply categories* counts that.
*added* counts published items and categories that nothing in the original transaction lies in, for each original item.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.arrays import contained, distinct
from anonset.data.hierarchy.nodes import Levels
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Mask, Transactions

DEEPEST = 6


def level_losses(original: Transactions, release: Release, source: Longs, levels: Levels) -> dict[str, Any]:
    """The figures of this metric; `source` aligns the release with the original."""
    before = original.quasi()
    after = _aligned(release.transactions, source, len(before))
    figures = {
        f"level{level}_loss_ratio": _distance(levels.at(before, level), levels.at(after, level), len(levels.categories))
        for level in range(1, min(levels.count, DEEPEST) + 1)
    }
    return {**figures, **_items(before, after, levels)}


def _aligned(published: Transactions, source: Longs, size: int) -> Transactions:
    """The published transactions in the original's order; empty where there is none."""
    place = np.full(size, -1, dtype=np.int64)
    place[source[source >= 0]] = np.flatnonzero(source >= 0)
    found = published.quasi().take(np.maximum(place, 0)) if len(published) else published
    return found.only(np.ones(found.n_items, dtype=np.bool_)) if (place >= 0).all() else _emptied(found, place < 0)


def _emptied(data: Transactions, rows: Mask) -> Transactions:
    kept = ~rows[data.rows]
    sizes = np.where(rows, 0, data.lengths)
    return data.with_rows(np.concatenate(([0], np.cumsum(sizes))), data.items[kept])


def _distance(before: tuple[Longs, Any], after: tuple[Longs, Any], size: int) -> float:
    one, other = (rows * max(size, 1) + codes for rows, codes in (before, after))
    return (len(one) + len(other) - 2 * int(contained(one, other).sum())) / max(len(one), 1)


def _items(before: Transactions, after: Transactions, levels: Levels) -> dict[str, Any]:
    """Exact items, their mean penalty, and what was added."""
    width = len(levels.items) + len(levels.categories) + 1
    item, category = levels.split(after.labels)
    node = np.where(item >= 0, item, np.where(category >= 0, len(levels.items) + category, width - 1)).astype(np.int64)
    published = np.sort(after.rows * width + node[after.items])
    own = levels.split(before.labels)[0].astype(np.int64)
    rows, codes = before.rows, own[before.items]
    exact = contained(rows * width + codes, published)
    penalty = [np.where(exact, 0.0, 1.0), np.where(exact, 0.0, 1.0)]
    said = (published, _closed(after, item, category, levels, width))
    share = levels.tree.leaf_counts[levels.categories] / max(levels.tree.n_items, 1)
    touched = [rows * width + codes]
    for above in levels.above:  # coarse to fine: the finest that is published is the last to be written
        found = above[codes].astype(np.int64)
        key = rows * width + len(levels.items) + found
        for keys, loss in zip(said, penalty, strict=True):
            there = (found >= 0) & ~exact & contained(key, keys)
            loss[there] = share[found[there]]
        touched.append(key[found >= 0])
    fitting = contained(published, distinct(np.concatenate(touched)))
    total = max(before.nnz, 1)
    return {
        "exact_items": float(exact.sum()) / total,
        "ncp": float(penalty[0].sum()) / total,
        "ncp_implied": float(penalty[1].sum()) / total,
        "nodes_added_ratio": float((~fitting).sum()) / total,
    }


def _closed(after: Transactions, item: Ints, category: Ints, levels: Levels, width: int) -> Longs:
    """What is published, with all categories that it lies in: who publishes `brie` says `some:dairy`, too."""
    count, found = len(levels.items), []
    for level, above in enumerate(levels.above, 1):
        raised = np.append(levels.raised(level), -1)[category]  # the last entry is that of no category
        code = np.where(item >= 0, np.append(above, -1)[item], raised).astype(np.int64)
        there = code[after.items] >= 0
        found.append(after.rows[there] * width + count + code[after.items[there]])
    return distinct(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def _run(comparison: Comparison) -> dict[str, Any]:
    assert comparison.hierarchy is not None
    assert comparison.row_origin is not None
    levels = Levels(comparison.hierarchy, comparison.data.labels)
    figures = level_losses(comparison.data, comparison.release, comparison.row_origin, levels)
    figures["local_ncp"], figures["implied_ncp"] = figures.pop("ncp"), figures.pop("ncp_implied")
    return figures


METRIC = Metric(
    name="levels",
    title="Loss at each level",
    definition="At each level Σ |original △ published| categories ÷ original categories; exact items; NCP.",
    reference="He and Naughton, Anonymization of set-valued data via top-down, local generalization, 2009 (NCP)",
    figures=(
        Figure("exact_items", "Items kept exactly", "Original occurrences published as they are.", "share", "high"),
        Figure("local_ncp", "NCP, lost items count 1", "How much less is said of an item; 1: nothing.", "share"),
        Figure("implied_ncp", "NCP, items imply categories", "The same, where another item says the kind.", "share"),
        Figure("nodes_added_ratio", "Added", "Published items and categories that were not there, per item.", "share"),
        *(
            Figure(f"level{level}_loss_ratio", f"Loss at level {level}", "Categories added or removed.", "share")
            for level in range(1, DEEPEST + 1)
        ),
    ),
    run=_run,
    needs=("source", "hierarchy", "categories"),
)
