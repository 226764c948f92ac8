"""Reading and writing: one file per family of formats, and a registry that names them.

Names are loaded when first used, so that the command line can look at the options without loading NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Format": "registry",
    "ReadOptions": "options",
    "convert": "converting",
    "format_of": "registry",
    "read": "reading",
    "read_release": "reading",
    "save": "saving",
    "write": "publish",
}

if TYPE_CHECKING:
    from anonset.io.converting import convert
    from anonset.io.options import ReadOptions
    from anonset.io.publish import write
    from anonset.io.reading import read, read_release
    from anonset.io.registry import Format, format_of
    from anonset.io.saving import save

__all__ = ["Format", "ReadOptions", "convert", "format_of", "read", "read_release", "save", "write"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonset.io' has no attribute {name!r}")
    return getattr(import_module(f"anonset.io.{_HOMES[name]}"), name)
