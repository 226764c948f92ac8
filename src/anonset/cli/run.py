"""`anonset run [FILE]`: what a project file says, every night the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from anonset.cli.anonymize import anonymize
from anonset.cli.base import project
from anonset.cli.base.commands import Application

app = Application()

File = Annotated[str, typer.Argument(help="The project file.", metavar="[FILE]", show_default=False)]
Data = Annotated[
    str | None, typer.Option("--data", help="Read this instead.", metavar="DATA", rich_help_panel="Reading")
]


def run(ctx: typer.Context, **values: Any) -> None:
    """Do what a project file says: by default `anonset.toml` in this folder. Options here go before those in it.

    The file holds the options of `anonset anonymize` in the tables [source], [privacy], [targets] and [run]; relative
    paths are meant from its folder, ${NAME} is taken from the environment, and {date} in the name of a target is the
    day. With --check nothing is done: the file, its paths and the source are validated.
    """
    path = Path(values.pop("file"))
    said, given = project.read_project(path), typed(ctx, values)
    project.remember(path, {**project.raw(path), **given})
    anonymize(**{**values, **said, **given})


def typed(ctx: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The options that stand on the command line."""
    return {name: value for name, value in values.items() if ctx.get_parameter_source(name).name == "COMMANDLINE"}


def like_anonymize(command: Callable[..., None], **more: tuple[Any, Any]) -> None:
    """Give a command the options of `anonymize`, whatever they are, with the project file in the place of the data."""
    own = {"ctx": (typer.Context, inspect.Parameter.empty), "file": (File, project.NAME), "data": (Data, None), **more}
    keyword = inspect.Parameter.KEYWORD_ONLY
    first = [inspect.Parameter(name, keyword, annotation=kind, default=usual) for name, (kind, usual) in own.items()]
    others = [param for name, param in inspect.signature(anonymize).parameters.items() if name not in own]
    command.__signature__ = inspect.Signature([*first, *others])  # type: ignore[attr-defined]
    command.__annotations__ = {param.name: param.annotation for param in (*first, *others)}


like_anonymize(run)
app.command(epilog="Example: anonset run nightly/anonset.toml --check")(run)
