"""Everything that can be measured of a published file without knowing what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonset.assess.risk import Inference, infer
from anonset.data.errors import ParameterError
from anonset.data.release import Release, Verdict
from anonset.data.spec import ModelSpec
from anonset.models import MODELS, model


@dataclass(frozen=True)
class Audit:
    """The verdicts of all models that speak about this form of release, and what can be inferred of sensitive items.

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
    """The largest k, the largest m that is safe for a usual k, the smallest degree: all that applies.

    Examples
    --------
    >>> from anonset import Transactions
    >>> found = audit(Release(Transactions.from_lists([["a", "b"], ["a", "b"], ["a"]])))
    >>> [(verdict.model, verdict.measured["k"]) for verdict in found.verdicts]
    [('k-anonymity', 1), ('km-anonymity', 2)]
    """
    asked = (_asked(spec, release) for spec in MODELS.values())
    sensitive = release.counts is not None or bool(release.transactions.sensitive_names())
    return Audit(tuple(verdict for verdict in asked if verdict is not None), infer(release) if sensitive else None)


def _asked(spec: ModelSpec, release: Release) -> Verdict | None:
    """The verdict on the model's weakest promise; None where it has nothing to say, or there is too much to look at."""
    params = spec.weakest(release)
    if params is None:
        return None
    try:
        return model(spec.name, **params).check(release)
    except ParameterError:
        return None
