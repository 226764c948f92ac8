"""Whole commands beside what other libraries need for the same files, and how time and memory grow with the data.

`python -m benchmarks.whole --write` makes docs/results/whole.md: processes of their own, in turn, the least of
a few runs. `--largest=10000000` measures growth up to ten million transactions as well (some 20 minutes more).
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._tools import data_file, publish, table

RUNS = 5
SIZES = (100_000, 1_000_000)
MEGABYTE = 1e6

PAGE = """# Whole commands, measured

`python -m benchmarks.whole --write` made this page ({threads} threads). Every command is a process of its own; they
took turns, and each figure is the least of {runs} runs. *Time* is what passes on the clock, *processor* what all
threads take together.

## Beside other libraries

{beside}

Polars reads the file, splits the lines or not, and writes it again: what a release needs at the very least.

## Growth

Generated transactions (`anonset generate quest`, the shape of T10I4D100K). Ten times the data should take at most
twelve times as long. Memory is the most that a process ever held.

{growth}
"""

POLARS = """
import sys, polars as pl
lines = pl.read_csv(sys.argv[1], has_header=False, separator="\\x01", quote_char=None, new_columns=["line"])
{split}
lines.write_csv(sys.argv[2], include_header=False, quote_style="never")
"""
SPLIT = 'lines = lines.select(pl.col("line").str.strip_chars().str.split(" ").list.join(" "))'
TABLE = "import sys, polars as pl\npl.read_csv(sys.argv[1]).write_csv(sys.argv[2])"
READ = "import sys, polars as pl\npl.read_csv(sys.argv[1])"
OURS = "import sys, anonset\nanonset.read(sys.argv[1])"


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    time: float
    processor: float
    memory: int

    def least(self, other: Cost) -> Cost:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Cost(*(min(pair) for pair in pairs))


def cost(arguments: Sequence[str]) -> Cost:
    """Run a Python process to its end."""
    start = time.perf_counter()
    silent = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    child = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=silent)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    taken = time.perf_counter() - start
    return Cost(taken, used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def in_turn(*calls: Sequence[str], runs: int = RUNS) -> list[Cost]:
    """The least cost of each call."""
    least = [cost(call) for call in calls]
    for _ in range(runs - 1):
        least = [one.least(cost(call)) for one, call in zip(least, calls, strict=True)]
    return least


def ours(*arguments: str) -> list[str]:
    return ["-m", "anonset", *arguments]


def unpacked(name: str, folder: Path) -> Path | None:
    """A benchmark file without its compression, which is not what is compared."""
    packed = data_file(name)
    if packed is None:
        return None
    target = folder / name.removesuffix(".gz")
    with gzip.open(packed) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out)
    return target


def beside(folder: Path) -> str:
    """Our whole commands as multiples of what others need."""
    rows = []
    made, copied = str(folder / "made"), str(folder / "copied")

    def add(what: str, most: str, mine: Sequence[str], theirs: Sequence[str]) -> None:
        one, other = in_turn(mine, theirs)
        rows.append((what, most, f"{one.time / other.time:.1f} ×", f"{one.processor / other.processor:.1f} ×"))

    four = folder / "four.dat"
    four.write_text("1 2 3\n1 2\n2 3\n1 3\n")
    start = ours("anonymize", str(four), "-k2", "-o", f"{made}.dat", "--force")
    add("four lines, `anonymize` ÷ `import pyarrow`", "3 ×", start, ["-c", "import pyarrow"])
    quest = unpacked("T10I4D100K.dat.gz", folder)
    if quest is not None:
        pta = ours("anonymize", str(quest), "--method", "pta", "-k5", "-o", f"{made}.dat", "--force")
        for how, split, most in (("splitting", SPLIT, "2 ×"), ("not splitting", "", "3 ×")):
            theirs = ["-c", POLARS.format(split=split), str(quest), copied]
            add(f"T10I4D100K, `pta` ÷ Polars {how} and rewriting the lines", most, pta, theirs)
    journey = unpacked("completejourney.csv.gz", folder)
    if journey is not None:
        common = (str(journey), "--unit", "transaction", "--force", "--accept", "singling-out,loss")
        pta = ours("anonymize", *common, "--method", "pta", "-k5", "-o", f"{made}.csv")
        add("Complete Journey, `pta` ÷ Polars rewriting the table", "2.5 ×", pta, ["-c", TABLE, str(journey), copied])
        read = ["-c", OURS, str(journey)]
        add("Complete Journey, reading ÷ Polars reading", "1 ×", read, ["-c", READ, str(journey)])
    return table(("", "at most", "time", "processor"), rows)


def commands(data: str, release: str) -> dict[str, list[str]]:
    """What is measured at every size; the first one makes the release that others look at."""

    def anonymize(method: str, *more: str) -> list[str]:
        accepted = ("--accept", "singling-out,linkability,inference,loss")
        return ours("anonymize", data, "--method", method, "-o", release, "--force", *more, *accepted)

    groups = ("--sensitive", "3,5,8", "-p4", "-o", f"{release}-groups")
    return {
        "anonymize `pta`": anonymize("pta", "-k5"),
        "verify": ours("verify", release),
        "risk": ours("risk", data),
        "risk of the release": ours("risk", data, release),
        "measure": ours("measure", data, release),
        "report": ours("report", data, release, "--force"),
        "anonymize `gsc`": anonymize("gsc", "-k5"),
        "anonymize `crowd`, quick": anonymize("crowd", "-k5", "--effort", "quick"),
        "anonymize `crowd`": anonymize("crowd", "-k5"),
        "anonymize `km-apriori`": anonymize("km-apriori", "-k5", "-m2"),
        "anonymize `km-refine`": anonymize("km-refine", "-k5", "-m2"),
        "anonymize `cahd-gray`": anonymize("cahd-gray", *groups),
        "anonymize `cahd-blind`": anonymize("cahd-blind", *groups),
    }


def growth(folder: Path, sizes: Sequence[int], say: Callable[[str], None]) -> str:
    """Time and memory of each command at each size, and what ten times the data costs."""
    found: dict[str, list[Cost]] = {}
    bytes_of = []
    for size in sizes:
        data = folder / f"quest-{size}.dat"
        cost(ours("generate", "quest", str(data), "--transactions", str(size), "--format", "fimi", "--force"))
        bytes_of.append(data.stat().st_size)
        for name, call in commands(str(data), str(folder / "release.dat")).items():
            runs = 1 if size >= SIZES[-1] else 3
            found.setdefault(name, []).append(in_turn(call, runs=runs)[0])
            say(f"{name}, {size:,}: {found[name][-1].time:.1f} s")
    head = ["command", *(f"{size:,}" for size in sizes), "growth of time, of processor", "memory", "÷ file"]
    rows = []
    for name, costs in found.items():
        last, before = costs[-1], costs[-2]
        grown = f"{last.time / before.time:.1f} ×, {last.processor / before.processor:.1f} ×"
        memory = f"{last.memory / MEGABYTE:,.0f} MB"
        times = [f"{one.time:.1f} s" for one in costs]
        rows.append((name, *times, grown, memory, f"{last.memory / bytes_of[-1]:.1f} ×"))
    return table(head, rows)


def main() -> None:
    largest = next((int(word.removeprefix("--largest=")) for word in sys.argv if word.startswith("--largest=")), 0)
    sizes = (*SIZES, *([largest] if largest > SIZES[-1] else []))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compared = beside(folder)
        grown = growth(folder, sizes, lambda text: print(text, file=sys.stderr, flush=True))
    publish("whole.md", PAGE.format(threads=os.cpu_count(), runs=RUNS, beside=compared, growth=grown))


if __name__ == "__main__":
    main()
