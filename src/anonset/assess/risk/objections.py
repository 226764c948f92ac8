"""What stands against publishing a release although its promise holds.

- An attack that the model is meant to stop succeeds more often than promised, beyond chance.
- Under a model that is meant to stop singling out, not even half of those are hidden who could be singled out before by
  what the model says that an attacker knows; or the release is the original in another order while anybody is.
- A sensitive item is certain for somebody.
- Next to nothing is left: all transactions alike or empty, under 5 % of the item occurrences told at any level of a
  hierarchy, or no pattern of anybody's kept.

What would help is not guessed here: see `gate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from anonset.assess.risk.attackers.whole_basket import codes, set_codes
from anonset.assess.risk.spec import Case
from anonset.assess.risk.words import share
from anonset.data.errors import InputError
from anonset.data.findings import Finding, Findings, Objection
from anonset.data.transactions import Transactions

LEAST_KEPT = 0.05
LOOKING = ("known-items", "whole-basket")
"""The attacks that tell how many are singled out."""


def objections(case: Case, found: Findings, measured: Mapping[str, Any]) -> Iterator[Objection]:
    """All reasons not to publish; `measured` are the method's own figures."""
    yield from _broken(found)
    yield from _not_hidden(case, found)
    yield from _certain(found)
    yield from _worthless(case, found.kept, measured)


def _broken(found: Findings) -> Iterator[Objection]:
    for one in found:
        if one.broken:
            assert one.limit is not None
            most = f", in the worst case in {share(one.worst)}" if one.each and one.worst > one.after else ""
            yield Objection(
                one.part.replace(" ", "-"),
                f"Somebody who knows {one.knows}, is right in {share(one.after)} of cases{most}; "
                f"the promise allows {share(one.limit)}.",
            )


def _not_hidden(case: Case, found: Findings) -> Iterator[Objection]:
    if case.model is None or "singling out" not in case.model.spec.stops:
        return
    looking = [one for one in found if one.name in LOOKING and one.certain_before]
    speaks = [one for one in looking if one.stopped] or ([] if _limited(case) else looking)
    left = [one for one in speaks if 2 * one.certain > one.certain_before]
    if left and _same_sets(case):
        worst = max(left, key=lambda one: one.certain)
        yield Objection(
            "singling-out",
            f"The release is the original in another order: somebody who knows {worst.knows}, finds "
            f"{_people(worst)} for certain, before and after.",
        )
    elif left:
        worst = max(left, key=lambda one: one.certain / one.certain_before)
        yield Objection(
            "singling-out",
            f"Somebody who knows {worst.knows}, finds {_people(worst)} for certain, and found {worst.certain_before:,} "
            "before: not even half of them are hidden.",
        )


def _limited(case: Case) -> bool:
    """Whether the model promises a number against any of the attacks that single out."""
    assert case.model is not None
    return any(case.limit(name, known) is not None for name in LOOKING for known in (1, None))


def _people(found: Finding) -> str:
    return f"{found.certain:,} of {found.attacked:,}"


def _same_sets(case: Case) -> bool:
    """Whether the same sets are published as there were, as often."""
    try:
        _, before, after = set_codes(case)
    except InputError:
        return False
    seen_as = case.facts.seen_as
    if seen_as is not None and len(np.unique(seen_as)) < len(seen_as):
        return False
    return len(before) == len(after) and bool((np.sort(before) == np.sort(after)).all())


def _certain(found: Findings) -> Iterator[Objection]:
    for one in found.of("inference"):
        if one.certain and one.name in SURE:
            yield Objection(
                "inference",
                f"A sensitive item is certain for {one.certain:,} of {one.attacked:,} that hold one, to somebody who "
                f"knows {one.knows}.",
            )


SURE = ("homogeneity", "posterior")
"""The attacks whose certainty is the attacker's own; other guesses turn out right or wrong."""


def _worthless(case: Case, kept: float | None, measured: Mapping[str, Any]) -> Iterator[Objection]:
    sets, original = case.release.transactions.quasi(), case.data.quasi()
    several = len(sets) >= 2 * _least_group(case) or not kept
    if case.release.form == "rows" and several and _alike(sets) and not _mostly_alike(original):
        what = "empty" if not sets.nnz else "alike"
        yield Objection(
            "loss", f"All {len(sets):,} published transactions are {what}: nothing can be learnt from them."
        )
    elif kept is not None and kept < LEAST_KEPT and original.nnz:
        yield Objection("loss", f"The release tells {share(kept)} of the items that were there, at any level.")
    if measured.get("patterns_kept") == 0:
        yield Objection("loss", "No pattern of anybody's is kept.")


def _least_group(case: Case) -> int:
    """So many transactions must be equal; where there are fewer than twice as many, all of them have to be."""
    name = None if case.model is None else case.model.spec.group_size
    return int(case.params.get(name, 1)) if name else 1


def _alike(sets: Transactions) -> bool:
    return len(sets) < 2 or len(np.unique(codes(sets)[0])) == 1


def _mostly_alike(sets: Transactions) -> bool:
    """Whether most transactions were alike before."""
    return len(sets) < 2 or 2 * int(np.bincount(codes(sets)[0]).max()) > len(sets)
