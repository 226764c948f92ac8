"""Reconstruction error: how well a release in groups still tells which quasi-identifier items go with a sensitive one.

For a sensitive item s and r quasi-identifier items the transactions fall into 2^r cells (which of the r items they
hold). The actual distribution of s over the cells is known from the original; from the release it is estimated by
sharing out each group's occurrences evenly among its members (Eq. 4: a · b / |G|). The error is the Kullback-Leibler
divergence between the two, in nats; 0 is perfect. It is finite: a cell with an actual occurrence holds a member of that
occurrence's group, so its estimate is positive.

The paper's experiments give the mean over random questions, its Definition 4 the sum over all sensitive items: both are
here.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", section 3.2 and Definition 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.assess.utility.workload import (
    MOST_ITEMS,
    PARTS,
    GroupBy,
    Weighting,
    Workload,
    mean_and_margin,
)
from anonset.data.errors import ParameterError
from anonset.data.release import Release
from anonset.data.transactions import Floats, Ints, Longs, Transactions

MARGIN = "Half the width of the 95 % confidence interval: other questions would give another mean."


def workload(
    data: Transactions, *, r: int = 4, queries: int = 400, weighting: Weighting = "uniform", seed: int | None = 0
) -> list[GroupBy]:
    """Random questions about `data`, stratified; see `Workload`.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "s"], ["a", "b"], ["b"]], sensitive=["s"])
    >>> workload(data, r=2, queries=1)
    [GroupBy(sensitive='s', items=('a', 'b'))]
    """
    return Workload(r, queries, weighting).draw(data, seed)


def reconstruction_error(
    original: Transactions,
    release: Release,
    questions: Iterable[GroupBy] | None = None,
    **options: Any,
) -> float:
    """The mean divergence over a workload; `options` are those of `workload` where no questions are given.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["a", "s"], ["a"], ["b", "s"], ["b"]]
    >>> data = anonset.Transactions.from_lists(baskets, sensitive=["s"])
    >>> release = anonset.anonymize(data, method="nn", p=2, seed=1).release
    >>> reconstruction_error(data, release, r=2)
    0.0
    """
    asked = workload(original, **options) if questions is None else list(questions)
    return float(np.mean(divergences(original, release, asked))) if asked else 0.0


def mean_error(original: Transactions, release: Release, asked: Workload, seed: int | None = 0) -> tuple[float, float]:
    """The mean divergence over a workload, and half the width of its 95 % confidence interval."""
    found = divergences(original, release, asked.draw(original, seed))
    return mean_and_margin(np.split(found, np.cumsum(asked.parts)[:-1])) if len(found) else (0.0, 0.0)


def total_error(
    original: Transactions, release: Release, asked: Workload | None = None, seed: int | None = 0
) -> tuple[float, float]:
    """Definition 4: the divergences of all sensitive items, summed up; the mean over random choices of the r items.

    Half the width of its 95 % confidence interval goes with it.

    Examples
    --------
    >>> import anonset
    >>> data = anonset.Transactions.from_lists([["a", "s"], ["b"], ["a", "t"], ["b"]], sensitive=["s", "t"])
    >>> groups, counts = np.zeros(4, np.int32), anonset.data.release.GroupCounts(
    ...     np.zeros(2, np.int32), np.array([2, 3], np.int32), np.ones(2, np.int64))
    >>> total, margin = total_error(data, Release(data.quasi(), groups, counts), Workload(r=1, queries=3))
    >>> round(total, 4), margin  # 2 ln 2
    (1.3863, 0.0)
    """
    asked = asked or Workload()
    occurs = original.item_counts > 0
    secrets = [name for name in original.sensitive_names() if occurs[original.labels.index(name).as_py()]]
    asked = replace(asked, queries=max(PARTS, asked.queries // max(1, len(secrets))))
    drawn = [query.items for query in asked.draw(original, seed)]
    found = divergences(original, release, [GroupBy(name, items) for items in drawn for name in secrets])
    if not len(found):
        return 0.0, 0.0
    return mean_and_margin(np.split(found.reshape(len(drawn), -1).sum(axis=1), np.cumsum(asked.parts)[:-1]))


def divergences(original: Transactions, release: Release, queries: Sequence[GroupBy]) -> Floats:
    """KL(actual ‖ estimated) for each question."""
    actual, estimated = _Actual(original), _Estimate(release)
    return np.array([_divergence(actual, estimated, query) for query in queries], dtype=np.float64)


def _divergence(actual: _Actual, estimated: _Estimate, query: GroupBy) -> float:
    if len(query.items) > MOST_ITEMS:
        raise ParameterError("items", f"name at most {MOST_ITEMS} items", len(query.items))
    true, guess = actual.cells(query), estimated.cells(query)
    occurs = true > 0
    if not occurs.any():
        return 0.0
    true, guess = true[occurs] / true.sum(), guess[occurs] / max(guess.sum(), np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):  # a foreign release may miss a cell: then the divergence is infinite
        return max(0.0, float((true * np.log(true / guess)).sum()))


class _Cells:
    """Which cell each transaction falls into, read off the items' own lists of transactions."""

    def __init__(self, data: Transactions) -> None:
        by_item = np.argsort(data.items, kind="stable")
        self._transactions = data.rows[by_item]
        self._bounds = np.searchsorted(data.items[by_item], np.arange(data.n_items + 1))
        self._code = {label: code for code, label in enumerate(data.labels.to_pylist())}
        self._cell = np.zeros(len(data), dtype=np.int64)

    def code(self, label: str) -> int | None:
        return self._code.get(label)

    def holders(self, label: str) -> Longs:
        code = self.code(label)
        if code is None:
            return np.empty(0, dtype=np.int64)
        return self._transactions[self._bounds[code] : self._bounds[code + 1]]

    def of(self, transactions: Longs, items: Sequence[str]) -> Longs:
        for bit, label in enumerate(items):
            self._cell[self.holders(label)] |= 1 << bit
        cells = self._cell[transactions]
        for label in items:
            self._cell[self.holders(label)] = 0
        return cells


class _Actual:
    """The true distribution, from the original."""

    def __init__(self, original: Transactions) -> None:
        self._cells = _Cells(original)
        self._secret = set(original.sensitive_names())

    def cells(self, query: GroupBy) -> Floats:
        self._require(query)
        members = self._cells.of(self._cells.holders(query.sensitive), query.items)
        return np.bincount(members, minlength=1 << len(query.items)).astype(np.float64)

    def _require(self, query: GroupBy) -> None:
        if query.sensitive not in self._secret:
            raise ParameterError("sensitive", "be one of the sensitive items", f"'{query.sensitive}'")
        for label in query.items:
            if label in self._secret:
                raise ParameterError("items", "name quasi-identifier items only", f"'{label}', which is sensitive")


class _Estimate:
    """The distribution that a release lets one estimate: each group's occurrences shared out among its members."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._cells = _Cells(release.transactions)
        self._groups, self._members, self._size = _members(release)
        self._shares: dict[str, tuple[Longs, Floats]] = {}

    def cells(self, query: GroupBy) -> Floats:
        members, share = self._share_of(query.sensitive)
        cells = self._cells.of(members, query.items)
        return np.bincount(cells, weights=share, minlength=1 << len(query.items)).astype(np.float64)

    def _share_of(self, label: str) -> tuple[Longs, Floats]:
        """Who may hold the item, and with which probability."""
        if label not in self._shares:
            self._shares[label] = self._spread(self._cells.code(label))
        return self._shares[label]

    def _spread(self, code: int | None) -> tuple[Longs, Floats]:
        counts = self._release.counts
        if counts is None:  # rows: the holders are known
            data = self._release.transactions
            holders = data.rows[data.items == (-1 if code is None else code)]
            return holders, np.ones(len(holders))
        occurrences = np.zeros(len(self._size))
        mine = counts.item == (-1 if code is None else code)
        np.add.at(occurrences, np.searchsorted(self._groups, counts.group[mine]), counts.count[mine])
        share = (occurrences / self._size)[self._members]
        holders = np.flatnonzero(share)
        return holders, share[holders]


def _members(release: Release) -> tuple[Ints, Longs, Longs]:
    """The group numbers, for each transaction the place of its group among them, and the groups' sizes."""
    if release.groups is None:
        return np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)
    groups, members, size = np.unique(release.groups, return_inverse=True, return_counts=True)
    return groups, members.reshape(-1), size


def _run(comparison: Comparison) -> dict[str, float]:
    data, release, seed = comparison.data, comparison.release, comparison.job.seed
    mean, margin = mean_error(data, release, comparison.workload, seed)
    total, total_margin = total_error(data, release, comparison.workload, seed)
    return {
        "reconstruction_error": mean,
        "reconstruction_error_margin": margin,
        "reconstruction_error_total": total,
        "reconstruction_error_total_margin": total_margin,
    }


METRIC = Metric(
    name="reconstruction",
    title="Reconstruction error",
    definition="Mean KL divergence between actual and estimated distribution of a sensitive item over 2ʳ cells.",
    reference="Ghinita, Kalnis, Tao, Anonymous publication of sensitive transactional data, TKDE 2011, section 3.2",
    figures=(
        Figure("reconstruction_error", "Reconstruction error", "KL divergence in nats; 0 is perfect."),
        Figure("reconstruction_error_margin", "… ±", MARGIN),
        Figure("reconstruction_error_total", "Reconstruction error, total", "… summed over all sensitive items."),
        Figure("reconstruction_error_total_margin", "… ±", MARGIN),
    ),
    run=_run,
    needs=("groups", "sensitive"),
)
