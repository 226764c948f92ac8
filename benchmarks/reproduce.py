"""Make the papers' experiments again, on the data at hand: every page of docs/results, and their index.

`python -m benchmarks.reproduce --write` runs each experiment (`benchmarks/NAME.py --write`, a process each)
and writes docs/results/README.md; names (`km kamp`) run those alone. `--index` writes the index alone, from the pages
that are there.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks._tools import RESULTS, publish, table

PAPERS = {  # experiment: paper, and which of its figures
    "pta": ("J. C.-W. Lin et al., PTA: an efficient system for transaction database anonymization, 2016", "Figs. 8–13"),
    "ant": (
        "B. Zhang et al., A (k, p)-anonymity framework to sanitize transactional database with personalized "
        "sensitivity",
        "Figs. 2, 3",
    ),
    "cahd": (
        "G. Ghinita, P. Kalnis, Y. Tao, Anonymous publication of sensitive transactional data, 2011",
        "Figs. 12–17",
    ),
    "risk": ("the same paper: how many transactions a few known items single out", "Table 3"),
    "km": (
        "M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, 2008",
        "Figs. 8–11",
    ),
    "kamp": ("C.-H. Hsu, H.-P. Tsai, KAMP: preserving k-anonymity for combinations of patterns, 2013", "Figs. 2–6"),
    "crowd": ("the project's own method, beside PTA and a lower bound", ""),
}

PAGE = """# The papers' experiments, made again

`python -m benchmarks.reproduce --write` makes these pages from the public data in `../shared/data`. Each says what the
paper claims and what we see.

{table}

Measured beyond the papers:

{more}
"""


def run_all(names: Sequence[str]) -> list[str]:
    """Run these experiments, as far as they are there; the names of those that failed."""
    failed = []
    for name in names:
        if importlib.util.find_spec(f"benchmarks.{name}") is None:
            print(f"{name}: no experiment yet", file=sys.stderr)
            continue
        print(f"\n# {name}\n", flush=True)
        start = time.monotonic()
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", "--write"], check=False).returncode:
            failed.append(name)
        print(f"{name} took {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return failed


def index() -> str:
    rows = [
        (f"[{title(name)}]({name}.md)", *about) for name, about in PAPERS.items() if (RESULTS / f"{name}.md").exists()
    ]
    others = sorted(path.stem for path in RESULTS.glob("*.md") if path.stem not in {*PAPERS, "README"})
    more = "\n".join(f"- [{title(name)}]({name}.md)" for name in others)
    return PAGE.format(table=table(("results", "paper", "figures"), rows), more=more)


def title(name: str) -> str:
    """The first line of a page."""
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def main() -> int:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    unknown = [name for name in names if name not in PAPERS]
    if unknown:
        print(f"There is no experiment {unknown[0]}. There are: {', '.join(PAPERS)}.", file=sys.stderr)
        return 2
    if "--index" in sys.argv:
        sys.argv.append("--write")
        failed = []
    elif "--write" in sys.argv:
        failed = run_all(names or list(PAPERS))
    else:
        print("Takes a while and writes docs/results: say --write, or --index for the index alone.")
        return 0
    publish("README.md", index(), stamped=False)
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    raise SystemExit(main())
