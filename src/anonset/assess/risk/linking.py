"""Probabilistic linking: an attacker who knows *all* quasi-identifier items of a person picks the nearest set.

Where a release adds and removes items, nothing may match exactly; the nearest set (Hamming or Jaccard distance) is then
the best guess. Success is 1 / (published transactions at the least distance) where the person's own is among them,
else 0; without `source` the own one is assumed to be there (an upper bound).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.distinct import distinct_sets, keys_of
from anonset.data.job import Job
from anonset.data.transactions import Floats, Longs, Mask, Transactions

Measure = Literal["hamming", "jaccard"]

MOST = 5_000
"""How many people are linked: each is compared with all published sets that share an item, whose number grows too."""


@dataclass(frozen=True, eq=False)
class Linking:
    """How well full knowledge of a person links to the release.

    `success` is the mean chance of picking one's own published transaction, `margin` the half width of its 95 %
    confidence interval (0 where everybody was linked), `largest` the largest chance, `certain` the number of people
    whose own one is picked for sure, of `linked` ones; `scores` is the chance of each, `before` the mean against the
    original.
    """

    measure: str
    linked: int
    success: float
    margin: float
    largest: float
    certain: int
    mean_distance: float
    before: float
    upper_bound: bool
    scores: Floats

    def to_dict(self) -> dict[str, Any]:
        """The figures without the scores, ready for JSON."""
        return {name: value for name, value in vars(self).items() if name != "scores"}


def link(pair: Pair, job: Job, measure: Measure = "hamming", most: int = MOST) -> Linking:
    """Link original transactions, at most `most` that are drawn at random, with the nearest published sets."""
    _, person, _ = distinct_sets(pair.original)
    _, exact, copies = distinct_sets(pair.known)
    people = len(person)
    rows = np.arange(people) if people <= most else np.sort(job.random("linking").choice(people, most, replace=False))
    distance, scores = _linked(pair, person, distinct_sets(pair.published), rows, job, measure)
    empty = not len(scores)
    return Linking(
        measure=measure,
        linked=len(rows),
        success=0.0 if empty else float(scores.mean()),
        margin=0.0 if len(rows) == people else float(1.96 * scores.std() / len(rows) ** 0.5),
        largest=0.0 if empty else float(scores.max()),
        certain=int((scores == 1).sum()),
        mean_distance=0.0 if empty else float(distance.mean()),
        before=0.0 if empty else float((1 / copies[exact[rows]]).mean()),
        upper_bound=pair.row_origin is None,
        scores=scores,
    )


def link_some(pair: Pair, rows: Longs, job: Job, codes: tuple[Longs, Longs, Longs]) -> tuple[Floats, Floats]:
    """The chance of each of these persons to be linked by Hamming distance, after and before.

    `codes` number the sets of the original as it was, seen as published, and of the release.
    """
    known, person, published_set = codes
    _, first, code, weight = np.unique(published_set, return_index=True, return_inverse=True, return_counts=True)
    published = first.astype(np.int64), code.reshape(-1).astype(np.int64), weight.astype(np.int64)
    before: Floats = 1 / np.bincount(known)[known[rows]]
    return _linked(pair, person, published, rows, job, "hamming")[1], before


def _linked(
    pair: Pair, person: Longs, published: tuple[Longs, Longs, Longs], rows: Longs, job: Job, measure: Measure
) -> tuple[Floats, Floats]:
    """Least distance and chance of each of these; those that make no difference are linked once."""
    sets, published_set, weight = published
    person, own = person[rows], _own_sets(pair, published_set)[rows]
    # One query for each pair of an original set and the set it is published as.
    key = person * (len(sets) + 1) + own + 1
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    queries, targets = pair.original.take(rows[first]), pair.published.take(sets)
    distance, nearest, found = _nearest(queries, targets, weight, own[first], job, measure)
    hit = np.ones(len(first), dtype=np.bool_) if pair.row_origin is None else found
    chance = np.where(hit & (nearest > 0), 1 / np.maximum(nearest, 1), 0.0)
    which = which.reshape(-1)
    return distance[which], chance[which]


def _nearest(
    queries: Transactions, targets: Transactions, weight: Longs, own: Longs, job: Job, measure: Measure
) -> tuple[Floats, Longs, Mask]:
    """Least distance, how many are that near, whether the own one is; who is published unchanged needs no search."""
    same = pc.index_in(keys_of(queries), value_set=keys_of(targets)).fill_null(-1).to_numpy(zero_copy_only=False)
    distance = np.zeros(len(queries))
    nearest: Longs = np.where(same >= 0, weight[same] if len(weight) else 0, 0)
    found = (same >= 0) & (same == own)
    rest = np.flatnonzero(same < 0)
    if len(rest):
        others = queries.take(rest)
        with job.stage("link"):
            far, count, hit = _native.link_sets(
                others.offsets, others.items, targets.offsets, targets.items, weight, own[rest], others.n_items,
                measure == "jaccard", job.threads, job.monitor,
            )  # fmt: skip
        distance[rest], nearest[rest], found[rest] = far, count, hit.astype(np.bool_)
    return distance, nearest, found


def _own_sets(pair: Pair, published_set: Longs) -> Longs:
    """For each original transaction the published set that is its own, −1 where it is not known or not published."""
    if pair.row_origin is None or not len(published_set):
        return np.full(len(pair.original), -1, dtype=np.int64)
    place = pair.published_of()
    return np.where(place >= 0, published_set[np.maximum(place, 0)], -1)
