"""`anonset anonymize DATA -k 10 -o OUT`: from transactions to a checked release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonset.cli.base import project
from anonset.cli.base.asking import with_questions
from anonset.cli.base.cluster import cluster_options, on_spark, run_on_spark
from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, warn
from anonset.cli.base.groups import (
    KEEP_FORMULAS,
    RUNNING,
    SEED,
    THREADS,
    WRITING,
    SourceOrQuery,
    as_read_options,
    dossier_options,
    located,
    method_options,
    model_options,
    read_options,
    require_fitting,
    require_source,
    run_options,
    write_options,
)
from anonset.cli.base.nightly import log_result, night_options, night_targets, require_room, rights, say_checked
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.cli.base.released import as_json, findings_of, page
from anonset.data.errors import ParameterError
from anonset.data.spec import UNIT, Param

if TYPE_CHECKING:
    from anonset.data.findings import Findings
    from anonset.data.release import Result
    from anonset.unlink import Keep

app = Application()

KEEP = (
    Param("keep_order", "bool", "Do not shuffle the transactions. Somebody who knows their order can find a person."),
    Param("keep_ids", "bool", "Publish the transactions' ids. Somebody who knows an id has found the person."),
    Param("keep_users", "bool", "Publish pseudonyms that link each user's transactions."),
    Param("keep_degrees", "bool", "Publish how sensitive everybody finds their sensitive items; for kp-anonymity."),
)

REPORT = Param("report", "text", "Write a report (.html or .json). It is private, and its name will say so.")
WRITE_CUT = Param(
    "write_cut", "text", "km methods: write what each item is published as, to review, edit and give to 'recode'."
)
WRITE_PATTERNS = Param(
    "write_patterns", "text", "kamp: write which patterns each user has and is to have. Private: it names users."
)
LINK = Param(
    "link",
    "text",
    "Write which original transaction, and whose, is behind each published one (.csv), to check persons again, erase "
    "and measure. It undoes the release: private, and its name will say so.",
)
PUBLIC = Param("public", "bool", "Leave out of the report everything that is computed from the original.")

ACCEPT = Param(
    "accept",
    "text",
    "Publish although attackers find too much or too little is left: singling-out, linkability, inference, loss.",
)


BOUND = Param(
    "bound", "bool", "Also find the loss that no k-anonymous release can go below (minutes, more for long baskets)."
)


def report_options() -> list[Choice]:
    """Where to write a report, and for whom."""
    return [Choice(REPORT, WRITING, metavar="FILE"), Choice(PUBLIC, WRITING, switch=True), *dossier_options()]


def bound_options() -> list[Choice]:
    """Whether to look for the least possible loss."""
    return [Choice(BOUND, RUNNING, switch=True)]


def cut_options() -> list[Choice]:
    """Where to write the cut, the pattern table, or the link to the original."""
    return [Choice(param, WRITING, metavar="FILE") for param in (WRITE_CUT, WRITE_PATTERNS, LINK)]


def keep_options() -> list[Choice]:
    """What may be kept although it weakens the release."""
    return [Choice(param, WRITING, switch=True) for param in (*KEEP, KEEP_FORMULAS)]


def as_keep(keeping: Given) -> Keep:
    """What the given options keep."""
    from anonset.unlink import Keep

    return Keep(**{name.removeprefix("keep_"): True for name in keeping if name != KEEP_FORMULAS.name})


def accept_options() -> list[Choice]:
    """What is published although the outcome stands against it."""
    return [Choice(ACCEPT, WRITING, metavar="NAMES")]


def as_report_targets(reporting: Given) -> dict[str, Any]:
    """Report and dossier as `Targets` knows them."""
    named: dict[str, Any] = {name: text for name, text in reporting.items() if name != PUBLIC.name}
    return {**named, "public_report": PUBLIC.name in reporting}


@app.command(epilog="Example: anonset anonymize sales.csv -k 10 -o release.csv")
@takes(
    privacy=[*model_options(), *method_options()],
    writing=[*write_options(), *accept_options()],
    reporting=report_options(),
    cutting=cut_options(),
    keeping=keep_options(),
    reading=read_options(),
    bounding=bound_options(),
    nightly=night_options(),
    cluster=cluster_options(),
    running=run_options(SEED, THREADS),
)
def anonymize(
    privacy: Given,
    writing: Given,
    reporting: Given,
    cutting: Given,
    keeping: Given,
    reading: Given,
    bounding: Given,
    nightly: Given,
    cluster: Given,
    running: Given,
    data: SourceOrQuery = None,
) -> None:
    """Make a release of DATA that keeps a promise, check it independently, and write it.

    Without --model and --method the promise is k-anonymity; one of the two is enough. Without --out nothing is written:
    a trial run that shows what the release would lose. A certificate that says what is promised is written beside
    the release; it and the release may be published, everything else that is printed here is private.

    Before anything is written, attackers are let loose on the release. Where one succeeds that the promise should stop,
    where people are found as before, where a sensitive item is certain, or where next to nothing is left of the data,
    nothing is written and the exit code is 4; --accept publishes it all the same.
    """
    from anonset.data.job import Job
    from anonset.data.targets import Targets
    from anonset.pipeline import check, publish

    data = located(data)
    writing.update({name: located(writing[name]) for name in ("out",) if name in writing})
    project.fill(data, privacy, writing, reporting, cutting, keeping, reading, bounding, nightly, cluster, running)
    if on_spark(cluster):
        refused = {**reporting, **cutting, **keeping, **bounding, **nightly}
        return run_on_spark(data, privacy, writing, reading, cluster, running, refused)
    targets = Targets(
        **writing,
        **cutting,
        **as_report_targets(reporting),
        **night_targets(nightly),
        keep_formulas="keep_formulas" in keeping,
    )
    model, method = privacy.pop("model", None), privacy.pop("method", None)
    _require_own_options(model, method, privacy)
    require_source(data, reading)
    require_one_output(writing, running)
    require_room(data, as_read_options(reading), nightly)
    beside = {"report": _report(reporting), "dossier": _dossier(reporting), "link": _link(cutting)}
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed"), running.get("threads"), display, display.say)
        publishing, kept, bounded = (check if "check" in nightly else publish), as_keep(keeping), "bound" in bounding

        def make() -> Result | None:
            where = replace(targets, config=project.as_text()) if "write_config" in nightly else targets
            how = {"method": method, "job": job, "keep": kept, "bound": bounded}
            return publishing(data, where, model, **how, **as_read_options(reading), **privacy)

        result = with_questions(reading, running, display, make)
        findings = None if result is None else findings_of(result, targets, running)
    if result is None:
        return say_checked(running)
    log_result(result)
    return _say(result, findings, writing.get("out"), beside, (kept.warnings(), rights(targets)), running)


def _say(
    result: Result,
    findings: Findings | None,
    out: str | None,
    beside: Mapping[str, str | None],
    around: tuple[Sequence[str], Sequence[Any]],
    running: Given,
) -> None:
    """The result on the terminal or for machines; `around` it are warnings before it and remarks after it."""
    from anonset.assess.risk.pseudonyms import LOUD

    if "json" in running:
        return show_json({**as_json(result, out, findings), **beside})
    loud = (*around[0], *(note for note in result.notes if note.startswith(LOUD)))
    warn(loud, "Warning")
    if "quiet" not in running:
        warn(note for note in result.notes if note not in loud)
    if "quiet" not in running and out != "-":
        show(*page(result, out, beside, findings), *around[1])
    return None


def require_one_output(writing: Given, running: Given) -> None:
    """Standard output is for the release or for JSON, not for both."""
    if writing.get("out") == "-" and "json" in running:
        raise ParameterError("json", "be left out where the release goes to standard output", "both", "Name a file.")


def _require_own_options(model: str | None, method: str | None, params: Given) -> None:
    """Refuse options of other methods before any work is done. Values are parsed where they are used."""
    from anonset.models import model_spec
    from anonset.pipeline import chosen_method

    spec = chosen_method(model, method)
    require_fitting(params, (*model_spec(spec.model).params, *spec.params, UNIT), f"method {spec.name}")


def _report(reporting: Given) -> str | None:
    """Where the report is."""
    from anonset.reports import report_path

    if "report" not in reporting:
        return None
    return str(report_path(reporting["report"], "public" in reporting))


def _link(cutting: Given) -> str | None:
    """Where the link is."""
    from anonset.io.publish.private_link import link_path

    return str(link_path(cutting["link"])) if "link" in cutting else None


def _dossier(reporting: Given) -> str | None:
    """Where the dossier is."""
    from anonset.reports.dossier import dossier_path

    return str(dossier_path(reporting["dossier"])) if "dossier" in reporting else None
