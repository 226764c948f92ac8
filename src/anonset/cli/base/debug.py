"""Whether tracebacks were asked for: with `--debug`, or with ANONSET_DEBUG in the environment."""

from __future__ import annotations

import os

_wanted = False


def reset() -> None:
    """What the environment says, at the start of a command."""
    global _wanted
    _wanted = os.environ.get("ANONSET_DEBUG", "") not in ("", "0")


def set_debug(wanted: bool) -> None:
    """Ask for tracebacks; nothing takes that back."""
    global _wanted
    _wanted = _wanted or wanted


def wanted() -> bool:
    """Whether a traceback is to be shown."""
    return _wanted
