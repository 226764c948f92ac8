"""Reading and writing: one file per family of formats, and a registry that names them.

Names are loaded when first used, so that the command line can look at the options without loading NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "LAYOUTS": "formats.registry",
    "Format": "formats.registry",
    "ReadOptions": "source.options",
    "convert": "publish.converting",
    "format_of": "formats.registry",
    "read": "source.reading",
    "read_link": "publish.private_link",
    "read_release": "source.reading",
    "save": "formats.saving",
    "write": "publish.releases",
}

if TYPE_CHECKING:
    from anonset.io.formats.registry import LAYOUTS, Format, format_of
    from anonset.io.formats.saving import save
    from anonset.io.publish.converting import convert
    from anonset.io.publish.private_link import read_link
    from anonset.io.publish.releases import write
    from anonset.io.source.options import ReadOptions
    from anonset.io.source.reading import read, read_release

__all__ = [
    "LAYOUTS",
    "Format",
    "ReadOptions",
    "convert",
    "format_of",
    "read",
    "read_link",
    "read_release",
    "save",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonset.io' has no attribute {name!r}")
    return getattr(import_module(f"anonset.io.{_HOMES[name]}"), name)
