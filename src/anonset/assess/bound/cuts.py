"""Centers at which groups failed, and how sets trade values so that fewer groups fail there for a larger sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Floats, Ints, Longs

STILL = np.zeros(30)  # sweeps at the end without a rise
FIRST = np.concatenate((np.geomspace(1 / 16, 1 / 256, 120), STILL))  # rises of all values, one before each sweep
AGAIN = np.concatenate((np.geomspace(1 / 32, 1 / 256, 60), STILL))  # where little has changed since


@dataclass(frozen=True)
class Noted:
    """Center i, named keys[i], and the sets that are worth most there: start[i] to start[i + 1] of the other arrays."""

    keys: npt.NDArray[np.uint64]
    start: Longs
    rows: Ints
    distances: Ints

    @classmethod
    def nothing(cls) -> Noted:
        """No center yet."""
        none = np.zeros(0, dtype=np.int32)
        return cls(none.astype(np.uint64), np.zeros(1, dtype=np.int64), none, none)

    def and_also(self, other: Noted) -> Noted:
        """Both, and of the same center all sets that either of them has."""
        keys, center = np.unique(np.concatenate((self.keys, other.keys)), return_inverse=True)
        sizes = np.concatenate((np.diff(self.start), np.diff(other.start)))
        rows = np.concatenate((self.rows, other.rows))
        place = np.repeat(center.astype(np.int64), sizes) << 32 | rows
        places, first = np.unique(place, return_index=True)
        start = np.searchsorted(places, np.arange(len(keys) + 1, dtype=np.int64) << 32)
        return Noted(
            keys, start.astype(np.int64), rows[first], np.concatenate((self.distances, other.distances))[first]
        )

    def traded(self, values: Floats, most: Floats, weights: Longs, k: int, rises: Floats, job: Job) -> Floats:
        """Values up to `most` with a large sum at which hardly a group fails at these centers."""
        return _native.trade(self.start, self.rows, self.distances, weights, k, values, most, rises, job.monitor)
