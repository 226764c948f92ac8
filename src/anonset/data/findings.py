"""What attackers found out about a release, and what of it stands against publishing.

The three parts are those of the European data protection authorities (Article 29 Working Party, Opinion 05/2014 on
anonymisation techniques): singling out, linkability, inference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from anonset.data.display import Picture, Shown
from anonset.data.errors import OutcomeError, unknown

Part = Literal["singling out", "linkability", "inference"]
PARTS: tuple[Part, ...] = ("singling out", "linkability", "inference")
ACCEPTABLE = ("singling-out", "linkability", "inference", "loss")
"""What `accept` takes: a part of the findings, or that next to nothing is left of the data."""


@dataclass(frozen=True)
class Finding:
    """One attacker, before and after.

    Parameters
    ----------
    name, part
        The attack, as `anonset risk --attack` takes it, and what it threatens.
    knows
        What the attacker knows of a person, in words that follow "an attacker who knows".
    before, after, interval
        The mean chance of success against the original (None: there is nothing to compare with) and against the
        release, and the 95 % confidence interval of the latter, of no width where everything was counted.
    worst
        The largest chance of any attacked person, where the attack has one for each.
    certain, certain_before
        How many of those attacked are found out with certainty, after and before; `attacked` is their number.
    stopped
        Whether the model is meant to stop this attack.
    limit
        The chance that the model promises not to exceed; None where it promises no number.
    each
        Whether the limit is one for every person, not only on average.
    title
        The attack in two or three words, for tables.
    upper_bound
        Whether the success after is one that no attacker exceeds, because nobody knows whose transaction is whose.
    sentence
        The finding in one plain sentence.
    """

    name: str
    part: Part
    knows: str
    before: float | None
    after: float
    interval: tuple[float, float]
    worst: float
    certain: int
    attacked: int
    stopped: bool = False
    limit: float | None = None
    upper_bound: bool = False
    sentence: str = ""
    title: str = ""
    certain_before: int = 0
    each: bool = False

    @property
    def exact(self) -> bool:
        """Whether everything was counted, nothing drawn at random."""
        return self.interval[0] == self.interval[1]

    @property
    def broken(self) -> bool:
        """Whether an attack that the model is meant to stop succeeds more often than promised, not by chance."""
        if not self.stopped or self.limit is None:
            return False
        return max(self.interval[0], self.worst if self.each else 0.0) > self.limit + 1e-9

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {**asdict(self), "exact": self.exact, "broken": self.broken}


@dataclass(frozen=True)
class Objection:
    """A reason not to publish: what was found, which setting would help, and which `accept` publishes anyway."""

    accept: str
    found: str
    help: str = ""

    @property
    def sentence(self) -> str:
        """Everything in one line."""
        return " ".join(part for part in (self.found, self.help) if part)


@dataclass(frozen=True, repr=False)
class Findings(Shown):
    """What all attackers that fit found, what stands against publishing, and what was accepted.

    `remaining` says in plain sentences what the model is not meant to prevent and this release does not prevent;
    `left_out` which attacks could not be tried, and why.
    `kept` is the share of the item occurrences that the release still tells, at any level of a hierarchy; None where
    that is not known.

    Examples
    --------
    >>> objection = Objection("loss", "All published transactions are alike.")
    >>> findings = Findings(objections=(objection,))
    >>> len(findings.refused), len(findings.accepting("loss").refused)
    (1, 0)
    """

    attacks: tuple[Finding, ...] = ()
    objections: tuple[Objection, ...] = ()
    remaining: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    kept: float | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Any:
        return iter(self.attacks)

    def __len__(self) -> int:
        return len(self.attacks)

    def __repr__(self) -> str:
        said = [f"{name} {text}" for name, text in self.changes()]
        return f"Findings({'; '.join(said) or 'no attack fits'})"

    def changes(self) -> Iterable[tuple[str, str]]:
        """For each part its headline: the chance of success before and after."""
        for part in PARTS:
            one = self.headline(part)
            if one is not None:
                before = "" if one.before is None else f"{one.before:.1%} → "
                yield part, f"{before}{'at most ' if one.upper_bound else ''}{one.after:.1%}"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: each attack before and after, what stands against publishing, what remains."""
        for one in self.attacks:
            before = "" if one.before is None else f"{one.before:.1%} → "
            yield (
                f"{one.part}: {one.title or one.name}",
                f"{before}{one.after:.1%}{' (too much)' if one.broken else ''}",
            )
        yield from (("against publishing", one.found) for one in self.refused)
        yield from (("remains", sentence) for sentence in self.remaining)

    def picture(self) -> Picture | None:
        """How often each attack succeeds, in the original and in the release."""
        if not self.attacks:
            return None
        names = [one.title or one.name for one in self.attacks]
        before = [0.0 if one.before is None else one.before for one in self.attacks]
        series = (("before", before), ("after", [one.after for one in self.attacks]))
        return Picture("Success of attacks, before and after", names, series, "chance")

    def of(self, part: Part) -> tuple[Finding, ...]:
        """The findings of one part."""
        return tuple(finding for finding in self.attacks if finding.part == part)

    def headline(self, part: Part) -> Finding | None:
        """The finding that says most about one part: a broken one, then where most were found before, or are now."""
        found = self.of(part)
        return max(found, key=lambda one: (one.broken, one.stopped, one.certain_before, one.after)) if found else None

    @property
    def refused(self) -> tuple[Objection, ...]:
        """The objections that nobody has accepted."""
        return tuple(one for one in self.objections if one.accept not in self.accepted)

    def accepting(self, accept: str | Iterable[str] = ()) -> Findings:
        """The same findings with what the owner of the data accepts."""
        return replace(self, accepted=parse_accept(accept))

    @property
    def needed(self) -> tuple[str, ...]:
        """What was accepted of what stands against publishing."""
        objected = {one.accept for one in self.objections}
        return tuple(name for name in self.accepted if name in objected)

    def require(self) -> None:
        """An `OutcomeError` where something stands against publishing that was not accepted."""
        refused = self.refused
        if not refused:
            return
        names = tuple(dict.fromkeys(one.accept for one in refused))
        said = dict.fromkeys((*(one.found for one in refused), *(one.help for one in refused if one.help)))
        raise OutcomeError(f"{' '.join(said)} Nothing was published.", names)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return {
            "attacks": [finding.to_dict() for finding in self.attacks],
            "objections": [asdict(one) for one in self.objections],
            "remaining": list(self.remaining),
            "accepted": list(self.accepted),
            "kept": self.kept,
            "left_out": dict(self.left_out),
        }


def parse_accept(accept: str | Iterable[str]) -> tuple[str, ...]:
    """The names of what is accepted, checked; a text may name several, separated by commas.

    Examples
    --------
    >>> parse_accept("inference, loss")
    ('inference', 'loss')
    """
    given = accept.split(",") if isinstance(accept, str) else list(accept)
    names = [name.strip().replace(" ", "-") for name in given if name.strip()]
    for name in names:
        if name not in ACCEPTABLE:
            raise unknown("accept", name, ACCEPTABLE)
    return tuple(name for name in ACCEPTABLE if name in names)
