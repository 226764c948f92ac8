"""What a metric is: figures with a meaning, computed from an original and its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from anonset.hierarchy import Hierarchy
from anonset.job import Job
from anonset.pairing import Pair, pair
from anonset.release import Release
from anonset.transactions import Longs, Transactions


@dataclass(frozen=True, eq=False)
class Comparison:
    """An original and its release, and what is known about how they belong together."""

    data: Transactions
    release: Release
    source: Longs | None
    hierarchy: Hierarchy | None
    job: Job

    @cached_property
    def pair(self) -> Pair:
        """Both in one vocabulary: what is published, and the original seen through it."""
        return pair(self.data, self.release, self.source, self.hierarchy)

    @property
    def has(self) -> set[str]:
        """What is there beyond the two: `source`, `hierarchy`, `groups`, `users`, `sensitive`."""
        there = {
            "source": self.source is not None,
            "hierarchy": self.hierarchy is not None,
            "groups": self.release.groups is not None,
            "rows": self.release.groups is None,
            "users": self.data.users is not None and self.release.transactions.users is not None,
            "sensitive": self.data.sensitive is not None and bool(self.data.sensitive.any()),
        }
        return {name for name, present in there.items() if present}


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
    """

    name: str
    title: str
    definition: str
    reference: str
    figures: tuple[Figure, ...]
    run: Callable[[Comparison], Mapping[str, Any]]
    needs: tuple[str, ...] = ()
