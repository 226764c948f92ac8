"""What a verdict says about persons, for people and for machines: who checked what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonset.cli.base.console import measured

if TYPE_CHECKING:
    from anonset.data.release import Verdict


def in_persons(verdict: Verdict, checked: str = "by the owner at publishing") -> list[tuple[str, Any]]:
    """Lines on the part of a promise that counts users; none where only transactions are counted."""
    from anonset.models.wording import who_checks

    if verdict.persons is None:
        return []
    return [
        ("in persons", f"{'' if verdict.persons.holds else 'does not hold: '}{verdict.persons.promise}."),
        ("measured there", measured(verdict.persons.measured)),
        ("checked", f"{who_checks(verdict, checked)}."),
    ]


def persons_json(verdict: Verdict) -> dict[str, Any] | None:
    """The same for machines."""
    from anonset.models.wording import who_checks

    persons = verdict.persons
    if persons is None:
        return None
    return {
        "promise": persons.promise,
        "holds": persons.holds,
        "measured": persons.measured,
        "checked": who_checks(verdict),
    }
