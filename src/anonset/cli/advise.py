"""`anonset advise DATA`: what fits is tried on a sample, attacked and measured, and one command is recommended."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, table
from anonset.cli.base.groups import THREADS, Source, as_read_options, read_options, run_options
from anonset.cli.base.options import Choice, Given, flag, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import InputError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.choose.advise import Advice
    from anonset.choose.trials import Trial
    from anonset.data.findings import Finding
    from anonset.data.transactions import Transactions

app = Application()

PANEL = "Answers"
QUESTIONS = {
    "has_sensitive": "Are some items sensitive, so that nobody may learn who has them?",
    "has_users": "Do users have several transactions each, and must their history be protected?",
}
ANSWERS = tuple(Param(name, "bool", question) for name, question in QUESTIONS.items())
HIERARCHY = Param("hierarchy", "text", "A hierarchy that says which items are of one kind.")
SECONDS = Param("seconds", "float", "How long to try.", 20, minimum=1, maximum=86_400)


@app.command(epilog="Example: anonset advise sales.csv --hierarchy categories.csv")
@takes(
    answers=[*(Choice(param, PANEL) for param in ANSWERS), Choice(HIERARCHY, PANEL, metavar="FILE")],
    trying=[Choice(SECONDS, "Running")],
    reading=read_options(),
    running=run_options(THREADS),
)
def advise(data: Source, answers: Given, trying: Given, reading: Given, running: Given) -> None:
    """Try what fits DATA on a sample of at most 20,000 transactions, attack it, and recommend one command.

    What would be refused when it is published is never recommended. Questions that are not answered by options are
    asked on a terminal; elsewhere the data answer: sensitive items and users count where DATA has them.
    """
    from anonset.choose.advise import advise as propose
    from anonset.data.job import Job
    from anonset.io import read

    if "hierarchy" in answers and not Path(answers["hierarchy"]).is_file():
        raise InputError(f"There is no file {answers['hierarchy']}. --hierarchy names a table of items and categories.")
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(0, running.get("threads"), display)
        with job.stage("read"):
            transactions = read(data, **as_read_options(reading))
    ask = sys.stdin.isatty() and "json" not in running and "quiet" not in running
    said = _answers(transactions, answers, ask)
    with Display(quiet="quiet" in running or "json" in running) as display:
        advice = propose(
            transactions,
            sensitive=said["has_sensitive"],
            hierarchy=answers.get("hierarchy"),
            users=said["has_users"],
            seconds=trying.get("seconds", SECONDS.default),
            job=Job(0, running.get("threads"), display),
        )
    line = command(data, reading, advice)
    if "json" in running:
        show_json({"source": data, "answers": said, **advice.to_dict(), "command": line})
    elif "quiet" not in running:
        unnamed = said["has_sensitive"] and not transactions.sensitive_names() and transactions.sensitivity is None
        show(*_page(advice, len(transactions), line, unnamed))


def command(data: str, reading: Mapping[str, Any], advice: Advice) -> str:
    """The complete command: the data, how to read them, what to promise, and where to write."""
    if advice.recommended is None:
        return ""
    groups = advice.recommended.candidate.model.form == "groups"
    words = ["anonset", "anonymize", data, *_given(reading), "--method", advice.method]
    for name, value in advice.params.items():
        words += [f"-{name}" if len(name) == 1 else flag(name), str(value)]
    words += ["-o", _free("release", "" if groups else ".csv"), "--dossier", _free("dossier", ".PRIVATE.html")]
    return shlex.join(words)


def folded(line: str, width: int = 76) -> list[str]:
    """A command on several lines that can be copied as they are.

    Examples
    --------
    >>> folded("anonset anonymize a.csv -k 5", 20)
    ['$ anonset \\\\', '    anonymize \\\\', '    a.csv -k 5']
    """
    lines = ["$"]
    for word in map(shlex.quote, shlex.split(line)):
        if len(lines[-1]) + len(word) + 1 > width - 2 and lines[-1] != "$":
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines


def _given(reading: Mapping[str, Any]) -> list[str]:
    """The options of reading as they were given."""
    words = []
    for choice in read_options():
        value = reading.get(choice.param.name)
        if value is None:
            continue
        if choice.switch:
            words.append(flag(choice.param.name))
        elif isinstance(value, bool):
            words.append(flag(choice.param.name) if value else f"--no-{flag(choice.param.name)[2:]}")
        else:
            words += [flag(choice.param.name), str(value)]
    return words


def _free(name: str, ending: str) -> str:
    """A name that nothing has here yet."""
    number, found = 2, f"{name}{ending}"
    while Path(found).exists():
        found, number = f"{name}-{number}{ending}", number + 1
    return found


def _answers(data: Transactions, given: Given, ask: bool) -> dict[str, bool]:
    """What was given, else what is asked, else what the data show."""
    seen = {
        "has_sensitive": bool(data.sensitive_names()) or data.sensitivity is not None,
        "has_users": data.users is not None and len(data.users) > len(set(data.users.tolist())),
    }
    said = {}
    for name, question in QUESTIONS.items():
        if name in given:
            said[name] = bool(given[name])
        else:
            said[name] = typer.confirm(question, default=seen[name], err=True) if ask else seen[name]
    return said


def _page(advice: Advice, transactions: int, line: str, unnamed: bool) -> list[Any]:
    secret = any(one.attack("inference") for one in advice.trials)
    columns = ("", "promise", "2 items", "all items", *(("secret",) if secret else ()), "left", "time")
    rows = [_row(one, advice, secret) for one in advice.trials]
    page: list[Any] = [table(columns, rows, numbers=columns[2:]), ""]
    guess = "; secret: that it names the holder of a sensitive item" if secret else ""
    page.append(
        "2 items, all items: the chance that somebody who knows so many of a person's items finds the transaction, "
        f"before > after{guess}. left: of what the items say. time: for all {transactions:,} transactions, as the "
        "trial suggests. → is recommended, ✗ would be refused."
    )
    sizes = sorted({one.transactions for one in advice.trials})
    if len(sizes) > 1:
        page.append(
            f"What was tried on all {sizes[-1]:,} transactions cannot be compared line by line with what was tried on "
            f"a sample of {sizes[0]:,}: among fewer people more can be found."
        )
    if advice.not_tried:
        page.append(f"The time was up before {advice.not_tried:,} others were done; --seconds gives more.")
    refused = [one for one in advice.trials if not one.good]
    if refused:
        page += ["", *(f"✗ {_name(one)}: {one.problem}" for one in refused)]
    if advice.recommended is not None:
        best = advice.recommended
        what = facts([("recommended", _name(best)), ("promise", f"{best.promise}.")])
        page += ["", what, "", "Why:", *(f"- {reason}" for reason in advice.reasons)]
    else:
        page += ["", "Nothing is recommended.", *(f"- {reason}" for reason in advice.reasons)]
    if advice.help:
        page += ["", "What would help:", *(f"- {sentence}" for sentence in advice.help)]
    if unnamed:
        page += ["", "Name the sensitive items (--sensitive A,B): without them they are treated like all others."]
    if line:
        page += ["", "Do it:", *folded(line)]
    return page


def _name(trial: Trial) -> str:
    """A trial in a few words."""
    params = trial.candidate.params
    shown = ", ".join(f"{name} = {value}" for name, value in params.items() if isinstance(value, (int, float)))
    tree = params.get("hierarchy")
    with_tree = (
        "" if tree is None else f", hierarchy by {trial.candidate.built}" if trial.candidate.built else ", hierarchy"
    )
    return f"{trial.candidate.model.title} ({shown}) by {trial.candidate.method}{with_tree}"


def _row(trial: Trial, advice: Advice, secret: bool) -> tuple[Any, ...]:
    from anonset.assess.risk.words import share

    mark = "→" if trial is advice.recommended else "" if trial.good else "✗"
    if trial.error:
        return mark, _name(trial), *("–" for _ in range(4 + secret))
    by_name = {(one.name, one.title): one for one in trial.findings}
    two = next(
        (one for (name, title), one in by_name.items() if name == "known-items" and title.startswith("2 ")), None
    )
    every = next((one for (name, _), one in by_name.items() if name == "nearest-match"), None)
    attacks = (two, every, *((trial.attack("inference"),) if secret else ()))
    kept = "–" if trial.findings.kept is None else share(trial.kept)
    return mark, _name(trial), *(_chances(one) for one in attacks), kept, f"{trial.whole_seconds:.1f} s"


def _chances(found: Finding | None) -> str:
    """Before and after, in short."""
    from anonset.assess.risk.words import share

    if found is None:
        return "–"
    before = "" if found.before is None else f"{share(found.before).removesuffix(' %').removeprefix('under ')} > "
    return before + share(found.after).replace("under ", "<")
