"""Which model, which method, which parameters? A proposal with reasons, after three questions and a look at the data.

The questions: are some items sensitive? is there a hierarchy? do users repeat (and should their history be protected)?
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonset.assess.risk import singled_out
from anonset.data.errors import InfeasibleError
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods import METHODS
from anonset.methods.steps.group.attributes import kp_problem
from anonset.models import model_spec

SMALL = 1_000
USUAL_P = 10
USUAL_SHARE = 0.5
FEW = 20


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
    if users and data.users is not None and "kamp" in METHODS:
        return _for_users(data, looked)
    if sensitive and data.sensitivity is not None:
        return _for_degrees(data, looked, job or Job(0))
    if sensitive and data.sensitive is not None and data.sensitive.any():
        return _for_sensitive(data, looked)
    if hierarchy:
        return _for_hierarchy(data, looked)
    return _for_everything(data, looked)


def _looked(data: Transactions, share: float | None) -> tuple[str, ...]:
    mean = data.nnz / len(data)
    first = f"The data have {len(data):,} transactions of {mean:.1f} items on average, out of {data.n_items:,} items."
    if share is None:
        return (first,)
    return (first, f"Somebody who knows two items of a transaction of at least two singles it out in {share:.1%}.")


def _k(data: Transactions) -> int:
    """Five where every transaction counts, ten where there are enough."""
    return min(5 if len(data) < SMALL else 10, len(data) // 2)


def _advice(model: str, method: str, params: dict[str, Any], reasons: tuple[str, ...]) -> Advice:
    spec = model_spec(model)
    filled = {param.name: params.get(param.name, param.default) for param in spec.params}
    return Advice(model, method, params, spec.promise(filled), reasons)


def _for_users(data: Transactions, looked: tuple[str, ...]) -> Advice:
    assert data.users is not None
    people = len(np.unique(data.users))
    support = max(2, len(data) // 100)
    reasons = (
        *looked,
        f"{people:,} users have {len(data) / people:.1f} transactions each: what they repeat identifies them, which no "
        "model of single transactions protects.",
        f"Patterns count from {support:,} transactions (1 %) on; rarer ones are noise to mining as well.",
    )
    params = {"k": min(_k(data), max(2, people // 2)), "support": support}
    return _advice("multi-pattern", "kamp", params, reasons)


def _for_sensitive(data: Transactions, looked: tuple[str, ...]) -> Advice:
    assert data.sensitive is not None
    most = int(data.item_counts[data.sensitive].max(initial=0))
    possible = len(data) // max(1, most)
    if possible < 2:
        raise InfeasibleError(
            "A sensitive item is in more than half of the transactions: it cannot be hidden among others. "
            "Leave it out, or do not call it sensitive."
        )
    p = min(USUAL_P, possible)
    limit = "" if p == USUAL_P else f" More than {possible} is not possible: the most frequent one is that frequent."
    reasons = (
        *looked,
        f"{int(data.sensitive.sum()):,} items are sensitive. The others can then be published exactly, which keeps the "
        "data worth mining; the sensitive ones are published per group.",
        f"With p = {p} nobody can be more than {1 / p:.0%} sure of a sensitive item.{limit}",
        "Gray order puts similar transactions into one group: the least error and the fastest in the paper.",
    )
    return _advice("privacy-degree", "cahd-gray", {"p": p}, reasons)


def _for_degrees(data: Transactions, looked: tuple[str, ...], job: Job) -> Advice:
    threshold = 0.75
    problem = kp_problem(data, job, k=_k(data), p=1.0, threshold=threshold, hierarchy=None, level=None)
    most = float(np.bincount(problem.secrets).max(initial=0)) / len(data)
    p = max(USUAL_SHARE, math.ceil(20 * most + 1) / 20)
    if p > 1:
        raise InfeasibleError(
            "Nearly everybody holds something sensitive of one kind: it cannot be hidden among others. "
            "Raise the threshold of degrees, or leave that kind out."
        )
    reasons = (
        *looked,
        "Everybody says what is sensitive: what reaches the threshold is published as it is, the rest as counts of "
        "kinds.",
        f"Of one kind up to {most:.0%} of all transactions hold something sensitive. A share of p = {p:g} in each "
        "group leaves room to choose who stands beside whom. Name a hierarchy for kinds that mean something.",
    )
    return _advice("kp-anonymity", "kp-crowd", {"k": _k(data), "p": p, "threshold": threshold}, reasons)


def _for_hierarchy(data: Transactions, looked: tuple[str, ...]) -> Advice:
    m = 2
    reasons = (
        *looked,
        "With a hierarchy items can be published as their kind: nothing false is published, only less precise things.",
        f"m = {m} known items is what somebody sees in a trolley at a glance; a larger m costs much more detail.",
    )
    return _advice("km-anonymity", "km-apriori", {"k": _k(data), "m": m}, reasons)


def _for_everything(data: Transactions, looked: tuple[str, ...]) -> Advice:
    dense = data.nnz / len(data) > data.n_items / FEW
    shape = "dense, so that little has to change" if dense else "sparse: expect to lose rare items"
    reasons = (
        *looked,
        "No item is more secret than another, and there is no hierarchy: every transaction hides among equals.",
        f"k = {_k(data)} candidates is the usual choice for {len(data):,} transactions. The data are {shape}.",
    )
    return _advice("k-anonymity", "crowd", {"k": _k(data)}, reasons)
