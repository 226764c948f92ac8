"""The formats: which there are, what a file's name says, and what each of them can hold.

A format is a *layout* (how transactions become lines or columns) in a *container* (the kind of file), perhaps
compressed. It is called `fimi`, `long.csv`, `lists.parquet`; the container may be left out where the file's name
says it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from anonset.data.errors import ParameterError, unknown

TEXT = "text"  # the container of the layouts that are plain lines


@dataclass(frozen=True)
class Layout:
    """How transactions become lines or columns, and what survives that.

    Every field but the first three says whether the layout can hold something: users, transaction ids, marks of
    sensitive items, sensitivity degrees, item counts, attributes of items, transactions without items, and labels
    with white space, with line breaks or with no characters at all.
    """

    name: str
    help: str
    containers: tuple[str, ...]
    users: bool = False
    ids: bool = False
    sensitive: bool = False
    degrees: bool = False
    counts: bool = False
    attributes: bool = False
    empty: bool = True
    white_space: bool = True
    line_breaks: bool = True
    empty_labels: bool = False


_TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout(
            "fimi",
            "one transaction per line, items separated by white space",
            (TEXT,),
            white_space=False,
            line_breaks=False,
        ),
        Layout(
            "spmf",
            "one transaction per line, items as numbers that @ITEM lines name",
            (TEXT,),
            line_breaks=False,
        ),
        Layout("basket", "one transaction per line, items separated by commas, quoted where needed", (TEXT,)),
        Layout(
            "long",
            "one line per item: transaction, item, perhaps user, attribute, count, sensitive, sensitivity",
            _TABLES,
            users=True,
            ids=True,
            sensitive=True,
            degrees=True,
            counts=True,
            attributes=True,
        ),
        Layout(
            "lists",
            "one line per transaction with the list of its items in one column",
            _TABLES,
            users=True,
            ids=True,
            sensitive=True,
            degrees=True,
            empty_labels=True,
        ),
        Layout(
            "wide",
            "one line per transaction, one column of 0 and 1 per item",
            _TABLES,
            users=True,
            ids=True,
            line_breaks=False,
        ),
    )
}

CONTAINERS = (TEXT, *_TABLES)
COMPRESSED_CONTAINERS = ("parquet", "arrow")  # these compress by themselves

ENDINGS = {
    "dat": ("fimi", TEXT),
    "fimi": ("fimi", TEXT),
    "spmf": ("spmf", TEXT),
    "basket": ("basket", TEXT),
    "csv": ("long", "csv"),
    "tsv": ("long", "tsv"),
    "jsonl": ("lists", "jsonl"),
    "ndjson": ("lists", "jsonl"),
    "parquet": ("lists", "parquet"),
    "arrow": ("lists", "arrow"),
    "feather": ("lists", "arrow"),
    "ipc": ("lists", "arrow"),
}
COMPRESSIONS = {"gz": "gzip", "bz2": "bz2", "xz": "xz", "zst": "zstd"}


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
        """What the layout can hold."""
        return LAYOUTS[self.layout]


def split_name(path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """The ending that says the format and the compression: `a.csv.gz` → `("csv", "gzip")`; None where absent."""
    parts = PurePath(path).name.lower().split(".")[1:]
    compression = COMPRESSIONS.get(parts[-1]) if parts else None
    if compression:
        parts = parts[:-1]
    return (parts[-1] if parts and parts[-1] in ENDINGS else None), compression


def format_of(path: str | os.PathLike[str] | None, format: str | None = None) -> Format:
    """The format that a file is written in: `format` where given, else what its name says.

    A layout without a container takes the one of the file's name, or CSV.
    """
    ending, compression = (None, None) if path is None else split_name(path)
    layout, container = ENDINGS[ending] if ending else (None, None)
    if format is not None:
        asked_layout, asked_container, asked_compression = parse_format(format)
        compression = asked_compression or compression
        container = asked_container or container
        layout = asked_layout or _default_layout(container)
    if layout is None:
        raise ParameterError(
            "format",
            "be given where the file's name does not say it",
            "no known ending" if path is None else repr(PurePath(path).name),
            f"Known endings: {', '.join('.' + name for name in ENDINGS)}; known layouts: {', '.join(LAYOUTS)}.",
        )
    if container not in LAYOUTS[layout].containers:
        container = LAYOUTS[layout].containers[0]
    if compression and container in COMPRESSED_CONTAINERS:
        raise ParameterError(
            "format",
            "be text where a compression is added",
            f"{container} with {compression}",
            "Leave the ending out.",
        )
    return Format(layout, container or TEXT, compression)


def parse_format(format: str) -> tuple[str | None, str | None, str | None]:
    """Layout, container and compression that a format's name says, None for what it leaves open.

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
        raise unknown("format", format, [*LAYOUTS, *_TABLES, *names])
    return layout, container, compression


def _container(name: str) -> str | None:
    return name if name in CONTAINERS else ENDINGS.get(name, ("", None))[1] or "?"


def _clash(layout: str | None, container: str | None) -> bool:
    if container is None:
        return False
    return container not in CONTAINERS or (layout is not None and container not in LAYOUTS[layout].containers)


def _default_layout(container: str | None) -> str | None:
    return next((layout for layout, kind in ENDINGS.values() if kind == container and kind != TEXT), None)
