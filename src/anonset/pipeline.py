"""The whole way of the data on one screen: read → method → unlink → check → publish."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anonset.assess.bound.search import lower_bound
from anonset.assess.published import judge
from anonset.assess.risk.pseudonyms import pseudonym_warning
from anonset.assess.risk.spec import Case
from anonset.assess.utility.column_loss import column_losses
from anonset.assess.utility.information_loss import information_loss
from anonset.assess.utility.levels import level_losses
from anonset.assess.utility.quantity_loss import quantity_losses
from anonset.data.advice import Suggestion
from anonset.data.attributes import bare_items, require_no_columns
from anonset.data.balance import roles_in_a_line
from anonset.data.errors import GuaranteeError, InputError, ParameterError, setting
from anonset.data.job import Job, Progress
from anonset.data.progress import watched
from anonset.data.quantities import with_quantities
from anonset.data.release import Draft, Release, Result, Verdict, Witness
from anonset.data.spec import UNIT, MethodSpec, Model, Unit, parse_params
from anonset.data.targets import Targets
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.data.unit import chosen_unit, once_each, users_behind
from anonset.gate import Attackers
from anonset.io.formats.frames import release_table
from anonset.io.source.options import reading_only
from anonset.methods import METHODS, method_spec
from anonset.models import USUAL, model_spec
from anonset.models import model as make_model
from anonset.nightly.batches import ledger_of, make_batch, require_batches
from anonset.unlink import Keep, unlink

if TYPE_CHECKING:
    from anonset.io.publish.plan import Output
    from anonset.io.publish.private_link import PrivateLink

KEEP_NOTHING = Keep()


def anonymize(
    data: Any,
    model: Model | str | None = None,
    *,
    method: str | MethodSpec | None = None,
    unit: Unit | None = None,
    k: int | None = None,
    p: float | str | None = None,
    m: int | None = None,
    hierarchy: Any = None,
    sensitive: str | Iterable[str] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    keep: Keep = KEEP_NOTHING,
    bound: bool = False,
    progress: Progress | bool | None = None,
    job: Job | None = None,
    **options: Any,
) -> Result:
    """Anonymize transactions and check the release independently. Nothing is written: see `Result.write`.

    Parameters
    ----------
    data
        `Transactions`, or anything that `anonset.read` takes: a path, a data frame, lists of items.
    model, method
        What to promise and how to reach it. One of them is enough: a method knows its model, a model its default
        method. With neither, k-anonymity.
    unit
        What the promise counts: `"user"` or `"transaction"`; users where the data have users that repeat.
    k, p, m, hierarchy
        The parameters that most models share; `anonset.MODELS` says which model takes which.
    sensitive
        The sensitive items: names in a list, or separated by commas.
    seed
        The same seed gives the same release on any number of threads. Keep it private: it can undo the shuffling.
    keep
        What to leave as it is although that weakens the release: `Keep(order=True)`.
    bound
        Also find the loss that no k-anonymous release of the data can go below, and keep it as `Result.bound`. That
        often takes longer than the release itself. For k-anonymity only.
    progress, job
        True for a bar in a terminal or a notebook, or a function that hears of progress; or a `Job`, which brings seed,
        threads and progress itself, so that none of them may be given beside it.
    options
        The other parameters of model and method (`segments=1000`, …), and how to read the data, as `anonset.read` takes
        it (`transaction="receipt"`, `item="product"`, …).

    Examples
    --------
    >>> import anonset
    >>> baskets = [["wine", "bread"], ["wine", "bread"], ["bread"], ["beer"], ["beer", "bread"], ["wine"]]
    >>> result = anonset.anonymize(baskets, k=2, seed=1)
    >>> result.verdict.holds
    True
    """
    named = {"unit": unit, "k": k, "p": p, "m": m, "hierarchy": hierarchy, "sensitive": sensitive}
    options |= {name: value for name, value in named.items() if value is not None}
    order = _order(model, method, options, keep, bound)
    with watched(progress) as heard:
        return _make(data, order, _job(seed, threads, heard, job))


def publish(
    data: Any,
    targets: Targets,
    model: Model | str | None = None,
    *,
    method: str | MethodSpec | None = None,
    seed: int | None = None,
    threads: int | None = None,
    keep: Keep = KEEP_NOTHING,
    bound: bool = False,
    progress: Progress | bool | None = None,
    job: Job | None = None,
    **options: Any,
) -> Result:
    """Anonymize and write in one go: like `anonymize(…).write(…)`, but every path is planned before the work.

    Parameters
    ----------
    targets
        What to write where.
    data, model, method, seed, threads, keep, bound, progress, job, options
        As in `anonymize`.

    Examples
    --------
    >>> import anonset, tempfile
    >>> place = anonset.Targets(out=tempfile.mkdtemp() + "/release.dat")
    >>> anonset.publish([["wine", "bread"]] * 3 + [["beer"]] * 3, place, k=3, seed=1).certificate.transactions
    6
    """
    order = _order(model, method, options, keep, bound)
    outputs = _planned(data, targets, order, options)
    with watched(progress) as heard:
        return _published(data, targets, order, outputs, _job(seed, threads, heard, job))


def _published(data: Any, targets: Targets, order: Order, outputs: list[Output], job: Job) -> Result:
    """Everything made, checked and staged; then renamed together."""
    from anonset.io.publish.atomic import staging
    from anonset.io.publish.plan import files_read
    from anonset.publication import reserve, stage_result

    spec = order.spec
    with ledger_of(targets) as ledger, staging(force=targets.force, shared=targets.shared_folder) as stage:
        settled = [] if ledger is None else ledger.settle(beside=targets.table)  # before its hidden folders are swept
        reserve(stage, outputs, targets)
        stage.notes += settled
        if ledger is None:
            result = _make(data, order, job)
        else:
            source = _read(data, order, job)
            make = partial(_make_by, replace(order, reading={}), job)
            result = make_batch(source, ledger, targets, order.model, spec.cuts, stage, make)
            result = replace(result, read_from=files_read(data, order.reading))
        return stage_result(stage, result, targets, job)


def check(
    data: Any,
    targets: Targets,
    model: Model | str | None = None,
    *,
    method: str | MethodSpec | None = None,
    keep: Keep = KEEP_NOTHING,
    bound: bool = False,
    job: Job | None = None,
    **options: Any,
) -> None:
    """Everything that `publish` refuses before its work: parameters, paths, formats, and a source that is not there.

    Parameters
    ----------
    data, targets, model, method, keep, bound, job, options
        As in `publish`.

    Examples
    --------
    >>> import anonset
    >>> anonset.check([["wine"]], anonset.Targets(), k=1)
    Traceback (most recent call last):
    anonset.data.errors.ParameterError: 'k' must be at least 2. Got 1. Choose a larger value.
    """
    from anonset.io.source.readable import require_readable

    order = _order(model, method, options, keep, bound)
    _planned(data, targets, order, options)
    require_readable(data, order.reading)


def _planned(data: Any, targets: Targets, order: Order, options: dict[str, Any]) -> list[Output]:
    """All outputs of a run; an error for what cannot be."""
    from anonset.io.publish.plan import reading_inputs
    from anonset.publication import require_targets

    spec = order.spec
    require_batches(targets, order.model, spec, order.values)
    inputs = {**reading_inputs(data, order.reading), **_files_of(spec, options), **targets.also_reads}
    beside = any(order.reading.get(name) is not None for name in ("attribute", "attribute_sensitive", "users"))
    counts = spec.columns and order.reading.get("count_as", order.reading.get("count")) not in (None, "drop")
    more = [name for name, there in (("columns", beside), ("counts", counts)) if there]
    return require_targets(targets, order.model.spec, cuts=spec.cuts, patterns=spec.patterns, more=more, inputs=inputs)


@dataclass(frozen=True)
class Order:
    """What is asked for, all parsed: the method, the promise it must reach, their values, how to read the data."""

    spec: MethodSpec
    model: Model
    values: Mapping[str, Any]
    reading: Mapping[str, Any]
    keep: Keep
    bound: bool
    unit: Unit | None
    usual: Mapping[str, Any] = field(default_factory=dict)  # what nobody asked for, where sensitive items are named

    def settled(self, source: Transactions) -> tuple[Order, tuple[str, ...]]:
        """The order for these data, and what was chosen because they name sensitive items."""
        if not self.usual or source.sensitive is None or not source.sensitive.any():
            return self, ()
        values = {**self.values, **self.usual}
        target = replace(self.model, params=self.model.spec.promised(values))
        said = (
            f"Sensitive items are named: {name}={value}. {name}=off (--{name} off) lifts the limit."
            for name, value in self.usual.items()
        )
        return replace(self, values=values, model=target), tuple(said)


def _read(data: Any, order: Order, job: Job) -> Transactions:
    from anonset.io import read

    with job.stage("read"):
        whole = isinstance(data, Transactions) and not order.reading
        found = data if whole else read(data, **order.reading)
    if not whole and (said := roles_in_a_line(found)):
        job.say(said)
    return found


def _make_by(order: Order, job: Job, source: Transactions, method: MethodSpec | None) -> Result:
    """The result of these transactions by the method of the order, or by another one that reaches the same promise."""
    if method is None:
        return _make(source, order, job)
    values = {name: value for name, value in order.values.items() if name in (*order.model.params, "hierarchy")}
    return _make(source, replace(order, spec=method, values=values), job)


def _make(data: Any, order: Order, job: Job) -> Result:
    """The line of the data: read → method → unlink → check → measure."""
    from anonset.io.publish.plan import files_read
    from anonset.publication import publish_result

    spec = order.spec
    source = _read(data, order, job)
    if not spec.columns:
        require_no_columns(source, spec.name)
    order, chosen = order.settled(source)
    target = order.model.fixed_on(len(source))  # nothing that a method invents may change what a fraction stands for
    unit, counted = chosen_unit(order.unit, source, target.spec)
    target = target.counting(unit)
    values = {**order.values, **target.params}
    worked, counts = _with_quantities(source, order)
    draft = spec.run(worked, job, **values, **_persons(spec, target, source))
    with job.stage("unlink"):
        release, link, notes = unlink(draft, target.spec, job, order.keep)
    with job.stage("check"):
        verdict = require(target.check(release, users_behind(source, link)))
    with job.stage("measure"):
        measurements = {**_loss(worked, draft), **draft.measurements}
    least = lower_bound(source, values["k"], job=job) if order.bound and len(source) else None
    loud = _pseudonyms(source, release, link, target, job) if order.keep.users else ""
    said = (
        *source.notes,
        *counts,
        *counted,
        *chosen,
        *draft.notes,
        *draft.public_notes,
        *notes,
        *order.keep.warnings(),
        loud,
    )
    result = Result(
        release=release,
        verdict=verdict,
        method=spec.name,
        params=values,
        row_origin=link,
        seed=job.seed,
        measurements=measurements,
        seconds=job.seconds,
        notes=tuple(dict.fromkeys(filter(None, said))),
        cut=draft.cut,
        public_notes=draft.public_notes,
        bound=least,
        groups=_groups(draft, release, link, len(source)),
        tours=draft.tours,
        about=spec.about,
        patterns=draft.patterns,
        levels=draft.levels,
        source=source,
        publisher=publish_result,
        read_from=files_read(data, order.reading),
        tabled=partial(release_table, release, source.arrived),
    )
    return replace(result, attacker=Attackers(result, job, partial(_attempt, order, job)))


def _with_quantities(source: Transactions, order: Order) -> tuple[Transactions, tuple[str, ...]]:
    """The transactions with the quantities that are published with their items, and what to say of those that are not.

    A method that knows neither columns nor quantities is told that only where somebody says how to publish them.
    """
    if source.counts is None:
        return source, ()
    if order.spec.columns and source.count_as is not None:
        secret = source.sensitive is not None and source.sensitive.any()
        said = "Of sensitive items no quantity is published: it would tell apart those who hold one."
        return with_quantities(source), (said,) if secret else ()
    able = [name for name, other in METHODS.items() if other.columns and other.model == order.spec.model]
    if order.reading.get("count_as") not in (None, "drop"):
        names = " or ".join(setting("method", name) for name in able or ("crowd", "km-refine"))
        advice = f"Leave it out, or use {names}."
        raise ParameterError("count_as", f"be drop for {order.spec.name}, which knows no quantities", "another", advice)
    hint = " count_as=keep (--count-as keep) publishes them." if order.spec.columns else ""
    said = f"Item counts are left out{'' if hint else f': {order.spec.name} knows no quantities'}.{hint}"
    return replace(source, counts=None, count_as=None), (said,)


def _attempt(order: Order, job: Job, data: Transactions, instead: Suggestion) -> Result:
    """The result of these transactions with other settings, as far as the method knows those of the order."""
    spec = method_spec(instead.method) if instead.method else order.spec
    takes = {param.name for param in (*model_spec(spec.model).params, *spec.params)}
    kept = takes if spec.model == order.spec.model else takes & {"k", "hierarchy"}
    values: dict[str, Any] = {name: value for name, value in order.values.items() if name in kept}
    values = {name: value for name, value in (values | dict(instead.params)).items() if value is not None}
    tried = _order(None, spec, values, order.keep, False)
    unit = order.unit if spec.model == order.spec.model else None
    return _make(data, replace(tried, unit=unit), Job(job.seed, job.threads or None))


def _pseudonyms(source: Transactions, release: Release, link: Longs, target: Model, job: Job) -> str:
    """What published pseudonyms give away of histories, which the model does not protect."""
    if target.spec.protects_users or source.users is None or release.form != "rows":
        return ""
    with job.stage("attack"):
        return pseudonym_warning(Case(source, release, link, target, job=job))


def recode(
    data: Any,
    cut: Any,
    *,
    k: int,
    m: int = 2,
    hierarchy: Any = None,
    targets: Targets | None = None,
    **options: Any,
) -> Result:
    """Publish transactions by a given cut (a `Cut`, a file `item,published`, a dictionary), checked like any release.

    Parameters
    ----------
    data
        `Transactions`, or anything that `anonset.read` takes.
    cut
        What each item is published as.
    k, m
        The promise: any m items of a transaction are shared by at least k transactions.
    hierarchy
        The one that the cut goes through.
    targets
        With it everything is planned before the work and written, as by `publish`.
    options
        Those of `anonymize`: `seed`, `keep`, ….

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
    run = anonymize if targets is None else partial(publish, targets=targets)
    return run(data, method=by_cut(cut, target), k=k, m=m, hierarchy=hierarchy, **options)


def verify(
    data: Any,
    model: Model | str | None = None,
    *,
    ignore_columns: str | Iterable[str] = (),
    link: str | os.PathLike[str] | PrivateLink | None = None,
    **options: Any,
) -> Verdict:
    """Whether a file (ours or anybody's), a frame or a release keeps a promise.

    Parameters
    ----------
    data
        A file, a folder of groups, a frame, a `Release` or a `Result`. Where a certificate lies beside a file,
        everything that it says is compared with what is found: one difference is a witness, and the verdict does not
        hold.
    model, options
        The promise and its parameters; by default those of the certificate, else k-anonymity. And how to read the data,
        as in `anonymize`.
    ignore_columns
        A column that the check does not look at may single somebody out, so that no promise holds beside it, unless it
        is named here.
    link
        The owner's private link: with it the promise is checked in persons, too, unless `unit` says that only
        transactions count.

    Examples
    --------
    >>> import anonset
    >>> anonset.verify([["a", "b"], ["a", "b"], ["c"]], k=2).measured["k"]
    1
    """
    from anonset.io import read_link, read_release
    from anonset.io.publish.certified import as_certified, differences, find_certificate
    from anonset.io.publish.private_link import PrivateLink

    reading, params = reading_only(options)
    found = find_certificate(os.fspath(data)) if isinstance(data, (str, os.PathLike)) else None
    taken = found is not None and model is None and not params.keys() - {"unit"}
    if found is not None and taken:
        said = found.certificate
        model, params = said["model"], {**said["parameters"], **params}
    target = model if isinstance(model, Model) else make_model(model or USUAL, **params)
    release = data.release if isinstance(data, Result) else data
    release = release if isinstance(release, Release) else read_release(release, **reading)
    different: tuple[str, ...] = ()
    if found is not None:
        different = differences(found, release)
        with suppress(InputError):  # where the file has other ones, that is among the differences
            release = as_certified(release, found.certificate["sensitive_items"]) if taken else release
    if link is None:
        if target.unit == "user" and not target.spec.protects_users:
            advice = f"Give it, or count transactions: {setting('unit', 'transaction')}."
            raise ParameterError("unit", "come with the owner's link (link) where it counts users", "none", advice)
        return _with_witnesses(judge(release, target, ignore_columns), different)
    owner = link if isinstance(link, PrivateLink) else read_link(link)
    if isinstance(data, (str, os.PathLike)):
        owner.require_release(data, release)
    unit: Unit = UNIT.parse(options.get("unit")) or "user"
    users = owner.require_users() if unit == "user" else None
    return _with_witnesses(judge(release, target.counting(unit), ignore_columns, users), different)


def _with_witnesses(verdict: Verdict, different: tuple[str, ...]) -> Verdict:
    """The verdict, which does not hold where a certificate says anything else than what was found."""
    if not different:
        return verdict
    witnesses = tuple(Witness(f"the certificate is not about this file: {one}") for one in different)
    return replace(verdict, holds=False, witnesses=(*verdict.witnesses, *witnesses))


def _persons(spec: MethodSpec, target: Model, source: Transactions) -> dict[str, Unit]:
    """What a method must be told so that it counts persons; an error where it cannot.

    Where every transaction has a user of its own, both units say the same, and so do the releases.
    """
    if target.unit == "transaction" or target.spec.protects_users or once_each(source):
        return {}
    if "user" not in spec.units:
        able = [name for name, other in METHODS.items() if other.model == spec.model and "user" in other.units]
        advice = f"Use {' or '.join(able)}, " if able else ""
        advice += f"{'or ' if able else ''}count transactions: {setting('unit', 'transaction')}."
        raise ParameterError("method", "be one that counts persons", spec.name, advice)
    return {"unit": "user"}


def _loss(source: Transactions, draft: Draft) -> dict[str, Any]:
    """Items added and removed, and what columns and quantities lost; a method that cuts measures its loss itself."""
    beside = column_losses(source, draft.release, draft.row_origin)
    beside |= quantity_losses(source, draft.release, draft.row_origin)
    if draft.cut is not None:
        return beside
    items = bare_items(source)
    release = replace(draft.release, transactions=bare_items(draft.release.transactions))
    lost = information_loss(items, release, draft.row_origin) | beside
    return lost if draft.levels is None else lost | level_losses(items, release, draft.row_origin, draft.levels)


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


def _files_of(spec: MethodSpec, params: dict[str, Any]) -> dict[str, Any]:
    """The files that a method reads besides the data: its hierarchy, and the cut that `recode` gives it."""
    named = {param.name: params.get(param.name) for param in spec.params if param.type == "hierarchy"}
    return {**named, **(spec.run.keywords if isinstance(spec.run, partial) else {})}


def _order(
    model: Model | str | None, method: str | MethodSpec | None, options: Mapping[str, Any], keep: Keep, bound: bool
) -> Order:
    """The method, the model it must reach, and all parameters parsed."""
    name = model.name if isinstance(model, Model) else model
    spec = chosen_method(name, method)
    if name is not None and spec.model != name:
        raise ParameterError("method", f"reach {name}", f"{spec.name}, which reaches {spec.model}")
    promised = model_spec(spec.model)
    parsed = model.params if isinstance(model, Model) else {}
    reading, params = reading_only(options)
    asked = UNIT.parse(params.pop("unit", None)) or (model.unit if isinstance(model, Model) else None)
    values = parse_params((*promised.params, *spec.params), params, spec.name, parsed)
    target = Model(promised, promised.promised(values))
    if bound:
        _require_bounded(target)
    said = {*parsed, *(name for name, value in params.items() if value is not None)}
    usual = {one.name: one.with_sensitive for one in spec.params if one.with_sensitive and one.name not in said}
    return Order(spec, target, values, reading, keep, bound, asked, usual)


def _job(seed: int | None, threads: int | None, progress: Progress | None, job: Job | None) -> Job:
    given = {"seed": seed, "threads": threads, "progress": progress}
    doubled = [name for name, value in given.items() if value is not None]
    if job is not None and doubled:
        raise ParameterError(doubled[0], "be left out beside 'job'", "both", "The job brings its own.")
    return job or Job(seed, threads, progress)


def chosen_method(model: str | None = None, method: str | MethodSpec | None = None) -> MethodSpec:
    """The method that runs: the one given, else the default one of the model, which is k-anonymity by default."""
    if isinstance(method, MethodSpec):
        return method
    return method_spec(method or model_spec(model or USUAL).default_method)
