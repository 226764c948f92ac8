"""`anonset verify FILE -k 10`: whether a file, ours or anybody's, keeps a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from anonset.cli.base.certificates import Found, find_certificate
from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, items, measured, show, show_json, table, warn
from anonset.cli.base.groups import (
    PRIVACY,
    SourceOrQuery,
    as_read_options,
    model_options,
    read_options,
    require_fitting,
    require_source,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import GuaranteeError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.audit import Audit
    from anonset.data.release import Verdict
    from anonset.data.spec import Model
    from anonset.io.publish.signature import Signature

app = Application()

BROKEN = 3

SIGNERS = Param(
    "signers", "text", "Require a signature of the certificate by one of these (an SSH allowed_signers file)."
)


@app.command(epilog="Example: anonset verify release.csv -k 10")
@takes(
    privacy=model_options(varied=True),
    trusting=[Choice(SIGNERS, PRIVACY, metavar="FILE")],
    reading=read_options(),
    running=run_options(),
)
def verify(privacy: Given, trusting: Given, reading: Given, running: Given, data: SourceOrQuery = None) -> None:
    """Say whether DATA keeps a promise; where it does not, show the sets that break it.

    If DATA has a certificate beside it, its checksum is compared, and model, parameters and sensitive items are
    taken from it where none are given; --signers asks for its signature as well. The exit code is 0 if the promise
    holds and 3 if it does not.

    With neither a certificate nor a promise to check, everything is reported that can be measured of DATA.
    """
    from anonset.data.job import Job
    from anonset.io import read_release

    require_source(data, reading)
    found = None if data is None else find_certificate(data)
    _say_if_unfinished(data, found)
    signature = _signature(found, trusting)
    if found is None and not privacy:
        _audit(data, reading, running)
        return
    by_certificate = found is not None and not privacy
    target = _target(found, privacy)
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            release = read_release(data, **_with_sensitive(found, as_read_options(reading)))
        with job.stage("check"):
            verdict = target.check(release)
    if "json" in running:
        show_json(_as_json(data, verdict, found, signature))
    elif "quiet" not in running:
        show(*_page(verdict, found, signature))
    if not verdict.holds or (by_certificate and found is not None and not found.matches):
        raise typer.Exit(BROKEN)
    if signature is not None and not (signature.holds and found is not None and found.matches):
        raise typer.Exit(BROKEN)


def _say_if_unfinished(data: str | None, found: Found | None) -> None:
    """Where a run was killed between the release and its certificate, say so."""
    from pathlib import Path

    from anonset.io.publish.releases import certificate_path
    from anonset.io.publish.slots import unfinished

    if data is not None and not (found is not None and found.matches):
        places = (Path(data), certificate_path(Path(data)))
        warn(dict.fromkeys(filter(None, (unfinished(place) for place in places if place.name))), "Warning")


def _signature(found: Found | None, trusting: Given) -> Signature | None:
    """What is known of the certificate's signature, where one is required."""
    from anonset.io.publish.signature import check_signature

    if "signers" not in trusting:
        return None
    if found is None:
        raise GuaranteeError("There is no certificate beside DATA, so that nothing is signed. Ask for the certificate.")
    return check_signature(found.path, trusting["signers"])


def _audit(data: str | None, reading: Given, running: Given) -> None:
    """Report everything that can be measured where nothing is promised."""
    from anonset.assess.audit import audit
    from anonset.data.job import Job
    from anonset.io import read_release

    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            release = read_release(data, **as_read_options(reading))
        with job.stage("check"):
            found = audit(release)
    if "json" in running:
        show_json({"source": data, **found.to_dict()})
    elif "quiet" not in running:
        show(*_audited(found))


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
    require_fitting(params, (*spec.params, *spec.options), f"model {name}")
    return model(name, **params)


def _with_sensitive(found: Found | None, reading: dict[str, Any]) -> dict[str, Any]:
    """The options of reading, with the certificate's sensitive items where none are given."""
    said = any(name.startswith("sensitive") for name in reading)
    if found is None or said or not found.certificate["sensitive_items"]:
        return reading
    return {**reading, "sensitive": found.certificate["sensitive_items"]}


def _page(verdict: Verdict, found: Found | None, signature: Signature | None) -> list[Any]:
    rows = [
        ("holds" if verdict.holds else "does not hold", f"{verdict.promise}."),
        ("measured", measured(verdict.measured)),
    ]
    if found is not None:
        rows.append(("certificate", found.sentence))
    if signature is not None:
        rows.append(("signature", signature.sentence))
    if verdict.holds:
        return [facts(rows)]
    shown = [(witness.statement, items(witness.items)) for witness in verdict.witnesses]
    return [facts(rows), "", "For example:", table(("what is wrong", "published set"), shown)]


def _as_json(data: str | None, verdict: Verdict, found: Found | None, signature: Signature | None) -> dict[str, Any]:
    return {
        "source": data,
        "model": verdict.model,
        "params": verdict.params,
        "promise": verdict.promise,
        "holds": verdict.holds,
        "measured": verdict.measured,
        "witnesses": [
            {"statement": witness.statement, "items": witness.items, "size": witness.size}
            for witness in verdict.witnesses
        ],
        "certificate": None if found is None else {"file": str(found.path), "matches": found.matches},
        "signature": None if signature is None else {"signer": signature.signer, "holds": signature.holds},
    }
