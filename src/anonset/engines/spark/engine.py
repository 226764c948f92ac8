"""The line of the data on Spark: read → ranges → method → snapshot → files → check → publish."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import GuaranteeError, InfeasibleError, ParameterError, setting, unknown
from anonset.data.findings import Findings, parse_accept
from anonset.data.hierarchy.reading import as_hierarchy
from anonset.data.job import Job, Progress
from anonset.data.release import Certificate, Verdict
from anonset.data.spec import UNIT, MethodSpec, Model, Unit, parse_params
from anonset.data.transactions import natural_order
from anonset.engines.spark import checks, writing
from anonset.engines.spark.placing import Place, Said, Stage
from anonset.engines.spark.ranges import Ranges, find_ranges, large_enough, with_ranges
from anonset.engines.spark.session import plain_errors, session
from anonset.engines.spark.sets import Sets, read, require_known, sensitive_names, vocabulary
from anonset.engines.spark.watching import watched
from anonset.engines.spark.work import LOST, Task, Words, anonymized, keyed
from anonset.io.source.options import reading_only
from anonset.methods import method_spec
from anonset.models import model_spec

METHODS_ON_SPARK = ("gsc", "pta", "crowd", "cahd-gray", "cahd-blind")
"""Methods that run on Spark: those that make groups inside a range of the Gray order."""

RANGE_SIZE = 250_000
"""Transactions of a range: what one task holds in memory and works on by itself."""


@dataclass(frozen=True)
class SparkResult:
    """What a run on Spark gives: the verdict on the staged files, and what only the owner may see.

    `measurements`, `findings` (of one range, attacked as if it were all there is) and `seed` are private.
    """

    verdict: Verdict
    certificate: Certificate
    out: str
    method: str
    params: Mapping[str, Any]
    transactions: int
    ranges: int
    seed: int
    measurements: Mapping[str, Any]
    findings: Findings
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()


def anonymize(
    data: Any,
    out: str,
    *,
    model: str | None = None,
    method: str | None = None,
    seed: int | None = None,
    spark: Any = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    format: str | None = None,
    force: bool = False,
    sign: Any = None,
    accept: str | Iterable[str] = (),
    range_size: int = RANGE_SIZE,
    progress: Progress | None = None,
    job: Job | None = None,
    **options: Any,
) -> SparkResult:
    """Make, check and publish a release on Spark; the data never pass through this process.

    Parameters
    ----------
    data
        A Spark frame, or a path (Parquet, CSV, JSON lines, ORC, FIMI text; a file, a folder, a pattern); with
        `table="catalog.name"` the name of a table and None here.
    out
        A folder for the release: Parquet, or as `format` (parquet, json, csv) or its ending says. A path without a
        scheme is a folder of this machine; in an object store each run makes a new versioned folder.
    model, method, seed, options
        As in `anonset.anonymize`: `k`, `p`, `unit`, `sensitive`, and how to read (`transaction`, `item`, `user`, …).
    spark, master, conf
        A session; without one the active one, or a new one on `master` with these settings.
    accept
        What to publish in spite of what attackers find, as in `anonset.Targets`.
    range_size
        About how many transactions are worked on together. The release depends on it, as it does on the seed.

    Examples
    --------
    >>> import anonset.engines.spark
    >>> result = anonset.engines.spark.anonymize("sales.parquet", "release", k=10)  # doctest: +SKIP
    """
    job = job or Job(seed, progress=progress)
    asked = _asked(model, method, options, range_size, parse_accept(accept))
    place = Place.of(out, force=force, sign=sign, inputs={"data": data}, grouped=asked.grouped)
    kind = writing.require_kind(out, format)
    spark = session(spark, master, conf)
    with plain_errors("The release could not be made"), watched(spark, job), place.staging(asked.grouped) as stage:
        return _run(spark, data, stage, asked, kind, job)


@dataclass(frozen=True)
class Asked:
    """What is asked for, parsed."""

    spec: MethodSpec
    model: Model
    values: Mapping[str, Any]
    reading: Mapping[str, Any]
    unit: Unit | None
    sensitive: list[str]
    size: int
    accept: tuple[str, ...]
    usual: Mapping[str, Any]  # what nobody asked for, where sensitive items are named

    @property
    def grouped(self) -> bool:
        """Whether the release is one in groups."""
        return self.model.spec.form == "groups"


def _asked(
    model: str | None, method: str | None, options: Mapping[str, Any], size: int, accept: tuple[str, ...]
) -> Asked:
    spec = method_spec(method or model_spec(model or "k-anonymity").default_method)
    if spec.name not in METHODS_ON_SPARK:
        raise unknown("method", spec.name, METHODS_ON_SPARK, "It does not run on Spark.")
    if model is not None and spec.model != model:
        raise ParameterError("method", f"reach {model}", f"{spec.name}, which reaches {spec.model}")
    if size < 1000:
        raise ParameterError("range_size", "be at least 1,000", size)
    promised = model_spec(spec.model)
    reading, params = reading_only(options)
    unit = UNIT.parse(params.pop("unit", None))
    values = parse_params((*promised.params, *spec.params), params, spec.name, {})
    if values.get("item_order") == "given":
        raise ParameterError("item_order", "be frequency or label", "given", "Items have no order on Spark.")
    if values.get("protect", "all") != "all":
        raise ParameterError("protect", "be all", values["protect"], "The weaker promise is not made on Spark.")
    if values.get("hierarchy") is not None:
        values = {**values, "hierarchy": as_hierarchy(values["hierarchy"])}
    secrets = sensitive_names(reading.get("sensitive"))
    usual = {one.name: one.with_sensitive for one in spec.params if one.with_sensitive and params.get(one.name) is None}
    return Asked(spec, Model(promised, promised.promised(values)), values, reading, unit, secrets, size, accept, usual)


def _run(spark: Any, data: Any, stage: Stage, asked: Asked, kind: str, job: Job) -> SparkResult:
    with job.stage("read"):
        sets = read(spark, data, asked.reading)
        words = _words(vocabulary(sets), asked)
    with job.stage("sort"):
        rows = sets.frame.mapInArrow(partial(keyed, words=words), _schema(sets)).persist()
    try:
        return _with_keys(spark, rows, sets, words, stage, asked, kind, job)
    finally:
        rows.unpersist()


def _with_keys(
    spark: Any, rows: Any, sets: Sets, words: Words, stage: Stage, asked: Asked, kind: str, job: Job
) -> SparkResult:
    with job.stage("sort"):
        counted = _count(rows, sets)
        unit = _unit(asked, counted)
        asked, chosen = _settled(asked, words, unit)
        needs = _needs(asked, counted, words, unit)
        ranges = find_ranges(rows, asked.size, words.width)
        ranged = with_ranges(rows, ranges)
        ranges = large_enough(ranged, ranges, needs, np.flatnonzero(words.secret))
    with job.stage("groups"):
        made = _made(rows, ranges, words, asked, counted, unit, job)
        made.write.mode("overwrite").parquet(stage.private)
    snapshot = spark.read.parquet(stage.private)
    if kind == "csv":
        snapshot = writing.without_formulas(snapshot)
    published = snapshot.count()
    with job.stage("write"):
        write = writing.write_groups if asked.grouped else writing.write_rows
        write(snapshot, stage.path, kind, published)
    with job.stage("check"):
        verdict = _judged(spark, stage.path, snapshot, asked, kind, unit)
    found = _found(snapshot).accepting(asked.accept)
    found.require()
    measured = {} if asked.grouped else _measured(snapshot, int(words.counts[~words.secret].sum()))
    with job.stage("publish"):
        params = {name: value for name, value in asked.values.items() if name != "hierarchy"}
        about = Said(
            asked.spec.name,
            {**params, "range_size": asked.size},
            published,
            tuple(sorted(asked.sensitive)) if words.secret.any() else (),
            asked.grouped,
            found.remaining,
            found.needed,
        )
        certificate = stage.publish(verdict, about)
    return SparkResult(
        verdict=verdict,
        certificate=certificate,
        out=stage.out,
        method=asked.spec.name,
        params=params,
        transactions=published,
        ranges=len(ranges),
        seed=job.seed,
        measurements=measured,
        findings=found,
        seconds=job.seconds,
        notes=(*sets.notes, *chosen, *_said(unit, asked, counted)),
    )


def _schema(sets: Sets) -> str:
    return "key binary, row binary" + (", user string" if sets.has_users else "")


def _words(found: pa.Table, asked: Asked) -> Words:
    """The items in natural order, and their ranks as on one machine: the most frequent first."""
    labels = found["item"].combine_chunks().cast(pa.string())
    order = natural_order(labels)
    labels = labels.take(pa.array(order))
    counts = np.asarray(found["count"])[order]
    require_known(asked.sensitive, labels)
    secret = np.asarray(pc.is_in(labels, value_set=pa.array(asked.sensitive, type=pa.string())))
    ranks = np.arange(len(labels), dtype=np.int32)
    if asked.values.get("item_order", "frequency") == "frequency":
        ranks[np.argsort(-np.where(secret, 0, counts), kind="stable")] = np.arange(len(labels), dtype=np.int32)
    return Words(labels, ranks, secret, counts)


@dataclass(frozen=True)
class Counted:
    """How much there is."""

    transactions: int
    users: int = 0
    of_users: int = 0


def _count(rows: Any, sets: Sets) -> Counted:
    from pyspark.sql import functions as F

    wanted = [F.count("*").alias("n")]
    if sets.has_users:
        wanted += [F.count_distinct("user").alias("users"), F.count("user").alias("of_users")]
    row = rows.agg(*wanted).first().asDict()
    return Counted(row["n"], row.get("users", 0), row.get("of_users", 0))


def _unit(asked: Asked, counted: Counted) -> Unit:
    """Users where they repeat, unless something else is asked for."""
    if asked.unit == "user" and not counted.users:
        advice = f"Name the column that holds them: {setting('user')}, or count transactions."
        raise ParameterError("unit", "be transaction where the data name no users", "user", advice)
    repeat = counted.users < counted.of_users
    unit: Unit = asked.unit or ("user" if repeat else "transaction")
    if unit == "user" and asked.grouped:
        advice = f"Count transactions: {setting('unit', 'transaction')}, or use one machine."
        raise ParameterError("unit", f"be transaction for {asked.spec.name} on Spark", "user", advice)
    return unit


def _settled(asked: Asked, words: Words, unit: Unit) -> tuple[Asked, tuple[str, ...]]:
    """What is asked for, in this unit, with what protects sensitive items where nothing is said of them."""
    if not asked.usual or not words.secret.any():
        return replace(asked, model=asked.model.counting(unit)), ()
    told = ", ".join(f"{name}={value}" for name, value in asked.usual.items())
    if unit == "user":
        note = f"Sensitive items are named. On Spark {told} is kept where transactions are counted, not for persons."
        return replace(asked, model=asked.model.counting(unit)), (note,)
    values = {**asked.values, **asked.usual}
    model = replace(asked.model, params=asked.model.spec.promised(values)).counting(unit)
    return replace(asked, values=values, model=model), (f"Sensitive items are named: {told}.",)


def _said(unit: Unit, asked: Asked, counted: Counted) -> Iterator[str]:
    if unit == "user" and asked.unit is None:
        yield (
            f"The promise counts persons: {counted.users:,} users have {counted.of_users:,} transactions. "
            "unit=transaction (--unit transaction) would count transactions."
        )


def _needs(asked: Asked, counted: Counted, words: Words, unit: Unit) -> dict[str, int]:
    """What every range must hold; an error where not even all transactions together do."""
    k = asked.values.get("k", asked.values.get("p", 1))
    name = "k" if "k" in asked.values else "p"
    if 0 < counted.transactions < k:
        raise InfeasibleError(
            f"'{name}' must be at most the number of transactions ({counted.transactions:,}). Got {k:,}. "
            "Choose a smaller one or add data."
        )
    needs = {"k": k}
    if unit == "user":
        if counted.users < k:
            raise InfeasibleError(
                f"'{name}' must be at most the number of different users ({counted.users:,}). Got {k:,}. "
                f"Choose a smaller one, or count transactions: {setting('unit', 'transaction')}."
            )
        needs["users"] = k
    p = asked.values.get("p") if asked.grouped else asked.values.get("diversity")
    if p is not None:
        if not words.secret.any():
            raise ParameterError("sensitive", "name at least one item", "none", "Say which items are the secret.")
        most = int(words.counts[words.secret].max())
        if most * p > counted.transactions:
            raise InfeasibleError(
                f"'{'p' if asked.grouped else 'diversity'}' must be at most {counted.transactions // most:,}: an item "
                f"is in {most:,} of {counted.transactions:,} transactions. Got {p:,}. Choose a smaller one."
            )
        needs["p"] = p
    return needs


def _made(rows: Any, ranges: Ranges, words: Words, asked: Asked, counted: Counted, unit: Unit, job: Job) -> Any:
    """What the method publishes, range by range."""
    from pyspark.sql import functions as F

    values = dict(asked.values)
    if unit == "user" and counted.users < counted.transactions:
        values["unit"] = "user"
    promise = {"name": asked.model.name, **asked.model.params, "unit": unit}
    attacked = job.seed % max(len(ranges), 1)
    task = Task(asked.spec.name, values, words, job.seed, asked.grouped, counted.transactions, promise, attacked)
    schema = ["items array<string>"]
    if words.secret.any():
        schema.append("sensitive array<string>")
    if "user" in rows.columns:
        schema.append("user string")
    schema += ["place long", *(f"{name} long" for name in LOST), "findings binary"]
    if asked.grouped:
        schema += ["group long", "canon binary"]
    placed = with_ranges(rows, ranges).repartitionById(max(len(ranges), 1), F.col("range"))
    return placed.mapInArrow(partial(anonymized, task=task), ", ".join(schema))


def _judged(spark: Any, path: str, snapshot: Any, asked: Asked, kind: str, unit: Unit) -> Verdict:
    """The verdict on the staged files, which must hold and hold what was to be written."""
    marked = "sensitive" in snapshot.columns
    if asked.grouped:
        verdict = checks.privacy_degree(*writing.read_groups(spark, path, kind), asked.model.params)
    else:
        files = writing.read_rows(spark, path, kind, marked=marked)
        checks.require_same(files, snapshot, ["items", *(["sensitive"] if marked else [])])
        verdict = checks.k_anonymity(files, asked.model.params, snapshot if unit == "user" else None)
    if not verdict.holds:
        raise GuaranteeError(
            f"The release does not keep its promise ({verdict.promise}): {verdict.witnesses[0].statement}. "
            "Nothing was published. This is a defect of the method; please report it."
        )
    return verdict


def _found(snapshot: Any) -> Findings:
    """What attackers found in the range that they tried."""
    rows = snapshot.filter("findings IS NOT NULL").select("findings").collect()
    found: Findings = pickle.loads(bytes(rows[0]["findings"])) if rows else Findings()
    return found


def _measured(snapshot: Any, occurrences: int) -> dict[str, Any]:
    """What was lost, added up over the ranges."""
    from pyspark.sql import functions as F

    row = snapshot.agg(*(F.sum(name).alias(name) for name in LOST)).first()
    lost = {name: int(row[name] or 0) for name in LOST}
    whole = max(occurrences, 1)
    loss = lost["items_removed"] + lost["items_added"]
    return {
        "information_loss": loss,
        "information_loss_ratio": loss / whole,
        **lost,
        "item_differences_ratio": lost["item_differences"] / whole,
    }
