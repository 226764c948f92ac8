"""Transactions on Spark: a frame with the sorted list of different items of each, and perhaps its user.

The data never pass through the driver. What it learns is which items there are, and how many of what was left aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anonset.data.errors import DataError, InputError, ParameterError, counted, setting, unknown
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import Roles, find_roles

ITEMS, USER = "items", "user"
FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
    ".dat": "text",
    ".txt": "text",
}
NAMED = {kind: kind for kind in FORMATS.values()} | {"fimi": "text"}
TABLE_OPTIONS = ("format", "separator", "transaction", "item", "user", "drop", "skip_nulls", "encoding", "table")
"""The options of reading that make sense here; others are refused."""


@dataclass(frozen=True)
class Sets:
    """Transactions as a frame with the columns `items` and, where users are known, `user`."""

    frame: Any
    has_users: bool
    notes: tuple[str, ...] = ()


def read(spark: Any, data: Any, reading: Mapping[str, Any]) -> Sets:
    """The transactions of a Spark frame, a path, or with `table=` of a table."""
    allowed = {*TABLE_OPTIONS, "sensitive", "no_user"}
    for name in reading:
        if name not in allowed:
            raise unknown("option", name, sorted(allowed), "On Spark data are read with fewer options.")
    options = ReadOptions(**{name: value for name, value in reading.items() if name != "sensitive"})
    frame, lines = (data, False) if hasattr(data, "schema") else _loaded(spark, data, options)
    return _of_lines(frame) if lines else _of_table(frame, options)


def _loaded(spark: Any, data: Any, options: ReadOptions) -> tuple[Any, bool]:
    if options.table is not None:
        return spark.table(options.table), False
    if data is None:
        raise InputError(f"Say what to read: a path, or a table by {setting('table')}.")
    kind = _kind(str(data), options.format)
    reader = spark.read.format(kind)
    if kind == "csv":
        separator = options.separator or ("\t" if str(data).endswith(".tsv") else ",")
        reader = reader.options(header=True, sep=separator, escape='"', mode="FAILFAST", inferSchema=False)
        reader = reader.option("encoding", options.encoding or "UTF-8").option("nullValue", "\u0000")
        reader = reader.option("emptyValue", "")
    return reader.load(location(data)), kind == "text"


def location(data: Any) -> str:
    """A path as Spark takes it: with a scheme; without one it is a file of this machine."""
    text = str(data)
    return text if "://" in text else f"file://{Path(text).absolute()}"


def _kind(data: str, given: str | None) -> str:
    if given is not None:
        if given not in NAMED:
            raise unknown("format", given, sorted(NAMED))
        return NAMED[given]
    name = data.rstrip("/").removesuffix(".gz").removesuffix(".zst")
    found = FORMATS.get(Path(name).suffix.lower())
    if found is None:
        found = next((kind for ending, kind in FORMATS.items() if _folder_holds(data, ending)), None)
    if found is None:
        raise InputError(f"The format of {Path(name).name} is not clear from its name. Say it: {setting('format')}.")
    return found


def _folder_holds(data: str, ending: str) -> bool:
    folder = Path(data.removeprefix("file://"))
    return folder.is_dir() and any(folder.glob(f"*{ending}*"))


def _of_lines(frame: Any) -> Sets:
    from pyspark.sql import functions as F

    words = F.filter(F.split(F.col("value"), r"\s+"), lambda word: word != "")
    return Sets(frame.select(F.array_sort(F.array_distinct(words)).alias(ITEMS)), False)


def _of_table(frame: Any, options: ReadOptions) -> Sets:
    from pyspark.sql import types as T

    names = frame.columns
    lists = [field.name for field in frame.schema.fields if isinstance(field.dataType, T.ArrayType)]
    scalars = [name for name in names if name not in lists]
    if options.item in lists or (options.item is None and len(lists) == 1):
        roles = find_roles(scalars, replace(options, item=None))
        item, roles = options.item or lists[0], replace(roles, item=None)
    elif lists and options.item is None:
        raise DataError(f"Several columns hold lists: {', '.join(lists)}. Name the one of items: {setting('item')}.")
    else:
        item, roles = None, find_roles(scalars, options)
    user = None if options.no_user or roles.user is None else scalars[roles.user]
    notes = _left_aside(scalars, roles, item, lists, user)
    if item is not None:
        return _of_lists(frame, item, user, notes)
    if roles.transaction is None or roles.item is None:
        missing = "transaction" if roles.transaction is None else "item"
        raise DataError(
            f"It is not clear which column is the {missing}. The columns are: {', '.join(names)}. "
            f"Name it: {setting(missing)}."
        )
    keys = [scalars[place] for place in (roles.transaction, *roles.more)]
    return _of_rows(frame, keys, scalars[roles.item], user, options, notes)


def _left_aside(
    names: list[str], roles: Roles, item: str | None, lists: list[str], user: str | None
) -> tuple[str, ...]:
    used = {names[place] for place in roles.places.values()}
    if user is None and roles.user is not None:
        used.discard(names[roles.user])
    unread = [name for name in (*names, *lists) if name not in used and name != item]
    return (f"Columns left aside: {', '.join(unread)}.",) if unread else ()


def _of_lists(frame: Any, item: str, user: str | None, notes: tuple[str, ...]) -> Sets:
    from pyspark.sql import functions as F

    lists = F.col(f"`{item}`").cast("array<string>")
    missing = frame.filter(lists.isNull() | F.exists(lists, lambda one: one.isNull())).count()
    if missing:
        raise DataError(f"{counted(missing, 'transaction')} are null or hold a null. Replace or drop them.")
    columns = [F.array_sort(F.array_distinct(lists)).alias(ITEMS)]
    return Sets(frame.select(*columns, *_user(user)), user is not None, notes)


def _user(user: str | None) -> list[Any]:
    """The user as text; a blank one is unknown."""
    from pyspark.sql import functions as F

    if user is None:
        return []
    text = F.trim(F.col(f"`{user}`").cast("string"))
    return [F.when(text != "", text).alias(USER)]


def _of_rows(
    frame: Any, keys: list[str], item: str, user: str | None, options: ReadOptions, notes: tuple[str, ...]
) -> Sets:
    """A row per item: rows of one transaction come together."""
    from pyspark.sql import functions as F

    columns = [F.col(f"`{name}`").cast("string").alias(f"_t{place}") for place, name in enumerate(keys)]
    rows = frame.select(*columns, F.col(f"`{item}`").cast("string").alias("_item"), *_user(user))
    null = F.col("_item").isNull()
    for place in range(len(keys)):
        null |= F.col(f"_t{place}").isNull()
    missing = rows.filter(null).count()
    if missing and not options.skip_nulls:
        raise DataError(
            f"{counted(missing, 'row')} without a transaction or an item. Mend the data, or leave them out: "
            f"{setting('skip_nulls', True)}."
        )
    if missing:
        notes = (*notes, f"{counted(missing, 'row')} without a transaction or an item left out.")
    several = [F.min(USER).alias(USER), F.max(USER).alias("_other")] if user else []
    listed = F.array_sort(F.collect_set(F.when(F.col("_item") != "", F.col("_item")))).alias(ITEMS)
    grouped = rows.filter(~null).groupBy(*(f"_t{place}" for place in range(len(keys)))).agg(listed, *several)
    if user and (mixed := grouped.filter(F.col(USER) != F.col("_other")).count()):
        raise DataError(f"{counted(mixed, 'transaction')} belong to several users. Check which columns are what.")
    return Sets(grouped.select(ITEMS, *([USER] if user else [])), user is not None, notes)


def vocabulary(sets: Sets) -> Any:
    """The different items and how many transactions hold each: an Arrow table with the columns `item` and `count`."""
    from pyspark.sql import functions as F

    return sets.frame.select(F.explode(ITEMS).alias("item")).groupBy("item").count().toArrow()


def require_known(sensitive: list[str], labels: Any) -> None:
    """Every sensitive item must occur."""
    known = set(labels.to_pylist()) if sensitive else set()
    for name in sensitive:
        if name not in known:
            raise unknown("sensitive", name, [], "No item of the data has this name.")


def sensitive_names(given: Any) -> list[str]:
    """The names of the sensitive items: a list, or a text that separates them by commas."""
    if given is None:
        return []
    names = given.split(",") if isinstance(given, str) else list(given)
    found = [str(name).strip() for name in names if str(name).strip()]
    if not found:
        raise ParameterError("sensitive", "name at least one item", "none")
    return found
