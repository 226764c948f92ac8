"""How far dual values may rise in a round of separation."""

from __future__ import annotations

import numpy as np

from anonset.assess.bound import settings
from anonset.assess.bound.problem import Problem
from anonset.data.transactions import Floats


class Limits:
    """How far values may rise in a round, so that there are not too many centers to look at.

    A set has farther centers around it where its value passes a whole number. Where it is busy already, it stops there.
    """

    def __init__(self, problem: Problem, values: Floats) -> None:
        self.step = settings.SPARSE_RAISE if problem.sparse else settings.RAISE
        self.held = problem.weights >= problem.k  # k equal sets lose nothing
        self.highest = np.where(self.held, values, problem.sets.lengths)
        self.steps = np.zeros(len(values))

    def most(self, values: Floats) -> Floats:
        """A set that is held may return to where it was at once."""
        nearer = np.where(self.steps > settings.BUSY, np.ceil(values), np.inf)
        near = np.where(self.steps > settings.RESTING, values, np.minimum(values + self.step, nearer))
        return np.minimum(np.where(self.held, np.inf, near), self.highest)

    def learn(self, values: Floats, steps: Floats) -> None:
        """A set that took all steps that are allowed is held at the value that it had before."""
        too_many = steps >= 1
        self.steps = steps
        self.held = self.held | too_many
        self.highest = np.where(too_many, np.minimum(self.highest, values), self.highest)
