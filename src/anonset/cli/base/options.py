"""Options that derive from the specs: a command names the groups it takes, and gets what was given.

::

    @app.command()
    @takes(reading=read_options(), common=run_options())
    def info(data: Source, reading: Given, common: Given) -> None: ...

gives `info` every option of both groups; `reading` and `common` are dictionaries of those that the user gave.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from anonset.data.spec import Param

Given = dict[str, Any]
"""The values of a group of options: only those that were given."""

METAVARS = {"int": "N", "float": "X", "count": "N|X", "text": "TEXT", "hierarchy": "FILE"}


@dataclass(frozen=True)
class Choice:
    """One option: the parameter it gives, the panel of the help it stands in, and how it is spelt."""

    param: Param
    panel: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    complete: Callable[[], Iterable[str]] | None = None
    callback: Callable[[Any], Any] | None = None
    switch: bool = False  # a flag that can only be turned on
    parsed: bool = True  # False: parsed where it is used
    repeated: bool = False  # may stand there several times; the values arrive as one text, joined by semicolons

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings on the command line, such as `--k` and `-k`."""
        if self.flags:
            return self.flags
        long = flag(self.param.name)
        if self.param.type == "bool":
            return (long if self.switch else f"{long}/--no-{long[2:]}",)
        return (long, self.param.short) if self.param.short else (long,)

    def signature(self) -> inspect.Parameter:
        """The keyword argument that Typer makes an option of."""
        kind: Any = bool if self.param.type == "bool" else str
        option = typer.Option(
            *self.names,
            help=described(self.param),
            metavar=None if kind is bool else self.metavar or METAVARS.get(self.param.type, "NAME"),
            rich_help_panel=self.panel,
            show_default=False,
            callback=self.callback,
            autocompletion=None if kind is bool else self._suggestions(),
        )
        value: Any = list[str] if self.repeated else kind
        annotation: Any = Annotated[value if self.switch else value | None, option]
        default = False if self.switch else None
        keyword = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.param.name, keyword, default=default, annotation=annotation)

    def _suggestions(self) -> Callable[[], list[str]] | None:
        known = self.complete or ((lambda: self.param.choices) if self.param.choices else None)
        return None if known is None else lambda: list(known())


def flag(name: str) -> str:
    """A parameter's name as a long option: `item_order` → `--item-order`."""
    return "--" + name.replace("_", "-")


def described(param: Param) -> str:
    """The parameter's help with its range and default, as plain text."""
    from rich.markup import escape

    facts = []
    if param.choices or any(bound is not None for bound in (param.minimum, param.maximum, param.above)):
        facts.append(param.range)
    if param.default is not None and param.type != "bool":
        facts.append(f"default: {param.default}")
    if param.default is True:
        facts.append("default: yes")
    return escape(param.help + (f" ({'; '.join(facts)})" if facts else ""))


def takes(**groups: Sequence[Choice]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these groups of options; each arrives as one dictionary of the values given."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            for name, group in groups.items():
                values[name] = _given(group, values)
            command(**values)

        own = [param for name, param in _parameters(command).items() if name not in groups]
        added = [choice.signature() for group in groups.values() for choice in group]
        _no_clash([*own, *added], groups)
        call.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        call.__annotations__ = {param.name: param.annotation for param in (*own, *added)}
        return call

    return decorate


def _given(group: Sequence[Choice], values: Given) -> Given:
    given = {}
    for choice in group:
        value = values.pop(choice.param.name)
        if choice.repeated:
            value = ";".join(value) if value else None
        if value is not None and not (choice.switch and not value):
            given[choice.param.name] = choice.param.parse(value) if choice.parsed else value
    return given


def _parameters(command: Callable[..., None]) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(command, include_extras=True)
    return {
        name: param.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, param in inspect.signature(command).parameters.items()
    }


def _no_clash(params: Sequence[inspect.Parameter], groups: dict[str, Sequence[Choice]]) -> None:
    names = [param.name for param in params] + [
        name for group in groups.values() for choice in group for name in choice.names
    ]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise TypeError(f"two options of one command share the name {', '.join(sorted(twice))}")
