"""What an attacker learns, before and after: re-identification, linking, and sensitive items given away."""

from __future__ import annotations

from anonset.risk.against import Attack, attack
from anonset.risk.inference import Inference, infer
from anonset.risk.knowledge import ATTACKERS
from anonset.risk.linking import Linking, link
from anonset.risk.singled_out import Risk, singled_out

__all__ = ["ATTACKERS", "Attack", "Inference", "Linking", "Risk", "attack", "infer", "link", "singled_out"]
