"""Everything that can be measured of a published file without knowing what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonset.assess.risk import Inference, infer
from anonset.data.errors import ParameterError
from anonset.data.release import Release, Verdict
from anonset.models import MODELS, model

USUAL_K = 5
USUAL_SUPPORT = 0.01


@dataclass(frozen=True)
class Audit:
    """The verdicts of all models that speak about this form of release, and what it gives away of sensitive items.

    Each model is asked for its weakest promise: `measured` says how much really holds, and a promise that does not
    hold has witnesses.
    """

    verdicts: tuple[Verdict, ...]
    inference: Inference | None

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {
            "verdicts": [
                {
                    "model": verdict.model,
                    "params": dict(verdict.params),
                    "promise": verdict.promise,
                    "holds": verdict.holds,
                    "measured": dict(verdict.measured),
                    "witnesses": [vars(witness) for witness in verdict.witnesses],
                }
                for verdict in self.verdicts
            ],
            "inference": None if self.inference is None else self.inference.to_dict(),
        }


def audit(release: Release) -> Audit:
    """The largest k, the largest m that is safe for a usual k, the smallest degree: whatever applies.

    Examples
    --------
    >>> from anonset import Transactions
    >>> found = audit(Release(Transactions.from_lists([["a", "b"], ["a", "b"], ["a"]])))
    >>> [(verdict.model, verdict.measured["k"]) for verdict in found.verdicts]
    [('k-anonymity', 1), ('km-anonymity', 2)]
    """
    asked = []
    rows = release.form == "rows"
    sensitive = release.counts is not None or bool(release.transactions.sensitive_names())
    k = 2
    if rows:
        asked.append(model("k-anonymity", k=2).check(release))
        k = max(2, min(USUAL_K, int(asked[0].measured["k"])))
    if rows and "km-anonymity" in MODELS:
        asked.append(model("km-anonymity", k=k, m=1).check(release))
    if rows and release.transactions.counts is not None:
        asked.append(model("kp-anonymity", k=2, p=1.0).check(release))
    if sensitive and "privacy-degree" in MODELS:
        asked.append(model("privacy-degree", p=2).check(release))
    if rows and release.transactions.users is not None and len(release):
        asked += _of_users(release)
    return Audit(tuple(asked), infer(release) if sensitive else None)


def _of_users(release: Release) -> list[Verdict]:
    """Whether pairs of usual habits tell users apart; nothing where there are too many habits to look at."""
    try:
        support = max(2, round(USUAL_SUPPORT * len(release)))
        return [model("multi-pattern", k=2, combinations=2, support=support).check(release)]
    except ParameterError:
        return []
