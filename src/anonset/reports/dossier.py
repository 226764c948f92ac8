"""The dossier: one page on a release that somebody who answers for the data can read, file and sign.

What, from which file, when, by whom, for which purpose, under which promise; the three criteria of the European data
protection authorities with what attackers really achieve, before and after; what remains possible and what was
accepted; which checks were made; two signatures. Behind the page comes the full report. All of it is private.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonset.assess.risk.words import share
from anonset.data.errors import ParameterError
from anonset.data.findings import PARTS, Finding, Findings, Part
from anonset.data.job import Job
from anonset.data.release import Result, Verdict
from anonset.data.transactions import Transactions
from anonset.data.version import VERSION
from anonset.io.publish.atomic import Staging
from anonset.io.publish.certificate import sha256
from anonset.models import model_spec
from anonset.models.wording import who_checks
from anonset.reports.terms import terms_in

if TYPE_CHECKING:
    from anonset.data.hierarchy import Hierarchy

PRIVATE = "PRIVATE"
FEW = 10
"""An attack on fewer persons is not what a part is judged by, where there is another."""
LONG = 2_700
"""Characters of facts above which the page is set smaller, so that it stays one page."""
QUESTIONS: Mapping[Part, str] = {
    "singling out": "Can somebody find one person's transaction in the release?",
    "linkability": "Can somebody see that two transactions belong to one person?",
    "inference": "Can somebody learn a sensitive item about a person?",
}
NOBODY: Mapping[Part, str] = {
    "singling out": "Not measured.",
    "linkability": "No attack of this kind fits: the release names no users, and it was compared with no earlier one.",
    "inference": "No item was named as sensitive, so there is nothing of this kind to learn.",
}


def dossier_path(path: Any) -> Path:
    """Where the dossier will be: it is private, and its name says so."""
    target = Path(path)
    if target.suffix != ".html":
        raise ParameterError("dossier", "end in .html", target.name, "Try dossier.html; a browser prints it as PDF.")
    if PRIVATE not in target.stem:
        target = target.with_name(f"{target.stem}.{PRIVATE}{target.suffix}")
    return target


def stage_dossier(
    stage: Staging,
    result: Result,
    data: Transactions,
    target: Path,
    findings: Findings,
    *,
    purpose: str = "",
    responsible: str = "",
    hierarchy: Hierarchy | None = None,
    job: Job | None = None,
) -> None:
    """Prepare a dossier for publishing with the rest; `hierarchy` where the result does not know it itself."""
    from anonset.reports.content import content, tree_of
    from anonset.reports.page import figures, harmless, templates
    from anonset.reports.policy import sealed

    tree = hierarchy or tree_of(result)
    report = content(result, data, public=False, job=job, hierarchy=tree)
    said = facts(result, data, findings, purpose=purpose, responsible=responsible)
    drawn = {name: json.loads(chart.to_json()) for name, chart in figures(report, result, data, tree).items()}
    from plotly.offline import get_plotlyjs

    text = (
        templates()
        .get_template("dossier.html.j2")
        .render(dossier=harmless(said), said=harmless(report), charts=drawn, plotly=get_plotlyjs())
    )
    stage.file(target).write_text(sealed(text), encoding="utf-8")


def facts(
    result: Result, data: Transactions, findings: Findings, *, purpose: str = "", responsible: str = ""
) -> dict[str, Any]:
    """What the page says, as plain data."""
    verdict, certificate = result.verdict, result.certificate
    spec = model_spec(verdict.model)
    said = {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": VERSION,
        "purpose": purpose,
        "responsible": responsible,
        "sources": [{"name": Path(path).name, "sha256": sha256(Path(path))} for path in result.read_from],
        "original": f"{len(data):,} transactions of {data.n_items:,} different items",
        "files": {} if certificate is None else dict(certificate.files),
        "published": _published(result),
        "promise": f"{verdict.promise[:1].upper()}{verdict.promise[1:]}.{_also_in_persons(verdict)}",
        "meaning": _meaning(spec.in_plain_words(verdict.params, verdict.measured), findings),
        "holds": verdict.holds,
        "made_with": _made_with(result),
        "parts": [_part(findings, part) for part in PARTS],
        "attacks": [_row(one) for one in findings],
        "remaining": [*_inside(findings), *findings.remaining],
        "accepted": [one.sentence for one in findings.objections if one.accept in findings.accepted],
        "accepted_names": list(findings.accepted),
        "refused": [one.sentence for one in findings.refused],
        "left": list(_left(result, findings)),
        "checks": list(_checks(result, findings)),
        "notes": list(result.public_notes),
    }
    shown = {name: value for name, value in said.items() if name != "attacks"}
    terms = terms_in([*_texts(shown), *_words(said)])
    return {**said, "terms": terms, "long": sum(map(len, _texts([shown, terms]))) > LONG}


def _words(said: Mapping[str, Any]) -> Iterator[str]:
    """What the page itself says around the facts."""
    yield from (*QUESTIONS.values(), "release", "attack")
    if said["sources"] or said["files"]:
        yield "sha256"
    rows = [row for part in said["parts"] for row in part["rows"]]
    if any(row["certain"] or row["certain_before"] for row in rows):
        yield "for certain"


def _meaning(text: str, findings: Findings) -> str:
    """What the promise means for a person, unless attackers have shown that it does not mean that here."""
    if any(one.broken for one in findings):
        return "Attackers learn more all the same: see below."
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _published(result: Result) -> str:
    release, data = result.release, result.release.transactions
    grouped = " in groups" if release.form == "groups" else ""
    return f"{len(release):,} transactions{grouped} of {data.n_items:,} different items"


def _made_with(result: Result) -> str:
    """The method and what was set, as on the command line."""
    names = {**result.verdict.params, **result.params}
    given = ", ".join(f"{name} {value}" for name, value in names.items() if isinstance(value, (int, float, str)))
    return f"method {result.method or 'unknown'}" + (f"; {given}" if given else "")


def _part(findings: Findings, part: Part) -> dict[str, Any]:
    found = findings.of(part)
    return {
        "part": part,
        "question": QUESTIONS[part],
        "rows": [_row(one) for one in _strongest(found)],
        "tried": len(found),
        "none": "" if found else NOBODY[part],
    }


def _strongest(found: tuple[Finding, ...]) -> list[Finding]:
    """Of the attacks that the promise is meant to stop, and of the others, the one that succeeds most."""
    groups = ([one for one in found if one.stopped], [one for one in found if not one.stopped])
    return [
        max(own, key=lambda one: (one.broken, one.attacked >= FEW, one.after, one.certain)) for own in groups if own
    ]


def _row(found: Finding) -> dict[str, Any]:
    if found.broken:
        state, answer = "bad", f"succeeds more often than the promise allows ({share(found.limit or 0.0)})"
    elif found.stopped and found.limit is not None:
        state, answer = "good", f"within the promise: at most {share(found.limit)}"
    elif found.stopped:
        state, answer = "good", "the promise is meant to stop this"
    else:
        state, answer = "open", "the promise is not meant to stop this"
    most = "at most " if found.upper_bound else ""
    return {
        "title": found.title or found.name,
        "part": found.part,
        "knows": found.knows,
        "before": "–" if found.before is None else share(found.before),
        "after": f"{most}{share(found.after)}",
        "between": "" if found.exact else f"{share(found.interval[0])} to {share(found.interval[1])}",
        "certain": found.certain,
        "certain_before": found.certain_before,
        "attacked": found.attacked,
        "state": state,
        "answer": answer,
    }


def _also_in_persons(verdict: Verdict) -> str:
    """The promise in persons, where it was made."""
    return "" if verdict.persons is None else f" In persons: {verdict.persons.promise}."


def _inside(findings: Findings) -> Iterator[str]:
    """That the promise lets something through, too."""
    stopped = [one for one in findings if one.stopped]
    if stopped:
        most = max(stopped, key=lambda one: one.after)
        yield f"Of the attacks that the promise is meant to stop, the best is still right in {share(most.after)}."


def _left(result: Result, findings: Findings) -> Iterator[str]:
    """What the release is still worth."""
    if findings.kept is not None:
        kept = share(findings.kept)
        yield f"The release still tells {kept} of the items that were there, as themselves or as a category."
    lost = result.measurements
    if "items_removed" in lost and "items_added" in lost:
        yield f"{lost['items_removed']:,} items were removed and {lost['items_added']:,} were added."
    if "patterns_kept" in lost:
        yield f"{share(float(lost['patterns_kept']))} of the users' patterns are kept."


def _checks(result: Result, findings: Findings) -> Iterator[str]:
    verdict = result.verdict
    held = "It holds." if verdict.holds else "It does not hold."
    yield f"The promise was checked on the published data alone, by code that shares nothing with the method. {held}"
    if verdict.persons is not None:
        held = "holds" if verdict.persons.holds else "does not hold"
        yield f"The promise was checked in persons with the private list of users. It {held}. {who_checks(verdict)}."
    if result.certificate is not None:
        yield "The release was written, read back and checked once more as a file before it got its name."
    if len(findings):
        drawn = sum(not one.exact for one in findings)
        sampled = f"; {drawn:,} of them on random samples" if drawn else ""
        yield f"{len(findings):,} attacks were tried on the release and on the original{sampled}."


def _texts(value: Any) -> Iterable[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _texts(entry)
