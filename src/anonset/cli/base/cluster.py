"""`anonymize --engine spark`: the options of a run on Spark, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonset.cli.base.console import facts, measured, show, show_json, warn
from anonset.cli.base.found import summary
from anonset.cli.base.groups import RUNNING, as_read_options
from anonset.cli.base.options import Choice, Given, flag
from anonset.cli.base.persons import in_persons, persons_json
from anonset.cli.base.progress import Display
from anonset.data.errors import InputError, ParameterError
from anonset.data.spec import Param

ENGINE = Param(
    "engine",
    "choice",
    "Where to work: here, or on Apache Spark, for data that one machine cannot hold.",
    choices=("local", "spark"),
    example="local",
)
MASTER = Param(
    "master", "text", "Spark: which cluster, such as local[4], yarn, spark://host:7077. Default: this machine."
)
CONF = Param("conf", "text", "Spark: a setting such as spark.executor.memory=8g. May be given several times.")
RANGE_SIZE = Param(
    "range_size",
    "int",
    "Spark: about how many transactions a task works on. Default: 250,000.",
    minimum=1000,
    example=1000,
)
OWN = ("engine", "master", "conf", "range_size")


def cluster_options() -> list[Choice]:
    """`--engine`, and what a run on Spark needs."""
    return [
        Choice(ENGINE, RUNNING),
        Choice(MASTER, RUNNING, metavar="URL"),
        Choice(CONF, RUNNING, metavar="NAME=VALUE", repeated=True),
        Choice(RANGE_SIZE, RUNNING),
    ]


def on_spark(cluster: Given) -> bool:
    """Whether to work on Spark; its options are refused elsewhere."""
    if cluster.get("engine") == "spark":
        return True
    for name in OWN[1:]:
        if name in cluster:
            raise InputError(f"{flag(name)} goes with --engine spark. Add that, or leave it out.")
    return False


def run_on_spark(
    data: str | None, privacy: Given, writing: Given, reading: Given, cluster: Given, running: Given, refused: Given
) -> None:
    """Make a release on Spark and say what came out."""
    from anonset.cli import let_pandas_in
    from anonset.data.job import Job
    from anonset.engines.spark import anonymize

    _require_own(writing, refused)
    let_pandas_in()
    with Display(quiet="quiet" in running or "json" in running) as display:
        result = anonymize(
            data,
            writing["out"],
            master=cluster.get("master"),
            conf=_settings(cluster.get("conf")),
            format=writing.get("format"),
            force="force" in writing,
            sign=writing.get("sign"),
            accept=writing.get("accept", ()),
            **({"range_size": cluster["range_size"]} if "range_size" in cluster else {}),
            job=Job(running.get("seed"), running.get("threads"), display, display.say),
            **as_read_options(reading),
            **privacy,
        )
    if "json" in running:
        show_json(_as_json(result))
    elif "quiet" not in running:
        warn(result.notes)
        show(_page(result))


def _require_own(writing: Given, refused: Given) -> None:
    """Refuse what a run on Spark does not do, rather than forget it."""
    if "out" not in writing:
        raise ParameterError("out", "name a folder on Spark", "none", "There are no trial runs.")
    for name in (*refused, *(name for name in writing if name not in ("out", "format", "force", "sign", "accept"))):
        raise InputError(f"{flag(name)} is not there on Spark. Leave it out, or use one machine.")


def _settings(given: str | None) -> dict[str, str]:
    """The settings of several `--conf NAME=VALUE`."""
    found = {}
    for text in (given or "").split(";"):
        name, sign, value = text.partition("=")
        if text and not (sign and name.strip()):
            raise ParameterError("conf", "be NAME=VALUE", repr(text), "Try spark.executor.memory=8g.")
        if text:
            found[name.strip()] = value.strip()
    return found


def _page(result: Any) -> Any:
    rows: list[tuple[str, Any]] = [
        ("promise", f"{result.verdict.promise}."),
        ("measured", measured(result.verdict.measured)),
        *in_persons(result.verdict),
        ("method", f"{result.method}, on Spark in {result.ranges:,} ranges"),
        ("transactions", result.transactions),
    ]
    if "information_loss_ratio" in result.measurements:
        loss = result.measurements["information_loss_ratio"]
        rows.append(("information loss", f"{loss:.1%}: items added and removed, of all (private)"))
    rows += summary(result.findings, published=True)
    return facts([*rows, ("release", result.out)])


def _as_json(result: Any) -> Mapping[str, Any]:
    """The result for machines: what may be published, and under `private` what may not."""
    return {
        "out": result.out,
        "certificate": result.certificate.to_dict(),
        "model": result.verdict.model,
        "method": result.method,
        "params": result.params,
        "promise": result.verdict.promise,
        "holds": result.verdict.holds,
        "measured": result.verdict.measured,
        "unit": result.verdict.unit,
        "persons": persons_json(result.verdict),
        "transactions": result.transactions,
        "ranges": result.ranges,
        "notes": result.notes,
        "private": {
            "seed": result.seed,
            "measurements": result.measurements,
            "findings": result.findings.to_dict(),
            "seconds": result.seconds,
        },
    }
