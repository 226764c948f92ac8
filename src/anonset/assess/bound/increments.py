"""Values of long transactions, lifted above what anchors say: as far as groups and the search for them allow.

The proof is in docs/explanation/bound.md. A round has two parts. First a target is made: values are traded at all
centers known so far, a quick look around every set finds further ones at which groups fail, and so on. Then the target
is searched exactly, and lowered as far as needed: every round is a proof by itself, and the best one counts. Sets
around which there was too much to search keep as much of their lifts as could be searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonset.assess.bound.cuts import AGAIN, FIRST, Noted
from anonset.data.job import Job
from anonset.data.transactions import Floats, Longs

if TYPE_CHECKING:
    from anonset.assess.bound.search import _Problem

ROUNDS = 4
PROBES = 3, 2  # quick looks before the first round, and before every other one
LEAST = 0.25  # items that a group is worth which they find
LONGEST = 50  # sets with more items that a center may hold are never lifted: there is too much to search around them
FIRST_LIFT = 0.5  # items by which a value may rise in the first round
LOOKS = 1_000_000, 4_000_000  # around one set in the first round, and in every other one
GOAL = 0.5  # of these, which a set should take
STRIDE = 0.06  # items by which it may rise where it took 1 / e of that, if that is not known
CAUTION, WIDEST = 0.7, 0.09  # where it is known, as a share of it, and at most
FARTHEST = 0.25  # items by which it may rise at most


@dataclass(frozen=True)
class Settled:
    """What a target came to, and what is known about every set from the search around it."""

    values: Floats  # that are affordable
    reached: Floats  # lifts with which all could be searched
    stride: Floats  # by which they may rise until that takes e times as many looks; 0: not known
    looks: Longs  # that it took
    failed: Noted  # centers at which groups of the target fail


def lifted(problem: _Problem, anchored: Floats, prices: Floats, rounds: int, job: Job) -> Floats:
    """What anchors say, raised and traded as far as groups allow in which somebody has more than it asks for."""
    best, rooms, noted, target = anchored, _Rooms(problem, anchored, prices), Noted.nothing(), anchored
    for number in range(rounds):
        later, which = number > 0, f"round {number + 1} of {rounds}"
        with job.stage(f"centers, {which}", total=PROBES[later] * len(anchored)):
            target, noted = _target(problem, target, anchored + rooms.room, noted, PROBES[later], job)
        target = problem.whole_lifts(anchored, target)
        with job.stage(f"lifts, {which}", total=len(anchored)):
            settled = problem.settled(anchored, target, prices, rooms.safe, LOOKS[later], job)
        noted = noted.and_also(settled.failed)
        if problem.total(settled.values) > problem.total(best):
            best = settled.values
        rooms.learn(target - anchored, settled, LOOKS[later], rising=number < rounds - 2)
    return best


def _target(
    problem: _Problem, start: Floats, most: Floats, noted: Noted, probes: int, job: Job
) -> tuple[Floats, Noted]:
    """Values up to `most` with a large sum at which hardly a group fails, as far as quick looks tell."""
    if len(noted.keys) == 0:
        noted = problem.probed(most, LEAST, job)
        probes -= 1
    target = noted.traded(np.minimum(start, most), most, problem.weights, problem.k, FIRST, job)
    for _ in range(probes):
        noted = noted.and_also(problem.probed(target, LEAST, job))
        target = noted.traded(target, most, problem.weights, problem.k, AGAIN, job)
    return target, noted


class _Rooms:
    """By how much every set may be lifted: by as much as can be searched, as far as that is known."""

    def __init__(self, problem: _Problem, anchored: Floats, prices: Floats) -> None:
        # Nobody asks for less than it gets for helping others, lest it has enough in any group.
        self.limits = np.maximum((problem.sets.lengths + prices) / 2 - anchored, 0.0)
        self.limits[(problem.weights >= problem.k) | (problem.useful_lengths > LONGEST)] = 0.0
        self.room = np.minimum(self.limits, FIRST_LIFT)
        self.safe = np.zeros(len(anchored))

    def learn(self, tried: Floats, settled: Settled, budget: int, *, rising: bool) -> None:
        """There is room for what could be searched, and, if it is still rising, for what probably can be."""
        lifted = tried > 0
        self.safe = np.where(lifted, settled.reached, self.safe)
        stride = np.where(settled.stride > 0, np.minimum(CAUTION * settled.stride, WIDEST), STRIDE)
        goal = GOAL * LOOKS[1]
        further = np.minimum(stride * np.log(goal / np.clip(settled.looks, 1, goal)), FARTHEST)
        further[(settled.looks >= budget) | (not rising)] = 0.0
        self.room = np.where(lifted, np.minimum(self.limits, settled.reached + further), self.room)
