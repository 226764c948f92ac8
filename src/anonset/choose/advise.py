"""Which model, which method, which parameters? What fits is tried on a sample, attacked and measured; then advised.

Every model says itself whether it fits the data (`ModelSpec.advice`). What the gate would refuse is never recommended.
Of the rest the model that fits the data most particularly is taken at its usual strength, and of its trials the one
that leaves most of the data. Where nothing is left to recommend, it is said what was measured to help.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from anonset.assess.risk import singled_out
from anonset.assess.risk.words import share
from anonset.choose.trials import Candidate, Trial, attempt, sample, try_out, variants
from anonset.data.advice import Situation
from anonset.data.attributes import bare_items
from anonset.data.display import Picture, Shown
from anonset.data.errors import InfeasibleError
from anonset.data.findings import Part
from anonset.data.hierarchy import Hierarchy, by_cooccurrence, by_frequency
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.models import MODELS

SECONDS = 20.0  # on a machine that has nothing else to do
LEAST = 4
WHOLE = 10.0
"""Seconds that a trial on all data may take in addition, where the sample was only a part."""


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """What was tried, what is recommended (None: nothing), why, and what would help."""

    trials: tuple[Trial, ...]
    recommended: Trial | None
    reasons: tuple[str, ...]
    help: tuple[str, ...] = ()
    not_tried: int = 0
    part: Part = "singling out"

    @property
    def model(self) -> str:
        """The model that is recommended; empty where none is."""
        return "" if self.recommended is None else self.recommended.candidate.model.name

    @property
    def method(self) -> str:
        """The method that is recommended."""
        return "" if self.recommended is None else self.recommended.candidate.method

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters."""
        return {} if self.recommended is None else dict(self.recommended.candidate.params)

    @property
    def promise(self) -> str:
        """What it promises."""
        return "" if self.recommended is None else self.recommended.promise

    def __repr__(self) -> str:
        params = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"Advice({self.method}({params}): {self.promise})" if self.method else "Advice(nothing is recommended)"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: what is recommended, why, and what would help."""
        yield "recommended", repr(self).removeprefix("Advice(").removesuffix(")")
        yield from (("why", sentence) for sentence in self.reasons)
        yield from (("would help", sentence) for sentence in self.help)

    def picture(self) -> Picture | None:
        """How much each trial leaves of the data."""
        shown = [one for one in self.trials if not one.error]
        if not shown:
            return None
        names = [f"{one.candidate.method} {one.candidate.params.get('k', '')}".strip() for one in shown]
        return Picture("What trials leave of the data", names, (("left", [one.kept for one in shown]),), "share")

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {
            "model": self.model,
            "method": self.method,
            "params": {name: value for name, value in self.params.items() if isinstance(value, (int, float, str))},
            "promise": self.promise,
            "reasons": list(self.reasons),
            "help": list(self.help),
            "not_tried": self.not_tried,
            "trials": [one.to_dict() for one in self.trials],
        }


def advise(
    data: Transactions,
    *,
    sensitive: bool = False,
    hierarchy: Any = None,
    users: bool = False,
    seconds: float = SECONDS,
    job: Job | None = None,
) -> Advice:
    """Try what fits on a sample of `data`, and recommend what protects and leaves most.

    Parameters
    ----------
    sensitive, users
        Whether some items are secret, and whether the whole history of users must be protected.
    hierarchy
        A hierarchy of the items, as methods take it.
    seconds
        How long to try.

    Examples
    --------
    >>> found = advise(Transactions.from_lists([["a"], ["a", "b"]] * 50))
    >>> found.model, found.params["k"]
    ('k-anonymity', 5)
    """
    if len(data) < LEAST:
        raise InfeasibleError(
            f"{len(data):,} transactions are too few to hide anybody among others. Collect more data."
        )
    job = job or Job(0)
    end = time.monotonic() + seconds
    looked = _looked(data, singled_out(data, 2, job=job, samples=20_000).share if data.nnz else None)
    part: Part = "inference" if sensitive else "singling out"
    situation = Situation(data, sensitive, hierarchy is not None, users)
    some = sample(data)
    trials, not_tried = try_out(some, len(data), _candidates(situation, hierarchy, some), end - time.monotonic(), job)
    best = _confirmed(data, some, trials, job)
    if best is None:
        reasons = (*looked, "Something stands against publishing every release that was tried.")
        return Advice(tuple(trials), None, reasons, tuple(_help(trials, situation)), not_tried, part)
    reasons = (*looked, *best.candidate.reasons, *_why(best, trials, part, len(data)))
    return Advice(tuple(trials), best, reasons, tuple(_help(trials, situation, best)), not_tried, part)


def _candidates(situation: Situation, hierarchy: Any, some: Transactions) -> list[Candidate]:
    """What to try, the most particular model first; usual strengths of all models before weaker ones."""
    found: list[Candidate] = []
    for spec in reversed(MODELS.values()):
        suggestion = spec.advice(situation)
        if suggestion is not None:
            found += variants(suggestion, hierarchy, situation)
    found = sorted(found, key=lambda one: not one.usual)
    return found if hierarchy is not None else found + list(_with_built(situation, some))


def _with_built(situation: Situation, some: Transactions) -> Iterator[Candidate]:
    """What a hierarchy would change, shown with some that are built from the data and mean nothing."""
    if not some.nnz:
        return
    items = bare_items(some).quasi()
    trees: dict[str, Hierarchy] = {"cooccurrence": by_cooccurrence(items), "frequency": by_frequency(items)}
    known = replace(situation, data=some, hierarchy=True)
    offered = [spec.advice(known) for spec in MODELS.values() if spec.advice(situation) is None]
    for suggestion in offered:
        if suggestion is None:
            continue
        for by, tree in trees.items():
            for one in variants(suggestion, tree, situation):
                if one.usual and "hierarchy" in one.params:
                    yield replace(one, built=by)


def _confirmed(data: Transactions, some: Transactions, trials: list[Trial], job: Job) -> Trial | None:
    """The best trial that the gate lets through, on all data too where that takes seconds."""
    able = [one for one in trials if one.good and not one.candidate.built]
    while able:
        best = _best(able)
        if some is data or best.whole_seconds > WHOLE:
            return best
        again = attempt(data, best.candidate, 2 * WHOLE, job, len(data))
        if again is None:
            return best
        trials[trials.index(best)] = again
        if again.good:
            return again
        able.remove(best)
    return None


def _best(able: list[Trial]) -> Trial:
    """The first model in the order of trials at its usual strength; of its trials the one that leaves most."""
    first = next((one for one in able if one.candidate.usual), able[0])
    own = [one for one in able if one.candidate.model == first.candidate.model]
    own = [one for one in own if one.candidate.usual] or own
    return max(own, key=lambda one: (round(one.kept, 2), -one.seconds))


def _looked(data: Transactions, found: float | None) -> tuple[str, ...]:
    mean = data.nnz / len(data)
    first = f"The data have {len(data):,} transactions of {mean:.1f} items on average, out of {data.n_items:,} items."
    if found is None:
        return (first,)
    return (first, f"Somebody who knows two items of a transaction of at least two singles it out in {share(found)}.")


def _why(best: Trial, trials: list[Trial], part: Part, whole: int) -> Iterator[str]:
    """What was measured."""
    found = best.attack(part) or best.attack("singling out")
    if found is not None:
        yield found.sentence
    if best.findings.kept is not None:
        yield f"{share(best.kept)} of what the items say is left; a category says less than an item."
    yield from best.findings.remaining
    where = "all transactions" if best.transactions == whole else f"a sample of {best.transactions:,} transactions"
    refused = sum(not one.good for one in trials)
    others = (
        f"; of {len(trials):,} trials {refused:,} would be refused" if refused else f", among {len(trials):,} trials"
    )
    yield f"It was tried on {where}{others}."


def _help(trials: list[Trial], situation: Situation, best: Trial | None = None) -> Iterator[str]:
    """What would make more possible: measured where it was tried."""
    built = [one for one in trials if one.candidate.built and one.good]
    if built and (best is None or max(one.kept for one in built) > best.kept):
        most = max(built, key=lambda one: one.kept)
        yield (
            f"A hierarchy of the items would help: with one built by {most.candidate.built} (anonset hierarchy build "
            f"--by {most.candidate.built}), {most.candidate.method} keeps {share(most.kept)}. One that means something "
            "(a category for each item) is worth more."
        )
    elif best is None and not situation.hierarchy:
        yield "A hierarchy of the items (a category for each) lets rare items be published as their kind."
    if best is not None:
        return
    weak = [one for one in trials if not one.candidate.usual]
    if weak and not any(one.good for one in weak):
        yield "A weaker promise was tried and did not help."
    yield "Coarser or fewer items would help: merge rare ones before, or leave them out."
    if any("m" in one.candidate.params for one in trials):
        yield "Fewer known items would help: m = 1 protects against less, and costs less."
