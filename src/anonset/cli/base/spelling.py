"""How this command line spells the arguments that errors speak of: `--out`, `-k`, `DATA`."""

from __future__ import annotations

from typing import Any

SAME = {
    "source": "data",
    "data": "source",
    "directory": "dir",
    "input_format": "format",
    "ledger": "file",
    "report": "out",
}
"""Arguments that have another name in some functions of the library."""

_command: Any = None


def remember(command: Any) -> None:
    """From now on, errors are about this command."""
    global _command
    _command = command


def spelt(name: str) -> str | None:
    """How the command that runs spells an argument; None where it has none of that name."""
    known = {param.name: param for param in getattr(_command, "params", ())}
    param = known.get(name) or known.get(SAME.get(name, ""))
    return None if param is None else _of(param)


def _of(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper()).strip("[]")
    long, *others = sorted(param.opts, key=len, reverse=True)
    return others[0] if others and len(long) == len("--k") else str(long)
