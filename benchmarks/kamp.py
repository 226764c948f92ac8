"""KAMP: the paper's experiments (Figs. 2 to 6), the same on real users, and speed against reading.

`python -m benchmarks.kamp --write` makes docs/results/kamp.md and its charts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Event, Thread
from typing import Any

import numpy as np

import anonset
from anonset import Job, Transactions
from anonset.data.errors import CancelledError, ParameterError
from anonset.data.spec import as_count
from anonset.generate import generate_quest
from anonset.methods import kamp
from anonset.methods.kamp import (
    MOST_COMBINATIONS,
    Goal,
    Rows,
    combinations_at_most,
    count_rare,
    group_by_similarity,
)
from anonset.mining.itemsets import UserPatterns
from anonset.models import model
from anonset.unlink import Keep, unlink
from benchmarks._chart import Chart, keyed
from benchmarks._kamp_page import PAGE
from benchmarks._tools import RESULTS, best_of, data_file, publish, table

SIZES = (1, 2, 3, 4, 5, 6)
PATTERNS = range(12)  # the last one stands for all larger numbers
PATIENCE = 10.0  # processor seconds after which a run is given up
REFUSED, GIVEN_UP = "refused", f"> {PATIENCE:.0f} s"


@cache
def webview() -> Transactions | None:
    path = data_file("BMS-WebView-1.dat.gz")
    return None if path is None else group_by_similarity(anonset.read(path), 5000, Job())


@cache
def quest(items: int) -> Transactions:
    shape = {"mean_length": 5, "patterns": 1000, "pattern_length": 3, "items": items, "correlation": 0.25}
    return group_by_similarity(generate_quest(5000, **shape, seed=1), 500, Job())


@cache
def journey() -> Transactions | None:
    path = data_file("completejourney.csv.gz")
    return None if path is None else anonset.read(path)


@dataclass(frozen=True)
class Setting:
    """One data set, the supports and the k it is tried with, and which of them stays where the other one varies."""

    name: str
    load: Callable[[], Transactions | None]
    supports: Sequence[float]
    ks: Sequence[int]
    support: float
    k: int

    def lines(self, vary: str) -> list[tuple[str, float, int]]:
        """Name, support and k of each line of a figure."""
        if vary == "σ":
            return [(f"σ = {support:g}", support, self.k) for support in self.supports]
        return [(f"k = {k}", self.support, k) for k in self.ks]

    def title(self, vary: str) -> str:
        """What the panel of a figure is about."""
        return f"{self.name}, k = {self.k}" if vary == "σ" else f"{self.name}, σ = {self.support:g}"


SETTINGS = (
    Setting("BMS-WebView-1", webview, (0.019, 0.02, 0.021, 0.022, 0.023, 0.024), (15, 20, 25, 30, 35, 40), 0.02, 20),
    Setting("Quest, 1,000 items", lambda: quest(1000), (0.027, 0.03, 0.033, 0.036), (2, 3, 4, 5, 6), 0.03, 4),
    Setting("Quest, 250 items", lambda: quest(250), (0.06, 0.07, 0.08, 0.09), (2, 3, 4, 5, 6), 0.07, 4),
    Setting("completejourney", journey, (0.007, 0.01, 0.015), (10, 20, 40), 0.01, 20),
)


def present() -> Iterator[tuple[Setting, Transactions]]:
    for setting in SETTINGS:
        data = setting.load()
        if data is not None:
            yield setting, data


@cache
def mined(name: str, support: float) -> UserPatterns:
    data = next(data for setting, data in present() if setting.name == name)
    return Rows.of(data).mine(Goal(2, 1, as_count(support, len(data))), Job())


def draw(number: int, charts: Sequence[Chart]) -> None:
    if "--write" in sys.argv:
        keyed(RESULTS / f"kamp-fig{number}.svg", charts)


def described() -> str:
    rows = []
    for setting, data in present():
        users = len(np.unique(data.users))
        rows.append((setting.name, f"{len(data):,}", f"{data.n_items:,}", f"{users:,}", f"{len(data) / users:.1f}"))
    return table(["", "transactions", "items", "users", "transactions per user"], rows)


def histograms() -> str:
    rows, charts = [], []
    for setting, _ in present():
        lines: dict[str, list[float | None]] = {}
        for support in setting.supports:
            found = mined(setting.name, support)
            sizes = np.diff(found.own()[0])
            shares = np.bincount(np.minimum(sizes, PATTERNS[-1]), minlength=len(PATTERNS)) / len(sizes) * 100
            lines[f"σ = {support:g}"] = shares.tolist()
            cells = [f"{share:.1f}" for share in (*shares[:6], shares[6:11].sum(), shares[11])]
            rows.append((setting.name, support, len(found.patterns), *cells, f"{sizes.mean():.1f}", sizes.max()))
        charts.append(Chart(setting.name, PATTERNS, lines, "maximal patterns (11: or more)", "% of the users"))
    draw(2, charts)
    return table(["", "σ", "patterns", "0", "1", "2", "3", "4", "5", "6–10", "> 10", "mean", "most"], rows)


def combinations() -> str:
    """How many combinations of up to M patterns users have; where that is absurd, the bound that it is refused with."""
    rows = []
    for setting, _ in present():
        for support in setting.supports:
            counts = counted(setting.name, support, 2)[0]
            cells = [f"{count:,}" if isinstance(count, int) else count for count in counts]
            rows.append((setting.name, support, *cells))
    return table(["", "σ", *[f"M = {size}" for size in SIZES]], rows)


@cache
def counted(name: str, support: float, k: int) -> tuple[list[int | str], list[int | None]]:
    """For M = 1, 2, …: all combinations of up to M patterns, and those that fewer than k users share."""
    found = mined(name, support)
    bounds = [combinations_at_most(found, size) for size in SIZES]
    most = sum(bound <= MOST_COMBINATIONS for bound in bounds)
    every, rare = (np.cumsum(part).tolist() for part in count_rare(found, Goal(k, most, 1), Job()))
    refused = [f"refused: up to {float(f'{bound:.1e}'):,.0f}" for bound in bounds[most:]]
    return [*every, *refused], [*rare, *[None] * len(refused)]


def rare_by(vary: str) -> str:
    rows, charts = [], []
    for setting, _ in present():
        lines = {}
        for name, support, k in setting.lines(vary):
            counts = counted(setting.name, support, k)[1]
            lines[name] = counts
            shown = [REFUSED if count is None else f"{count:,}" for count in counts]
            rows.append((setting.name, support, k, *shown))
        charts.append(Chart(setting.title(vary), SIZES, lines, "M", "rare combinations", log=True))
    draw(3 if vary == "σ" else 4, charts)
    return table(["", "σ", "k", *[f"M = {size}" for size in SIZES]], rows)


@dataclass(frozen=True)
class Run:
    """What a run of the method did, or the word for why there was none."""

    figures: Mapping[str, Any] = field(default_factory=dict)
    word: str = ""

    @property
    def distance(self) -> float | None:
        """The pattern distance of the release."""
        return self.figures.get("pattern_distance")

    def __str__(self) -> str:
        """Phase 1, the release where that is another number, patterns kept where not all are, virtual users."""
        if self.word:
            return self.word
        table, release = (f"{self.figures[name]:.3f}" for name in ("phase_1_distance", "pattern_distance"))
        kept, virtual = self.figures["patterns_kept"], self.figures["phase_1_virtual_users"]
        parts = [table if table == release else f"{table} → {release}"]
        parts += [f"{kept:.1%}"] if kept < 0.9995 else []
        parts += [f"{virtual:,} v"] if virtual else []
        return ", ".join(parts)


@contextmanager
def patience(job: Job) -> Iterator[None]:
    """Cancel the job once it has used up its processor time."""
    end, over = time.process_time() + PATIENCE, Event()

    def watch() -> None:
        while not over.wait(0.5):
            if time.process_time() > end:
                job.cancel()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@cache
def repaired(name: str, support: float, k: int, most: int, strategy: str) -> Run:
    """One run; who takes too long for M is not asked for more."""
    if most > 1 and (before := repaired(name, support, k, most - 1, strategy)).word:
        return before
    return run(next(data for setting, data in present() if setting.name == name), support, k, most, strategy)


def run(data: Transactions, support: float, k: int, most: int, strategy: str) -> Run:
    job = Job()
    given = {"k": k, "combinations": most, "support": support, "strategy": strategy, "users_by_similarity": None}
    try:
        with patience(job):
            return Run(kamp.run(data, job, **given).measurements)
    except ParameterError:
        return Run(word=REFUSED)
    except CancelledError:
        return Run(word=GIVEN_UP)


def distance_by(vary: str) -> str:
    rows, charts = [], []
    for setting, _ in present():
        lines: dict[str, list[float | None]] = {}
        for name, support, k in setting.lines(vary):
            for strategy, mark in (("joint", ""), ("greedy", "'")):
                results = [repaired(setting.name, support, k, most, strategy) for most in SIZES]
                print(setting.name, support, k, strategy, *results, sep=" | ", file=sys.stderr, flush=True)
                empty = f"{results[0].figures['empty_distance']:.3f}"
                rows.append((setting.name, support, k, empty, strategy, *results))
                lines[f"{name}, {strategy}{mark}"] = [result.distance for result in results]
        charts.append(Chart(setting.title(vary), SIZES, lines, "M", "pattern distance (PD)"))
    draw(5 if vary == "σ" else 6, charts)
    return table(["", "σ", "k", "empty", "", *[f"M = {size}" for size in SIZES]], rows)


def compared(vary: str) -> str:
    """How `joint` and `greedy` compare over all cells of a figure that both have, in words."""
    cells = [
        (data.name, support, k, most) for data, _ in present() for _, support, k in data.lines(vary) for most in SIZES
    ]
    pairs = [(repaired(*cell, "joint"), repaired(*cell, "greedy")) for cell in cells]
    both = [(joint.figures, greedy.figures) for joint, greedy in pairs if joint.figures and greedy.figures]
    less = sum(joint["pattern_distance"] < greedy["pattern_distance"] - 1e-9 for joint, greedy in both)
    more = sum(joint["pattern_distance"] > greedy["pattern_distance"] + 1e-9 for joint, greedy in both)
    kept = [f"{min(figures['patterns_kept'] for figures in side):.1%}" for side in zip(*both, strict=True)]
    virtual = sum(greedy["phase_1_virtual_users"] > 0 for _, greedy in both)
    return (
        f"in {len(both)} cells that both reach, the release of `joint` is nearer to the original than that of `greedy` "
        f"in {less} and further in {more}. `joint` keeps at least {kept[0]} of the patterns, "
        f"`greedy` at least {kept[1]}. In {virtual} cells the paper's phase 1 asks for virtual users."
    )


def households() -> str:
    """The first sixty households: few users with many patterns, where the paper's phase 1 needs virtual users."""
    data = journey()
    if data is None or data.users is None:
        return ""
    few = data.take(np.flatnonzero(np.isin(data.users, np.unique(data.users)[:60])))
    rows = []
    for support, k, most in ((49, 5, 2), (49, 5, 3), (80, 5, 3), (100, 3, 3)):
        for strategy in ("joint", "greedy"):
            found = run(few, support, k, most, strategy).figures
            cells = [f"{found[name]:.3f}" for name in ("empty_distance", "phase_1_distance", "pattern_distance")]
            kept = [f"{found[name]:.1%}" for name in ("phase_1_patterns_kept", "patterns_kept")]
            rows.append((support, k, most, strategy, *cells, *kept, found["phase_1_virtual_users"]))
    head = ["σ", "k", "M", "", "empty", "phase 1", "release", "kept, phase 1", "kept, release", "virtual"]
    return table(head, rows)


def speed() -> str:
    path, data = data_file("BMS-WebView-1.dat.gz"), webview()
    if path is None or data is None:
        return ""
    promise = model("multi-pattern", k=20, combinations=3, support=0.02)

    def work(strategy: str) -> None:
        job = Job()
        draft = kamp.run(data, job, **promise.params, strategy=strategy, users_by_similarity=None)
        release, _, _ = unlink(draft, promise.spec, job, Keep())
        assert promise.check(release)

    reading, joint, greedy = best_of(7, lambda: anonset.read(path), lambda: work("joint"), lambda: work("greedy"))
    what = "BMS-WebView-1, σ = 0.02, k = 20, M = 3: both phases, unlinking and check"
    rows = [
        (f"{what} ({joint * 1000:.0f} ms) ÷ reading ({reading * 1000:.0f} ms)", "≤ 30 ×", f"{joint / reading:.1f} ×"),
        (f"the same with `greedy` ({greedy * 1000:.0f} ms)", "", f"{greedy / reading:.1f} ×"),
    ]
    return table(["", "goal", "measured"], rows)


def main() -> None:
    parts = {
        "speed": speed(),
        "data": described(),
        "fig2": histograms(),
        "combinations": combinations(),
        "fig3": rare_by("σ"),
        "fig4": rare_by("k"),
        "fig5": distance_by("σ"),
        "fig6": distance_by("k"),
        "fig5_here": compared("σ"),
        "fig6_here": compared("k"),
        "households": households(),
    }
    publish("kamp.md", PAGE.format(**parts, given_up=GIVEN_UP).rstrip())


if __name__ == "__main__":
    main()
