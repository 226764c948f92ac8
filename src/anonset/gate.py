"""The gate before publishing: what attackers find about a result, and what would help where that is not acceptable.

What would help is tried, not guessed: each remedy that the model names is run on a sample of the data and attacked in
the same way. The first one that leaves nothing to object to is named with its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonset.assess.risk.find import attack_result
from anonset.assess.risk.words import share
from anonset.data.advice import Suggestion
from anonset.data.errors import AnonsetError, setting
from anonset.data.findings import Findings, Objection
from anonset.data.job import Job
from anonset.data.release import Result
from anonset.data.transactions import Transactions
from anonset.models import model_spec

SAMPLE = 5_000
"""Transactions on which remedies are tried."""

Attempt = Callable[[Transactions, Suggestion], Result]
"""Makes a result of these transactions with other settings."""


@dataclass(frozen=True, eq=False)
class Attackers:
    """All attackers, let loose on a result when their findings are asked for first."""

    result: Result
    job: Job
    attempt: Attempt

    @cached_property
    def _found(self) -> Findings:
        return attack_result(self.result, self.job)

    def findings(self) -> Findings:
        """What they achieve, and what of it stands against publishing."""
        return self._found

    def helped(self, accept: tuple[str, ...] = ()) -> Findings:
        """The same with what would help against each objection that is not accepted."""
        helped = dict(self._help(tuple({one.accept for one in self._found.objections} - set(accept))))
        objections = (replace(one, help=helped.get(one.accept, one.help)) for one in self._found.objections)
        return replace(self._found, objections=tuple(objections))

    def _help(self, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        source = self.result.source
        assert source is not None
        sample = _sample(source, self.job)
        remedies = model_spec(self.result.verdict.model).remedies
        for part in sorted(parts):
            tried = remedies[part](self.result.params) if part in remedies else ()
            objections = [one for one in self._found.objections if one.accept == part]
            yield part, self._first_that_helps(part, tried, sample, objections)

    def _first_that_helps(
        self, part: str, tried: tuple[Suggestion, ...], sample: Transactions, objections: list[Objection]
    ) -> str:
        """The first remedy after which nothing of this part is left to object to, with its figures, in a sentence."""
        for remedy in tried:
            try:
                found = attack_result(result := self.attempt(sample, remedy), Job(self.job.seed))
            except AnonsetError:  # this data cannot be published so
                continue
            if not found.objections:
                return f"{words(remedy)} helps: on a sample of {len(sample):,} transactions {figures(found, result)}."
        if not tried:
            return ""
        names = " nor ".join(words(remedy) for remedy in tried)
        return f"{'Neither ' if len(tried) > 1 else ''}{names} {'helps' if len(tried) > 1 else 'does not help'} here."


def _sample(data: Transactions, job: Job) -> Transactions:
    if len(data) <= SAMPLE:
        return data
    return data.take(np.sort(job.random("gate: sample").choice(len(data), SAMPLE, replace=False)))


def words(remedy: Suggestion) -> str:
    """The settings of a remedy, as the user's interface spells them."""
    chosen = [setting("method", remedy.method)] if remedy.method else []
    return " ".join((*chosen, *(setting(name, value) for name, value in remedy.params.items())))


def figures(found: Findings, result: Result) -> str:
    """What a remedy achieves, in words: the best attack on what it promises, and what is left."""
    parts = [f"{share(found.kept)} of the items are told"] if found.kept is not None else []
    stopped = [one for one in found if one.stopped]
    if stopped:
        best = max(stopped, key=lambda one: one.after)
        parts.append(f"the best of the attacks that it is meant to stop is right in {share(best.after)}")
    loss = result.measurements.get("information_loss_ratio")
    if loss is not None and not stopped:
        parts.append(f"the information loss is {share(loss)}")
    return " and ".join(parts) or "nothing stands against publishing"
