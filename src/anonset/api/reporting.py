"""A report or a dossier on a release that is there already, ours or anybody's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from anonset.api.looking import published_as, row_origin_of, tree_of
from anonset.assess.align import pair
from anonset.assess.published import judge
from anonset.assess.risk.find import find_all
from anonset.assess.risk.spec import Case
from anonset.data.findings import Findings
from anonset.data.hierarchy import Hierarchy, read_hierarchy
from anonset.data.job import Job, Progress
from anonset.data.progress import watched
from anonset.data.release import Certificate, Release, Result
from anonset.data.transactions import Longs, Transactions
from anonset.data.unit import users_behind
from anonset.io import read
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.certified import Found, find_certificate
from anonset.io.publish.plan import Output, files_read, reading_inputs, release_inputs, require_plan
from anonset.io.source.options import reading_only
from anonset.methods import METHODS
from anonset.models import MODELS, model
from anonset.reports import report_path, stage_report
from anonset.reports.dossier import dossier_path, stage_dossier


def report(
    data: Any,
    release: Any,
    path: str | os.PathLike[str],
    *,
    public: bool = False,
    dossier: bool = False,
    purpose: str = "",
    responsible: str = "",
    hierarchy: Any = None,
    link: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Path:
    """Write a report on a release, and say where it is: a private one says so in its name.

    Parameters
    ----------
    data, release
        The original, and a `Result`, a `Release`, a file or a frame.
    path
        Where to write: `.html`, or `.json`.
    public
        Leave out everything that is computed from the original.
    dossier, purpose, responsible
        One page to file and sign, the report behind it; what the release is for and who answers for it.
    hierarchy, link
        What it was generalized with; the owner's private link to the original. A result knows both.
    force
        Replace what is there.
    options
        How to read the data, and the promise (`model`, `k`, `unit`, …) where no certificate lies beside the release.

    Examples
    --------
    >>> import anonset, tempfile
    >>> baskets = [["wine", "bread"], ["wine", "bread"], ["beer"], ["beer"]]
    >>> place = tempfile.mkdtemp() + "/report.json"
    >>> anonset.report(baskets, [["wine", "bread"]] * 2 + [["beer"]] * 2, place, k=2).name
    'report.PRIVATE.json'
    """
    reading, promise = reading_only(options)
    target = dossier_path(path) if dossier else report_path(path, public)
    beside = release_inputs(os.fspath(release)) if isinstance(release, (str, os.PathLike)) else {}
    inputs = {**reading_inputs(data, reading), **beside, "link": link}
    inputs["hierarchy"] = hierarchy if isinstance(hierarchy, (str, os.PathLike)) else None
    require_plan([Output("report", target)], inputs, force=force)
    tree = None if hierarchy is None else read_hierarchy(hierarchy)
    with watched(progress) as heard:
        job = Job(0, progress=heard)
        original = read(data, **reading)
        result = _known(original, release, promise, link)
        if (dossier or not public) and len(result.row_origin) != len(result.release):
            pair(original, result.release, None, tree)  # an error says here what does not fit
        with plain_errors(target), staging(force=force) as stage:
            if dossier:
                result = replace(result, read_from=files_read(data, reading))
                findings = findings_of(result, original, tree or tree_of(result), job)
                said = {"purpose": purpose, "responsible": responsible}
                stage_dossier(stage, result, original, target, findings, **said, hierarchy=tree, job=job)
            else:
                stage_report(stage, result, original, target, public=public, job=job, hierarchy=tree)
            stage.publish()
    return target


def _known(
    original: Transactions, release: Any, promise: Mapping[str, Any], link: str | os.PathLike[str] | None
) -> Result:
    """What is known of a release: all of it where it is a result, else what its certificate says."""
    if isinstance(release, Result):
        return release
    found = find_certificate(os.fspath(release)) if isinstance(release, (str, os.PathLike)) else None
    published = published_as(original, release)
    return known_result(published, found, promise, original, row_origin_of(original, release, published, link))


def known_result(
    release: Release, found: Found | None, promise: Mapping[str, Any], original: Transactions, origin: Longs | None
) -> Result:
    """What is known of a release that was only read: its promise and whether it holds; with a link, in persons too.

    The promise is the one given, else that of the certificate; with neither, the weakest one is checked.
    """
    params = dict(promise)
    name = params.pop("model", None)
    if found is not None and name is None and not params:
        name, params = found.certificate["model"], dict(found.certificate["parameters"])
    if name is None:
        spec = next(spec for spec in MODELS.values() if spec.form == release.form)
        name, params = spec.name, params or dict(spec.weakest(release) or {})
    target = model(name, **params)
    unit = promise.get("unit") or ("user" if found is None else found.certificate.get("unit"))
    if origin is not None and original.users is not None and unit == "user":
        target = target.counting("user")
    users = None if origin is None else users_behind(original, origin)
    verdict = judge(release, target, users=users)
    certificate = _certificate(found)
    method = certificate.method if certificate else ""
    own = {} if certificate is None else dict(certificate.method_parameters)
    return Result(
        release,
        verdict,
        method,
        {**verdict.params, **own},
        row_origin=np.empty(0, dtype=np.int64) if origin is None else origin,
        seed=0,
        measurements={},
        seconds={},
        certificate=certificate,
        public_notes=() if certificate is None else tuple(certificate.notes),
        about=METHODS[method].about if method in METHODS else {},
    )


def _certificate(found: Found | None) -> Certificate | None:
    """The certificate, if it is about this very file."""
    if found is None or found.changed:
        return None
    names = [field.name for field in fields(Certificate) if field.name in found.certificate]
    return Certificate(**{name: found.certificate[name] for name in names})


def findings_of(result: Result, original: Transactions, tree: Hierarchy | None, job: Job) -> Findings:
    """What attackers achieve against a release, with what its certificate accepts."""
    verdict = result.verdict
    promised = model(verdict.model, **verdict.params, unit=verdict.unit)
    origin = result.row_origin if len(result.row_origin) == len(result.release) else None
    case = Case(original, result.release, origin, promised, result.method, result.params, tree, job)
    accepted = () if result.certificate is None else result.certificate.accepted
    return find_all(case, result.measurements).accepting(accepted)
