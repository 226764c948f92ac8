"""The Spark session: the one that is there, or a quiet one of our own."""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anonset.data.errors import (
    AnonsetError,
    CancelledError,
    GuaranteeError,
    InfeasibleError,
    InputError,
    OutputError,
)
from anonset.data.extras import load

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.adaptive.enabled": "true",
}
"""Settings of a session that we start ourselves; `conf` may say otherwise."""

_OURS = re.compile(r"anonset\.data\.errors\.(\w+): (.*)")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")


def session(spark: Any = None, master: str | None = None, conf: Mapping[str, str] | None = None) -> Any:
    """The session given, else the active one, else a new one on `master` (all cores of this machine)."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    sql = load("pyspark.sql", "spark", "Apache Spark")
    active = spark or sql.SparkSession.getActiveSession()
    if active is not None:
        if master is not None or conf:
            raise InputError("A Spark session is running already: its master and settings cannot be changed.")
        return active
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName("anonset").master(master or os.environ.get("SPARK_MASTER", "local[*]"))
    for name, value in {**QUIET, **(conf or {})}.items():
        builder = builder.config(name, value)
    with plain_errors("Spark could not be started"), _silenced():
        started = builder.getOrCreate()
    if "spark.log.level" not in (conf or {}):
        started.sparkContext.setLogLevel("OFF")
    return started


def require_java() -> None:
    """Spark runs on a Java machine."""
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (home and (Path(home) / "bin" / "java").exists()):
        raise InputError("Apache Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME.")


@contextmanager
def _silenced() -> Iterator[None]:
    """What the Java machine says on stderr while it starts, and from then on, is not for our users."""
    try:
        descriptor = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        kept = os.dup(descriptor)
    except (OSError, ValueError):
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, descriptor)
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def plain_errors(what: str) -> Iterator[None]:
    """Errors of Spark in one sentence that quotes no data; our own errors from the executors as they are."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _translated(error, what) from None


def _translated(error: Exception, what: str) -> AnonsetError:
    text = str(error)
    ours = _OURS.search(text)
    if ours:
        kind = _SENTENCES.get(ours[1], InputError)
        return kind(ours[2])
    if "cancelled" in text and "SparkException" in text:
        return CancelledError("Stopped on request; nothing was published.")
    condition = getattr(error, "getCondition", lambda: None)() or (_CONDITION.search(text) or ["", "unknown"])[1]
    about = InputError if condition in _ABOUT_INPUT else OutputError
    return about(f"{what}: Spark says {condition}. {_ABOUT_INPUT.get(condition, 'Nothing was published.')}")


_SENTENCES: dict[str, type[AnonsetError]] = {
    kind.__name__: kind for kind in (InfeasibleError, GuaranteeError, OutputError, CancelledError)
}
"""Errors that are made of one sentence; all others of ours are about the input."""

_ABOUT_INPUT = {
    "PATH_NOT_FOUND": "Check the path.",
    "UNABLE_TO_INFER_SCHEMA": "Check that there are files of this format.",
    "TABLE_OR_VIEW_NOT_FOUND": "Check the name of the table.",
    "DATA_SOURCE_NOT_FOUND": "Add its jars: --conf spark.jars.packages=… .",
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": "Check the names of the columns.",
}
