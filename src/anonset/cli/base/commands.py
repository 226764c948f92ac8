"""The root command, which loads the module of a command only when that command is invoked."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from anonset.cli.base.debug import set_debug
from anonset.cli.base.spelling import remember
from anonset.cli.table import COMMANDS
from anonset.data.version import VERSION

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


TWO = {"DATA RELEASE"}
"""Metavars of options that take two values; Typer knows no option of pairs that may stand there several times."""


class _Plain:
    """Help whose paragraphs fill the line, without the words <bool> and <str> beside switches and arguments."""

    help: str | None

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        paragraphs = (self.help or "").split("\n\n")
        self.help = "\n\n".join(" ".join(lines.split()) for lines in paragraphs)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command, its help option among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: ""
            elif param.metavar in TWO:
                param.nargs = 2
        return params


class PlainCommand(_Plain, TyperCommand):
    """A command."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Begin with a call of this command: errors now speak of its options."""
        remember(self)
        return super().make_context(*args, **settings)


class PlainGroup(_Plain, TyperGroup):
    """A command with commands of its own."""


class Application(typer.Typer):
    """The Typer application of one command module: one command, or several."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=PlainGroup, add_completion=False, context_settings=SETTINGS, **settings)

    def command(  # type: ignore[override]
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Register a command."""
        return super().command(name, cls=PlainCommand, **settings)


class LazyGroup(PlainGroup):
    """A group that lists its commands from the table and imports the one that is invoked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, summary, panel) in COMMANDS.items():
            self.add_command(TyperCommand(name, help=summary, short_help=summary, rich_help_panel=panel))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether much is wanted before the version is shown, wherever the option stands."""
        ctx.meta["verbose"] = "--verbose" in args
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first argument names, loaded, and the arguments left for it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else command, rest


def load(name: str) -> Any:
    """The command of this name with all its options."""
    command = get_command(import_module(f"anonset.cli.{COMMANDS[name].module}").app)
    command.name = name
    return command


def _version(ctx: typer.Context, wanted: bool) -> None:
    if not wanted:
        return
    typer.echo(f"anonset {VERSION}")
    if ctx.meta.get("verbose"):
        for name, version in surroundings():
            typer.echo(f"{name:<12} {version}")
    raise typer.Exit


def surroundings() -> list[tuple[str, str]]:
    """What a bug report should say about the place where anonset runs; nothing about data."""
    import platform
    from importlib import metadata

    def version(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "not installed"

    core = ("numpy", "scipy", "pyarrow", "duckdb", "typer", "rich", "plotly", "jinja2")
    beside = ("pandas", "polars", "pyspark", "nicegui")
    place = [("Python", platform.python_version()), ("system", f"{platform.system()} {platform.release()}")]
    return [*place, ("processor", platform.machine()), *((name, version(name)) for name in (*core, *beside))]


def _root(
    verbose: Annotated[bool, typer.Option("--verbose", help="With --version: all that a bug report needs.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", callback=set_debug, help="Show a traceback if something breaks.")
    ] = False,
) -> None:
    """Publish transaction data so that nobody in it can be singled out, and check what is published."""


def root() -> Any:
    """The `anonset` command."""
    app = typer.Typer(
        name="anonset",
        cls=LazyGroup,
        no_args_is_help=True,
        context_settings=SETTINGS,
        pretty_exceptions_enable=False,
        epilog="'anonset COMMAND --help' explains a command; 'anonset demo' shows the whole way.",
    )
    app.callback()(_root)
    return get_command(app)
