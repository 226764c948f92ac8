"""What benchmarks share: data, fair timing, memory of a process of its own, Markdown."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "docs" / "results"
_STARTED = time.monotonic()


def data_file(name: str) -> Path | None:
    """A public benchmark file, or None with a word about it."""
    path = DATA / name
    if path.exists():
        return path
    print(f"{name} is not in ../shared/data: what needs it is left out", file=sys.stderr)
    return None


def seconds(call: Callable[[], Any]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def processor_seconds(call: Callable[[], Any]) -> float:
    """How much processor time one call takes: other work on the machine does not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


def best_of(runs: int, *calls: Callable[[], Any], warm: bool = False) -> list[float]:
    """The best time of each call, after one to warm up; calls take turns, so that all see the same weather.

    With `warm` a call is also made once, unmeasured, right before each measured one: what the call before it left in
    the caches then does not count.
    """
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(runs):
        for call, taken in zip(calls, times, strict=True):
            if warm:
                call()
            taken.append(seconds(call))
    return [min(taken) for taken in times]


_REPORT = """
import pathlib, resource, sys
status = pathlib.Path("/proc/self/status")
if status.exists():  # getrusage would count what the parent held when this process was started
    print(next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def peak_memory(code: str) -> int:
    """The most memory, in bytes, that a fresh Python running `code` ever held."""
    command = [sys.executable, "-c", code + _REPORT]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()[-1])


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers stand on the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    marks = ["---:" if all(_numeric(row[i]) for row in rows) else "---" for i in range(len(head))]
    lines = [list(head), marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(share: float, digits: int = 2) -> str:
    """A share as all pages write it."""
    return f"{100 * share:.{digits}f} %"


class Said(dict[str, str]):
    """What a text says in numbers; a dash where the data for it were not at hand."""

    def __missing__(self, name: str) -> str:
        return "–"


def _numeric(cell: str) -> bool:
    return cell.strip("≤≥× %sm").replace(",", "").replace(".", "", 1).isdigit()


def publish(page: str, text: str, *, stamped: bool = True) -> None:
    """Print `text`; with --write also make it the page docs/results/`page`, with date and commit below it."""
    text = text.rstrip() + (f"\n\n{stamp()}" if stamped else "")
    print(text)
    if "--write" in sys.argv:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / page).write_text(text + "\n", encoding="utf-8")


def stamp() -> str:
    """When and from which commit a page was made, and how long that took."""
    taken = time.monotonic() - _STARTED
    return f"*Made on {date.today().isoformat()} from {_commit()} in {taken:.0f} s.*"


def _commit() -> str:
    """The commit that is checked out, and whether what is measured has changed since."""
    try:
        name = _git("rev-parse", "--short=9", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "native", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "an unknown commit"
    return f"commit {name}" + (" and changes since" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
