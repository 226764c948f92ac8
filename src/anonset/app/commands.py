"""What the page did, as a command line and as a project file: anybody can do the same again without the page."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anonset.data.spec import Param

READING = {"format": "input_format"}
"""Options of reading that the command line calls by another name."""


def arguments(
    reading: Mapping[str, Any], choice: Mapping[str, Any], params: Sequence[Param], out: str, accept: Sequence[str]
) -> list[str]:
    """The options of `anonset anonymize` for what was chosen."""
    types = {param.name: param.type for param in params}
    options: list[str] = []
    for name, value in choice["params"].items():
        options += _option(name, value, types.get(name) == "bool")
    for name, value in reading.items():
        options += _option(READING.get(name, name), value, isinstance(value, bool))
    given = {name: choice[name] for name in ("model", "method")}
    named = [word for name, value in given.items() for word in (_flag(name), str(value))]
    accepted = ["--accept", ",".join(accept)] if accept else []
    return [*named, *options, *accepted, "--out", out]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, value: Any, switch: bool) -> list[str]:
    if switch:
        on = str(value).lower() in ("true", "yes")
        return [_flag(name)] if on else [f"--no-{_flag(name)[2:]}"]
    return [_flag(name), ",".join(value) if isinstance(value, (list, tuple)) else str(value)]


def command_line(source: str, options: Sequence[str]) -> str:
    """The command, for a shell."""
    return shlex.join(["anonset", "anonymize", source, *options])


def write_project(file: Path, source: str, options: Sequence[str]) -> bool:
    """Write the project file that does the same, by `anonset init`; whether that worked."""
    command = [sys.executable, "-m", "anonset", "init", file.name, "--data", source, *options]
    ran = subprocess.run(command, cwd=file.parent, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return ran.returncode == 0 and file.exists()
