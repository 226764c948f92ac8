"""`anonset init [FILE]`: write a project file, from options or from a few questions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anonset.cli.base import project
from anonset.cli.base.asking import with_questions
from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, warn
from anonset.cli.base.groups import located
from anonset.cli.base.options import Given
from anonset.cli.base.progress import Display
from anonset.cli.base.spelling import spelt
from anonset.cli.run import like_anonymize, typed
from anonset.data.errors import AnonsetError, InputError

app = Application()

QUESTIONS = (
    ("data", "Where are the transactions (a file, a folder, a pattern)", None),
    ("k", "How many transactions must share each published set (k)", "10"),
    ("sensitive", "Which items are sensitive, separated by commas (none: leave empty)", ""),
    ("out", "Where should releases go ({date} becomes the day)", "release-{date}.csv"),
    ("ledger", "A ledger, to release only what is new each time (none: leave empty)", ""),
)
Replace = Annotated[bool, typer.Option("--replace", help="Replace a project file that is there already.")]


def init(ctx: typer.Context, **values: Any) -> None:
    """Write a project file for `anonset run`: from the options given, or on a terminal from a few questions.

    Every option of `anonset anonymize` can be given, and is then written into the file. Nothing is released. Where the
    first lines of the data do not show which column holds what, that is a question, too.
    """
    from anonset.io.publish.atomic import plain_errors, staging
    from anonset.io.publish.plan import Output, require_plan

    path, replace = Path(values.pop("file")), values.pop("replace")
    shared = values.get("shared_folder")
    require_plan([Output("file", path)], project.paths(values, path), force=replace, shared=shared)
    given = typed(ctx, values) or _asked()
    with plain_errors(path), staging(force=replace, shared=shared) as stage:
        waiting = stage.file(path)
        waiting.write_text(project.as_text(given), encoding="utf-8")
        project.read_project(waiting)  # what is written can be read
        stage.publish()
    if "quiet" not in given:
        show(f"{path} is written. Try: anonset run {path} --check")


def _asked() -> dict[str, Any]:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("Nothing says what to write. Give options (--data sales.csv -k 10 -o release.csv).")
    answers: dict[str, str] = {}
    for name, question, default in QUESTIONS:
        answers[name] = typer.prompt(question, default=default).strip()
        if name == "data":
            answers |= _columns(answers[name])
    return {name: answer for name, answer in answers.items() if answer}


def _columns(data: str) -> dict[str, str]:
    """The columns that a source does not show by itself; a source that cannot be looked at now is said."""
    from anonset.io.source.readable import require_readable

    reading: Given = {}
    try:
        with Display(quiet=True) as display:
            with_questions(reading, {}, display, lambda: require_readable(located(data), reading))
    except AnonsetError as error:
        warn([f"{error.worded(spelt)} The project file is written all the same."])
    return reading


like_anonymize(init, replace=(Replace, False))
app.command(epilog="Example: anonset init --data sales.csv -k 10 -o 'release-{date}.csv' --ledger sales.ledger")(init)
