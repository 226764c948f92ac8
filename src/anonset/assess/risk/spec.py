"""What an attack is, and what it is tried on.

Every attacker is one file in `attackers/` with an `AttackSpec`: its name, which of the three criteria it threatens,
what it knows, which releases it fits. Its `run` gets a `Case` and gives findings: before and after, with an interval
where it draws, and whether the model is meant to stop it. Which attacks a model is meant to stop, and down to which
chance, is in its `ModelSpec.limits`, under the attack's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anonset.assess.align import Pair, pair
from anonset.assess.facts import facts
from anonset.assess.risk.summary import wilson
from anonset.data.findings import Finding, Part
from anonset.data.job import Job
from anonset.data.quantities import side_by_side
from anonset.data.transactions import Floats, Longs, Transactions
from anonset.data.unit import once_each

if TYPE_CHECKING:
    from anonset.data.hierarchy import Hierarchy
    from anonset.data.release import Release
    from anonset.data.spec import Model

DRAWS = 5_000
KNOWN = (1, 2, 3, 4)
CONFIDENCE = 0.95

Form = Literal["rows", "groups"]


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier release, and the data that it was made from."""

    data: Transactions
    release: Release
    row_origin: Longs | None = None
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """A release under attack, and all that its owner knows about it.

    `row_origin` links each published transaction to its original (−1: invented); None where nobody knows, and chances
    are then upper bounds. `method` and `params` are what the certificate says. `draws` limits how much is drawn at
    random, `known` names the numbers of known items to try. `previous` are earlier releases.
    """

    data: Transactions
    release: Release
    row_origin: Longs | None = None
    model: Model | None = None
    method: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    hierarchy: Hierarchy | None = None
    job: Job = field(default_factory=lambda: Job(0))
    draws: int = DRAWS
    known: tuple[int, ...] = KNOWN
    previous: tuple[Earlier, ...] = ()
    memory: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        data, published = side_by_side(self.data, self.release.transactions)
        if data is not self.data or published is not self.release.transactions:
            object.__setattr__(self, "data", data)
            object.__setattr__(self, "release", replace(self.release, transactions=published))

    def once(self, what: str, find: Callable[[], Any]) -> Any:
        """What several attacks need, found once."""
        if what not in self.memory:
            self.memory[what] = find()
        return self.memory[what]

    @cached_property
    def pair(self) -> Pair:
        """Quasi-identifier items of both in one vocabulary; an `InputError` where they cannot be compared."""
        return pair(self.data, self.release, self.row_origin, self.hierarchy)

    @cached_property
    def facts(self) -> Pair:
        """The same with all that may be known: quantities of items, and the values of columns beside them."""
        return facts(self.data, self.release, self.row_origin, self.hierarchy)

    @cached_property
    def has(self) -> frozenset[str]:
        """What is there beyond original and release."""
        marks = self.data.sensitive, self.release.transactions.sensitive
        sensitive = self.release.counts is not None or any(mask is not None and bool(mask.any()) for mask in marks)
        there = {
            "origin": self.row_origin is not None,
            "sensitive": sensitive,
            "method": bool(self.method),
            "users": self.data.users is not None,
            "published users": self.release.transactions.users is not None,
            "previous": bool(self.previous),
        }
        return frozenset(name for name, present in there.items() if present)

    def limit(self, attack: str, known: int | None = None) -> float | None:
        """The chance that the model promises an attack not to exceed; None where it is not meant to stop it."""
        if self.model is None or attack not in self.model.spec.limits:
            return None
        unit = "user" if once_each(self.data) else self.model.unit  # then both units say the same
        return self.model.spec.limits[attack]({**self.model.params, "known": known, "unit": unit})

    def random(self, purpose: str) -> np.random.Generator:
        """Draws of an attack's own."""
        return self.job.random(f"attack: {purpose}")

    def some(self, rows: Longs, most: int, purpose: str) -> Longs:
        """These rows, or as many of them as are to be looked at, drawn at random; ascending."""
        if len(rows) <= most:
            return rows
        return np.sort(self.random(purpose).choice(rows, most, replace=False))


LACKING = {
    "origin": "nobody says whose transaction is whose: that takes the owner's link",
    "sensitive": "no sensitive item is named",
    "method": "nobody says which method made the release: that takes its certificate",
    "users": "the data name no users",
    "published users": "the release names no users",
    "previous": "no earlier release is given",
}
"""Why an attack does not fit where a thing that it needs is not there."""


@dataclass(frozen=True)
class AttackSpec:
    """An attacker: what it is called, what it threatens, what it knows, which releases it fits, and how it goes about.

    `knows` follows the words "an attacker who knows". `needs` names what must be there (see `Case.has`). `run` gives
    its findings: several where it comes in several strengths, none where there is nobody to attack.
    """

    name: str
    part: Part
    title: str
    knows: str
    run: Callable[[Case], tuple[Finding, ...]]
    forms: tuple[Form, ...] = ("rows", "groups")
    needs: tuple[str, ...] = ()
    reference: str = ""

    def lacks(self, case: Case) -> str:
        """Why the attack does not fit a case; empty where it does."""
        if case.release.form not in self.forms:
            return f"it is for releases in {self.forms[0]}"
        missing = [name for name in self.needs if name not in case.has]
        return LACKING[missing[0]] if missing else ""


@dataclass(frozen=True, eq=False)
class Chances:
    """The chance of each attacked person (or draw, or group), before and after.

    Where all are there, nothing is left to chance. `drawn` says that these are draws, `attacked` how many persons they
    stand for. Of several guesses of which the best counts, `guesses` is the number: the interval holds for all of them.
    """

    after: Floats
    before: Floats | None = None
    drawn: bool = False
    attacked: int | None = None
    weights: Floats | None = None
    guesses: int = 1

    def mean(self, values: Floats) -> float:
        """The mean, weighted where weights are given."""
        return float(np.average(values, weights=self.weights)) if len(values) else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean after; a score interval, which is never too narrow for chances."""
        mean = self.mean(self.after)
        confidence = 1 - (1 - CONFIDENCE) / self.guesses
        return wilson(mean, len(self.after), confidence) if self.drawn and len(self.after) else (mean, mean)


def finding(
    spec: AttackSpec,
    case: Case,
    chances: Chances,
    *,
    known: int | None = None,
    knows: str = "",
    title: str = "",
    each: bool = True,
    upper_bound: bool = False,
) -> Finding:
    """A finding from the chances of all who were attacked.

    Without `each` these are guesses that turn out right or wrong: nobody is certain of one.
    """
    attacked = len(chances.after) if chances.attacked is None else chances.attacked
    limit = case.limit(spec.name, known)
    before = None if chances.before is None else chances.mean(chances.before)
    certain, certain_before = (
        round(chances.mean((values == 1).astype(np.float64)) * attacked) if each and values is not None else 0
        for values in (chances.after, chances.before)
    )
    return Finding(
        name=spec.name,
        part=spec.part,
        knows=knows or spec.knows,
        before=before,
        after=chances.mean(chances.after),
        interval=chances.interval,
        worst=float(chances.after.max(initial=0.0)),
        certain=certain,
        attacked=attacked,
        stopped=limit is not None,
        limit=limit,
        upper_bound=upper_bound,
        title=title or spec.title,
        certain_before=certain_before,
        each=each,
    )
