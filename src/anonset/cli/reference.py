"""The reference page of the command line, made from the commands themselves.

`python -m anonset.cli.reference docs/reference/cli.md` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anonset.cli.base import outcome
from anonset.cli.base.commands import SETTINGS, load, root
from anonset.cli.table import COMMANDS

HEAD = """# The command line

<!-- Made by `python -m anonset.cli.reference docs/reference/cli.md`; do not edit. -->

Results go to standard output, progress, notes and errors to standard error. `--json` prints one JSON object instead
of text. `anonset --install-completion` teaches your shell to complete commands, options and the names of methods.
"""


def page() -> str:
    """The whole page in Markdown."""
    parts = [HEAD, _exit_codes(), "\n".join(_contents()), _section(root(), "anonset", 2)]
    parts += [_section(load(name), f"anonset {name}", 2) for name in COMMANDS]
    return "\n".join(parts)


def _exit_codes() -> str:
    rows = [line.split(None, 1) for line in (outcome.__doc__ or "").splitlines() if line[:1].isdigit()]
    return _table(("exit code", "meaning"), rows)


def _contents() -> Iterator[str]:
    for name, (_, summary, _) in COMMANDS.items():
        yield f"- [`anonset {name}`](#anonset-{name}): {summary}"
    yield ""


def _section(command: Any, path: str, level: int) -> str:
    parts = [f"{'#' * level} {path}\n", f"{_text(command.help)}\n", f"```\n{_usage(command, path)}\n```\n"]
    arguments = [(f"`{param.metavar}`", _text(param.help)) for param in _of(command, "argument")]
    if arguments:
        parts.append(_table(("argument", "meaning"), arguments))
    for panel, rows in _panels(command).items():
        parts.append(f"**{panel}**\n")
        parts.append(_table(("option", "meaning"), rows))
    if command.epilog and path != "anonset":
        parts.append(f"{_text(command.epilog)}\n")
    for name, child in () if path == "anonset" else getattr(command, "commands", {}).items():
        parts.append(_section(child, f"{path} {name}", level + 1))
    return "\n".join(parts)


def _of(command: Any, kind: str) -> list[Any]:
    """The command's arguments or options, without those that Typer adds and words as it likes."""
    params = command.get_params(_context(command))
    return [param for param in params if param.param_type_name == kind and not param.name.endswith("_completion")]


def _context(command: Any) -> Any:
    return command.context_class(command, **SETTINGS)


def _usage(command: Any, path: str) -> str:
    arguments = " ".join(param.metavar for param in _of(command, "argument"))
    more = "COMMAND …" if hasattr(command, "commands") else arguments
    return f"{path} [OPTIONS] {more}".rstrip()


def _panels(command: Any) -> dict[str, list[tuple[str, str]]]:
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in _of(command, "option"):
        panel = getattr(param, "rich_help_panel", None) or "Options"
        panels.setdefault(panel, []).append((_spelling(param), _text(param.help)))
    return panels


def _spelling(param: Any) -> str:
    names = sorted((*param.opts, *param.secondary_opts), key=lambda name: (name.startswith("--no-"), -len(name)))
    return f"`{', '.join(names)}{' ' + param.metavar if param.metavar else ''}`"


def _text(text: str | None) -> str:
    return (text or "").replace("\\[", "[")


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
