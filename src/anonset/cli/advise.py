"""`anonset advise DATA`: three questions, a look at the data, and a proposal with reasons."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json
from anonset.cli.base.groups import THREADS, Source, as_read_options, read_options, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.choose.advise import Advice
    from anonset.data.transactions import Transactions

app = Application()

PANEL = "Answers"
QUESTIONS = {
    "has_sensitive": "Are some items sensitive, so that nobody may learn who has them?",
    "has_hierarchy": "Is there a hierarchy that says which items are of one kind?",
    "has_users": "Do users have several transactions each, and must their history be protected?",
}
ANSWERS = tuple(Param(name, "bool", question) for name, question in QUESTIONS.items())


@app.command(epilog="Example: anonset advise sales.csv --has-hierarchy")
@takes(answers=[Choice(param, PANEL) for param in ANSWERS], reading=read_options(), running=run_options(THREADS))
def advise(data: Source, answers: Given, reading: Given, running: Given) -> None:
    """Propose a model, a method and parameters for DATA, with reasons.

    Questions that are not answered by options are asked on a terminal; elsewhere the data answer: sensitive items and
    users count where DATA has them, a hierarchy does not.
    """
    from anonset.choose.advise import advise as propose
    from anonset.data.job import Job
    from anonset.io import read

    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(0, running.get("threads"), display)
        with job.stage("read"):
            transactions = read(data, **as_read_options(reading))
    said = _answers(transactions, answers, ask=sys.stdin.isatty() and "json" not in running and "quiet" not in running)
    proposal = propose(
        transactions,
        sensitive=said["has_sensitive"],
        hierarchy=said["has_hierarchy"],
        users=said["has_users"],
        job=job,
    )
    if "json" in running:
        show_json({"source": data, "answers": said, **proposal.to_dict(), "command": proposal.command(data)})
    elif "quiet" not in running:
        unnamed = said["has_sensitive"] and not transactions.sensitive_names() and transactions.sensitivity is None
        show(*_page(proposal, data, said, unnamed))


def _answers(data: Transactions, given: Given, ask: bool) -> dict[str, bool]:
    """What was given, else what is asked, else what the data show."""
    seen = {
        "has_sensitive": bool(data.sensitive_names()) or data.sensitivity is not None,
        "has_hierarchy": False,
        "has_users": data.users is not None and len(data.users) > len(set(data.users.tolist())),
    }
    said = {}
    for name, question in QUESTIONS.items():
        if name in given:
            said[name] = bool(given[name])
        else:
            said[name] = typer.confirm(question, default=seen[name], err=True) if ask else seen[name]
    return said


def _page(proposal: Advice, data: str, said: dict[str, bool], unnamed: bool) -> list[Any]:
    from anonset.methods import method_spec

    takes_hierarchy = any(param.type == "hierarchy" for param in method_spec(proposal.method).params)
    extra = " --hierarchy hierarchy.csv" if said["has_hierarchy"] and takes_hierarchy else ""
    rows = [
        ("model", proposal.model),
        ("method", proposal.method),
        ("parameters", ", ".join(f"{name} = {value}" for name, value in proposal.params.items())),
        ("promise", f"{proposal.promise}."),
    ]
    page: list[Any] = [facts(rows), "", "Why:", *(f"- {reason}" for reason in proposal.reasons)]
    if unnamed:
        page += ["", "Name the sensitive items (--sensitive A,B): without them they are treated like all others."]
    return [*page, "", "Do it:", f"$ {proposal.command(data, extra)}", f"$ anonset compare {data}"]
