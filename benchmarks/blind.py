"""Blind groups beside the paper's: how often the best guess finds the holder, and what the release still tells.

`python -m benchmarks.blind [--write]` prints the table; with `--write` it becomes docs/results/cahd-blind.md. Times are
processor seconds of one thread.
"""

from __future__ import annotations

import sys
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
from benchmarks._chart import Chart, panels
from benchmarks._tools import RESULTS, data_file, publish, table
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

## Trade-off

p = 10, over `neighbours`: the best guess times p, and the error with uniform questions divided by that of `cahd-gray`.

![Guess and error over neighbours](cahd-blind.svg)

## What it says

{text}
"""

TEXT = """\
- The groups of `nn` and `cahd-gray` betray the holder 2 to 17 times as often as 1/p: the worse, the larger p.
  Groups by chance do so 1.8 to 6.1 times: so much the lengths of transactions tell, whatever the method.
- *Goal*: at most 1.5/p for every attacker. With the default, `neighbours=256`, it is met in eight of nine cases (0.90
  to 1.28); on BMS-WebView-1 with p = 20 the guess is 2.12 times 1/p. Some of that no grouping can avoid: some
  sensitive items there are held by about a third of the long transactions, and p = 20 allows one in twenty.
- *Goal*: an error at most that of `cahd-gray`, uniform and by frequency. It is missed everywhere: 17 to 68 % more with
  uniform questions, 23 to 85 % more by frequency. Fewer neighbours estimate better and tell more, as the curves above
  show. From 1 to 256 neighbours the error rises by 4 to 24 % and the guess falls by 29 to 65 % (BMS-WebView-2,
  groceries); on BMS-WebView-1 the guess falls by 27 to 45 % and the error rises only for p = 4, by 8 %. At 256 most
  guesses are near 1, so that more neighbours have little left to win: that is the knee.
- *Goal*: time at most that of `cahd-gray`. It is met on groceries with p = 20 and missed elsewhere, by up to 53 %:
  blind groups are formed everywhere, `cahd-gray` forms them around holders only.
- Tried: folding (this version) lowered the guess on BMS-WebView-1 from 2.5 to 1.5 (p = 10) and from 4.2 to 2.5
  (p = 20) with 64 neighbours. Two or four cells instead of eight stay above 4.1 (p = 20), sixteen reach 2.3; to lay
  long transactions beside short ones instead of long ones changes little. What would be needed for the rest: folding
  into unequal parts, as few long transactions beside short ones as hide them."""


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


def means_of(data: Transactions, p: int) -> dict[str, Any]:
    """Of each grouping the means over all draws: three guesses, two errors, seconds."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(SEEDS):
        marked = with_secrets(data, SENSITIVE, seed)
        marked = marked.take(np.flatnonzero(marked.quasi().lengths > 0))
        for name, draft, seconds in drafts(marked, p):
            found.setdefault(name, []).append([*figures(marked, draft, seed), seconds])
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def row(name: str, p: int, mean: Any, gray: float) -> tuple[str, ...]:
    *guesses, uniform, frequency, seconds = mean
    time = "–" if np.isnan(seconds) else f"{seconds / gray:.2f} ×"
    return f"{p}", name, f"{max(guesses) * p:.2f}", f"{uniform:.4f} / {frequency:.4f}", time


def draw(means: dict[str, dict[str, Any]]) -> None:
    """What `neighbours` moves along, for p = 10."""
    guess = {name: [float(max(one[f"blind {width}"][:3]) * 10) for width in WIDTHS] for name, one in means.items()}
    error = {
        name: [float(one[f"blind {width}"][3] / one["cahd-gray"][3]) for width in WIDTHS] for name, one in means.items()
    }
    charts = [
        Chart("best guess × p", WIDTHS, guess, "neighbours", "1 is what the promise says", even=True),
        Chart("error ÷ that of cahd-gray", WIDTHS, error, "neighbours", "uniform questions", even=True),
    ]
    panels(RESULTS / "cahd-blind.svg", charts)


def main() -> int:
    assert "cahd-blind" in METHODS
    tables, at_ten = [], {}
    for name, file in FILES.items():
        data = anonset.read(data_file(file))
        means = {p: means_of(data, p) for p in P}
        at_ten[name] = means[10]
        rows = [row(one, p, mean, own["cahd-gray"][-1]) for p, own in means.items() for one, mean in own.items()]
        tables.append(f"## {name}\n\n" + table(("p", "groups", "guess × p", "error", "time ÷ cahd-gray"), rows))
        print(tables[-1], flush=True)
    if "--write" in sys.argv:
        draw(at_ten)
    page = PAGE.format(sensitive=SENSITIVE, seeds=SEEDS, attacked=ATTACKED, tables="\n\n".join(tables), text=TEXT)
    publish("cahd-blind.md", page.rstrip("\n"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
