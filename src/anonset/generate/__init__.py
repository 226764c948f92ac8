"""Example data that this project makes itself: nobody's real transactions, in any amount."""

from __future__ import annotations

from anonset.generate.quest import generate_quest
from anonset.generate.supermarket import Supermarket, generate_supermarket, write_supermarket

__all__ = ["Supermarket", "generate_quest", "generate_supermarket", "write_supermarket"]
