"""`anonset query RELEASE "cream AND NOT meat"`: count on what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, table
from anonset.cli.base.groups import Source, run_options
from anonset.cli.base.options import Given, takes

if TYPE_CHECKING:
    from anonset.assess.query import Answer

app = Application()

Where = Annotated[
    str,
    typer.Argument(
        help="Items joined by AND, each perhaps after NOT; then perhaps GROUP BY items. Names with blanks in quotes.",
        metavar="WHERE",
        show_default=False,
    ),
]


@app.command(epilog="""Example: anonset query release "'pregnancy test' AND cream AND NOT meat" """)
@takes(running=run_options())
def query(data: Source, where: Where, running: Given) -> None:
    """Count the transactions of a release that hold these items: exactly, or expected with the least and the most.

    Where groups are published, the sensitive items of a group are shared out evenly among its members.
    """
    from anonset.assess.query import query as count

    found = count(data, where)
    answers = found if isinstance(found, list) else [found]
    if "json" in running:
        show_json({"release": data, "where": where, "answers": [_as_json(answer) for answer in answers]})
    elif "quiet" not in running:
        show(*([_sentence(found)] if not isinstance(found, list) else [_table(found)]))


def _as_json(answer: Answer) -> dict[str, Any]:
    return {"count": answer.count, "low": answer.low, "high": answer.high, "cell": dict(answer.cell)}


def _sentence(answer: Answer) -> str:
    if answer.exact:
        return f"{answer.low:,} transactions."
    return f"{answer.count:,.2f} transactions are expected; at least {answer.low:,}, at most {answer.high:,}."


def _table(answers: list[Answer]) -> Any:
    names = [name for name, _ in answers[0].cell]
    rows = [
        (*("yes" if present else "no" for _, present in answer.cell), f"{answer.count:,.2f}", answer.low, answer.high)
        for answer in answers
    ]
    return table((*names, "expected", "at least", "at most"), rows, numbers=("expected", "at least", "at most"))
