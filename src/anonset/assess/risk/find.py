"""Every attacker that fits, let loose on one release: what each found, and what the model does not even try to stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from anonset.assess.risk.attackers import ATTACKS, attack_spec
from anonset.assess.risk.kept import kept_share
from anonset.assess.risk.objections import objections
from anonset.assess.risk.spec import DRAWS, Case
from anonset.assess.risk.words import sentence
from anonset.data.errors import InputError
from anonset.data.findings import PARTS, Finding, Findings
from anonset.data.hierarchy import read_hierarchy
from anonset.data.job import Job
from anonset.data.release import Result
from anonset.models import model


def find(case: Case, names: Iterable[str] | None = None) -> Findings:
    """What these attackers find, all of them by default; which of them do not fit is said.

    Examples
    --------
    >>> from anonset.data.release import Release
    >>> from anonset.data.transactions import Transactions
    >>> data = Transactions.from_lists([["a", "b"], ["a", "c"], ["a"], ["a"]])
    >>> published = Release(Transactions.from_lists([["a"], ["a"], ["a"], ["a"]]))
    >>> found = find(Case(data, published), ["whole-basket"]).attacks[0]
    >>> found.before, found.after
    (0.75, 0.125)
    """
    specs = list(ATTACKS.values()) if names is None else [attack_spec(name) for name in names]
    found: list[Finding] = []
    left_out: dict[str, str] = {}
    for spec in specs:
        why = spec.lacks(case)
        try:
            findings = () if why else spec.run(case)
        except InputError as error:  # original and release cannot be put side by side
            findings, why = (), str(error)
        found += (replace(one, sentence=sentence(one)) for one in findings)
        if not findings:
            left_out[spec.name] = why or "there is nobody to attack"
    return Findings(tuple(found), remaining=tuple(_remaining(found, case)), left_out=left_out)


def _remaining(found: Iterable[Finding], case: Case) -> Iterable[str]:
    """For each part the attacks that the model is not meant to stop, in one plain sentence without figures."""
    if case.model is None:
        return
    found = list(found)
    for part in PARTS:
        names = [ATTACKS[one.name] for one in found if one.part == part and not one.stopped and one.after > 0]
        knows = dict.fromkeys(spec.knows for spec in names)
        if knows:
            yield f"{_WORDS[part]} Not prevented: an attacker who knows {'; or '.join(knows)}."


_WORDS = {
    "singling out": "Finding a person's transaction is still possible.",
    "linkability": "Linking transactions of a person is still possible.",
    "inference": "Guessing a sensitive item better than by chance is still possible.",
}


def case_of(result: Result, job: Job) -> Case:
    """The case of a result that knows its original."""
    assert result.source is not None
    tree = result.cut.hierarchy if result.cut is not None else None
    if result.levels is not None:
        tree = result.levels.tree
    if tree is None and result.params.get("hierarchy") is not None:
        tree = read_hierarchy(result.params["hierarchy"])
    verdict = result.verdict
    promised = model(verdict.model, **verdict.params, unit=verdict.unit)
    speaks = "singling out" in promised.spec.stops
    return Case(
        data=result.source,
        release=result.release,
        row_origin=result.row_origin,
        model=promised,
        method=result.method,
        params=result.params,
        hierarchy=tree,
        job=job,
        draws=DRAWS if speaks else DRAWS // 5,  # what the model does not promise needs no narrow interval
    )


def attack_result(result: Result, job: Job) -> Findings:
    """What all attackers that fit find, and what of it stands against publishing."""
    return find_all(case_of(result, job), result.measurements)


def find_all(case: Case, measured: Mapping[str, Any]) -> Findings:
    """What all attackers that fit a case find, and what stands against publishing; `measured` by the method itself."""
    with case.job.stage("attack"):
        found = find(case)
        found = replace(found, kept=kept_share(case))
        return replace(found, objections=tuple(objections(case, found, measured)))
