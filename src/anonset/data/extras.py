"""Packages that only some people need: loaded where they are used, and named where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from anonset.data.errors import InputError


def load(module: str, extra: str, what: str) -> Any:
    """A module of an extra; where it is missing, an error that says how to install it.

    Examples
    --------
    >>> load("json", "excel", "Reading this").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{what} needs the extra '{extra}'. Install it: pip install 'anonset[{extra}]'.") from None
