"""What a model needs to know to propose itself, and what it proposes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonset.data.transactions import Transactions

MANY_TRANSACTIONS = 1_000
"""So many transactions are enough for ten candidates each; with fewer, five."""


@dataclass(frozen=True)
class Situation:
    """The data, and the answers to three questions: sensitive items? a hierarchy? users who come again?"""

    data: Transactions
    sensitive: bool = False
    hierarchy: bool = False
    users: bool = False

    @property
    def k(self) -> int:
        """The usual number of candidates: five where every transaction counts, ten where there are enough."""
        size = len(self.data)
        return min(5 if size < MANY_TRANSACTIONS else 10, size // 2)


@dataclass(frozen=True)
class Suggestion:
    """A method of the model, its parameters, and why."""

    method: str
    params: Mapping[str, Any]
    reasons: tuple[str, ...]
