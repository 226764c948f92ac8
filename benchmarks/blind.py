"""Blind groups beside the paper's: how often the best guess finds the holder, and what the release still tells.

`python -m benchmarks.blind [--write]` prints the table; with `--write` it becomes docs/results/cahd-blind.md. Times are
processor seconds of one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import anonset
from anonset import METHODS, Transactions
from anonset.assess.risk.guess import guess_holders
from anonset.assess.utility.reconstruction import divergences, workload
from anonset.data.job import Job
from anonset.data.release import Draft, Release
from anonset.methods.steps.group.degree import degree_problem
from benchmarks._tools import data_file, publish, table
from benchmarks.cahd import run, with_secrets

FILES = {
    "BMS-WebView-1": "BMS-WebView-1.dat.gz",
    "BMS-WebView-2": "BMS-WebView-2.dat.gz",
    "groceries": "groceries.csv.gz",
}
P, SENSITIVE, SEEDS, QUERIES, ATTACKED = (4, 10, 20), 10, 4, 200, 300
WIDTHS = (1, 16, 64, 256)
OTHERS = ("cahd-gray", "cahd-balanced", "nn")

PAGE = """# Blind groups, measured

`python -m benchmarks.blind --write` made this page. {sensitive} random items of those that p = 20 can hide are
sensitive; means over {seeds} draws of them. Transactions without quasi-identifier items were taken out before, for all
methods alike.

*Guess* is the mean success of each of three attackers ([longest, central, seed](../reference/risk.md)) who point at the
holder in {attacked} groups with one occurrence in each draw, best of three, times p: 1 is what the promise says.
*Error* is the [reconstruction error](../reference/utility/reconstruction.md) for r = 4, items drawn uniformly / by
frequency.
*Random* puts transactions into groups by chance alone: what its guess exceeds 1 by is what the lengths of transactions
tell about holders, whatever the method. `blind w` is `cahd-blind` with `neighbours=w`.

{tables}

## What it says

{text}
"""

TEXT = """- The groups of `nn` and `cahd-gray` betray the holder several times as often as 1/p: the worse, the larger
  p is. Blind groups do so about half as often, and less often than groups by chance, because sorting by length
  takes away most of what lengths tell.
- The goal of 1.5/p for every attacker is met in five of nine cases with the default, `neighbours=64`: with p = 4 on all
  sets, with p = 10 on BMS-WebView-2 and groceries. Where many blocks are joined (p = 20; BMS-WebView-1, where some
  sensitive items come in clusters of similar transactions) members of a group differ in length again. To shuffle
  a joined block inside classes of equal length would be the next thing to try.
- What it costs: with `neighbours=64` an error from 4 % below to 49 % above that of `cahd-gray`, up to 2.7 times that of
  `cahd-balanced`. Time: up to three times that of `cahd-gray`, most of it for sorting
  by length and shuffling in NumPy."""


def random_groups(data: Transactions, p: int) -> Draft:
    """Groups of p by chance; those that hold an item too often are joined with the next."""
    problem = degree_problem(data, p)
    place = np.random.default_rng(0).permutation(len(data))
    groups, next_group, held = np.empty(len(data), dtype=np.int32), 0, np.zeros(data.n_items, dtype=np.int64)
    secret, size = data.sensitive_part(), 0
    for at, row in enumerate(place):
        groups[row], size = next_group, size + 1
        held[secret.items[secret.offsets[row] : secret.offsets[row + 1]]] += 1
        if size >= p and len(data) - at > 2 * p and held.max() * p <= size:
            next_group, size = next_group + 1, 0
            held[:] = 0
    return problem.draft(groups)


def figures(data: Transactions, draft: Draft, seed: int) -> list[float]:
    """Success of each guess, and the error uniformly and by frequency."""
    guesses = guess_holders(data, draft.release, draft.row_origin, Job(seed, 1), ATTACKED)
    errors = [error(data, draft.release, weighting, seed) for weighting in ("uniform", "frequency")]
    return [*(guess.success for guess in guesses), *errors]


def error(data: Transactions, release: Release, weighting: Any, seed: int) -> float:
    return float(
        divergences(data, release, workload(data, r=4, queries=QUERIES, weighting=weighting, seed=seed)).mean()
    )


def drafts(data: Transactions, p: int) -> Iterator[tuple[str, Draft, float]]:
    """All groupings, with the processor time they took."""
    yield "random", random_groups(data, p), float("nan")
    for name in OTHERS:
        yield name, *run(name, data, p)
    for width in WIDTHS:
        yield f"blind {width}", *run("cahd-blind", data, p, neighbours=width)


def rows_of(data: Transactions, p: int) -> list[tuple[str, ...]]:
    found: dict[str, list[list[float]]] = {}
    for seed in range(SEEDS):
        marked = with_secrets(data, SENSITIVE, seed)
        marked = marked.take(np.flatnonzero(marked.quasi().lengths > 0))
        for name, draft, seconds in drafts(marked, p):
            found.setdefault(name, []).append([*figures(marked, draft, seed), seconds])
    gray = np.mean([one[-1] for one in found["cahd-gray"]])
    return [row(name, p, np.mean(values, axis=0), gray) for name, values in found.items()]


def row(name: str, p: int, mean: Any, gray: float) -> tuple[str, ...]:
    *guesses, uniform, frequency, seconds = mean
    time = "–" if np.isnan(seconds) else f"{seconds / gray:.2f} ×"
    return f"{p}", name, f"{max(guesses) * p:.2f}", f"{uniform:.4f} / {frequency:.4f}", time


def main() -> int:
    assert "cahd-blind" in METHODS
    tables = []
    for name, file in FILES.items():
        data = anonset.read(data_file(file))
        rows = [one for p in P for one in rows_of(data, p)]
        tables.append(f"## {name}\n\n" + table(("p", "groups", "guess × p", "error", "time ÷ cahd-gray"), rows))
        print(tables[-1], flush=True)
    page = PAGE.format(sensitive=SENSITIVE, seeds=SEEDS, attacked=ATTACKED, tables="\n\n".join(tables), text=TEXT)
    publish("cahd-blind.md", page.rstrip("\n"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
