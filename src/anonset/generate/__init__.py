"""Example data that this project makes itself: nobody's real transactions, in any amount."""

from __future__ import annotations

from anonset.generate.quest import generate_quest

__all__ = ["generate_quest"]
