"""What a release lost: one file per metric, one table for all methods.

A metric is left out where what it needs is not there; `measure` says which ones and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonset.assess.utility import (
    attribute_loss,
    column_loss,
    discernibility,
    information_loss,
    item_frequencies,
    itemsets,
    lengths,
    levels,
    ncp,
    pattern_distance,
    quantity_loss,
    queries,
    reconstruction,
    rules,
    sensitive_rules,
)
from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.assess.utility.workload import Workload
from anonset.data.attributes import bare_items
from anonset.data.display import Shown
from anonset.data.errors import unknown
from anonset.data.hierarchy import Hierarchy
from anonset.data.hierarchy.joining import of_items_only
from anonset.data.job import Job
from anonset.data.quantities import side_by_side
from anonset.data.release import Release
from anonset.data.transactions import Longs, Transactions

METRICS: dict[str, Metric] = {
    module.METRIC.name: module.METRIC
    for module in (
        information_loss,
        attribute_loss,
        ncp,
        levels,
        column_loss,
        quantity_loss,
        discernibility,
        reconstruction,
        item_frequencies,
        queries,
        itemsets,
        rules,
        sensitive_rules,
        lengths,
        pattern_distance,
    )
}

NEEDS = {
    "source": "which published transaction comes from which original (known only while anonymizing)",
    "hierarchy": "the hierarchy that items were generalized with",
    "groups": "a release in groups",
    "rows": "a release in rows",
    "users": "users, in the data and in the release",
    "sensitive": "sensitive items",
    "counts": "a release of attribute counts",
    "columns": "columns beside the items, in the data and in the release",
    "quantities": "quantities of items, in the data and in the release",
    "categories": "a release of categories beside items",
    "no categories": "a release by one cut, without categories beside items",
}


@dataclass(frozen=True)
class Measured:
    """One figure of one metric."""

    metric: str
    figure: Figure
    value: Any

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {"metric": self.metric, "name": self.figure.name, "title": self.figure.title, "value": self.value}


@dataclass(frozen=True, repr=False)
class Measurements(Shown):
    """All figures, and for each metric that was left out what it would have needed."""

    figures: tuple[Measured, ...]
    left_out: dict[str, str]

    def __getitem__(self, name: str) -> Any:
        for measured in self.figures:
            if measured.figure.name == name:
                return measured.value
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"Measurements({', '.join(f'{name}: {value}' for name, value in self.facts())})"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: every figure."""
        return ((one.figure.title, one.figure.write(one.value)) for one in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {"figures": [measured.to_dict() for measured in self.figures], "left_out": self.left_out}


def measure(
    data: Transactions,
    release: Release,
    source: Longs | None = None,
    *,
    hierarchy: Hierarchy | None = None,
    metrics: Sequence[str] | None = None,
    pattern_support: float | None = None,
    workload: Workload | None = None,
    job: Job | None = None,
) -> Measurements:
    """What the release lost, by every metric (or those named) that can be computed.

    `pattern_support` is what pattern distance is measured at: a count, or a fraction of `data`. Default: 1 %.
    `workload` is what the reconstruction error asks.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a"], ["a", "b"]])
    >>> lost = measure(data, Release(Transactions.from_lists([["a"], ["a"], ["a"]])))
    >>> lost["length_mean_after"]
    1.0
    """
    for name in metrics or ():
        if name not in METRICS:
            raise unknown("metrics", name, METRICS)
    data, published = side_by_side(data, release.transactions)
    release = replace(release, transactions=published)
    of_items = Comparison(
        bare_items(data),
        replace(release, transactions=bare_items(release.transactions)),
        source,
        None if hierarchy is None else of_items_only(hierarchy, data.columns),
        job or Job(0),
        pattern_support,
        workload or Workload(),
    )
    beside = data.columns is not None and release.transactions.columns is not None
    whole = replace(of_items, data=data, release=release, columns=beside)
    figures: list[Measured] = []
    left_out: dict[str, str] = {}
    for metric in METRICS.values() if metrics is None else (METRICS[name] for name in metrics):
        comparison = whole if metric.whole else of_items
        missing = [name for name in metric.needs if name not in comparison.has]
        if missing:
            left_out[metric.name] = f"needs {', '.join(NEEDS[name] for name in missing)}"
            continue
        with comparison.job.stage(f"measure {metric.title.lower()}"):
            values = metric.run(comparison)
        named = metric.figures if metric.figures_of is None else metric.figures_of(dict(values))
        figures += [Measured(metric.name, figure, values[figure.name]) for figure in named if figure.name in values]
    return Measurements(tuple(figures), left_out)
