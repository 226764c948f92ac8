"""How long the command line takes to start, in multiples of an empty Python, each the median of several runs.

`python -m benchmarks.startup` prints the table.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 7
CALLS = {
    "python -c pass": ["-c", "pass"],
    "anonset --version": ["-m", "anonset", "--version"],
    "anonset --help": ["-m", "anonset", "--help"],
    "anonset methods": ["-m", "anonset", "methods"],
    "anonset anonymize --help": ["-m", "anonset", "anonymize", "--help"],
}


def seconds(arguments: list[str]) -> float:
    """The median time of one call, after one that warms the disk's cache."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    print("| command | seconds | × empty Python |")
    print("| --- | ---: | ---: |")
    empty = None
    for name, arguments in CALLS.items():
        taken = seconds(arguments)
        empty = empty or taken
        print(f"| `{name}` | {taken:.2f} | {taken / empty:.1f} |")


if __name__ == "__main__":
    main()
