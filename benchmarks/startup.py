"""How long commands take to start, in multiples of loading pyarrow, which reads nearly every file that they are given.

`python -m benchmarks.startup` prints the table: processor time, the least of several runs taken in turn.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 9
FOUR_LINES = "1 2 3\n1 2\n2 3\n1 3\n"


def calls(folder: Path) -> dict[str, list[str]]:
    data = folder / "four.dat"
    data.write_text(FOUR_LINES)
    made = str(folder / "release.dat")
    return {
        "python -c 'import pyarrow'": ["-c", "import pyarrow"],
        "python -c pass": ["-c", "pass"],
        "python -c 'import anonset'": ["-c", "import anonset"],
        "anonset --version": ["-m", "anonset", "--version"],
        "anonset --help": ["-m", "anonset", "--help"],
        "anonset anonymize --help": ["-m", "anonset", "anonymize", "--help"],
        "anonset anonymize, a file of four lines": [
            "-m",
            "anonset",
            "anonymize",
            str(data),
            "-k2",
            "-o",
            made,
            "--force",
        ],
    }


def seconds(arguments: list[str]) -> float:
    """The processor time of one call, of all threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        named = calls(Path(folder))
        taken = [[seconds(arguments) for arguments in named.values()] for _ in range(RUNS + 1)][1:]
    least = [min(times) for times in zip(*taken, strict=True)]
    print("| command | seconds | × pyarrow |\n| --- | ---: | ---: |")
    for name, one in zip(named, least, strict=True):
        print(f"| `{name}` | {one:.2f} | {one / least[0]:.1f} |")


if __name__ == "__main__":
    main()
