"""What an attacker learns, before and after: re-identification and what it costs to prevent it."""

from __future__ import annotations

from anonset.risk.knowledge import ATTACKERS
from anonset.risk.singled_out import Risk, singled_out

__all__ = ["ATTACKERS", "Risk", "singled_out"]
