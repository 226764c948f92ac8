"""The whole way of the data on one screen: read → method → unlink → check → write."""

from __future__ import annotations

import os
from typing import Any

from anonset.assess.bound.search import lower_bound
from anonset.assess.utility.information_loss import information_loss
from anonset.data.errors import GuaranteeError, ParameterError
from anonset.data.job import Job, Progress
from anonset.data.release import Draft, Release, Result, Verdict
from anonset.data.spec import MethodSpec, Model, parse_params
from anonset.data.transactions import Transactions
from anonset.io.formats.registry import format_of
from anonset.methods import method_spec
from anonset.models import model as make_model
from anonset.models import model_spec
from anonset.unlink import Keep, unlink


def anonymize(
    data: Any,
    model: Model | str | None = None,
    *,
    method: str | MethodSpec | None = None,
    out: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    public_report: bool = False,
    bound: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    keep_order: bool = False,
    keep_ids: bool = False,
    keep_users: bool = False,
    keep_degrees: bool = False,
    keep_formulas: bool = False,
    force: bool = False,
    format: str | None = None,
    progress: Progress | None = None,
    job: Job | None = None,
    read_options: dict[str, Any] | None = None,
    **params: Any,
) -> Result:
    """Anonymize transactions, check the release independently, and write it where `out` says.

    Parameters
    ----------
    data
        `Transactions`, or anything that `anonset.read` takes: a path, a data frame, lists of items.
    model, method
        What to promise and how to reach it. One of them is enough: a method knows its model, a model its default
        method. With neither, k-anonymity.
    out, force, format
        Where and how to write the release (a folder where the model publishes groups); what is there needs `force`.
    report, public_report
        Where to write a report (`.html` or `.json`). A private one compares with the original and says PRIVATE in its
        name; a public one holds nothing computed from the original. See `anonset.write_report`.
    bound
        Also find the loss that no k-anonymous release of the data can go below, and keep it as `Result.bound`. That
        often takes longer than the release itself. For k-anonymity only.
    keep_order, keep_ids, keep_users, keep_degrees, keep_formulas
        What to leave as it is although that weakens the release or harms whoever opens it in a spreadsheet.
    seed
        The same seed gives the same release on any number of threads. Keep it private: it can undo the shuffling.
    params
        The model's and the method's parameters: `k=10`, `segments=1000`, …

    Examples
    --------
    >>> import anonset
    >>> baskets = [["wine", "bread"], ["wine", "bread"], ["bread"], ["beer"], ["beer", "bread"], ["wine"]]
    >>> result = anonset.anonymize(baskets, k=2, seed=1)
    >>> result.verdict.holds
    True
    """
    from anonset.io import read, write
    from anonset.report import report_path, write_report

    spec, target, values = _plan(model, method, params)
    if bound:
        _require_bounded(target)
    if out is not None:
        _require_place(out, target, data, format, force)  # before the work, not after it
    if report is not None:
        report_path(report, public_report, force)
    job = job or Job(seed, threads, progress)
    keep = Keep(keep_order, keep_ids, keep_users, keep_degrees)
    with job.stage("read"):
        source = data if isinstance(data, Transactions) else read(data, **(read_options or {}))
    draft = spec.run(source, job, **values)
    with job.stage("unlink"):
        release, link, notes = unlink(draft, target.spec, job, keep)
    with job.stage("check"):
        verdict = require(target.check(release))
    with job.stage("measure"):
        measurements = {**_loss(source, draft), **draft.measurements}
    least = lower_bound(source, values["k"], job=job) if bound and len(source) else None
    certificate = None
    if out is not None:
        with job.stage("write"):
            certificate = write(
                release,
                verdict,
                out,
                method=spec.name,
                params=values,
                format=format,
                force=force,
                keep_formulas=keep_formulas,
                notes=draft.public_notes,
            )
            notes += certificate.notes
    result = Result(
        release=release,
        verdict=verdict,
        method=spec.name,
        params=values,
        row_origin=link,
        seed=job.seed,
        measurements=measurements,
        seconds=job.seconds,
        notes=tuple(dict.fromkeys((*source.notes, *draft.notes, *draft.public_notes, *notes, *keep.warnings()))),
        certificate=certificate,
        cut=draft.cut,
        public_notes=draft.public_notes if certificate is None else certificate.notes,
        bound=least,
    )
    if report is not None:
        with job.stage("report"):
            write_report(result, source, report, public=public_report, force=force, job=job)
    return result


def recode(data: Any, cut: Any, *, k: int, m: int = 2, hierarchy: Any = None, **options: Any) -> Result:
    """Publish transactions by a given cut (a `Cut`, a file `item,published`, a dictionary), checked like any release.

    `options` are those of `anonymize`: `out`, `seed`, `keep_order`, ….

    Examples
    --------
    >>> import anonset
    >>> tree = {"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]}
    >>> data = [["milk", "wine"], ["brie", "wine"], ["milk", "brie"], ["brie"]]
    >>> recode(data, {"milk": "dairy", "brie": "dairy"}, k=2, hierarchy=tree, seed=1).verdict.measured["k"]
    2
    """
    from anonset.methods.recode import by_cut

    return anonymize(data, method=by_cut(cut), k=k, m=m, hierarchy=hierarchy, **options)


def verify(
    data: Any,
    model: Model | str = "k-anonymity",
    *,
    read_options: dict[str, Any] | None = None,
    **params: Any,
) -> Verdict:
    """Whether a file (ours or anybody's), a frame or a release keeps a promise.

    Examples
    --------
    >>> import anonset
    >>> anonset.verify([["a", "b"], ["a", "b"], ["c"]], k=2).measured["k"]
    1
    """
    from anonset.io import read_release

    target = make_model(model, **params) if isinstance(model, str) else model
    release = data if isinstance(data, Release) else read_release(data, **(read_options or {}))
    return target.check(release)


def _loss(source: Transactions, draft: Draft) -> dict[str, Any]:
    """Items added and removed; where nodes of a hierarchy are published, the method measures what that loses."""
    return information_loss(source, draft.release, draft.row_origin) if draft.cut is None else {}


def _require_bounded(target: Model) -> None:
    """The bound speaks about releases in which every published set is shared by k transactions."""
    if target.name != "k-anonymity" or "protect" in target.params:
        raise ParameterError("bound", "be off", "on", f"It is known for k-anonymity only, not for: {target.promise}.")


def require(verdict: Verdict) -> Verdict:
    """The verdict, if it holds; nothing that does not hold goes any further."""
    if not verdict.holds:
        raise GuaranteeError(
            f"The release does not keep its promise ({verdict.promise}): {verdict.witnesses[0].statement}. "
            "Nothing was published. This is a defect of the method; please report it."
        )
    return verdict


def _require_place(out: Any, target: Model, data: Any, format: str | None, force: bool) -> None:
    """Refuse an output that is taken, or a format that cannot be, before any work is done."""
    from anonset.io.formats.capacity import require_parts
    from anonset.io.publish.groups import ensure_free_folder, group_format
    from anonset.io.publish.releases import ensure_free

    if target.spec.form == "groups":
        ensure_free_folder(out, force)
        group_format(out, format)
    else:
        ensure_free(out, force, data)
        require_parts(format_of(out, format), target.spec.publishes)


def _plan(
    model: Model | str | None, method: str | MethodSpec | None, params: dict[str, Any]
) -> tuple[MethodSpec, Model, dict[str, Any]]:
    """The method, the model it must reach, and all parameters parsed."""
    if model is None and method is None:
        model = "k-anonymity"
    if isinstance(model, Model):
        params = {**model.params, **params}
        model = model.name
    spec = method if isinstance(method, MethodSpec) else method_spec(method or model_spec(str(model)).default_method)
    if model is not None and spec.model != model:
        raise ParameterError("method", f"reach {model}", f"{spec.name}, which reaches {spec.model}")
    promised = model_spec(spec.model)
    values = parse_params((*promised.params, *spec.params), params, spec.name)
    return spec, Model(promised, promised.promised(values)), values
