"""What a report says, as plain data: the JSON file is this, and the page shows it.

Everything under `private` is computed from the original. A public report has no such part.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from anonset.assess.align import Pair, pair
from anonset.assess.risk import attack, infer, link
from anonset.assess.risk.find import find
from anonset.assess.risk.persons import IN_PERSONS
from anonset.assess.risk.spec import Case
from anonset.assess.utility import measure
from anonset.assess.utility.discernibility import group_sizes
from anonset.data.errors import InputError
from anonset.data.hierarchy import Hierarchy
from anonset.data.job import Job
from anonset.data.release import Release, Result, Verdict
from anonset.data.transactions import Longs, Transactions
from anonset.data.version import VERSION
from anonset.io.publish.certificate import plain
from anonset.models import model, model_spec
from anonset.models.wording import who_checks
from anonset.reports.tree import drawing

KNOWN = (1, 2, 3, 4)
HIDDEN = {"seed", "threads"}
LIBRARIES = ("numpy", "scipy", "pyarrow", "duckdb", "plotly")


def content(
    result: Result,
    data: Transactions | None,
    *,
    public: bool,
    job: Job | None = None,
    hierarchy: Hierarchy | None = None,
) -> dict[str, Any]:
    """The content of the report; `data` is needed for a private one."""
    said = _published(result)
    if not public:
        if data is None:
            raise InputError("A private report compares with the original: give the data, or make it public.")
        said["private"] = _private(result, data, job or Job(result.seed), hierarchy)
    return said


def _published(result: Result) -> dict[str, Any]:
    spec = model_spec(result.verdict.model)
    certificate = result.certificate
    return {
        "anonset": "report",
        "version": VERSION,
        "model": {
            "name": spec.name,
            "title": spec.title,
            "paper": spec.paper,
            "params": dict(result.verdict.params),
            "meaning": spec.in_plain_words(result.verdict.params, result.verdict.measured),
            "stops": list(spec.stops),
            "headline": spec.headline,
        },
        "promise": result.verdict.promise,
        "holds": result.verdict.holds,
        "measured": dict(result.verdict.measured),
        "persons": _persons(result.verdict),
        "witnesses": [vars(witness) for witness in result.verdict.witnesses],
        "method": {
            **_method(result),
            "params": {name: plain(value) for name, value in result.params.items() if name not in HIDDEN},
        },
        "release": _release(result.release),
        "files": {} if certificate is None else dict(certificate.files),
        "notes": list(result.public_notes),
        "changed": _changed(result),
        **_beyond(result),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


def _persons(verdict: Verdict) -> dict[str, Any] | None:
    """The promise in persons, and who checked what."""
    if verdict.persons is None:
        return None
    return {
        "promise": verdict.persons.promise,
        "holds": verdict.persons.holds,
        "measured": dict(verdict.persons.measured),
        "checked": who_checks(verdict),
    }


def _beyond(result: Result) -> dict[str, list[str]]:
    """What the promise does not prevent, in sentences without figures, and what was accepted: as in the certificate."""
    if result.certificate is not None:
        return {"remaining": [*result.certificate.remaining], "accepted": [*result.certificate.accepted]}
    return {"remaining": [] if result.findings is None else [*result.findings.remaining], "accepted": []}


def _changed(result: Result) -> str:
    """That transactions were changed, in one sentence without figures: those are computed from the original."""
    if result.cut is not None:
        return "Items are published under broader names, or not at all."
    if result.release.form == "groups":
        return "Ordinary items are unchanged; sensitive items are no longer in their transactions."
    done = [word for word in ("removed", "added") if result.measurements.get(f"items_{word}")]
    if not done and "items_removed" in result.measurements:
        return "No item was removed from a transaction or added to one."
    if not done:
        return "Items may have been removed from transactions and added to others."
    said = " and ".join(
        {"removed": "removed from transactions", "added": "added to transactions"}[word] for word in done
    )
    return f"To keep the promise items were {said}: a single transaction is not what it was."


def _method(result: Result) -> dict[str, str]:
    """What is known about the method; of somebody else's only its name."""
    name = result.method
    return {"name": name or "unknown", "title": name or "not known", "summary": "", "paper": "", **result.about}


def _release(release: Release) -> dict[str, Any]:
    data = release.transactions
    sizes = group_sizes(release)
    inference = infer(release)
    return {
        "form": release.form,
        "transactions": len(release),
        "items": data.n_items,
        "occurrences": data.nnz,
        "mean_length": data.nnz / max(1, len(release)),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()) if len(sizes) else 0,
        "largest_group": int(sizes.max()) if len(sizes) else 0,
        "inference": None if inference is None else inference.to_dict(),
    }


def _private(result: Result, data: Transactions, job: Job, tree: Hierarchy | None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "transactions": len(data),
        "items": data.n_items,
        "occurrences": data.nnz,
        "account": result.account() if result.source is not None else {},
        "notes": [note for note in result.notes if note not in result.public_notes],
        "seed": result.seed if len(result.seconds) else None,
        "seconds": dict(result.seconds),
        "measurements": {name: _plain(value) for name, value in result.measurements.items()},
        "hierarchy": None if result.cut is None else drawing(result.cut, data),
        "bound": None if result.bound is None else result.bound.to_dict(),
    }
    try:
        both = pair(data, result.release, source_of(result), tree)
    except InputError as error:
        return {**said, "not_compared": str(error), "attacks": [], "linking": [], "persons": [], "utility": []}
    measured = measure(
        data,
        result.release,
        source_of(result),
        hierarchy=tree,
        pattern_support=result.params.get("support"),
        job=job,
    )
    return {
        **said,
        "attacks": _attacks(both, job),
        "linking": [link(both, job, measure).to_dict() for measure in ("hamming", "jaccard")],
        "persons": _attacks_on_persons(result, data, job, tree),
        "utility": [
            {**found.to_dict(), "shown": found.figure.write(found.value), "help": found.figure.help}
            for found in measured.figures
        ],
        "not_measured": measured.left_out,
    }


def source_of(result: Result) -> Longs | None:
    """Which original is behind each published transaction; None for a release that was only read."""
    return result.row_origin if len(result.row_origin) == len(result.release) else None


def tree_of(result: Result) -> Hierarchy | None:
    """The hierarchy that the release was generalized with, if it was."""
    if result.levels is not None:
        return result.levels.tree
    return None if result.cut is None else result.cut.hierarchy


def _attacks(both: Pair, job: Job) -> list[dict[str, Any]]:
    found = [attack(both, m, job) for m in KNOWN]
    return [one.to_dict() for one in found if one.attacked]


def _attacks_on_persons(result: Result, data: Transactions, job: Job, tree: Hierarchy | None) -> list[dict[str, Any]]:
    """What attackers find who look for persons; nothing where the data name none, or nobody knows whose is whose."""
    verdict = result.verdict
    target = model(verdict.model, **verdict.params, unit=verdict.unit)
    case = Case(data, result.release, source_of(result), target, hierarchy=tree, job=job)
    return [one.to_dict() for one in find(case, IN_PERSONS)]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
