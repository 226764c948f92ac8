"""What a file is: its name says the container, its first lines say the rest."""

from __future__ import annotations

from anonset._native import first_bad_byte
from anonset.data.errors import DataError, setting
from anonset.io.containers.container import TEXT
from anonset.io.containers.registry import CONTAINERS
from anonset.io.formats.layout import Table
from anonset.io.formats.registry import LAYOUTS, endings, parse_format, split_name
from anonset.io.formats.sample import Sample
from anonset.io.source.options import ReadOptions
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, as_array, bad_byte, head

LONGEST_LETTER = 4
"""Bytes of UTF-8; the first bytes of a file may end inside one."""


def detect(file: File, options: ReadOptions) -> Shape:
    """The shape of a file from `format=`, its name and its first 64 KB, in this order."""
    name, container, _ = (
        parse_format(options.format, "input_format") if options.format is not None else (None, None, None)
    )
    if name is None and container is None and file.path is not None:
        name, container = _by_name(file)
    layout = None if name is None else LAYOUTS[name]
    start = head(file, options.encoding)
    if container is None and (layout is None or isinstance(layout, Table)):
        container = next((kind.name for kind in CONTAINERS.values() if kind.sniff(start)), None)
    if container is not None and not CONTAINERS[container].sampled:
        return CONTAINERS[container].shape(file, name, options)
    if start.count(b"\0") > len(start) // 8:
        raise bad_byte(start, start.index(b"\0"), file.name)
    if (place := first_bad_byte(as_array(start))) >= 0 and place < len(start) - LONGEST_LETTER and b"\0" not in start:
        raise bad_byte(start, place, file.name)  # names of columns must not be guessed from broken letters
    sample = Sample(file.name, start, None if container is None else CONTAINERS[container], options)
    return _sniffed(sample) if layout is None else layout.shape(sample)


def _by_name(file: File) -> tuple[str | None, str | None]:
    """Line formats are known by name; for tables the name says only the container."""
    ending = split_name(file.name)[0]
    layout, container = endings()[ending] if ending else (None, None)
    return (layout if container == TEXT else None), container


def _sniffed(sample: Sample) -> Shape:
    """What the first layout finds that takes the text for its own; later ones are asked before earlier ones."""
    for layout in reversed(LAYOUTS.values()):
        shape = layout.sniff(sample)
        if shape is not None:
            return shape
    raise DataError(
        f"The format cannot be told from the file's content. Name it: {setting('input_format')}.", source=sample.name
    )
