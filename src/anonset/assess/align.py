"""The original and its release in one vocabulary, so that they can be compared; what does not fit is said.

Where a release publishes hierarchy nodes instead of items, the original is looked at through the same nodes: an item
stands for its nearest ancestor that is published.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.attributes import bare_items
from anonset.data.errors import InputError, argument
from anonset.data.hierarchy import Hierarchy
from anonset.data.hierarchy.cut import recode
from anonset.data.hierarchy.joining import of_items_only
from anonset.data.hierarchy.nodes import PREFIX, holds_categories
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Mask, Transactions

_BESIDES = ("users", "user_labels", "ids", "sensitive", "sensitivity", "counts", "attributes")


@dataclass(frozen=True, eq=False)
class Pair:
    """Quasi-identifier items of the original and of the release, under the same codes.

    `row_origin[i]` is the original behind published transaction `i` (−1: invented); None where nobody knows. Where
    items are generalized, `original` is seen through the published nodes; `exact` is as it was, and `seen_as` says
    under which code each of its items is seen. `ways` are the codes under which the release may show each known item,
    filled up with −1, where there are several (see `facts`); `plain` are then the codes of mere items. `overlapping`
    says that one row may show a fact in several ways, as a person's history does.
    """

    original: Transactions
    published: Transactions
    row_origin: Longs | None = None
    exact: Transactions | None = None
    seen_as: Ints | None = None
    ways: Ints | None = None
    plain: Mask | None = None
    overlapping: bool = False

    @property
    def known(self) -> Transactions:
        """What somebody who knows people's items knows: the original as it was."""
        return self.original if self.exact is None else self.exact

    def seen(self, items: Ints) -> Ints:
        """Codes of known items as those under which the release can hold them."""
        return items if self.seen_as is None else self.seen_as[items]

    def published_of(self) -> Longs:
        """For each original transaction the published one behind it, −1 where it has none; needs the source."""
        assert self.row_origin is not None
        place = np.full(len(self.original), -1, dtype=np.int64)
        known = self.row_origin >= 0
        place[self.row_origin[known]] = np.flatnonzero(known)
        return place


def pair(data: Transactions, release: Release, source: Longs | None = None, hierarchy: Hierarchy | None = None) -> Pair:
    """Both in one vocabulary; an `InputError` says what differs where they do not belong together.

    Columns beside the items and quantities are left aside.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["b"]])
    >>> pair(data, Release(Transactions.from_lists([["b"], ["b"]]))).published.n_items
    2
    """
    hierarchy = None if hierarchy is None else of_items_only(hierarchy, data.columns)
    data, release = bare_items(data), replace(release, transactions=bare_items(release.transactions))
    secret = data.sensitive_names()
    published = without_names(release.transactions.quasi(), secret)
    original = exact = data.quasi()
    seen_as = None
    if holds_categories(published.labels):  # what is said beyond items is measured level by level
        hierarchy, published = None, without_categories(published)
    if hierarchy is not None:
        # Sensitive items may be published by their own names beside the nodes that all others stand for.
        general = published.labels.filter(pa.array(release.transactions.quasi_mask))
        original, seen_as = generalized(exact, general, hierarchy)
    _require_same_size(data, release, source)
    _require_known(original, published, hierarchy)
    place = pc.index_in(published.labels, value_set=original.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    codes = place[published.items]
    renumbered = Transactions.from_codes(published.offsets, codes, original.labels)
    return Pair(bare(original), renumbered, source, bare(exact), seen_as)


def generalized(data: Transactions, published: pa.StringArray, hierarchy: Hierarchy) -> tuple[Transactions, Ints]:
    """Each item replaced by its nearest ancestor that is published, and the new code of each old one.

    Items without such an ancestor stay as they are.
    """
    leaf = hierarchy.nodes_of(data.labels)
    if (leaf < 0).any():
        missing = data.labels.filter(pa.array(leaf < 0))
        raise InputError(f"The hierarchy lacks {len(missing):,} items of the data ({_some(missing)}). Add them.")
    node = published_nodes(leaf, published, hierarchy)
    node = np.where(node >= 0, node, leaf).astype(np.int32)
    return recode(data, node, hierarchy.names), np.searchsorted(np.unique(node), node).astype(np.int32)


def published_nodes(leaf: Ints, published: pa.StringArray, hierarchy: Hierarchy) -> Ints:
    """For each of these leaves its nearest ancestor (or itself) whose name is published; −1 where there is none."""
    is_published = pc.is_in(hierarchy.names, value_set=published).to_numpy(zero_copy_only=False)
    node = leaf.copy()
    for _ in range(hierarchy.height + 1):
        up = (node >= 0) & ~is_published[np.maximum(node, 0)]
        node[up] = hierarchy.parent[node[up]]
    return node


def _require_same_size(data: Transactions, release: Release, source: Longs | None) -> None:
    if source is not None:
        if len(source) != len(release):
            raise InputError(f"'source' must name the origin of all {len(release):,} published transactions.")
        if len(source) and source.max() >= len(data):
            raise InputError(
                f"{argument('source')} points behind the last transaction of the data. Are these the same data?"
            )
    elif len(data) != len(release):
        raise InputError(
            f"The release does not fit the data: it has {len(release):,} transactions, the data {len(data):,}. "
            "Give the data that the release was made from."
        )


def _require_known(original: Transactions, published: Transactions, hierarchy: Hierarchy | None) -> None:
    used = np.zeros(published.n_items, dtype=np.bool_)
    used[published.items] = True
    known = pc.is_in(published.labels, value_set=original.labels).to_numpy(zero_copy_only=False)
    strange = published.labels.filter(pa.array(used & ~known))
    if len(strange):
        advice = "Give the hierarchy that it was generalized with." if hierarchy is None else "Is it another hierarchy?"
        raise InputError(
            f"The release does not fit the data: {len(strange):,} of its {int(used.sum()):,} items are not in the data "
            f"({_some(strange)}). {advice}"
        )


def _some(names: pa.StringArray) -> str:
    return ", ".join(names[:3].to_pylist()) + (", …" if len(names) > 3 else "")


def without_names(data: Transactions, names: list[str]) -> Transactions:
    """The transactions without the items of these names."""
    if not names:
        return data
    return data.only(~pc.is_in(data.labels, value_set=pa.array(names, pa.string())).to_numpy(zero_copy_only=False))


def without_categories(data: Transactions) -> Transactions:
    """The transactions without categories that stand beside items."""
    return data.only(~pc.starts_with(data.labels, PREFIX).to_numpy(zero_copy_only=False))


def bare(data: Transactions) -> Transactions:
    """Nothing but the items."""
    nothing: dict[str, Any] = dict.fromkeys(_BESIDES)
    return replace(data, **nothing)
