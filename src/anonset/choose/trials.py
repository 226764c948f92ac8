"""Candidates tried out on a sample: what attackers achieve against each, what is left, what the gate would refuse."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anonset.data.advice import Situation, Suggestion
from anonset.data.errors import AnonsetError, CancelledError
from anonset.data.findings import Finding, Findings, Part
from anonset.data.job import Job
from anonset.data.spec import ModelSpec
from anonset.data.transactions import Transactions
from anonset.methods import method_spec
from anonset.models import model as make_model
from anonset.models import model_spec
from anonset.pipeline import anonymize

MOST = 20_000
"""So many transactions are tried at most: enough to see what happens, few enough for a dozen trials."""


MOST_OF_TIME = 0.5
"""The share of the time that is left which one trial may take, so that others come to be tried."""


@dataclass(frozen=True)
class Candidate:
    """A method and its parameters, why they are tried, and whether their hierarchy was built only for the trial."""

    method: str
    params: Mapping[str, Any]
    reasons: tuple[str, ...] = ()
    usual: bool = True
    built: str = ""

    @property
    def model(self) -> ModelSpec:
        """What the method promises."""
        return model_spec(method_spec(self.method).model)


@dataclass(frozen=True)
class Trial:
    """What became of a candidate: its findings, or the reason why there are none."""

    candidate: Candidate
    promise: str = ""
    findings: Findings = field(default_factory=Findings)
    measured: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    whole_seconds: float = 0.0
    transactions: int = 0
    error: str = ""

    @property
    def good(self) -> bool:
        """Whether the gate would let it through."""
        return not self.error and not self.findings.refused

    @property
    def kept(self) -> float:
        """How much of the items is still told: one that is gone counts 0, a category less than the item itself."""
        lost = self.measured.get("ncp")
        return (self.findings.kept or 0.0) if lost is None else 1.0 - float(lost)

    def attack(self, part: Part) -> Finding | None:
        """The attack that says most about a part."""
        return self.findings.headline(part)

    @property
    def problem(self) -> str:
        """Why it is not recommended; empty where nothing stands against it."""
        return self.error or " ".join(one.found for one in self.findings.refused)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        params = {name: value for name, value in self.candidate.params.items() if _plain(value)}
        return {
            "model": self.candidate.model.name,
            "method": self.candidate.method,
            "params": params,
            "built_hierarchy": self.candidate.built,
            "promise": self.promise,
            "kept": self.kept,
            "attacks": [one.to_dict() for one in self.findings],
            "transactions": self.transactions,
            "seconds": self.seconds,
            "whole_seconds": self.whole_seconds,
            "problem": self.problem,
        }


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float, str))


def sample(data: Transactions, most: int = MOST) -> Transactions:
    """At most so many transactions, drawn at random; of users that repeat, whole histories.

    Examples
    --------
    >>> len(sample(Transactions.from_lists([["a"]] * 50), 20))
    20
    """
    if len(data) <= most:
        return data
    random = np.random.default_rng(0)
    if data.users is None:
        return data.take(np.sort(random.choice(len(data), most, replace=False)))
    users = np.unique(data.users)
    rank = np.empty(len(users), dtype=np.int64)
    rank[random.permutation(len(users))] = np.arange(len(users))
    turn = np.argsort(rank[np.searchsorted(users, data.users)], kind="stable")
    return data.take(np.sort(turn[:most]))


def variants(suggestion: Suggestion, hierarchy: Any, situation: Situation) -> Iterator[Candidate]:
    """The suggestion and a weaker promise, both with the hierarchy and, where it only adds categories, without it.

    Nothing where the data have columns beside the items that the method does not know.
    """
    method = method_spec(suggestion.method)
    model = model_spec(method.model)
    if situation.data.columns is not None and not method.columns:
        return
    takes = {param.name: param for param in (*model.params, *model.options, *method.params)}
    strong = dict(suggestion.params)
    if situation.sensitive and "diversity" in takes:
        strong.setdefault("diversity", 2)
    for usual, params in ((True, strong), (False, _weaker(strong, model.headline))):
        if params is None:
            continue
        tree = takes.get("hierarchy")  # for a cut a hierarchy is all; elsewhere its categories stand beside items
        if tree is not None and hierarchy is not None:
            yield Candidate(suggestion.method, {**params, "hierarchy": hierarchy}, suggestion.reasons, usual)
        if tree is None or not (method.cuts or tree.required) or hierarchy is None:
            yield Candidate(suggestion.method, params, suggestion.reasons, usual)


def _weaker(params: Mapping[str, Any], headline: str) -> dict[str, Any] | None:
    """Half as strong a promise, where that is one."""
    value = params.get(headline)
    if not isinstance(value, int) or value < 4:
        return None
    return {**params, headline: value // 2}


def try_out(
    data: Transactions, whole: int, candidates: Iterable[Candidate], seconds: float, job: Job
) -> tuple[list[Trial], int]:
    """The candidates, one after the other, until the time is up; and how many were not tried to their end."""
    end = time.monotonic() + seconds
    candidates = list(candidates)
    trials: list[Trial] = []
    for candidate in candidates:
        left = end - time.monotonic()
        if left <= 0:
            break
        found = attempt(data, candidate, MOST_OF_TIME * left, job, whole)
        if found is not None:
            trials.append(found)
    return trials, len(candidates) - len(trials)


def attempt(data: Transactions, candidate: Candidate, seconds: float, job: Job, whole: int) -> Trial | None:
    """One candidate, made, checked and attacked; None where the time was up before. `data` are a part of the whole."""
    share = len(data) / max(1, whole)
    own = Job(job.seed, job.threads or None)
    timer = threading.Timer(seconds, own.cancel)
    timer.daemon = True
    timer.start()
    start = time.perf_counter()
    try:
        with job.stage(f"try {candidate.method}"):
            result = anonymize(data, method=candidate.method, job=own, **_on_a_part(candidate, share))
            taken = time.perf_counter() - start
            findings = result.findings or Findings()
    except CancelledError:
        job.check()
        return None
    except AnonsetError as error:
        return Trial(candidate, error=str(error), transactions=len(data))
    finally:
        timer.cancel()
        timer.join()  # a thread that outlives its job keeps native objects until the interpreter is gone
    target = make_model(candidate.model.name, **_promised(candidate), unit=result.verdict.unit)
    return Trial(candidate, target.promise, findings, result.measurements, taken, taken / share, len(data))


def _on_a_part(candidate: Candidate, share: float) -> dict[str, Any]:
    """The parameters for a part of the data: counts of transactions fall with it, numbers of candidates do not."""
    counts = {param.name for param in candidate.model.params if param.type == "count"}
    return {
        name: max(2, round(value * share)) if name in counts and isinstance(value, int) else value
        for name, value in candidate.params.items()
    }


def _promised(candidate: Candidate) -> dict[str, Any]:
    """What of a candidate's parameters the promise is about."""
    spec = candidate.model
    own = {param.name for param in (*spec.params, *spec.options)}
    return {name: value for name, value in candidate.params.items() if name in own}
