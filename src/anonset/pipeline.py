"""The whole way of the data on one screen: plan → read → method → unlink → check → write → publish."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonset.assess.bound.search import lower_bound
from anonset.assess.published import judge
from anonset.assess.utility.information_loss import information_loss
from anonset.data.errors import GuaranteeError, InputError, ParameterError
from anonset.data.job import Job, Progress
from anonset.data.release import Draft, Release, Result, Verdict
from anonset.data.spec import MethodSpec, Model, parse_params
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.io.formats.registry import format_of
from anonset.methods import method_spec
from anonset.models import USUAL, model_spec
from anonset.models import model as make_model
from anonset.unlink import Keep, unlink

if TYPE_CHECKING:
    from anonset.io.publish.plan import Output


def anonymize(
    data: Any,
    model: Model | str | None = None,
    *,
    method: str | MethodSpec | None = None,
    out: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    public_report: bool = False,
    write_cut: str | os.PathLike[str] | None = None,
    write_patterns: str | os.PathLike[str] | None = None,
    sign: str | os.PathLike[str] | None = None,
    shared_folder: str | os.PathLike[str] | None = None,
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
    write_cut
        Where to write what each item is published as, for methods that cut through a hierarchy.
    write_patterns
        Where to write which patterns each user has and is to have, for methods that rewrite them. Private.
    sign
        An SSH key: the certificate gets a detached signature (`….certificate.json.sig`) by `ssh-keygen`.
    shared_folder
        The folder of the outputs, named once more, where others can write in it and that is wanted all the same.
    bound
        Also find the loss that no k-anonymous release of the data can go below, and keep it as `Result.bound`. That
        often takes longer than the release itself. For k-anonymity only.
    keep_order, keep_ids, keep_users, keep_degrees, keep_formulas
        What to leave as it is although that weakens the release or harms people who open it in a spreadsheet.
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
    from anonset.io import read
    from anonset.io.publish.atomic import plain_errors, staging
    from anonset.io.publish.plan import reading_inputs, require_plan
    from anonset.io.publish.releases import stage_release
    from anonset.report import report_path, stage_report

    spec, target, values = _plan(model, method, params)
    if bound:
        _require_bounded(target)
    page = None if report is None else report_path(report, public_report)
    outputs = list(_outputs(spec, target, out, format, sign, write_cut, write_patterns, page))
    inputs = {**reading_inputs(data, read_options or {}), **_files_of(spec, params)}
    require_plan(outputs, inputs, force=force, shared=shared_folder)  # before the work, not after it
    job = job or Job(seed, threads, progress)
    keep = Keep(keep_order, keep_ids, keep_users, keep_degrees)
    with staging(force=force, shared=shared_folder) as stage:
        with plain_errors(out or report or write_cut or write_patterns):
            for output in outputs:
                stage.reserve(output.path)
        with job.stage("read"):
            source = data if isinstance(data, Transactions) else read(data, **(read_options or {}))
        target = target.fixed_on(len(source))  # nothing that a method invents may change what a fraction stands for
        values |= target.params
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
            with job.stage("write"), plain_errors(out):
                certificate = stage_release(
                    stage,
                    release,
                    verdict,
                    Path(out),
                    format=format,
                    keep_formulas=keep_formulas,
                    key=sign,
                    about={"method": spec.name, "params": values, "notes": draft.public_notes},
                )
                notes += certificate.notes
        notes = (*stage.notes, *source.notes, *draft.notes, *draft.public_notes, *notes, *keep.warnings())
        result = Result(
            release=release,
            verdict=verdict,
            method=spec.name,
            params=values,
            row_origin=link,
            seed=job.seed,
            measurements=measurements,
            seconds=job.seconds,
            notes=tuple(dict.fromkeys(notes)),
            certificate=certificate,
            cut=draft.cut,
            public_notes=draft.public_notes if certificate is None else certificate.notes,
            bound=least,
            groups=_groups(draft, release, link, len(source)),
            tours=draft.tours,
            about=spec.about,
            patterns=draft.patterns,
        )
        if write_cut is not None and draft.cut is not None:
            with plain_errors(write_cut):
                draft.cut.write(stage.file(Path(write_cut)), force=True)
        if write_patterns is not None and draft.patterns is not None:
            with plain_errors(write_patterns):
                draft.patterns.write(stage.file(Path(write_patterns)), force=True)
        if page is not None:
            with job.stage("report"), plain_errors(page):
                stage_report(stage, result, source, page, public=public_report, job=job)
        with job.stage("publish"), plain_errors(out or report or write_cut or write_patterns):
            stage.publish()
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

    target = make_model("km-anonymity", k=k, m=m)
    return anonymize(data, method=by_cut(cut, target), k=k, m=m, hierarchy=hierarchy, **options)


def verify(
    data: Any,
    model: Model | str = USUAL,
    *,
    read_options: dict[str, Any] | None = None,
    ignore_columns: str | Iterable[str] = (),
    **params: Any,
) -> Verdict:
    """Whether a file (ours or anybody's), a frame or a release keeps a promise.

    A column that the check does not look at may single somebody out, so that no promise holds beside it, unless
    `ignore_columns` names it.

    Examples
    --------
    >>> import anonset
    >>> anonset.verify([["a", "b"], ["a", "b"], ["c"]], k=2).measured["k"]
    1
    """
    from anonset.io import read_release

    target = make_model(model, **params) if isinstance(model, str) else model
    release = data if isinstance(data, Release) else read_release(data, **(read_options or {}))
    return judge(release, target, ignore_columns)


def _loss(source: Transactions, draft: Draft) -> dict[str, Any]:
    """Items added and removed; where nodes of a hierarchy are published, the method measures what that loses."""
    return information_loss(source, draft.release, draft.row_origin) if draft.cut is None else {}


def _groups(draft: Draft, release: Release, link: Longs, n: int) -> Ints | None:
    """The group of each original transaction, −1 where it was left out; None where the method makes none."""
    if release.groups is None:
        return draft.groups
    groups = np.full(n, -1, dtype=np.int32)
    groups[link[link >= 0]] = release.groups[link >= 0]
    return groups


def _require_bounded(target: Model) -> None:
    """The bound speaks about releases in which every published set is shared by k transactions."""
    if target.spec.bound_at(target.params) is None:
        raise ParameterError("bound", "be off", "on", f"It is known for k-anonymity only, not for: {target.promise}.")


def require(verdict: Verdict) -> Verdict:
    """The verdict, if it holds; nothing that does not hold goes any further."""
    if not verdict.holds:
        raise GuaranteeError(
            f"The release does not keep its promise ({verdict.promise}): {verdict.witnesses[0].statement}. "
            "Nothing was published. This is a defect of the method; please report it."
        )
    return verdict


def _outputs(
    spec: MethodSpec,
    target: Model,
    out: Any,
    format: str | None,
    sign: Any,
    write_cut: Any,
    write_patterns: Any,
    page: Path | None,
) -> Iterator[Output]:
    """Everything that will be written; an error for a format, a key or a cut that cannot be."""
    from anonset.io.formats.capacity import require_parts
    from anonset.io.publish.groups import group_format
    from anonset.io.publish.plan import Output
    from anonset.io.publish.releases import release_outputs
    from anonset.io.publish.signature import require_key

    if out is not None:
        yield from release_outputs(out, target.spec.form)
        if target.spec.form == "groups":
            group_format(out, format)
        else:
            require_parts(format_of(out, format), target.spec.publishes)
    if sign is not None:
        if out is None:
            raise ParameterError("sign", "come with an output", "none", "Name a file for the release (out).")
        require_key(sign)
    if write_cut is not None:
        if not spec.cuts:
            raise InputError("'write_cut' is for methods that cut through a hierarchy. Leave it out, or choose one.")
        yield Output("write_cut", Path(write_cut))
    if write_patterns is not None:
        if not spec.patterns:
            raise InputError(
                "'write_patterns' is for methods that rewrite patterns of users. Leave it out, or use kamp."
            )
        yield Output("write_patterns", Path(write_patterns))
    if page is not None:
        yield Output("report", page)


def _files_of(spec: MethodSpec, params: dict[str, Any]) -> dict[str, Any]:
    """The files that a method reads besides the data: its hierarchy, and the cut that `recode` gives it."""
    named = {param.name: params.get(param.name) for param in spec.params if param.type == "hierarchy"}
    return {**named, **(spec.run.keywords if isinstance(spec.run, partial) else {})}


def _plan(
    model: Model | str | None, method: str | MethodSpec | None, params: dict[str, Any]
) -> tuple[MethodSpec, Model, dict[str, Any]]:
    """The method, the model it must reach, and all parameters parsed."""
    name = model.name if isinstance(model, Model) else model
    spec = chosen_method(name, method)
    if name is not None and spec.model != name:
        raise ParameterError("method", f"reach {name}", f"{spec.name}, which reaches {spec.model}")
    promised = model_spec(spec.model)
    parsed = model.params if isinstance(model, Model) else {}
    values = parse_params((*promised.params, *spec.params), params, spec.name, parsed)
    return spec, Model(promised, promised.promised(values)), values


def chosen_method(model: str | None = None, method: str | MethodSpec | None = None) -> MethodSpec:
    """The method that runs: the one given, else the default one of the model, which is k-anonymity by default."""
    if isinstance(method, MethodSpec):
        return method
    return method_spec(method or model_spec(model or USUAL).default_method)
