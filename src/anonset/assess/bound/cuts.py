"""Violated cuts, and the subgradient steps that make targets of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Floats, Ints, Longs

# How much all values rise before each sweep over the cuts: less and less, at the end not at all.
RISES = np.concatenate((np.geomspace(1 / 16, 1 / 256, 120), np.zeros(30)))


@dataclass(frozen=True)
class Cuts:
    """Cut i has the center keys[i]; the sets that contribute most are start[i] to start[i + 1] of the other arrays."""

    keys: npt.NDArray[np.uint64]
    start: Longs
    rows: Ints
    distances: Ints

    @classmethod
    def none(cls) -> Cuts:
        """No cut yet."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(nothing.astype(np.uint64), np.zeros(1, dtype=np.int64), nothing, nothing)

    def union(self, other: Cuts) -> Cuts:
        """Both, and of the same center all sets that either of them has."""
        keys, center = np.unique(np.concatenate((self.keys, other.keys)), return_inverse=True)
        sizes = np.concatenate((np.diff(self.start), np.diff(other.start)))
        rows = np.concatenate((self.rows, other.rows))
        place = np.repeat(center.astype(np.int64), sizes) << 32 | rows
        places, first = np.unique(place, return_index=True)
        start = np.searchsorted(places, np.arange(len(keys) + 1, dtype=np.int64) << 32)
        return Cuts(keys, start.astype(np.int64), rows[first], np.concatenate((self.distances, other.distances))[first])

    def target(self, values: Floats, most: Floats, weights: Longs, k: int, job: Job) -> Floats:
        """Values up to `most` with a large sum that violate these cuts little."""
        return _native.subgradient_steps(
            self.start, self.rows, self.distances, weights, k, values, most, RISES, job.monitor
        )
