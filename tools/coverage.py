"""Say how much of the C++ code ran: `python -m tools.coverage FOLDER` after tests of a build with ANONSET_COVERAGE."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

NATIVE = Path(__file__).parents[1] / "native"


def covered(build: Path) -> dict[str, tuple[int, int]]:
    """For each folder of `native/` the lines that ran and all lines that can run."""
    runs: dict[tuple[str, int], int] = defaultdict(int)
    counts = [str(path.resolve()) for path in build.rglob("*.gcda")]
    told = subprocess.run(["gcov", "--json-format", "--stdout", *counts], capture_output=True, text=True, check=True)
    for report in told.stdout.splitlines():
        for file in json.loads(report)["files"]:
            path = (NATIVE.parent / file["file"]).resolve()
            if NATIVE in path.parents:
                for line in file["lines"]:
                    runs[str(path), line["line_number"]] += line["count"]
    folders: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for (path, _), count in runs.items():
        folder = Path(path).parent.name
        ran, lines = folders[folder]
        folders[folder] = ran + (count > 0), lines + 1
    return dict(sorted(folders.items()))


def main() -> None:
    """Print a line per folder, and the whole."""
    folders = covered(Path(sys.argv[1]))
    folders["all"] = tuple(map(sum, zip(*folders.values(), strict=True)))  # type: ignore[assignment]
    for folder, (ran, lines) in folders.items():
        print(f"C++ {folder:10} {ran:6,} of {lines:6,} lines  {ran / lines:.0%}")


if __name__ == "__main__":
    main()
