"""The formats: which there are, and what a file's name says.

A format is a *layout* (how transactions become lines or columns) in a *container* (the kind of file), perhaps
compressed. It is called `fimi`, `long.csv`, `lists.parquet`; the container may be left out where the file's name
says it. A new layout is a class in a file here, and a line below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from anonset.data.errors import ParameterError, unknown
from anonset.io.containers.container import TEXT, Container
from anonset.io.containers.registry import CONTAINERS
from anonset.io.formats.basket import Basket
from anonset.io.formats.fimi import Fimi
from anonset.io.formats.layout import Layout
from anonset.io.formats.lists import ItemLists
from anonset.io.formats.long import Long
from anonset.io.formats.spmf import Spmf
from anonset.io.formats.wide import Wide
from anonset.io.source.streams import COMPRESSIONS, split_compression

LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in (Fimi(), Spmf(), Basket(), Long(), ItemLists(), Wide())}


def endings() -> dict[str, tuple[str, str]]:
    """What the ending of a name says: layout and container."""
    lines = {ending: (name, TEXT) for name, layout in LAYOUTS.items() for ending in layout.endings}
    tables = {ending: (kind.usual, name) for name, kind in CONTAINERS.items() for ending in kind.endings}
    return lines | tables


@dataclass(frozen=True)
class Format:
    """A layout in a container, perhaps compressed (`gzip`, `bz2`, `xz`, `zstd`).

    Examples
    --------
    >>> format_of("out.csv.gz")
    Format(layout='long', container='csv', compression='gzip')
    >>> format_of("out.csv", "wide").name
    'wide.csv'
    """

    layout: str
    container: str = TEXT
    compression: str | None = None

    @property
    def name(self) -> str:
        """As it is given in `format=`: `fimi`, `long.csv`."""
        return self.layout if self.container == TEXT else f"{self.layout}.{self.container}"

    @property
    def holds(self) -> Layout:
        """The layout: what it can hold, how it is written."""
        return LAYOUTS[self.layout]

    @property
    def kind(self) -> Container:
        """The kind of file."""
        return CONTAINERS[self.container]


def split_name(path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """The ending that says the format and the compression: `a.csv.gz` → `("csv", "gzip")`; None where absent."""
    parts, compression = split_compression(path)
    return (parts[-1] if parts and parts[-1] in endings() else None), compression


def format_of(path: str | os.PathLike[str] | None, format: str | None = None) -> Format:
    """The format that a file is written in: `format` where given, else what its name says.

    A layout without a container takes the one of the file's name, or its first one.
    """
    ending, compression = (None, None) if path is None else split_name(path)
    layout, container = endings()[ending] if ending else (None, None)
    if container is not None and ending in CONTAINERS[container].only_read:
        layout, container = None, None
    if format is not None:
        asked_layout, asked_container, asked_compression = parse_format(format)
        compression = asked_compression or compression
        container = asked_container or container
        layout = asked_layout or _usual_layout(container)
    if layout is None:
        raise ParameterError(
            "format",
            "be given where the file's name does not say it",
            "no known ending" if path is None else repr(PurePath(path).name),
            f"Known endings: {', '.join('.' + name for name in endings())}; known layouts: {', '.join(LAYOUTS)}.",
        )
    if container not in LAYOUTS[layout].containers:
        container = LAYOUTS[layout].containers[0]
    if compression and container and CONTAINERS[container].binary:
        raise ParameterError(
            "format",
            "be text where a compression is added",
            f"{container} with {compression}",
            "Leave the ending out.",
        )
    return Format(layout, container or TEXT, compression)


def parse_format(format: str, name: str = "format") -> tuple[str | None, str | None, str | None]:
    """Layout, container and compression that a format's name says, None for what it leaves open.

    `name` is what errors call the argument.
    `long.csv.gz`, `long.csv`, `long` and `csv` are all names.
    """
    parts = format.lower().strip(".").split(".")
    compression = COMPRESSIONS.get(parts[-1])
    if compression:
        parts = parts[:-1]
    layout = parts.pop(0) if parts and parts[0] in LAYOUTS else None
    container = _container(parts.pop(0)) if parts else None
    if parts or (container is None and layout is None) or _clash(layout, container):
        names = [f"{name}.{kind}" if kind != TEXT else name for name in LAYOUTS for kind in LAYOUTS[name].containers]
        raise unknown(name, format, [*LAYOUTS, *(name for name in CONTAINERS if name != TEXT), *names])
    return layout, container, compression


def _container(name: str) -> str | None:
    return name if name in CONTAINERS else endings().get(name, ("", None))[1] or "?"


def _clash(layout: str | None, container: str | None) -> bool:
    if container is None:
        return False
    return container not in CONTAINERS or (layout is not None and container not in LAYOUTS[layout].containers)


def _usual_layout(container: str | None) -> str | None:
    return None if container is None else CONTAINERS[container].usual or None
