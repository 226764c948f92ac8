"""A question on a terminal where it is not clear which column holds what; elsewhere that is an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import typer

from anonset.cli.base import project
from anonset.cli.base.console import warn
from anonset.cli.base.options import Given
from anonset.cli.base.progress import Display
from anonset.data.errors import printable
from anonset.io.source.guessing import UnclearColumns

T = TypeVar("T")


def with_questions(reading: Given, running: Given, display: Display, work: Callable[[], T]) -> T:
    """What `work` gives; where columns are unclear and somebody is there, again with the columns that they name.

    The answers are put into `reading`, so that a project file written by this run holds them.
    """
    try:
        return work()
    except UnclearColumns as error:
        if not error.missing or not _somebody_is_there(running):
            raise
        display.stop()
        answers: dict[str, str] = {}
        typer.echo(f"The columns are: {printable(', '.join(error.columns))}.", err=True)
        for role in error.missing:
            question = f"Which one holds the {role}"
            likely = error.guess.get(role)
            answer = typer.prompt(question, default=None if likely is None else printable(likely), err=True)
            answers[role] = likely if likely is not None and answer == printable(likely) else answer.strip()
            project.add(role, answers[role])
    reading.update(answers)
    if (file := project.current()) is not None:
        lines = " and ".join(project.line(role, answer) for role, answer in answers.items())
        warn([f"To be asked no more, write {lines} under [source] in {file}"])
    return work()


def _somebody_is_there(running: Given) -> bool:
    """Whether a question can be answered: a terminal on both sides, and nobody asked for silence or JSON."""
    streams = (sys.stdin, sys.stderr)
    return not {"json", "quiet"} & {*running} and all(one is not None and one.isatty() for one in streams)
