"""Reading: T10I4D100K against pyarrow, and how the other formats of the same transactions compare.

`python -m benchmarks.reading --write` makes docs/results/reading.md.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import anonset
from anonset.generate import generate_quest
from anonset.io.formats.saving import save
from benchmarks._tools import best_of, data_file, peak_memory, publish, seconds, table

T10 = "T10I4D100K.dat.gz"
FORMATS = (
    "fimi",
    "spmf",
    "basket",
    "long.csv",
    "long.jsonl",
    "long.parquet",
    "lists.jsonl",
    "lists.parquet",
    "wide.csv",
)

PAGE = """# Reading, measured

`python -m benchmarks.reading --write` made this page ({threads} threads; best of several runs, all in one process).

{goals}

## The same 100,000 transactions in other formats

{formats}
"""


def split_by_arrow(path: Path) -> tuple[Any, Any]:
    """What pyarrow needs for the same: lines, white space, and a dictionary of the items."""
    lines = csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=["line"]),
        parse_options=csv.ParseOptions(delimiter="\x01", quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types={"line": pa.string()}),
    )["line"].combine_chunks()
    words = pc.ascii_split_whitespace(pc.ascii_rtrim_whitespace(lines))
    return words, pc.dictionary_encode(words.values)


def against_arrow() -> list[tuple[str, str, str]]:
    path = data_file(T10)
    if path is None:
        return []
    words, items = split_by_arrow(path)
    data = anonset.read(path)
    assert (len(words), len(items.dictionary), len(items)) == (len(data), data.n_items, data.nnz)
    ours, theirs = best_of(25, lambda: anonset.read(path), lambda: split_by_arrow(path))
    times = f"`anonset.read` ({ours * 1000:.0f} ms) ÷ pyarrow splitting and encoding ({theirs * 1000:.0f} ms)"
    return [(f"T10I4D100K.dat.gz: {times}", "≤ 1.5 ×", f"{ours / theirs:.2f} ×")]


def long_table() -> list[tuple[str, str, str]]:
    path = data_file("completejourney.csv.gz")
    if path is None:
        return []
    (ours,) = best_of(3, lambda: anonset.read(path))
    return [("completejourney.csv.gz, 1,469,307 lines with users", "a few seconds", f"{ours:.1f} s")]


def at_scale() -> list[tuple[str, str, str]]:
    large = generate_quest(1_000_000, seed=1)
    arrays = large.offsets.nbytes + large.items.nbytes
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.dat"
        save(large, file, "fimi")
        size = file.stat().st_size
        peak = peak_memory(f"import anonset; assert len(anonset.read({str(file)!r})) == 1_000_000")
    what = f"1,000,000 generated transactions ({size / 1e6:,.0f} MB of text): peak memory of reading"
    return [(what, f"≤ {(12 * arrays + 300e6) / 1e6:,.0f} MB", f"{peak / 1e6:,.0f} MB")]


def formats() -> str:
    data = generate_quest(100_000, seed=1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMATS:
            file = Path(folder) / f"data.{name.rpartition('.')[2]}"
            save(data, file, name)
            took = min(seconds(lambda file=file, name=name: anonset.read(file, format=name)) for _ in range(3))
            rows.append((f"`{name}`", f"{file.stat().st_size / 1e6:.1f} MB", f"{took:.2f} s"))
    return table(["format", "size", "time"], rows)


def main() -> None:
    goals = table(["", "goal", "measured"], [*against_arrow(), *long_table(), *at_scale()])
    publish("reading.md", PAGE.format(threads=os.cpu_count(), goals=goals, formats=formats()).rstrip())


if __name__ == "__main__":
    main()
