"""Guessing the holder of a sensitive item in a group: what an attacker gains who knows how groups are made.

A group that publishes one occurrence of an item says that one of its members holds it: by chance a guess is right once
in |G| times. These attackers guess better where the groups give them a reason:

- *longest*: holders of a sensitive item often have long transactions.
- *central*: a group formed around its holder lies around it.
- *seed*: a group formed of a holder and its nearest neighbours rules out each member that has a nearer row outside the
  group than its farthest mate inside (minimality: Wong et al., "Minimality attack in privacy preserving data
  publishing", 2007).

The owner, who knows the holders, measures how often each of them is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from anonset.data.errors import InputError
from anonset.data.job import Job
from anonset.data.release import Release
from anonset.data.transactions import Floats, Longs, Mask, Transactions

GROUPS = 500  # groups attacked at the most; they are drawn at random
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Guess:
    """How often an attacker who points at one member of a group with one occurrence is right.

    `chance` is what pointing at random achieves in the same groups, `margin` the half width of the 95 % confidence
    interval of `success`.
    """

    attacker: str
    groups: int
    success: float
    margin: float
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return asdict(self)


def guess_holders(
    data: Transactions, release: Release, row_origin: Longs, job: Job, groups: int = GROUPS
) -> tuple[Guess, ...]:
    """Let every attacker point at the holder in (a random sample of) the groups with one occurrence of an item.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["a", "b", "s"], ["a"], ["b"], ["a", "s"]] * 4
    >>> data = anonset.Transactions.from_lists(baskets, sensitive=["s"])
    >>> result = anonset.anonymize(data, method="cahd-gray", p=2, seed=1)
    >>> [guess.attacker for guess in guess_holders(data, result.release, result.row_origin, Job(1))]
    ['longest', 'central', 'seed']
    """
    if release.groups is None or release.counts is None:
        raise InputError("Only a release in groups leaves a holder to guess.")
    attacked = Attacked(data, release, row_origin)
    drawn = attacked.drawn(groups, job.random("guess"))
    with job.stage("guess the holder", total=len(drawn)):
        rights = {name: np.array([attacked.right(one, score) for one in drawn]) for name, score in ATTACKERS.items()}
    chance = np.array([1 / len(attacked.members(group)) for group, _ in drawn])
    return tuple(_guess(name, right, chance) for name, right in rights.items())


def right_guesses(
    data: Transactions,
    release: Release,
    row_origin: Longs,
    score: Callable[[Attacked, Longs], Scores],
    groups: int,
    random: np.random.Generator,
) -> tuple[Floats, Floats]:
    """For each of some groups with one occurrence the chance that the member with the highest score is the holder, and
    that any member is.
    """
    attacked = Attacked(data, release, row_origin)
    drawn = attacked.drawn(groups, random)
    right = np.array([attacked.right(one, score) for one in drawn])
    return right, np.array([1 / len(attacked.members(group)) for group, _ in drawn])


def _guess(name: str, right: Floats, chance: Floats) -> Guess:
    if not len(right):
        return Guess(name, 0, 0.0, 0.0, 0.0)
    margin = NormalDist().inv_cdf(0.975) * float(right.std()) / np.sqrt(len(right))
    return Guess(name, len(right), float(right.mean()), float(margin), float(chance.mean()))


class Attacked:
    """The published groups, and who really holds what."""

    def __init__(self, data: Transactions, release: Release, row_origin: Longs) -> None:
        assert release.groups is not None
        assert release.counts is not None
        self.data, self.release, self.row_origin = data, release, row_origin
        self.lengths: Longs = release.transactions.lengths
        self._order = np.argsort(release.groups, kind="stable")
        self._sorted = release.groups[self._order]
        self._codes: dict[str, int] = {}

    @cached_property
    def matrix(self) -> Any:
        """The published items, one row per transaction."""
        return self.release.transactions.to_scipy().astype(np.int32).tocsr()

    def members(self, group: int) -> Longs:
        """The published rows of a group."""
        first, last = np.searchsorted(self._sorted, [group, group + 1])
        return np.asarray(self._order[first:last])

    def drawn(self, most: int, random: np.random.Generator) -> list[tuple[int, str]]:
        """Some of the groups that publish an item once, with that item."""
        counts = self.release.counts
        assert counts is not None
        once = np.flatnonzero(counts.count == 1)
        if len(once) > most:
            once = np.sort(random.choice(once, most, replace=False))
        labels = self.release.transactions.labels
        found = [(int(counts.group[i]), labels[int(counts.item[i])].as_py()) for i in once]
        return [one for one in found if len(self.members(one[0])) > 1]

    def alone(self, most: int, random: np.random.Generator) -> list[tuple[int, str]]:
        """Some of the groups in which one member holds one sensitive item, and all others none, with that item."""
        counts = self.release.counts
        assert counts is not None
        there = counts.count > 0
        total = np.bincount(counts.group[there], counts.count[there], minlength=1)
        once = np.flatnonzero(there & (total[counts.group] == 1))
        if len(once) > most:
            once = np.sort(random.choice(once, most, replace=False))
        labels = self.release.transactions.labels
        found = [(int(counts.group[i]), labels[int(counts.item[i])].as_py()) for i in once]
        return [one for one in found if len(self.members(one[0])) > 1]

    def right(self, one: tuple[int, str], score: Callable[[Attacked, Longs], Scores]) -> float:
        """The chance that a member with the highest score is the holder."""
        rows = self.members(one[0])
        scores = score(self, rows)
        return float(self._holds(rows, one[1])[scores == scores.max()].mean())

    def _holds(self, rows: Longs, item: str) -> Mask:
        if item not in self._codes:
            self._codes[item] = pc.index(self.data.labels, item).as_py()
        code, bounds, items = self._codes[item], self.data.offsets, self.data.items
        held = [row >= 0 and code in items[bounds[row] : bounds[row + 1]] for row in self.row_origin[rows].tolist()]
        return np.array(held, dtype=np.bool_)


def longest(attacked: Attacked, rows: Longs) -> Scores:
    """How many items each member publishes."""
    return attacked.lengths[rows].astype(np.float64)


def central(attacked: Attacked, rows: Longs) -> Scores:
    """The smaller the sum of distances to the others, the better; up to what is the same for all."""
    part = attacked.matrix[rows]
    shared = part @ np.asarray(part.sum(axis=0)).reshape(-1)
    return np.asarray(2.0 * shared - len(rows) * attacked.lengths[rows])


def _seed(attacked: Attacked, rows: Longs) -> Scores:
    """How many rows outside are nearer than the farthest mate: the fewer, the better."""
    overlap = (attacked.matrix[rows] @ attacked.matrix.T).toarray()
    distance = attacked.lengths[rows][:, None] + attacked.lengths[None, :] - 2 * overlap
    farthest = distance[:, rows].max(axis=1)
    nearer = (distance < farthest[:, None]).sum(axis=1) - (distance[:, rows] < farthest[:, None]).sum(axis=1)
    return np.asarray(-nearer, dtype=np.float64)


ATTACKERS: dict[str, Callable[[Attacked, Longs], Scores]] = {
    "longest": longest,
    "central": central,
    "seed": _seed,
}
