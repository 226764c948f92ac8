"""What a metric is: figures with a meaning, computed from an original and its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from anonset.assess.align import Pair, pair
from anonset.assess.utility.workload import Workload
from anonset.data.errors import ParameterError
from anonset.data.hierarchy import Hierarchy
from anonset.data.hierarchy.nodes import holds_categories
from anonset.data.job import Job
from anonset.data.quantities import has_quantities
from anonset.data.release import Release
from anonset.data.spec import as_count
from anonset.data.transactions import Longs, Transactions
from anonset.mining.itemsets import Patterns, frequent

LADDER = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
LEVELS = ("low", "middle", "high")
LOOKED_AT = 5_000
LEAST_COUNT = 5


@dataclass(frozen=True, eq=False)
class Mined:
    """The frequent itemsets of the original and of the release at one support; None where the latter are too many."""

    support: float
    before: Patterns
    after: Patterns | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """An original and its release, and what is known about how they belong together."""

    data: Transactions
    release: Release
    row_origin: Longs | None
    hierarchy: Hierarchy | None
    job: Job
    pattern_support: float | None = None  # what makes an itemset a pattern of a user; None: 1 % of the data
    workload: Workload = Workload()  # noqa: RUF009 - frozen
    columns: bool = False  # whether both have columns beside the items

    @cached_property
    def pair(self) -> Pair:
        """Both in one vocabulary: what is published, and the original seen through it."""
        return pair(self.data, self.release, self.row_origin, self.hierarchy)

    @cached_property
    def mined(self) -> tuple[Mined, ...]:
        """Frequent itemsets at three supports: the smallest of the ladder that leaves few enough, and the next two."""
        least = sum(share * len(self.data) < LEAST_COUNT for share in LADDER)
        usable = LADDER[min(least, len(LADDER) - 3) :]
        for place, share in enumerate(usable):
            before = self._mine(self.pair.original, share, LOOKED_AT)
            if before is not None or place >= len(usable) - 3:
                break
        supports = usable[place : place + 3]
        before = before or self._mine(self.pair.original, supports[0], LOOKED_AT * 1000) or _nothing(self.data)
        after = self._mine(self.pair.published, supports[0], LOOKED_AT * 100)
        return tuple(
            Mined(share, _at_least(before, share, len(self.data)), after and _at_least(after, share, len(self.release)))
            for share in supports
        )

    def _mine(self, data: Transactions, support: float, most: int) -> Patterns | None:
        """The frequent itemsets, or None where they are more than `most`."""
        try:
            return frequent(data, support, most=most, job=self.job)
        except ParameterError:
            return None

    @property
    def has(self) -> set[str]:
        """What is there beyond the two: `source`, `hierarchy`, `groups`, `users`, `sensitive`, `counts`."""
        there = {
            "source": self.row_origin is not None,
            "hierarchy": self.hierarchy is not None,
            "groups": self.release.groups is not None,
            "rows": self.release.groups is None,
            "users": self.data.users is not None and self.release.transactions.users is not None,
            "sensitive": self.data.sensitive is not None and bool(self.data.sensitive.any()),
            "counts": self.release.transactions.counts is not None,
            "columns": self.columns,
            "quantities": has_quantities(self.data) and has_quantities(self.release.transactions),
            "categories": holds_categories(self.release.transactions.labels),
            "no categories": not holds_categories(self.release.transactions.labels),
        }
        return {name for name, present in there.items() if present}


def _at_least(patterns: Patterns, support: float, transactions: int) -> Patterns:
    """Those of the itemsets that are frequent at a higher support, too."""
    count = as_count(support, transactions)
    keep = patterns.counts >= count
    sizes = np.diff(patterns.offsets)
    offsets = np.concatenate(([0], np.cumsum(sizes[keep])))
    return Patterns(offsets, patterns.items[np.repeat(keep, sizes)], patterns.counts[keep], patterns.labels, count)


def _nothing(data: Transactions) -> Patterns:
    none = np.empty(0, dtype=np.int64)
    return Patterns(np.zeros(1, dtype=np.int64), none.astype(np.int32), none, data.labels, 0)


@dataclass(frozen=True)
class Figure:
    """One number of a metric: what it is called, how it is written, and which direction is good."""

    name: str
    title: str
    help: str
    unit: Literal["count", "share", "number"] = "number"
    better: Literal["low", "high", ""] = "low"

    def write(self, value: Any) -> str:
        """The value as people write it."""
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return "–"
        if self.unit == "share":
            return f"{value:.1%}" if abs(value) >= 0.0005 or value == 0 else f"{value:.2g}"
        return f"{int(value):,}" if self.unit == "count" else f"{value:,.4g}"


@dataclass(frozen=True)
class Metric:
    """A way to say what a release lost: its definition, where it comes from, its figures, and how to compute them.

    `needs` names what must be there beyond data and release (see `Comparison.has`); without it the metric is left out.
    `figures_of` names figures that depend on the data. `whole` says that it looks at columns and quantities, too.
    """

    name: str
    title: str
    definition: str
    reference: str
    figures: tuple[Figure, ...]
    run: Callable[[Comparison], Mapping[str, Any]]
    needs: tuple[str, ...] = ()
    figures_of: Callable[[dict[str, Any]], tuple[Figure, ...]] | None = None
    whole: bool = False
