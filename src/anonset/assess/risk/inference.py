"""Inferring a sensitive item: what group membership alone tells (homogeneity attack).

A person known to be in a group of which a share f has a sensitive item has it with probability f. In a release in
rows a group is everybody with the same published quasi-identifier items; k-anonymity says nothing about f, and where
everybody in a group has the item it is certain, however large k is.

A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anonset.assess.risk.distinct import distinct_sets
from anonset.data.release import Release
from anonset.data.transactions import Floats, Longs

ADVICE = (
    "k-anonymity does not protect sensitive items. Use the privacy-degree model (for example --method cahd-blind), "
    "which keeps every sensitive item below 1/p in each group, or groups that are diverse in their sensitive items."
)


@dataclass(frozen=True)
class Inference:
    """How sure an attacker who finds the group can be of a sensitive item.

    `largest` is the highest probability in any group, `expected` the mean over all occurrences of sensitive items,
    `certain` the number of transactions with a sensitive item that everybody in their group has, `worst` that item.
    """

    sensitive_items: int
    groups: int
    largest: float
    expected: float
    certain: int
    certain_groups: int
    worst: str

    @property
    def warning(self) -> str:
        """A loud sentence where a sensitive item is certain; empty where none is."""
        if not self.certain:
            return ""
        return (
            f"A sensitive item is certain for {self.certain:,} transactions: in {self.certain_groups:,} groups "
            f"everybody has it, so somebody who finds the group knows it. {ADVICE}"
        )

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**vars(self), "warning": self.warning}


def infer(release: Release) -> Inference | None:
    """What the release tells about sensitive items; None where it has none.

    Examples
    --------
    >>> from anonset import Transactions
    >>> rows = [["wine", "test"], ["wine", "test"], ["beer", "test"], ["beer"]]
    >>> infer(Release(Transactions.from_lists(rows, sensitive=["test"]))).certain
    2
    """
    if release.transactions.sensitive is None and release.counts is None:
        return None
    sizes, group, item, count = occurrences(release)
    if not len(count):
        return Inference(0, len(sizes), 0.0, 0.0, 0, 0, "")
    share: Floats = np.minimum(count / sizes[group], 1.0)
    sure = share == 1
    return Inference(
        sensitive_items=len(np.unique(item)),
        groups=len(sizes),
        largest=float(share.max()),
        expected=float(np.average(share, weights=count)),
        certain=_people(group[sure], sizes),
        certain_groups=len(np.unique(group[sure])),
        worst=str(release.transactions.labels[int(item[np.argmax(share)])]),
    )


def occurrences(release: Release) -> tuple[Longs, Longs, Longs, Longs]:
    """The size of each group, and for each sensitive item in it: group, item, how many members have it."""
    if release.groups is not None and release.counts is not None:
        sizes = np.bincount(release.groups, minlength=1).astype(np.int64)
        counts = release.counts
        return sizes, counts.group.astype(np.int64), counts.item.astype(np.int64), counts.count
    data = release.transactions
    _, group_of, sizes = distinct_sets(data.quasi())
    secret = data.sensitive_part()
    pairs = group_of[secret.rows] * data.n_items + secret.items
    both, count = np.unique(pairs, return_counts=True)
    return sizes, both // max(1, data.n_items), both % max(1, data.n_items), count.astype(np.int64)


def _people(groups: Longs, sizes: Longs) -> int:
    return int(sizes[np.unique(groups)].sum())
