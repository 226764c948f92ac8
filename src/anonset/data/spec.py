"""Descriptions that everything else derives from: options, forms, tables, tests.

A method or a model says once what it is called and which parameters it takes. The command line, the app, the
reference tables and the contract tests read it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from anonset.data.param import Param, as_count, parse_params

if TYPE_CHECKING:
    from anonset.data.advice import Situation, Suggestion
    from anonset.data.release import Draft, Release, Verdict
    from anonset.data.transactions import Ints

__all__ = ["UNIT", "Attack", "MethodSpec", "Model", "ModelSpec", "Param", "Unit", "as_count", "parse_params"]

Attack = Literal["singling out", "linkability", "inference"]
Unit = Literal["user", "transaction"]
Limit = Callable[[Mapping[str, Any]], float | None]
"""The chance that a model promises an attack not to exceed, with these parameters."""
Remedies = Callable[[Mapping[str, Any]], "tuple[Suggestion, ...]"]
"""What to try instead of these parameters."""


UNIT = Param(
    "unit",
    "choice",
    "What a promise counts: different users (persons), or transactions. Default: users where the data have users that "
    "repeat.",
    choices=("user", "transaction"),
    example="transaction",
)
"""Part of every promise: a model says what it means in persons, a method whether it reaches that."""


@dataclass(frozen=True)
class ModelSpec:
    """A privacy model: what a release promises, and the check that knows whether it keeps it.

    `check(release, **params)` reads only what is published. With `users=…`, the private user of each published
    transaction (−1 where unknown), it also checks the promise in persons, which `in_persons` states. `statement` is
    the promise in one plain sentence with
    the parameters in braces. `form` is the kind of release that the model speaks about. `protects_users` says
    whether the promise still holds when an attacker can see which transactions belong to one user; where it does
    not, users are not published. `batches` says that the promise holds for the union of disjoint releases that keep
    it. `publishes` names what else the model lets through: `counts`, `attributes`, and
    `sensitivity` where the owner asks for it. `reads` names what the check looks at besides the sets where it is
    published; a release with more than that keeps no promise of this model.

    `options` vary the promise. A method offers one by listing it among its own parameters; where it is left at its
    default, promise and verdict do not mention it. `wording` gives the statement where options change it.

    What others ask of a model, so that nobody compares names:

    `headline`    the measured figure, and the parameter, that says how strong the promise is
    `meaning`     the promise for people who are in the data; may use the parameters and `measured[…]`
    `stops`       the criteria that the model speaks about
    `limits`      the attacks that it is meant to stop, by name, and the chance that it promises each not to exceed: a
                  function of the parameters, of `known` (how many items the attacker knows, where that matters) and
                  `unit`; None where these parameters promise nothing against the attack
    `remedies`    what to try where an outcome is not acceptable, by what would have to be accepted: settings of the
                  same method (without a name) or of another one, the best first
    `group_size`  the parameter that promises how many published transactions are equal, if one does
    `weakest`     the parameters of the weakest promise worth checking on a release; None: it has nothing to say there
    `advice`      a suggestion for data on which this model is the right one; None: it is not
    `usual_unit`  what the promise counts where users repeat and nothing is asked for
    `bound_at`    the k for which the least loss of these parameters is known; None: it is not
    """

    name: str
    title: str
    statement: str
    params: tuple[Param, ...]
    check: Callable[..., Verdict]
    paper: str
    form: Literal["rows", "groups"] = "rows"
    protects_users: bool = False
    batches: bool = True
    publishes: tuple[str, ...] = ()
    default_method: str = ""
    options: tuple[Param, ...] = ()
    in_persons: str = ""
    usual_unit: Unit = "user"
    wording: Callable[[Mapping[str, Any]], str] | None = None
    reads: tuple[str, ...] = ("counts",)
    headline: str = "k"
    meaning: str = ""
    stops: tuple[Attack, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    remedies: Mapping[str, Remedies] = field(default_factory=dict)
    group_size: str | None = None
    weakest: Callable[[Release], Mapping[str, Any] | None] = lambda release: None
    advice: Callable[[Situation], Suggestion | None] = lambda situation: None
    bound_at: Callable[[Mapping[str, Any]], int | None] = lambda params: None

    def promise(self, params: Mapping[str, Any], unit: Unit = "transaction") -> str:
        """The promise in words, with these parameters, counted in this unit."""
        if self.wording is not None:
            return self.wording({**params, "unit": unit}).format(**params)
        return (self.in_persons if unit == "user" and self.in_persons else self.statement).format(**params)

    def promised(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What of these values the promise is about: all parameters, and the options that are not at their default."""
        chosen = [option for option in self.options if values.get(option.name, option.default) != option.default]
        return {param.name: values[param.name] for param in (*self.params, *chosen)}

    def in_plain_words(self, params: Mapping[str, Any], measured: Mapping[str, Any]) -> str:
        """What the promise means to somebody who is in the data."""
        return self.meaning.format(measured=measured, **params)


@dataclass(frozen=True)
class Model:
    """A model with its parameters set: what `anonymize(model=…)` and `verify(model=…)` take.

    Examples
    --------
    >>> import anonset
    >>> anonset.model("k-anonymity", k=10).promise
    'every published set of quasi-identifier items is shared by at least 10 transactions'
    >>> anonset.model("k-anonymity", k=10, unit="user").promise
    'every published set of quasi-identifier items is shared by transactions of at least 10 different users'
    """

    spec: ModelSpec
    params: Mapping[str, Any] = field(default_factory=dict)
    unit: Unit = "transaction"

    @property
    def name(self) -> str:
        """The model's name, as on the command line."""
        return self.spec.name

    @property
    def promise(self) -> str:
        """The promise in words."""
        return self.spec.promise(self.params, self.unit)

    def counting(self, unit: Unit) -> Model:
        """The same promise, counted in this unit."""
        return replace(self, unit=unit)

    def fixed_on(self, transactions: int) -> Model:
        """The same promise in absolute numbers: a fraction is one of the original's transactions, once and for all.

        Examples
        --------
        >>> import anonset
        >>> anonset.model("multi-pattern", k=2, support=0.1).fixed_on(300).params["support"]
        30
        """
        counts = {param.name for param in self.spec.params if param.type == "count"}
        fixed = {name: as_count(value, transactions) for name, value in self.params.items() if name in counts}
        return replace(self, params={**self.params, **fixed})

    def check(self, release: Release, users: Ints | None = None) -> Verdict:
        """Whether `release` keeps the promise, looking at nothing but what is published.

        `users` is the owner's private knowledge: the user of each published transaction as a code, −1 where unknown.
        Where the promise counts users, it is needed for that part; without it only transactions are counted.
        """
        if self.unit == "user" and users is not None and self.spec.in_persons:
            return self.spec.check(release, **self.params, users=users)
        return self.spec.check(release, **self.params)


@dataclass(frozen=True)
class MethodSpec:
    """A published algorithm: what it is called, which model it reaches, its own parameters, and how to run it.

    `run(data, job, **params)` gets the model's and the method's parameters, all parsed, and returns a `Draft`.
    `needs` names what the data must bring: "sensitive", "users", "sensitivity". `units` says what it can count: a
    method that reaches promises in persons gets `unit="user"` where users repeat, and finds them in the data. `cuts`
    says that the draft brings a cut
    through a hierarchy, `patterns` that it brings a table of users' patterns, `columns` that it takes columns beside
    the items, and items with quantities.
    """

    name: str
    title: str
    model: str
    summary: str
    params: tuple[Param, ...]
    run: Callable[..., Draft]
    paper: str
    seeded: bool = False
    needs: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ("transaction",)
    cuts: bool = False
    patterns: bool = False
    columns: bool = False

    @property
    def about(self) -> dict[str, str]:
        """The method in words, for reports."""
        return {"title": self.title, "summary": self.summary, "paper": self.paper}
