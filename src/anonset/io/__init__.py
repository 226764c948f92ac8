"""Reading and writing: one file per family of formats, and a registry that names them.

Names are loaded when first used, so that the command line can look at the options without loading NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Format": "registry",
    "ReadOptions": "options",
    "format_of": "registry",
    "read": "reading",
    "read_release": "reading",
}

if TYPE_CHECKING:
    from anonset.io.options import ReadOptions
    from anonset.io.reading import read, read_release
    from anonset.io.registry import Format, format_of

__all__ = ["Format", "ReadOptions", "format_of", "read", "read_release"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonset.io' has no attribute {name!r}")
    return getattr(import_module(f"anonset.io.{_HOMES[name]}"), name)
