"""`anonset recode DATA --cut cut.csv -k 5 -m 2 -o OUT`: apply a cut that was reviewed or edited."""

from __future__ import annotations

from anonset.cli.anonymize import accept_options, as_keep, keep_options, require_one_output
from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, warn
from anonset.cli.base.groups import SEED, Source, as_read_options, located, read_options, run_options, write_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.cli.base.released import as_json, findings_of, page
from anonset.data.errors import InputError
from anonset.data.spec import Param

app = Application()

PROMISE = (
    Param("k", "int", "How many transactions must hold any known items that occur at all.", minimum=2, short="-k"),
    Param("m", "int", "How many items an attacker may know.", 2, minimum=1, short="-m"),
    Param("cut", "text", "What each item is published as: a CSV item,published, as --write-cut gives it."),
    Param("hierarchy", "text", "The hierarchy of the cut. Default: neighbouring items share a node, five by five."),
)


def cut_options() -> list[Choice]:
    """The promise, the cut and its hierarchy."""
    files = {"cut", "hierarchy"}
    return [Choice(param, "Privacy", metavar="FILE" if param.name in files else None) for param in PROMISE]


@app.command(epilog="Example: anonset recode sales.csv --cut cut.csv --hierarchy tree.csv -k 5 -m 2 -o release.csv")
@takes(
    privacy=cut_options(),
    writing=[*write_options(), *accept_options()],
    keeping=keep_options(),
    reading=read_options(),
    running=run_options(SEED),
)
def recode(data: Source, privacy: Given, writing: Given, keeping: Given, reading: Given, running: Given) -> None:
    """Publish DATA by a given cut: each item as the node that the cut says, checked like any other release.

    The cut comes from an earlier 'anonymize --write-cut' and may have been edited; an item with nothing under
    'published' is left out. If the recoded data is not k^m-anonymous, nothing is written and the
    exit code is 3; if attackers find too much or too little is left, it is 4 (see --accept).
    """
    from anonset.data.targets import Targets
    from anonset.pipeline import recode as make_release

    for name in ("cut", "k"):
        if name not in privacy:
            raise InputError(f"--{name} is missing. See 'anonset recode --help'.")
    targets = Targets(**writing, keep_formulas="keep_formulas" in keeping)
    require_one_output(writing, running)
    with Display(quiet="quiet" in running or "json" in running) as display:
        result = make_release(
            data,
            privacy.pop("cut"),
            targets=targets,
            keep=as_keep(keeping),
            seed=running.get("seed"),
            progress=display,
            **as_read_options(reading),
            **privacy,
        )
        findings = findings_of(result, targets, running)
    out = located(writing.get("out"))
    if "json" in running:
        show_json(as_json(result, out, findings))
    else:
        warn(result.notes)
        if "quiet" not in running and out != "-":
            show(*page(result, out, findings=findings))
