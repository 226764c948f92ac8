"""From a private snapshot of the published transactions to the files of the release, in an order that says nothing.

A lazy frame may give other rows each time it is used; files do not. So what the methods made is written down first,
where only the owner can read it, and everything that follows is read from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.errors import unknown
from anonset.io.containers.quoting import FORMULA, PLAIN_NUMBER

KINDS = ("parquet", "json", "csv")
PER_FILE = 1_000_000
"""Transactions in a file of the release."""


def require_kind(path: str, given: str | None) -> str:
    """The format of the release: given, or said by the name; Parquet otherwise."""
    if given is not None:
        if given not in KINDS:
            raise unknown("format", given, KINDS)
        return given
    ending = path.rstrip("/").rpartition(".")[2].lower()
    return {"csv": "csv", "json": "json", "jsonl": "json"}.get(ending, "parquet")


def write_rows(snapshot: Any, path: str, kind: str, transactions: int) -> None:
    """The release in rows: files of shuffled transactions."""
    parts = max(1, -(-transactions // PER_FILE))
    names = [name for name in ("items", "sensitive") if name in snapshot.columns]
    if kind == "csv":
        frame = _numbered(snapshot.select("place", *names), parts)
    else:
        frame = _shuffled(snapshot.select("place", *names), parts).drop("place")
    _write(frame, path, kind)


def _shuffled(frame: Any, parts: int, *then: str) -> Any:
    """Into files and an order that only the random places decide; equal places are equal transactions' business."""
    from pyspark.sql import functions as F

    part = F.pmod(F.col("place"), F.lit(parts)).cast("int")
    return frame.repartitionById(parts, part).sortWithinPartitions("place", *then)


def _numbered(frame: Any, parts: int) -> Any:
    """One line for each item, under numbers that follow the shuffled order."""
    from pyspark.sql import functions as F

    counts = frame.groupBy(F.pmod(F.col("place"), F.lit(parts)).alias("part")).count().toArrow()
    sizes = np.zeros(parts + 1, dtype=np.int64)
    sizes[np.asarray(counts["part"]) + 1] = np.asarray(counts["count"])
    marked = "sensitive" in frame.columns
    schema = "transaction long, item string" + (", sensitive boolean" if marked else "")
    return _shuffled(frame, parts).mapInArrow(partial(_lines, first=np.cumsum(sizes), parts=parts), schema)


def _lines(batches: Any, first: Any, parts: int) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        part = int(batch.column("place")[0].as_py()) % parts
        numbers = int(first[part]) + done + np.arange(batch.num_rows, dtype=np.int64) + 1
        done += batch.num_rows
        yield _lines_of(batch, numbers)


def _lines_of(batch: pa.RecordBatch, numbers: Any) -> pa.RecordBatch:
    """A line for each item; an empty transaction has one line with an empty item."""
    found: list[tuple[Any, Any, Any, Any]] = []
    for turn, name in enumerate(name for name in ("items", "sensitive") if name in batch.schema.names):
        lists = batch.column(name)
        lengths = np.diff(lists.offsets.to_numpy())
        rows = np.repeat(np.arange(batch.num_rows), lengths)
        found.append((rows, np.full(len(rows), turn), lists.flatten(), name == "sensitive"))
    held = np.bincount(np.concatenate([rows for rows, *_ in found]), minlength=batch.num_rows)
    empty = np.flatnonzero(held == 0)
    found.append((empty, np.full(len(empty), 2), pa.array([""] * len(empty), type=pa.string()), False))
    rows = np.concatenate([one[0] for one in found])
    order = np.lexsort((np.concatenate([one[1] for one in found]), rows))
    items = pa.chunked_array([one[2].cast(pa.string()) for one in found]).combine_chunks().take(pa.array(order))
    columns = [pa.array(numbers[rows[order]]), items]
    names = ["transaction", "item"]
    if "sensitive" in batch.schema.names:
        marks = np.concatenate([np.full(len(one[0]), one[3]) for one in found])
        columns.append(pa.array(marks[order]))
        names.append("sensitive")
    return pa.RecordBatch.from_arrays(columns, names=names)


def write_groups(snapshot: Any, path: str, kind: str, transactions: int) -> None:
    """A release in groups: exact quasi-identifier items, and per group how often each sensitive item occurs."""
    from pyspark.sql import functions as F

    parts = max(1, -(-transactions // PER_FILE))
    groups = snapshot.select("place", "group").distinct()
    ranked = _group_numbers(groups, parts)
    whole = snapshot.drop("place").join(ranked, "group")
    rows = _shuffled(whole.select("place", "number", "canon", "items"), parts, "number", "canon")
    counts = whole.select("place", "number", F.explode("sensitive").alias("item")).groupBy("place", "number", "item")
    tally = _shuffled(counts.count(), parts, "number", "item")
    _write(rows.select(F.col("number").alias("group"), "items"), f"{path}/transactions", kind)
    _write(tally.select(F.col("number").alias("group"), "item", "count"), f"{path}/sensitive", kind)


def _group_numbers(groups: Any, parts: int) -> Any:
    """Fresh numbers in the order of random places."""
    from pyspark.sql import functions as F

    counts = groups.groupBy(F.pmod(F.col("place"), F.lit(parts)).alias("part")).count().toArrow()
    sizes = np.zeros(parts + 1, dtype=np.int64)
    sizes[np.asarray(counts["part"]) + 1] = np.asarray(counts["count"])
    numbered = partial(_number, first=np.cumsum(sizes), parts=parts)
    return _shuffled(groups, parts, "group").mapInArrow(numbered, "place long, group long, number long")


def _number(batches: Any, first: Any, parts: int) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        part = int(batch.column("place")[0].as_py()) % parts
        numbers = int(first[part]) + done + np.arange(batch.num_rows, dtype=np.int64)
        done += batch.num_rows
        columns = [batch.column("place"), batch.column("group"), pa.array(numbers)]
        yield pa.RecordBatch.from_arrays(columns, names=["place", "group", "number"])


def _write(frame: Any, path: str, kind: str) -> None:
    writer = frame.write.mode("append").option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    if kind == "csv":
        writer = writer.options(header=True, escape='"')
    writer.format(kind).save(path)


def read_rows(spark: Any, path: str, kind: str, *, marked: bool) -> Any:
    """The release in rows as anybody would read it: the columns `items` and, where marked, `sensitive`."""
    from pyspark.sql import functions as F

    if kind != "csv":
        columns = "items array<string>" + (", sensitive array<string>" if marked else "")
        return spark.read.format(kind).schema(columns).load(path)
    schema = "transaction long, item string" + (", sensitive boolean" if marked else "")
    reader = spark.read.options(header=True, escape='"', emptyValue="", nullValue="\u0000", multiLine=True)
    lines = reader.schema(schema).csv(path)
    here = (F.col("item") != "") & (~F.col("sensitive") if marked else F.lit(True))
    lists = [F.collect_list(F.when(here, F.col("item"))).alias("items")]
    if marked:
        lists.append(F.collect_list(F.when(F.col("sensitive"), F.col("item"))).alias("sensitive"))
    return lines.groupBy("transaction").agg(*lists).drop("transaction")


def read_groups(spark: Any, path: str, kind: str) -> tuple[Any, Any]:
    """The two tables of a release in groups as anybody would read them."""
    rows = spark.read.format(kind).schema("group long, items array<string>").load(f"{path}/transactions")
    counts = spark.read.format(kind).schema("group long, item string, count long").load(f"{path}/sensitive")
    return rows, counts


def without_formulas(snapshot: Any) -> Any:
    """Labels that a spreadsheet would run as a formula with an apostrophe in front, as in every CSV file."""
    from pyspark.sql import functions as F

    def guarded(label: Any) -> Any:
        runs = label.rlike(FORMULA) & ~label.rlike(PLAIN_NUMBER)
        return F.when(runs, F.concat(F.lit("'"), label)).otherwise(label)

    names = [name for name in ("items", "sensitive") if name in snapshot.columns]
    return snapshot.withColumns({name: F.array_sort(F.transform(name, guarded)) for name in names})
