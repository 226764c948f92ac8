"""`anonset forget RELEASE --link FILE --who NAME`: a request for erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, items, measured, show, show_json, table
from anonset.cli.base.groups import LINK, as_read_options, model_options, read_options, require_fitting, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.persons import in_persons
from anonset.cli.base.progress import Display
from anonset.data.spec import UNIT, Param
from anonset.io.publish.certified import as_certified, find_certificate

if TYPE_CHECKING:
    from anonset.assess.erasure import Erasure
    from anonset.data.spec import Model
    from anonset.io.publish.certified import Found

app = Application()

PANEL = "Erasure"
BROKEN = 3
MOST = 20  # transactions shown; --json has all
WHO = Param("who", "text", "The user to be forgotten, as the original calls them; may stand several times.")
ID = Param("id", "text", "An original transaction to be forgotten, by its id; may stand several times.")
ORIGINAL = Param("original", "text", "The original; needed for a release in groups. The options of reading are for it.")

Published = Annotated[str, typer.Argument(help="The release.", metavar="RELEASE", show_default=False)]


@app.command(epilog="Example: anonset forget release.csv --link link.PRIVATE.csv --who 1762")
@takes(
    erasing=[
        Choice(LINK, PANEL, metavar="FILE"),
        Choice(WHO, PANEL, metavar="NAME", repeated=True),
        Choice(ID, PANEL, metavar="ID", repeated=True),
        Choice(ORIGINAL, PANEL, metavar="DATA"),
    ],
    privacy=model_options(varied=True),
    reading=read_options(),
    running=run_options(),
)
def forget(release: Published, erasing: Given, privacy: Given, reading: Given, running: Given) -> None:
    """Answer a request for erasure: which transactions of RELEASE are somebody's, and is it still good without them?

    The link is the file that anonymize --link wrote. The promise is that of the certificate unless options give one; it
    is checked on what would be left, in transactions and in persons. RELEASE itself is not changed. The exit code is 3
    if the promise would not hold: then anonymize the data again without the person.
    """
    from anonset.assess.erasure import forget as find
    from anonset.data.errors import ParameterError
    from anonset.data.job import Job
    from anonset.io import read, read_link, read_release

    if "link" not in erasing:
        raise ParameterError("link", "be given", "nothing", "Only the owner's link says whose transactions these are.")
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            link = read_link(erasing["link"])
            found = find_certificate(release)
            published = read_release(release)
            published = published if found is None else as_certified(published, found.certificate["sensitive_items"])
            original = read(erasing["original"], **as_read_options(reading)) if "original" in erasing else None
        link.require_release(release, published)
        with job.stage("check"):
            done = find(
                published,
                link,
                _target(found, privacy, link.users is not None),
                users=_several(erasing, "who"),
                transactions=_several(erasing, "id"),
                original=original,
            )
    if "json" in running:
        show_json({"release": release, **done.to_dict()})
    elif "quiet" not in running:
        show(*_page(done))
    if not done.holds:
        raise typer.Exit(BROKEN)


def _several(erasing: Given, name: str) -> list[str]:
    return [one for one in erasing.get(name, "").split(";") if one]


def _target(found: Found | None, privacy: Given, users: bool) -> Model:
    """The promise of the certificate, or of the options, in its unit."""
    from anonset.models import model, model_spec

    params = dict(privacy)
    name = params.pop("model", None) or (found.certificate["model"] if found else "k-anonymity")
    unit = params.pop("unit", None) or ("user" if found is None else found.certificate.get("unit"))
    if found is not None and found.certificate["model"] == name:
        params = {**found.certificate["parameters"], **params}
    spec = model_spec(name)
    require_fitting(params, (*spec.params, *spec.options, UNIT), f"model {name}")
    target = model(name, **params)
    return target.counting("user") if unit == "user" and users else target


def _page(done: Erasure) -> list[Any]:
    many = len(done.places)
    columns = ["published", *(["transaction"] if done.ids else []), *(["user"] if done.users else [])]
    rows = list(zip(*((done.places + 1).tolist(), *filter(None, (done.ids, done.users))), strict=True))
    page: list[Any] = [f"{many:,} published transactions are theirs, by their place in the release:", ""]
    page.append(table(columns, rows[:MOST], numbers=("published",)))
    if many > MOST:
        page.append(f"… and {many - MOST:,} more (--json has all).")
    verdict = done.verdict
    word = "still holds" if verdict.holds_in_transactions else "no longer holds"
    page += [
        "",
        "Without them:",
        facts(
            [
                (word, f"{verdict.promise}."),
                ("measured", measured(verdict.measured)),
                *in_persons(verdict, "now, with the owner's link"),
                ("left", f"{len(done.left):,} transactions"),
            ]
        ),
    ]
    if not verdict.holds:
        shown = [(witness.statement, items(witness.items)) for witness in verdict.witnesses]
        page += ["", table(("what is wrong", "published set"), shown)]
    return [*page, "", "Whoever has the release with and without them can tell which transactions were theirs."]
