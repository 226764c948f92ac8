"""From a result to files: every path planned, everything staged together, renamed last.

Precondition   a result whose verdict holds, and the targets of the run.
Steps          plan (`require_targets`, before the work) · stage release, certificate, cut, patterns, report · publish.
Postcondition  all targets are there, the release among them checked once more as a file; or an error, and all is as
               before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonset.data.address import Address, companions
from anonset.data.errors import InputError, ParameterError, argument, setting
from anonset.data.findings import parse_accept
from anonset.data.job import Job
from anonset.data.quantities import apart
from anonset.data.release import Result
from anonset.data.spec import ModelSpec
from anonset.data.targets import Targets
from anonset.io.formats.capacity import require_parts
from anonset.io.formats.registry import format_of
from anonset.io.publish import pipes
from anonset.io.publish.atomic import Staging, plain_errors, staging
from anonset.io.publish.certificate import sha256
from anonset.io.publish.groups import group_format, published_order
from anonset.io.publish.plan import Output, require_plan
from anonset.io.publish.private_link import PrivateLink, link_path, release_file
from anonset.io.publish.releases import release_outputs, stage_release
from anonset.io.publish.signature import key_inputs, require_key
from anonset.io.publish.tables import require_table, stage_table, table_order
from anonset.models import model_spec
from anonset.reports import report_path, stage_report
from anonset.reports.dossier import dossier_path, stage_dossier


def require_targets(
    targets: Targets,
    model: ModelSpec,
    *,
    cuts: bool,
    patterns: bool,
    more: Iterable[str] = (),
    inputs: Mapping[str, Any] | None = None,
) -> list[Output]:
    """All files that a run will write; an error for a path, a format, a key or a cut that cannot be.

    `more` are the parts of the data that this run publishes besides those that the model speaks of.
    """
    parse_accept(targets.accept)
    outputs = [*_release(targets, model, (*model.publishes, *more)), *_beside(targets, cuts=cuts, patterns=patterns)]
    reads = {**(inputs or {}), **key_inputs(targets.sign)}
    updated = [*_updated(targets)]
    if targets.piped:
        pipes.require_pipe(targets, model.form)
    if targets.table is not None:
        updated += _database_file(targets.table, reads)
    place, reserved = targets.shared_folder, [*_reserved(targets)]
    require_plan(outputs, reads, force=targets.force, shared=place, updated=updated, reserved=reserved)
    if targets.table is not None:
        require_table(targets.table, targets, model.form, reads)
    return outputs


def _updated(targets: Targets) -> Iterator[Output]:
    """The files that a run adds to: its log and its ledger."""
    for name in ("ledger", "log"):
        if (place := getattr(targets, name)) is not None:
            yield Output(name, Path(place))


def _reserved(targets: Targets) -> Iterator[Output]:
    """The names that the databases take for their own which a run writes to."""
    if targets.ledger is not None:
        yield from (Output("ledger", Path(beside)) for beside in companions(targets.ledger, "sqlite"))
    if targets.table is not None and targets.table.kind != "postgresql":
        beside = companions(targets.table.database, targets.table.kind)
        yield from (Output("out", Path(place)) for place in beside)


def _database_file(table: Address, inputs: Mapping[str, Any]) -> list[Output]:
    """The file that gets a table: no other output may be that file. (Where it is read as well, it is an input.)"""
    source = Address.of(inputs.get("data"))
    if table.kind == "postgresql" or (source is not None and source.same_database(table)):
        return []
    return [Output("out", Path(table.database))]


def reserve(stage: Staging, outputs: Iterable[Output], targets: Targets) -> None:
    """Take the places of all outputs, so that a second run to one of them ends before its work."""
    with plain_errors(targets.anything):
        if targets.table is not None:
            from anonset.io.database.staged import StagedTable  # loads drivers of databases

            table = StagedTable.claim(targets.table, force=targets.force, shared=targets.shared_folder)
            stage.companion = table
            if table.swept:
                note = f"An earlier run to {targets.table} ended before it was done. What it left was removed."
                stage.notes.append(note)
        for output in outputs:
            stage.reserve(output.path)


def stage_result(stage: Staging, result: Result, targets: Targets, job: Job) -> Result:
    """Stage all that `targets` asks for; the result with its certificate."""
    beside = None if targets.link is None else stage.file(link_path(targets.link))  # in place before the release
    content = b""
    if targets.out is not None:
        require_outcome(result, targets)
        with job.stage("write"), plain_errors(targets.out):
            result, content = _with_certificate(stage, result, targets)
    if beside is not None:
        with plain_errors(targets.link):
            _write_link(beside, stage, result, targets)
    if targets.write_cut is not None and result.cut is not None:
        with plain_errors(targets.write_cut):
            result.cut.write(stage.file(Path(targets.write_cut)), force=True)
    if targets.write_patterns is not None and result.patterns is not None:
        with plain_errors(targets.write_patterns):
            result.patterns.write(stage.file(Path(targets.write_patterns)), force=True)
    if targets.report is not None:
        page = report_path(targets.report, targets.public_report)
        with job.stage("report"), plain_errors(page):
            stage_report(stage, result, result.source, page, public=targets.public_report, job=job)
    if targets.dossier is not None:
        place = dossier_path(targets.dossier)
        with job.stage("dossier"), plain_errors(place):
            _stage_dossier(stage, result, targets, place, job)
    if targets.write_config is not None:
        with plain_errors(targets.write_config):
            stage.file(Path(targets.write_config)).write_text(targets.config, encoding="utf-8")
    if targets.mode is not None and targets.out is not None and targets.in_files:
        for output in release_outputs(targets.out, result.release.form):
            stage.allow(output.path, targets.mode)
    with job.stage("publish"), plain_errors(targets.anything):
        stage.publish()
    if targets.piped:
        with plain_errors(pipes.NAME):
            pipes.deliver(content)
    return replace(result, notes=tuple(dict.fromkeys((*stage.notes, *result.notes))), seconds=job.seconds)


def require_outcome(result: Result, targets: Targets) -> None:
    """An `OutcomeError` where something stands against publishing that was not accepted."""
    if result.attacker is None or not result.attacker.findings().accepting(targets.accept).refused:
        return
    accepted = parse_accept(targets.accept)
    result.attacker.helped(accepted).accepting(accepted).require()


def publish_result(result: Result, targets: Targets) -> Result:
    """Write a result that is there already."""
    model = model_spec(result.verdict.model)
    published = result.release.transactions
    more = [name for name in ("columns", "counts") if getattr(apart(published), name) is not None]
    outputs = require_targets(
        targets, model, cuts=result.cut is not None, patterns=result.patterns is not None, more=more
    )
    job = Job(result.seed)
    with staging(force=targets.force, shared=targets.shared_folder) as stage:
        reserve(stage, outputs, targets)
        return stage_result(stage, result, targets, job)


def _with_certificate(stage: Staging, result: Result, targets: Targets) -> tuple[Result, bytes]:
    """The release staged where it belongs; the bytes for standard output."""
    content = b""
    about = {
        "method": result.method,
        "params": result.params,
        "notes": result.public_notes,
        **_found(result, targets),
    }
    if targets.table is not None:
        certificate = stage_table(stage, result.release, result.verdict, key=targets.sign, about=about)
    elif targets.piped:
        formulas = targets.keep_formulas
        content, certificate = pipes.stage_pipe(
            result.release, result.verdict, format=targets.format, keep_formulas=formulas, about=about
        )
        result = replace(result, notes=(*result.notes, pipes.NO_CERTIFICATE))
    else:
        certificate = stage_release(
            stage,
            result.release,
            result.verdict,
            Path(str(targets.out)),
            format=targets.format,
            keep_formulas=targets.keep_formulas,
            key=targets.sign,
            about=about,
        )
    notes = tuple(dict.fromkeys((*result.notes, *certificate.notes)))
    return replace(result, certificate=certificate, notes=notes, public_notes=certificate.notes), content


def _stage_dossier(stage: Staging, result: Result, targets: Targets, place: Path, job: Job) -> None:
    findings = result.findings
    if result.source is None or findings is None:
        raise InputError(f"{argument('dossier')} needs the original, and this result was put together without it.")
    stage_dossier(
        stage,
        result,
        result.source,
        place,
        findings.accepting(targets.accept),
        purpose=targets.purpose,
        responsible=targets.responsible,
        job=job,
    )


def _write_link(beside: Path, stage: Staging, result: Result, targets: Targets) -> None:
    """Where each transaction of the staged release comes from."""
    assert targets.out is not None
    if result.source is None:
        raise InputError(f"{argument('link')} needs the original, and this result was put together without it.")
    if targets.table is not None:
        assert result.certificate is not None
        [digest] = result.certificate.files.values()
        order = table_order(result.release)
    else:
        target = Path(str(targets.out))
        digest = sha256(release_file(stage.staged(target)))
        order = published_order(result.release, target, targets.format, targets.keep_formulas)
    PrivateLink.of(result.source, result.row_origin[order], digest).write(beside)


def _found(result: Result, targets: Targets) -> dict[str, Any]:
    """What the certificate says of attackers: what remains possible, and what was accepted."""
    if result.findings is None:
        return {}
    found = result.findings.accepting(targets.accept)
    return {"remaining": found.remaining, "accepted": found.needed}


def _release(targets: Targets, model: ModelSpec, parts: tuple[str, ...]) -> Iterator[Output]:
    if targets.out is not None and targets.in_files:
        yield from release_outputs(targets.out, model.form)
        if model.form == "groups":
            group_format(targets.out, targets.format)
        else:
            require_parts(format_of(targets.out, targets.format), parts)
    if targets.sign is not None:
        if targets.out is None:
            raise ParameterError(
                "sign", "come with an output", "none", f"Name a file for the release: {setting('out')}."
            )
        require_key(targets.sign)


def _beside(targets: Targets, *, cuts: bool, patterns: bool) -> Iterator[Output]:
    if targets.write_cut is not None:
        if not cuts:
            raise InputError(
                f"{argument('write_cut')} is for methods that cut through a hierarchy. Leave it out, or choose one."
            )
        yield Output("write_cut", Path(targets.write_cut))
    if targets.write_patterns is not None:
        if not patterns:
            raise InputError(
                f"{argument('write_patterns')} is for methods that rewrite patterns of users. "
                "Leave it out, or use kamp."
            )
        yield Output("write_patterns", Path(targets.write_patterns))
    if targets.link is not None:
        if targets.out is None:
            raise ParameterError(
                "link", "come with an output", "none", f"Name a file for the release: {setting('out')}."
            )
        yield Output("link", link_path(targets.link))
    if targets.write_config is not None:
        yield Output("write_config", Path(targets.write_config))
    if targets.dossier is not None:
        yield Output("dossier", dossier_path(targets.dossier))
    if targets.report is not None:
        yield Output("report", report_path(targets.report, targets.public_report))
