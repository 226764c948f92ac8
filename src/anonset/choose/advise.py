"""Which model, which method, which parameters? A proposal with reasons, after three questions and a look at the data.

The questions: are some items sensitive? is there a hierarchy? do users repeat (and should their history be protected)?
Every model says itself whether it is the right one; the most particular one that does is proposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonset.assess.risk import singled_out
from anonset.data.advice import Situation, Suggestion
from anonset.data.errors import InfeasibleError
from anonset.data.job import Job
from anonset.data.spec import ModelSpec
from anonset.data.transactions import Transactions
from anonset.models import MODELS


@dataclass(frozen=True)
class Advice:
    """A model, a method and parameters, and why."""

    model: str
    method: str
    params: dict[str, Any]
    promise: str
    reasons: tuple[str, ...]

    def command(self, source: str, extra: str = "") -> str:
        """The command that does it."""
        options = " ".join(
            f"-{name} {value}" if len(name) == 1 else f"--{name} {value}" for name, value in self.params.items()
        )
        return f"anonset anonymize {source} --method {self.method} {options}{extra} -o release.csv --report report.html"

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**vars(self), "reasons": list(self.reasons)}


def advise(
    data: Transactions, *, sensitive: bool = False, hierarchy: bool = False, users: bool = False, job: Job | None = None
) -> Advice:
    """Propose a model, a method and parameters.

    Examples
    --------
    >>> proposal = advise(Transactions.from_lists([["a"], ["a", "b"]] * 50))
    >>> proposal.model, proposal.params
    ('k-anonymity', {'k': 5})
    """
    if len(data) < 4:
        raise InfeasibleError(
            f"{len(data):,} transactions are too few to hide anybody among others. Collect more data."
        )
    risk = singled_out(data, 2, job=job, samples=20_000) if data.nnz else None
    looked = _looked(data, None if risk is None else risk.share)
    situation = Situation(data, sensitive, hierarchy, users)
    found = ((spec, spec.advice(situation)) for spec in reversed(MODELS.values()))
    spec, suggestion = next((spec, suggestion) for spec, suggestion in found if suggestion is not None)
    return _advice(spec, suggestion, looked)


def _looked(data: Transactions, share: float | None) -> tuple[str, ...]:
    mean = data.nnz / len(data)
    first = f"The data have {len(data):,} transactions of {mean:.1f} items on average, out of {data.n_items:,} items."
    if share is None:
        return (first,)
    return (first, f"Somebody who knows two items of a transaction of at least two singles it out in {share:.1%}.")


def _advice(spec: ModelSpec, suggestion: Suggestion, looked: tuple[str, ...]) -> Advice:
    params = dict(suggestion.params)
    filled = {param.name: params.get(param.name, param.default) for param in spec.params}
    return Advice(spec.name, suggestion.method, params, spec.promise(filled), (*looked, *suggestion.reasons))
