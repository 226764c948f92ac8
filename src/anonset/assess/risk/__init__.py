"""What an attacker learns, before and after: re-identification, linking, and inference of sensitive items."""

from __future__ import annotations

from anonset.assess.risk.against import Attack, attack
from anonset.assess.risk.guess import Guess, guess_holders
from anonset.assess.risk.inference import Inference, infer
from anonset.assess.risk.knowledge import ATTACKERS
from anonset.assess.risk.linking import Linking, link
from anonset.assess.risk.singled_out import singled_out
from anonset.assess.risk.summary import Risk

__all__ = [
    "ATTACKERS",
    "Attack",
    "Guess",
    "Inference",
    "Linking",
    "Risk",
    "attack",
    "guess_holders",
    "infer",
    "link",
    "singled_out",
]
