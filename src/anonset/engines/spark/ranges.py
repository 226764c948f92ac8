"""Ranges of the Gray order that are large enough to be anonymized by themselves, with exact bounds.

Precondition   a frame with the Gray key of each transaction (`key`, bytes whose order is the Gray order).
Steps          count how many keys begin with each short prefix; of the prefixes that begin more keys than fit into a
               range, count longer ones; walk through the prefixes in order and begin a new range where the one before
               is full · join a range with the next one as long as no release of it could keep the promise.
Postcondition  the ranges follow each other in Gray order, equal transactions are in one range, and every range keeps
               what its promise needs (k transactions or users, p times the most frequent sensitive item), so that
               groups formed inside of ranges keep the promise of the whole. The bounds are counted, not sampled: the
               same data give the same ranges, on any cluster.

Spark's own `repartitionByRange` draws a sample, which differs from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import Ints, Longs
from anonset.engines.spark.codes import KEY, RANGE, ROW, decoded

MOST_LENGTH = 1 << 12
"""Bytes of a key after which nobody looks for longer prefixes: what is alike so far stays in one range."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Where each range begins (the smallest key of all but the first), and how many transactions it holds."""

    starts: tuple[bytes, ...]
    sizes: Longs

    def __len__(self) -> int:
        return len(self.sizes)


def find_ranges(keys: Any, size: int, width: int) -> Ranges:
    """Ranges of about `size` transactions; only equal transactions, or a prefix of 4 KB, can make one larger."""
    prefixes, counts = prefix_counts(keys, max(1, size // 4), width)
    starts, sizes, held = [], [], 0
    for prefix, count in zip(prefixes, counts, strict=True):
        if held and held + count // 2 > size:
            sizes.append(held)
            starts.append(prefix)
            held = 0
        held += count
    return Ranges(tuple(starts), np.array([*sizes, held] if held else [], dtype=np.int64))


def prefix_counts(keys: Any, most: int, width: int) -> tuple[list[bytes], list[int]]:
    """Prefixes of keys in order, and how many keys each begins; only a whole key may begin another prefix.

    Prefixes grow from `width` bytes until they begin at most `most` keys each.
    """
    from pyspark.sql import functions as F

    found: dict[bytes, int] = {}
    part, length = keys.select(KEY), width
    while True:
        table = part.select(F.substring(KEY, 1, length).alias("prefix")).groupBy("prefix").count().toArrow()
        pairs = list(zip(table["prefix"].to_pylist(), table["count"].to_pylist(), strict=True))
        heavy = [prefix for prefix, count in pairs if count > most and len(prefix) == length and length < MOST_LENGTH]
        long = set(heavy)
        found.update((prefix, count) for prefix, count in pairs if prefix not in long)
        if not heavy:
            ordered = sorted(found)
            return ordered, [found[prefix] for prefix in ordered]
        part = part.filter(F.substring(KEY, 1, length).isin(*(F.lit(bytearray(prefix)) for prefix in heavy)))
        length *= 2


def with_ranges(keys: Any, ranges: Ranges) -> Any:
    """The frame with the number of each key's range."""
    schema = f"{RANGE} int, " + ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in keys.schema)
    return keys.mapInArrow(partial(_ranged, starts=ranges.starts), schema)


def _ranged(batches: Any, starts: tuple[bytes, ...]) -> Any:
    for batch in batches:
        columns = [pa.array(place(batch.column(KEY), starts)), *batch.columns]
        yield pa.RecordBatch.from_arrays(columns, names=[RANGE, *batch.schema.names])


def place(keys: pa.Array, starts: tuple[bytes, ...]) -> Ints:
    """For each key the number of starts that are not above it.

    Examples
    --------
    >>> place(pa.array([b"a", b"b", b"bb", b"z"]), (b"b", b"c")).tolist()
    [0, 1, 1, 2]
    """
    both = pa.chunked_array([pa.array(starts, type=pa.binary()), keys.cast(pa.binary())]).combine_chunks()
    is_key = np.arange(len(both)) >= len(starts)
    table = pa.table({"key": both, "is_key": pa.array(is_key.astype(np.int8))})
    order = pc.sort_indices(table, [("key", "ascending"), ("is_key", "ascending")]).to_numpy()
    below = np.empty(len(both), dtype=np.int32)
    below[order] = np.cumsum(~is_key[order])
    return below[len(starts) :]


def joined(ranges: Ranges, enough: Any) -> Ranges:
    """Ranges joined with their successors until `enough(first, last)` says of each that it can be anonymized.

    What is not enough at the end joins the range before it.

    Examples
    --------
    >>> joined(Ranges((b"b", b"c", b"d"), np.array([5, 1, 2, 1])), lambda first, last: last - first > 1).sizes.tolist()
    [6, 3]
    """
    bounds, first = [0], 0
    for last in range(1, len(ranges) + 1):
        if enough(first, last):
            bounds.append(last)
            first = last
    if first < len(ranges):
        bounds = [*bounds[:-1], len(ranges)] if len(bounds) > 1 else [0, len(ranges)]
    starts = tuple(ranges.starts[bound - 1] for bound in bounds[1:-1])
    return Ranges(starts, np.add.reduceat(ranges.sizes, bounds[:-1]) if len(ranges) else ranges.sizes)


def large_enough(rows: Any, ranges: Ranges, needs: Mapping[str, int], secrets: Longs) -> Ranges:
    """The ranges, joined until each holds `k` transactions, `users` users, `p` times each sensitive item.

    `rows` has the columns `range`, `row` and, where users are counted, `user`; `secrets` are the codes of sensitive
    items. A range with enough users keeps them when it is joined with another one.
    """
    sizes = np.concatenate(([0], np.cumsum(ranges.sizes)))
    users = _users(rows, len(ranges)) if "users" in needs else None
    held = _held(rows, len(ranges), secrets) if "p" in needs else None

    def enough(first: int, last: int) -> bool:
        count = int(sizes[last] - sizes[first])
        if count < needs.get("k", 1):
            return False
        if users is not None and max(users[first:last]) < needs["users"]:
            return False
        return held is None or int(held[first:last].sum(axis=0).max(initial=0)) * needs["p"] <= count

    return joined(ranges, enough)


def _users(rows: Any, count: int) -> list[int]:
    from pyspark.sql import functions as F

    table = rows.groupBy(RANGE).agg(F.count_distinct("user").alias("users")).toArrow()
    found = dict(zip(table[RANGE].to_pylist(), table["users"].to_pylist(), strict=True))
    return [found.get(number, 0) for number in range(count)]


def _held(rows: Any, count: int, secrets: Longs) -> Longs:
    """How often each range holds each sensitive item."""
    counted = rows.mapInArrow(partial(_secrets_of, secrets=secrets), f"{RANGE} int, item int, n long")
    table = counted.groupBy(RANGE, "item").sum("n").toArrow()
    held = np.zeros((count, len(secrets)), dtype=np.int64)
    place_of = {int(code): place for place, code in enumerate(secrets)}
    for number, item, n in zip(*(column.to_pylist() for column in table.columns), strict=True):
        held[number, place_of[item]] = n
    return held


def _secrets_of(batches: Any, secrets: Longs) -> Any:
    for batch in batches:
        offsets, items = decoded(batch.column(ROW))
        ranges = np.repeat(batch.column(RANGE).to_numpy(), np.diff(offsets))
        secret = np.isin(items, secrets)
        pairs, n = np.unique(np.column_stack((ranges[secret], items[secret])), axis=0, return_counts=True)
        arrays = (pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32), n.astype(np.int64))
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in arrays], names=[RANGE, "item", "n"])
