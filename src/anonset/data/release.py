"""What is published, whether it keeps its promise, and the paper that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from anonset.data.balance import published_account, read_account
from anonset.data.display import Picture, Shown
from anonset.data.errors import InputError
from anonset.data.frames import Framed, Tabled
from anonset.data.targets import Targets
from anonset.data.transactions import Ints, Longs, Transactions, exact

if TYPE_CHECKING:
    import os

    from anonset.data.findings import Findings
    from anonset.data.hierarchy import Cut
    from anonset.data.hierarchy.nodes import Levels
    from anonset.data.patterns import PatternTable


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How often each sensitive item occurs in each group: three columns of equal length."""

    group: Ints
    item: Ints  # codes into the release's labels
    count: Longs

    def __post_init__(self) -> None:
        for name, dtype in (("group", np.int32), ("item", np.int32), ("count", np.int64)):
            object.__setattr__(self, name, exact(getattr(self, name), dtype, name))


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What is published and nothing more, in one of two forms.

    *rows*: recoded transactions, with their sensitive items beside them where the model lets them through.
    *groups*: exact quasi-identifier items, the group of each transaction, and per group the counts of the
    sensitive items.
    """

    transactions: Transactions
    groups: Ints | None = None
    counts: GroupCounts | None = None

    def __post_init__(self) -> None:
        if (self.groups is None) != (self.counts is None):
            raise InputError("A release in groups needs both the groups and the counts of their sensitive items.")
        if self.groups is not None:
            object.__setattr__(self, "groups", exact(self.groups, np.int32, "groups"))
        if self.groups is not None and len(self.groups) != len(self.transactions):
            raise InputError("Every transaction of a release in groups needs its group.")

    @property
    def form(self) -> Literal["rows", "groups"]:
        """`rows` or `groups`."""
        return "rows" if self.groups is None else "groups"

    def __len__(self) -> int:
        return len(self.transactions)

    def __repr__(self) -> str:
        return f"Release({self.form}, {self.transactions!r})"


@dataclass(frozen=True)
class Witness:
    """One reason why a promise does not hold, in terms of what is published, for a person to check by hand."""

    statement: str
    items: tuple[str, ...] = ()
    size: int = 0


@dataclass(frozen=True)
class Verdict(Shown):
    """Whether a release keeps a promise.

    `measured` holds the strongest parameters that really hold (the largest k, the smallest degree …).
    A verdict that does not hold always carries witnesses. `promise`, `measured` and `witnesses` speak about what is
    published, which anybody can check. `persons` is the same promise counted in users: it was checked by the owner, who
    knows them, and `holds` needs both.
    """

    model: str
    params: Mapping[str, Any]
    promise: str
    holds: bool
    measured: Mapping[str, Any]
    witnesses: tuple[Witness, ...] = ()
    persons: Verdict | None = None

    def __post_init__(self) -> None:
        if not self.holds and not self.witnesses:
            raise InputError("A verdict that does not hold must carry a witness.")

    def __bool__(self) -> bool:
        return self.holds

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: the promise, whether it holds, and what was measured."""
        yield from (("promise", self.promise), ("holds", self.holds))
        yield from ((f"measured {name}", value) for name, value in self.measured.items())
        if self.persons is not None:
            yield "in persons", self.persons.promise
            yield from ((f"measured in persons {name}", value) for name, value in self.persons.measured.items())
        yield from (("witness", witness.statement) for witness in self.witnesses[:3])

    def picture(self) -> Picture | None:
        """What is promised beside what was measured, for the numbers that are in both."""
        both = [name for name, value in self.params.items() if _number(value) and _number(self.measured.get(name))]
        series = tuple((what, [float(values[name]) for name in both]) for what, values in self._numbers())
        return Picture("Promised and measured", both, series) if both else None

    def _numbers(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        return (("promised", self.params), ("measured", self.measured))

    @property
    def unit(self) -> str:
        """What was counted: `user` where the owner checked the promise in persons, else `transaction`."""
        return "transaction" if self.persons is None else "user"

    @property
    def holds_in_transactions(self) -> bool:
        """Whether what is promised of transactions holds: what anybody can check."""
        return self.holds or (self.persons is not None and len(self.witnesses) == len(self.persons.witnesses))

    def with_persons(self, persons: Verdict) -> Verdict:
        """This verdict together with the one in persons: both must hold."""
        witnesses = self.witnesses + persons.witnesses
        return replace(self, holds=self.holds and persons.holds, witnesses=witnesses, persons=persons)


@dataclass(frozen=True)
class Certificate:
    """The public record of a release: the promise, who made it how, and the files it speaks about.

    It holds no loss figures, no seed and nothing about a person.
    """

    model: str
    parameters: Mapping[str, Any]
    promise: str
    method: str
    method_parameters: Mapping[str, Any]
    measured: Mapping[str, Any]
    sensitive_items: tuple[str, ...]
    transactions: int
    files: Mapping[str, str]  # file name → sha256
    version: str
    notes: tuple[str, ...] = ()  # what a reader of the files should know
    unit: str = "transaction"
    persons: Mapping[str, Any] | None = None  # the promise in users, which the owner checked when publishing
    columns: Mapping[str, str] = field(default_factory=dict)  # how to read those beside the items
    remaining: tuple[str, ...] = ()  # what the model is not meant to prevent and this release does not prevent
    accepted: tuple[str, ...] = ()  # what stood against publishing, and was accepted by the owner

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {"anonset": "certificate", **asdict(self)}


@dataclass(frozen=True, eq=False)
class Tours:
    """Closed tours through original transactions: the last one of each tour is a neighbour of its first.

    Examples
    --------
    >>> [tour.tolist() for tour in Tours(np.array([2, 0, 1, 3]), np.array([0, 3, 4]))]
    [[2, 0, 1], [3]]
    """

    transactions: Longs
    bounds: Longs  # tour s is transactions[bounds[s]:bounds[s + 1]]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, tour: int) -> Longs:
        if not 0 <= tour < len(self):
            raise IndexError(tour)
        return self.transactions[self.bounds[tour] : self.bounds[tour + 1]]


@dataclass(frozen=True, eq=False)
class Draft:
    """What a method hands over before `unlink`: a release still in the source's order.

    `row_origin[i]` is the original transaction behind published transaction `i`, or −1 for one that the method
    invented. A method that invents transactions or leaves some out says how many: `transactions_added` and
    `transactions_removed` among its `measurements`. These are the method's own figures; they are private, like
    everything computed from the original; so are its `notes`. `public_notes` are what every reader of the release
    should know; they go into the certificate. A method that publishes nodes of a hierarchy hands over its cut.
    A method that makes transactions equal in groups says which: `groups[t]` is that of original transaction `t`; one
    that walks through them on closed tours hands these over; one that rewrites users' patterns hands over the table;
    one that publishes categories beside items hands over their levels.
    """

    release: Release
    row_origin: Longs
    measurements: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cut: Cut | None = None
    public_notes: tuple[str, ...] = ()
    groups: Ints | None = None
    tours: Tours | None = None
    patterns: PatternTable | None = None
    levels: Levels | None = None

    @classmethod
    def of_rows(cls, transactions: Transactions, measurements: Mapping[str, Any] | None = None) -> Draft:
        """A draft in rows that keeps the order and number of the original transactions."""
        return cls(Release(transactions), np.arange(len(transactions), dtype=np.int64), measurements or {})


@dataclass(frozen=True)
class Bound:
    """No k-anonymous release of the data loses fewer than `loss` items; `ratio` divides by all quasi-identifier items.

    Where `confidence` is 1 that is certain. Otherwise the bound comes from `sample` transactions drawn at random, and
    the statement is false with a probability of at most 1 − `confidence`; `estimate` is the ratio that the sample
    shows, without the margin for chance.
    """

    k: int
    loss: float
    ratio: float
    confidence: float = 1.0
    estimate: float | None = None
    sample: int | None = None

    @property
    def error(self) -> float:
        """How much of the ratio is the margin for chance."""
        return 0.0 if self.estimate is None else self.estimate - self.ratio

    def gap_closed(self, baseline: float, loss: float) -> float:
        """Which share of the way from a baseline's loss down to this bound another loss has gone."""
        return (baseline - loss) / (baseline - self.loss) if baseline > self.loss else 0.0

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**asdict(self), "error": self.error}


_LOSSES = {
    "information_loss_ratio": "information loss",
    "ncp": "NCP",
    "attribute_loss_ratio": "attribute loss",
    "pattern_distance": "pattern distance",
}


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Attacker(Protocol):
    """Lets attackers loose on a release, once."""

    def findings(self) -> Findings:
        """What they achieve."""

    def helped(self, accept: tuple[str, ...]) -> Findings:
        """The same with what would help against each objection that is not accepted, tried on a sample."""


@dataclass(frozen=True, eq=False)
class Result(Shown, Framed):
    """What `anonymize` returns: the release, its verdict, and what only the owner of the data may see.

    Everything but `release`, `verdict`, `certificate` and `public_notes` is private: `row_origin` links each published
    transaction to the original one, `measurements` (information loss …) are computed from the original, and who
    knows the `seed` can undo the shuffling. `cut` says which node of a hierarchy each item is published as, where a
    method works that way. `bound` is there where it was asked for: the loss that no k-anonymous release can go
    below. `groups` says of each original transaction in which group it is, where a method makes groups (in a release in
    groups under the numbers that are published), and `tours` in which order it walked through them, as PTA does.
    `about` says what the method is, for reports: title, summary, paper.
    `patterns` says which patterns each user has and is to have, where a method rewrites them, as KAMP does. `source` is
    the original; `publisher` knows how to write a result to its targets, `attacker` how to attack it (see `findings`),
    `tabled` how to lay it out as a table (see `to_pandas`, `to_polars`, `to_arrow`).
    """

    release: Release
    verdict: Verdict
    method: str
    params: Mapping[str, Any]
    row_origin: Longs
    seed: int
    measurements: Mapping[str, Any]
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = None
    cut: Cut | None = None
    public_notes: tuple[str, ...] = ()
    bound: Bound | None = None
    groups: Ints | None = None
    tours: Tours | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    patterns: PatternTable | None = None
    source: Transactions | None = None
    levels: Levels | None = None  # of the hierarchy whose categories are published beside items
    publisher: Callable[[Result, Targets], Result] | None = None
    attacker: Attacker | None = None
    read_from: tuple[str, ...] = ()  # the files that the original was read from
    tabled: Tabled | None = None

    @property
    def findings(self) -> Findings | None:
        """What attackers achieve against the release, and what stands against publishing it.

        The attackers start when this is asked for first. None where the original is not known.

        Examples
        --------
        >>> import anonset
        >>> result = anonset.anonymize([["wine", "bread"]] * 3 + [["beer"], ["bread"], []], k=3, seed=1)
        >>> [found.name for found in result.findings.of("singling out") if found.broken]
        []
        """
        return None if self.attacker is None else self.attacker.findings()

    def account(self) -> dict[str, Any]:
        """What came in and what goes out, in figures. Private.

        Examples
        --------
        >>> import anonset
        >>> account = anonset.anonymize([["wine", "bread"]] * 3 + [["beer"]] * 3, k=3, seed=1).account()
        >>> account["read"]["rows"], account["published"]["transactions"], account["published"]["left_out"]
        (6, 6, 0)
        """
        source = self.source
        reached = len(np.unique(self.row_origin[self.row_origin >= 0]))
        left_out = 0 if source is None else len(source) - reached
        read = {} if source is None else read_account(source)
        return {"read": read, "published": published_account(self.release.transactions, left_out)}

    def write(self, path: str | os.PathLike[str], **targets: Any) -> Result:
        """Publish the release at `path`, checked once more as a file, with its certificate beside it.

        `targets` are the other fields of `anonset.Targets`: `format`, `force`, `report`, `sign`, ….

        Examples
        --------
        >>> import anonset, tempfile
        >>> result = anonset.anonymize([["wine", "bread"]] * 3 + [["beer"]] * 3, k=3, seed=1)
        >>> result.write(tempfile.mkdtemp() + "/release.csv").certificate.transactions
        6
        """
        return self._publish(Targets(out=path, **targets))

    def report(self, path: str | os.PathLike[str], *, public: bool = False, force: bool = False) -> Result:
        """Write a report on the release (`.html` or `.json`); a private one says PRIVATE in its name."""
        return self._publish(Targets(report=path, public_report=public, force=force))

    def dossier(
        self, path: str | os.PathLike[str], *, purpose: str = "", responsible: str = "", force: bool = False
    ) -> Result:
        """Write the dossier: one page to file and sign, the full report behind it. It says PRIVATE in its name."""
        return self._publish(Targets(dossier=path, purpose=purpose, responsible=responsible, force=force))

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: promise and verdict, what is published, what was lost."""
        yield from (("method", self.method), ("promise", self.verdict.promise), ("holds", self.verdict.holds))
        yield "transactions", len(self.release)
        yield from ((name, value if name == "NCP" else f"{value:.1%}") for name, value in self.losses())
        yield from () if self.findings is None else self.findings.changes()

    def losses(self) -> Iterable[tuple[str, float]]:
        """What was lost, by the measures of the method."""
        return ((text, float(self.measurements[name])) for name, text in _LOSSES.items() if name in self.measurements)

    def picture(self) -> Picture | None:
        """What attackers achieve before and after; without the original what the verdict shows."""
        found = self.findings
        return (None if found is None else found.picture()) or self.verdict.picture()

    def _publish(self, targets: Targets) -> Result:
        if self.publisher is None:
            raise InputError("This result cannot be written: it was put together by hand. Use anonset.write.")
        return self.publisher(self, targets)

    def __repr__(self) -> str:
        ratio, penalty = (self.measurements.get(name) for name in ("information_loss_ratio", "ncp"))
        loss = "" if ratio is None else f", information loss {ratio:.1%}"
        loss += "" if penalty is None else f", NCP {penalty:.4f}"
        counts = self.measurements.get("attribute_loss_ratio")
        loss += "" if counts is None else f", attribute loss {counts:.1%}"
        return f"Result({self.method}: {self.verdict.promise}{loss})"
