"""What a file is: its name says the container, its first lines say the rest."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from anonset.data.errors import DataError, ParameterError
from anonset.io.formats.registry import ENDINGS, TEXT, parse_format, split_name
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import NAMES, NO_ROLES, Roles, find_roles, plain, wide_roles
from anonset.io.source.streams import HEAD, File, bad_byte, head

SEPARATORS = "\t;|,"  # a comma may also be a decimal point, so it comes last
LINES = ("basket", "fimi", "spmf")  # layouts of plain text, whatever it looks like
FLAGS = frozenset(("0", "1", "t", "f", "true", "false"))
_SAMPLE = 200  # records that are looked at
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True)
class Shape:
    """How a file is to be read. `layout` is None where the columns of a table decide."""

    layout: str | None
    container: str
    separator: str = ","
    header: bool = True
    names: tuple[str, ...] = ()  # of the columns of a CSV table
    roles: Roles = NO_ROLES  # of these columns


def detect(file: File, options: ReadOptions) -> Shape:
    """The shape of a file from `format=`, its name and its first 64 KB, in this order."""
    layout, container, _ = parse_format(options.format) if options.format is not None else (None, None, None)
    if layout is None and container is None and file.path is not None:
        layout, container = _by_name(file)
    start = head(file, options.encoding)
    if container is None and layout in (None, "long", "lists", "wide"):
        container = _by_magic(start)
    if container in ("parquet", "arrow"):
        return Shape(layout, container)
    if container == "jsonl" or (container is None and layout not in LINES and _is_json(start)):
        return Shape(layout, "jsonl")
    return _text_shape(file, start, layout, container, options)


def _by_name(file: File) -> tuple[str | None, str | None]:
    """Line formats are known by name; for tables the name says only the container."""
    ending = split_name(file.name)[0]
    layout, container = ENDINGS[ending] if ending else (None, None)
    return (layout if container == TEXT else None), container


def _by_magic(start: bytes) -> str | None:
    magic = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
    return next((name for prefix, name in magic.items() if start.startswith(prefix)), None)


def _is_json(start: bytes) -> bool:
    line = start.lstrip().partition(b"\n")[0]
    if line[:1] not in (b"{", b"["):
        return False
    try:
        return isinstance(json.loads(line), (dict, list))
    except ValueError:
        return False


# --- plain text ------------------------------------------------------------------------------------------------


def _text_shape(file: File, start: bytes, layout: str | None, container: str | None, options: ReadOptions) -> Shape:
    if start.count(b"\0") > len(start) // 8:
        raise bad_byte(start, start.index(b"\0"), file.name)
    if layout in ("fimi", "spmf"):
        return Shape("spmf" if layout == "spmf" or _names_items(start) else "fimi", TEXT)
    sample = start.decode(errors="replace")
    if container in (None, TEXT) and layout is None and _names_items(start):
        return Shape("spmf", TEXT)
    separator = _separator(options.separator) or ("\t" if container == "tsv" else sniff_separator(sample))
    if layout == "basket":
        return Shape("basket", TEXT, separator or ",")
    if separator is None and layout is None and (container is None or _all_numbers(sample)):
        return Shape("fimi", TEXT)
    separator = separator or ","
    records = _records(sample, separator, whole=len(start) < HEAD)
    return _csv_shape(file, records, separator, layout, container, options)


def _names_items(start: bytes) -> bool:
    return start.startswith((b"@CONVERTED_FROM_TEXT", b"@ITEM="))


def _separator(given: str | None) -> str | None:
    if given is None:
        return None
    given = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(given) != 1 or given in '"\r\n':
        raise ParameterError("separator", "be one character, no quote and no line end", repr(given), "Try ','.")
    return given


def _records(sample: str, separator: str, whole: bool) -> list[list[str]]:
    """The first records of a text; one that the sample cuts off is left out."""
    records = []
    for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
        records.append(record)
        if len(records) > _SAMPLE:
            return records[:_SAMPLE]
    return records if whole or len(records) < 2 else records[:-1]


def _well_quoted(sample: str, separator: str) -> bool:
    """Whether quotes open and close fields as they should; the last of several records may be cut off."""
    read = 0
    try:
        for _ in csv.reader(io.StringIO(sample, newline=""), delimiter=separator, strict=True):
            read += 1
    except csv.Error as error:
        return read > 0 and "unexpected end" in str(error)
    return True


def sniff_separator(sample: str) -> str | None:
    """The separator that makes the most regular table, else the one in most lines; None where none occurs.

    One that would tear quoted names apart does not count if another one does not.
    """
    best: tuple[tuple[bool, bool, int, int], str] | None = None
    for separator in SEPARATORS:
        sizes = [len(record) for record in _records(sample, separator, whole=True) if record]
        split = sum(size > 1 for size in sizes)
        score = (_well_quoted(sample, separator), len(set(sizes)) == 1, split, sum(sizes))
        if split and (best is None or score > best[0]):
            best = (score, separator)
    return best[1] if best else None


def _all_numbers(sample: str) -> bool:
    return all(_NUMBER.fullmatch(word) for word in sample.split())


# --- tables in text --------------------------------------------------------------------------------------------


def _csv_shape(
    file: File,
    records: list[list[str]],
    separator: str,
    layout: str | None,
    container: str | None,
    options: ReadOptions,
) -> Shape:
    container = "tsv" if container == "tsv" else "csv"
    first = tuple(name.strip() for name in records[0]) if records else ()
    header = _has_header(first, records, layout, options)
    names = first if header else tuple(str(place + 1) for place in range(len(first)))
    roles = find_roles(names, options) if header or layout else NO_ROLES
    if layout == "long" and not header and len(names) == 2 and not roles.places:
        roles = Roles(transaction=0, item=1)
    if layout is None:
        layout = _table_layout(file, names, records[1:] if header else records, roles, header, options)
    if layout == "basket":
        return Shape("basket", TEXT, separator)
    if layout == "wide":
        names = tuple(records[0]) if header and records else names  # blanks belong to the name of an item
        flags = _flags(names, [row for row in records[header:] if len(row) == len(names)])
        roles = wide_roles(names, options, lambda place: flags[place])
    elif names and (roles.item is None or (layout == "long" and roles.transaction is None)):
        raise missing_role(roles, names, file.name)
    return Shape(layout, container, separator, header, names, roles)


def _has_header(first: tuple[str, ...], records: list[list[str]], layout: str | None, options: ReadOptions) -> bool:
    """A table has a header unless its first record looks like any other."""
    if options.header is not None:
        return options.header
    known = {name for names in NAMES.values() for name in names}
    wanted = [options.transaction, options.item, options.user, options.sensitivity, options.sensitive_column]
    wanted += [options.attribute, options.count]
    if any(plain(name) in known for name in first) or any(name in first for name in wanted if name):
        return True
    if layout is None:
        return bool(first) and not any(name.lower() in FLAGS for name in first)
    numbers = [any(_NUMBER.fullmatch(field.strip()) for field in record) for record in records[:2]]
    return layout != "long" or numbers == [False, True]


def _table_layout(
    file: File,
    names: tuple[str, ...],
    rows: list[list[str]],
    roles: Roles,
    header: bool,
    options: ReadOptions,
) -> str:
    rows = [row for row in rows if any(field.strip() for field in row)]
    if not header:
        return "basket"
    # A table may have a broken line, which its reader will name; lines of all lengths are no table.
    table = 2 * sum(len(row) == len(names) for row in rows) >= len(rows) or _names_both(names)
    if table and roles.item is not None and _is_list_column(rows, roles.item):
        return "lists"
    if table and roles.item is not None and roles.transaction is not None:
        return "long"
    if table and _is_wide(names, [row for row in rows if len(row) == len(names)], options):
        return "wide"
    one_role = (roles.item is None) != (roles.transaction is None)
    if options.item or options.transaction or (table and len(names) > 1 and (one_role or _is_named(names, rows))):
        raise missing_role(roles, names, file.name)
    return "basket"


def _names_both(names: tuple[str, ...]) -> bool:
    """Whether the names can only be those of a long table."""
    words = {plain(name) for name in names}
    return bool(words & {"transaction", "transactionid", "tid"}) and bool(words & {"item", "itemid", "product", "sku"})


def _is_named(names: tuple[str, ...], rows: list[list[str]]) -> bool:
    """Whether the first record must be a header: one column, not all, is numeric but for it."""
    if len(rows) < 3 or any(len(row) != len(names) for row in rows):
        return False
    numeric = [all(_NUMBER.fullmatch(row[place].strip()) for row in rows) for place in range(len(names))]
    return not all(numeric) and any(
        number and not _NUMBER.fullmatch(name) for number, name in zip(numeric, names, strict=True)
    )


def _is_list_column(rows: list[list[str]], place: int) -> bool:
    cells = [row[place].strip() for row in rows if place < len(row)]
    return bool(cells) and all(cell.startswith("[") and cell.endswith("]") for cell in cells)


def _is_wide(names: tuple[str, ...], rows: list[list[str]], options: ReadOptions) -> bool:
    flags = _flags(names, rows)
    owners = wide_roles(names, options, lambda place: flags[place]).places.values()
    return any(flags) and all(flag or place in owners for place, flag in enumerate(flags))


def _flags(names: tuple[str, ...], rows: list[list[str]]) -> list[bool]:
    """Which columns hold nothing but 0 and 1, and at least one of them."""
    cells = [{row[place].strip().lower() for row in rows} for place in range(len(names))]
    return [column <= FLAGS | {""} and bool(column - {""}) for column in cells]


def missing_role(roles: Roles, names: Sequence[str], source: str | None) -> DataError:
    """The error for a table where it is not clear which column holds what."""
    missing = [role for role in ("transaction", "item") if getattr(roles, role) is None]
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return DataError(
        f"It is not clear which column holds the {' and which the '.join(missing)}. The columns are: {shown}. "
        f"Pass {' and '.join(f'{role}=…' for role in missing)}, or the format if this is no long table.",
        source=source,
    )
