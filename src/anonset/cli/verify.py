"""`anonset verify FILE -k 10`: whether a file, ours or anybody's, keeps a promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, items, measured, show, show_json, table, warn
from anonset.cli.base.earlier import beside_earlier, previous_options
from anonset.cli.base.groups import (
    PRIVACY,
    READING,
    SourceOrQuery,
    as_read_options,
    model_options,
    read_options,
    require_fitting,
    require_source,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.persons import in_persons, persons_json
from anonset.cli.base.progress import Display
from anonset.data.errors import GuaranteeError, InputError, ParameterError, setting
from anonset.data.job import Job
from anonset.data.spec import UNIT, Param
from anonset.io.publish.certified import Found, as_certified, differences, find_certificate

if TYPE_CHECKING:
    from anonset.assess.audit import Audit
    from anonset.data.release import Release, Verdict
    from anonset.data.spec import Model
    from anonset.data.transactions import Ints
    from anonset.io.publish.signature import Signature

app = Application()

BROKEN = 3

SIGNERS = Param(
    "signers", "text", "Require a signature of the certificate by one of these (an SSH allowed_signers file)."
)
IGNORED = Param(
    "ignore_columns",
    "text",
    "Columns, separated by commas, that nobody checks and that you answer for; others that no check reads break any "
    "promise.",
)
LINK = Param("link", "text", "The owner's private link of this release: checks the promise in persons, too.")
ORIGINAL = Param(
    "original", "text", "The original, to see that the link fits it; the options of reading are then those of ORIGINAL."
)


@app.command(epilog="Example: anonset verify release.csv -k 10")
@takes(
    privacy=model_options(varied=True),
    trusting=[Choice(SIGNERS, PRIVACY, metavar="FILE")],
    linking=[Choice(LINK, PRIVACY, metavar="FILE"), Choice(ORIGINAL, PRIVACY, metavar="DATA")],
    comparing=previous_options(),
    reading=read_options(),
    accepted=[Choice(IGNORED, READING)],
    running=run_options(),
)
def verify(
    privacy: Given,
    trusting: Given,
    linking: Given,
    comparing: Given,
    reading: Given,
    accepted: Given,
    running: Given,
    data: SourceOrQuery = None,
) -> None:
    """Say whether DATA keeps a promise; where it does not, show the sets that break it.

    If DATA has a certificate beside it, everything that it says is compared with what is found, and model, parameters
    and sensitive items are taken from it where none are given; --signers asks for its signature as well. The exit code
    is 0 if the promise holds and 3 if it does not, if a column is published that no check reads, or if DATA and its
    certificate differ in anything.

    Users are not published, so anybody can check what is promised of transactions, and only the owner what is promised
    of persons: with --link, the file that anonymize --link wrote.

    With --previous, the counts of both files are compared as well: where some but fewer than k new transactions hold a
    set, knowing that a person is new leaves fewer than k candidates, and the exit code is 3. For k^m-anonymous
    releases by different cuts, --hierarchy shows as well where both together leave fewer than k candidates for somebody
    in both.

    With neither a certificate nor a promise to check, everything is reported that can be measured of DATA.
    """
    require_source(data, reading)
    found = None if data is None else find_certificate(data)
    _say_if_unfinished(data, found)
    signature = _signature(found, trusting)
    if found is None and not privacy and not linking and not comparing:
        _audit(data, reading, running)
        return
    if "hierarchy" in comparing and "previous" not in comparing:
        raise ParameterError("hierarchy", "come with an earlier release", "none", f"Give it: {setting('previous')}.")
    target = _target(found, privacy)
    ignored = accepted.get("ignore_columns", "")
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        answer = _answer(data, found, target, as_read_options(reading), ignored, {**linking, **_unit(privacy)}, job)
        earlier = None
        if "previous" in comparing and data is not None:
            earlier = beside_earlier(data, comparing, target, as_read_options(reading))
    answer = replace(answer, signature=signature)
    if "json" in running:
        show_json({**answer.to_dict(data), "previous": None if earlier is None else earlier.to_dict()})
    elif "quiet" not in running:
        show(*answer.page(), *([] if earlier is None else earlier.sentences()))
        warn(answer.warnings, "Warning")
    unsafe = earlier is not None and not earlier.holds
    if unsafe or not answer.verdict.holds or answer.differences or (signature is not None and not signature.holds):
        raise typer.Exit(BROKEN)


def _say_if_unfinished(data: str | None, found: Found | None) -> None:
    """Where a run was killed between the release and its certificate, say so."""
    from pathlib import Path

    from anonset.data.address import Address
    from anonset.io.publish.releases import certificate_path
    from anonset.io.publish.slots import unfinished

    if data is not None and Address.of(data) is None and (found is None or found.changed):
        places = (Path(data), certificate_path(Path(data)))
        warn(dict.fromkeys(filter(None, (unfinished(place) for place in places if place.name))), "Warning")


def _signature(found: Found | None, trusting: Given) -> Signature | None:
    """What is known of the certificate's signature, where one is required."""
    from anonset.io.publish.signature import check_signature

    if "signers" not in trusting:
        return None
    if found is None:
        raise GuaranteeError("There is no certificate beside DATA, so that nothing is signed. Ask for the certificate.")
    return check_signature(found.name, found.text, found.signature, trusting["signers"])


@dataclass(frozen=True)
class Answer:
    """The verdict, in what the certificate differs from what was found, and what else the owner should know."""

    verdict: Verdict
    found: Found | None
    differences: tuple[str, ...]
    warnings: tuple[str, ...]
    signature: Signature | None = None

    def page(self) -> list[Any]:
        """For people."""
        rows = [
            ("holds" if self.verdict.holds_in_transactions else "does not hold", f"{self.verdict.promise}."),
            ("measured", measured(self.verdict.measured)),
            *in_persons(self.verdict, "now, with the owner's link"),
            *self._not_in_persons(),
        ]
        if self.found is not None:
            rows.append(("certificate", self._certificate()))
        if self.signature is not None:
            rows.append(("signature", self.signature.sentence))
        if self.verdict.holds:
            return [facts(rows)]
        shown = [(witness.statement, items(witness.items)) for witness in self.verdict.witnesses]
        return [facts(rows), "", "For example:", table(("what is wrong", "published set"), shown)]

    def _not_in_persons(self) -> list[tuple[str, str]]:
        """What the certificate says of persons and was not checked here."""
        said = None if self.found is None else self.found.certificate.get("persons")
        if self.verdict.persons is not None or not isinstance(said, dict):
            return []
        promise = f"{said.get('promise')}, says the certificate: the owner checked it at publishing"
        return [("in persons", f"{promise} (--link checks it again).")]

    def _certificate(self) -> str:
        assert self.found is not None
        name = self.found.name
        if not self.differences:
            what = "table" if self.found.table else "file"
            which = " of transactions" if self._not_in_persons() else ""
            return f"{name} is about this very {what} (sha256 agrees), and what it says{which} was found again."
        return f"{name} proves nothing: {'; '.join(self.differences)}."

    def to_dict(self, data: str | None) -> dict[str, Any]:
        """For machines."""
        verdict = self.verdict
        return {
            "source": data,
            "model": verdict.model,
            "params": verdict.params,
            "promise": verdict.promise,
            "holds": verdict.holds,
            "measured": verdict.measured,
            "unit": verdict.unit,
            "persons": persons_json(verdict),
            "witnesses": [
                {"statement": witness.statement, "items": witness.items, "size": witness.size}
                for witness in verdict.witnesses
            ],
            "warnings": self.warnings,
            "certificate": None
            if self.found is None
            else {
                "file": self.found.place,
                "matches": not self.differences,
                "differences": self.differences,
            },
            "signature": None
            if self.signature is None
            else {"signer": self.signature.signer, "holds": self.signature.holds},
        }


def _answer(
    data: str | None,
    found: Found | None,
    target: Model,
    reading: dict[str, Any],
    ignored: str,
    linking: Given,
    job: Job,
) -> Answer:
    from anonset.assess.published import judge, warnings
    from anonset.data.release import Verdict, Witness
    from anonset.io import read_release
    from anonset.io.publish.group_reading import is_group_folder

    if found is not None and found.changed and is_group_folder(data):
        raise GuaranteeError(f"{found.place} is about other files: {'; '.join(found.changed)}. Restore the folder.")
    own = {} if "original" in linking else reading
    plain = {name: value for name, value in own.items() if name not in ("sensitive", "sensitive_file")}
    with job.stage("read"):
        release = read_release(data, **plain)
        certified = release if found is None else _marked(release, found)
        asked = read_release(data, **own) if plain != own else certified
        target, users = _persons(data, asked, found, target, reading, linking)
    with job.stage("check"):
        different = () if found is None else differences(found, release, users)
        try:
            verdict = judge(asked, target, ignored, users)
        except InputError as error:
            if not different:
                raise
            reason = Witness(f"it cannot be checked: {error}")
            verdict = Verdict(target.name, target.params, target.promise, False, {}, (reason,))
    return Answer(verdict, found, different, warnings(asked, target.spec))


def _unit(privacy: Given) -> Given:
    return {name: value for name, value in privacy.items() if name == UNIT.name}


def _persons(
    data: str | None, release: Release, found: Found | None, target: Model, reading: dict[str, Any], linking: Given
) -> tuple[Model, Ints | None]:
    """What the promise counts, and the users of the published transactions where the owner's link tells them."""
    from anonset.io import read, read_link

    if "link" not in linking:
        if "original" in linking or (target.unit == "user" and not target.spec.protects_users):
            what = "original" if "original" in linking else "unit"
            advice = f"Only the owner's link says whose transactions these are: {setting('link')}."
            raise ParameterError(what, "come with a link", "none", advice)
        return target, None
    link = read_link(linking["link"])
    if data is not None:
        link.require_release(data, release)
    if "original" in linking:
        link.row_origin(read(linking["original"], **reading))
    unit = linking.get("unit") or ("user" if found is None else found.certificate.get("unit"))
    return (target.counting("user"), link.require_users()) if unit == "user" else (target, None)


def _marked(release: Release, found: Found) -> Release:
    """The release with the sensitive items of the certificate; as it is, where these are others."""
    try:
        return as_certified(release, found.certificate["sensitive_items"])
    except InputError:
        return release


def _audit(data: str | None, reading: Given, running: Given) -> None:
    """Report everything that can be measured where nothing is promised."""
    from anonset.assess.audit import audit
    from anonset.assess.published import warnings
    from anonset.io import read_release

    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            release = read_release(data, **as_read_options(reading))
        with job.stage("check"):
            found = audit(release)
    unread = [f"The column '{name}' is published, but no check reads it." for name in release.transactions.unread]
    said = (*unread, *warnings(release))
    if "json" in running:
        show_json({"source": data, **found.to_dict(), "warnings": said})
    elif "quiet" not in running:
        show(*_audited(found))
        warn(said, "Warning")


def _audited(found: Audit) -> list[Any]:
    page: list[Any] = ["Nothing is promised about these data. What they keep by themselves:", ""]
    for verdict in found.verdicts:
        about = ", ".join(f"{name} = {value}" for name, value in verdict.params.items())
        page.append(facts([(f"{verdict.model}, {about}", "holds" if verdict.holds else "does not hold")]))
        page.append(facts([("    measured", measured(verdict.measured))]))
        shown = [(witness.statement, items(witness.items)) for witness in verdict.witnesses[:3]]
        page += [table(("what is wrong", "published set"), shown), ""] if shown else [""]
    if found.inference is not None:
        sure = f"can be inferred with up to {found.inference.largest:.1%} certainty"
        page.append(facts([("sensitive items", sure)]))
        if found.inference.warning:
            page += ["", f"WARNING: {found.inference.warning}"]
    return page


def _target(found: Found | None, privacy: Given) -> Model:
    """The model to check: as given, and where that says nothing as the certificate says."""
    from anonset.models import model, model_spec

    params = dict(privacy)
    name = params.pop("model", None) or (found.certificate["model"] if found else "k-anonymity")
    if found is not None and found.certificate["model"] == name:
        params = {**found.certificate["parameters"], **params}
    spec = model_spec(name)
    require_fitting(params, (*spec.params, *spec.options, UNIT), f"model {name}")
    return model(name, **params)
