"""What attackers found, for people: a few lines after a run, and a table of three parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from anonset.cli.base.console import table

if TYPE_CHECKING:
    from anonset.data.findings import Finding, Findings

GOOD, BAD, OPEN = "green", "bold red", "yellow"


def summary(found: Findings | None, published: bool) -> Iterator[tuple[str, Any]]:
    """Lines on each part: the attack before and after, what is left of the data, what stands against publishing."""
    from rich.text import Text

    from anonset.assess.risk.words import share
    from anonset.cli.base.spelling import spelt
    from anonset.data.errors import worded
    from anonset.data.findings import PARTS

    if found is None:
        return
    for part in PARTS:
        best = found.headline(part)
        if best is not None:
            yield part, _line(best)
            other = max((one for one in found.of(part) if not one.stopped), key=lambda one: one.after, default=None)
            if other is not None and other.after > best.after:
                yield "", Text(f"{other.title}: {share(other.after)}; this promise does not prevent it", OPEN)
    if found.kept is not None:
        yield "what is left", Text(f"{share(found.kept)} of the items are told (private)", _kept(found))
    if found.needed and published:
        yield "accepted", Text(", ".join(found.needed), BAD)
    if found.refused and not published:
        said = dict.fromkeys((*(one.found for one in found.refused), *(one.help for one in found.refused if one.help)))
        yield "would be refused", Text(worded(" ".join(said), spelt), BAD)


def _line(found: Finding) -> Any:
    """One attack in words: `4 items known: right in 62.4 % before, 0.7 % after (at most 20.0 % promised)`."""
    from rich.text import Text

    from anonset.assess.risk.words import share

    before = "" if found.before is None else f"{share(found.before)} before, "
    limit = ": this promise does not prevent it"
    if found.limit is not None:
        limit = f" (promised: at most {share(found.limit)})"
    color = BAD if found.broken else GOOD if found.stopped else OPEN
    return Text(f"{found.title}: right in {before}{share(found.after)} after{limit}", color)


def _kept(found: Findings) -> str:
    return BAD if any(one.accept == "loss" for one in found.objections) else GOOD


def attack_table(found: Findings) -> list[Any]:
    """All attacks, in three parts."""
    from anonset.assess.risk.words import share
    from anonset.data.findings import PARTS

    shown: list[Any] = []
    columns = ("attack", "before", "after", "± 95 %", "found", "then", "promised")
    for part in PARTS:
        rows = [
            (
                one.title,
                "–" if one.before is None else share(one.before),
                ("≤ " if one.upper_bound else "") + share(one.after),
                "" if one.exact else share((one.interval[1] - one.interval[0]) / 2),
                one.certain_before,
                one.certain,
                "–" if one.limit is None else f"{share(one.limit)}{': BROKEN' if one.broken else ''}",
            )
            for one in found.of(part)
        ]
        shown += ["", part.capitalize()]
        shown.append(table(columns, rows, numbers=columns[1:6]) if rows else "No attack fits here.")
    return shown


EXPLAINED = (
    "before, after: how often the attacker is right; found, then: how many are found out for certain, before and "
    "after; promised: the chance that the attack is not to exceed, – where the promise does not speak about it."
)
