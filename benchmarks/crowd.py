"""`crowd` beside PTA, GSC, Gray-TSP and the lower bound: the share of the gap it closes, in multiples of PTA's time.

`python -m benchmarks.crowd --write` makes docs/results/crowd.md and its chart; `--scale` adds 10 million transactions.
`--sets=chess,mushroom` takes only some data, to try things out. Bounds take longer than all the rest (hours, all
together), so they are kept in benchmarks/bounds.json. A proved bound of the same data holds whatever code found it: it
is used again as long as the data's fingerprint is the same. `--bounds` finds those that are missing and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import anonset
from anonset.assess.bound.search import lower_bound
from anonset.assess.utility.information_loss import information_loss
from anonset.choose.runs import fingerprint
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.transactions import Transactions
from anonset.methods import crowd, gray_tsp, gsc, pta
from benchmarks._crowd_more import diversity, scale
from benchmarks._points import Panel, time_charts
from benchmarks._tools import RESULTS, ROOT, best_of, data_file, publish, seconds, table

FILES = {
    "mushroom": ("mushroom.dat.gz", 54),
    "T10I4D100K": ("T10I4D100K.dat.gz", 100),
    "BMS-WebView-1": ("BMS-WebView-1.dat.gz", 100),
    "chess": ("chess.dat.gz", 54),
    "connect": ("connect.dat.gz", 54),
    "BMS-WebView-2": ("BMS-WebView-2.dat.gz", 100),
    "retail": ("retail.dat.gz", 100),
    "kosarak": ("kosarak.dat.gz", 100),
    "groceries": ("groceries.csv.gz", 100),
    "Complete Journey": ("completejourney.csv.gz", 100),
}
OPTIONAL = ("retail", "kosarak")
SEGMENT_OF_ZIPF = 100
KS = (5, 10, 20)
PRESETS = tuple(crowd.PRESETS)
IN_TURN = ("quick", "usual")  # timed in turn with PTA
SHORT_RUN = 1.0  # seconds; what takes longer runs less often
CHARTED = 10
KEPT = ROOT / "benchmarks" / "bounds.json"
TURNS = 9  # of what is fast; the machine may be held up now and then
LIMITS = ((1.0, 0.5), (10.0, 0.7))  # at most so many times PTA's time: at least this share of the gap

PAGE = """# `crowd`, measured

`python -m benchmarks.crowd --write` made this page ({threads} threads). PTA works on segments of about 100
transactions, 54 for the dense sets. Times are multiples of PTA's, both the best of {turns} runs taken in turn (of seven
for `thorough` and three for Gray-TSP; of three, and one, where that takes longer than a second). {quiet}

Which data were seen when: the parameters of `crowd` were set while looking at mushroom, chess, connect, T10I4D100K,
BMS-WebView-1, BMS-WebView-2, groceries, Complete Journey and Zipf, so none of these is a fresh test. Zipf
is generated: 16,000 items with frequencies like 1/rank, lengths 1 to 80.

## Information loss ratio, and time as a multiple of PTA's

{losses}

The bound is a loss that no k-anonymous release can go below ([the proof](../explanation/bound.md)). {certain} It was
found once for these data and is used again: a proof does not depend on the code that found it.

What each mechanism and each value of the presets is worth: [the ablation](crowd-ablation.md).

## Share of the gap between PTA and the bound that is closed

{shares}

## Goals

At most PTA's time: at least 50 % of the gap. At most ten times: at least 70 %. The best preset that is fast enough
counts.

{goals}

{verdict}

![Information loss against time, k = {charted}](crowd.svg)

(The axes of the loss do not begin at 0.)

## Diversity

{diversity}
{scale}"""


@dataclass(frozen=True)
class Measured:
    """What one method did on one data set with one k: its loss ratio and its time in multiples of PTA's."""

    loss: float
    time: float


@dataclass(frozen=True)
class Case:
    """All methods on one data set with one k."""

    name: str
    k: int
    bound: float
    confidence: float
    note: str  # on the bound, if any
    pta_seconds: float
    methods: dict[str, Measured]

    def share(self, method: str) -> float:
        """Of the gap between PTA and the bound."""
        gap = self.methods["pta"].loss - self.bound
        return (self.methods["pta"].loss - self.methods[method].loss) / gap if gap > 0 else 0.0


def zipf(transactions: int = 40_000, items: int = 16_000, seed: int = 3) -> Transactions:
    """Very sparse: frequencies like 1/rank, lengths from 1 to 80 with a mean of about ten."""
    random = np.random.default_rng(seed)
    lengths = np.clip(random.lognormal(2.0, 0.8, transactions).astype(np.int64), 1, 80)
    chance = 1 / np.arange(1, items + 1)
    codes = random.choice(items, int(lengths.sum()), p=chance / chance.sum()).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Transactions.from_codes(offsets, codes, [str(i) for i in range(items)])


def load(name: str) -> tuple[Transactions, int] | None:
    if name == "Zipf":
        return zipf(), SEGMENT_OF_ZIPF
    file, segment = FILES[name]
    if name in OPTIONAL and not (ROOT.parent / "shared" / "data" / file).exists():
        return None
    path = data_file(file)
    return None if path is None else (anonset.read(path), segment)


def kept_bounds() -> dict[str, dict[str, Any]]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def bound_of(name: str, data: Transactions, k: int) -> dict[str, Any]:
    """The bound's ratio and its confidence, perhaps with a note; as kept if the data are the same."""
    source = fingerprint(data)
    known = kept_bounds().get(f"{name} {k}", {})
    if known.get("data") != source:
        found = lower_bound(data, k)
        known = {"ratio": found.ratio, "confidence": found.confidence, "data": source}
        KEPT.write_text(json.dumps(kept_bounds() | {f"{name} {k}": known}, indent=1, sort_keys=True) + "\n")
    return known


def calls(data: Transactions, k: int, segment: int) -> dict[str, Callable[[], Draft]]:
    """Every method, ready to run."""
    parts = max(1, round(len(data) / segment))
    common = {"k": k, "segments": parts, "item_order": "frequency", "revote": True}
    return {
        "pta": lambda: pta.run(data, Job(1), **common),
        "gsc": lambda: gsc.run(data, Job(1), k=k, item_order="frequency", protect="all"),
        "gray-tsp": lambda: gray_tsp.run(data, Job(1), **common, population=30, generations=300),
        **{f"crowd {e}": lambda e=e: crowd.run(data, Job(1), k=k, effort=e) for e in PRESETS},
    }


def case(name: str, data: Transactions, segment: int, k: int) -> Case:
    runs = calls(data, k, segment)
    quick = ["pta", "gsc", *(f"crowd {effort}" for effort in IN_TURN)]
    times = dict(zip(quick, best_of(TURNS, *(runs[method] for method in quick)), strict=True))
    found: dict[str, Measured] = {}
    for method, run in runs.items():
        made: list[Draft] = []
        taken = [seconds(lambda run=run, made=made: made.append(run()))]
        if method not in quick:
            usual, slow = (3, 1) if method == "gray-tsp" else (7, 3)
            often = slow if taken[0] > SHORT_RUN else usual
            beside, mine = best_of(often, runs["pta"], run) if often > 1 else (times["pta"], taken[0])
            times[method] = mine * times["pta"] / beside
        loss = information_loss(data, made[0].release, made[0].row_origin)["information_loss_ratio"]
        found[method] = Measured(float(loss), times[method] / times["pta"])
    bound = bound_of(name, data, k)
    print(
        name,
        k,
        f"bound {bound['ratio']:.4f}",
        *(f"{m} {r.loss:.4f} @ {r.time:.2f}" for m, r in found.items()),
        flush=True,
    )
    return Case(name, k, bound["ratio"], bound["confidence"], bound.get("note", ""), times["pta"], found)


def losses(cases: list[Case]) -> str:
    head = ["data", "k", "bound", "PTA", *(name for name in cases[0].methods if name != "pta")]
    rows = []
    for one in cases:
        cells = [
            f"{m.loss:.4f} ({m.time:.{2 if m.time < 1 else 3}g} ×)" for name, m in one.methods.items() if name != "pta"
        ]
        own = f"{one.methods['pta'].loss:.4f} ({1000 * one.pta_seconds:.0f} ms)"
        rows.append([one.name, one.k, f"{one.bound:.4f}", own, *cells])
    return table(head, rows)


def shares(cases: list[Case]) -> str:
    names = [name for name in cases[0].methods if name != "pta"]
    rows = [[one.name, one.k, *(f"{one.share(name):.0%}" for name in names)] for one in cases]
    return table(["data", "k", *names], rows)


def reached(one: Case, limit: float) -> float | None:
    """The largest share of the gap that a preset closes within so many times PTA's time."""
    inside = [one.share(name) for name, m in one.methods.items() if name.startswith("crowd") and m.time <= limit]
    return max(inside, default=None)


def goals(cases: list[Case]) -> tuple[str, str]:
    rows, met = [], [0] * len(LIMITS)
    for one in cases:
        cells = []
        for i, (limit, goal) in enumerate(LIMITS):
            share = reached(one, limit)
            met[i] += share is not None and share >= goal
            cells.append("no preset is that fast" if share is None else f"{share:.0%}{' ✓' if share >= goal else ''}")
        worse = [
            name for name, m in one.methods.items() if name.startswith("crowd") and m.loss > one.methods["pta"].loss
        ]
        rows.append([one.name, one.k, *cells, ", ".join(worse) or "none"])
    head = ["data", "k", *(f"within {limit:g} × PTA (goal {goal:.0%})" for limit, goal in LIMITS), "worse than PTA"]
    said = "; ".join(
        f"within {limit:g} × the goal is met in {count} of {len(cases)} cases"
        for (limit, _), count in zip(LIMITS, met, strict=True)
    )
    return table(head, rows), f"Together: {said}."


def chart(cases: list[Case]) -> None:
    panels = []
    for one in cases:
        if one.k != CHARTED:
            continue
        points = {"PTA": [one.methods["pta"]], "GSC": [one.methods["gsc"]], "Gray-TSP": [one.methods["gray-tsp"]]}
        points["crowd"] = [one.methods[f"crowd {effort}"] for effort in PRESETS]
        panels.append(Panel(one.name, {n: [(m.time, m.loss) for m in ms] for n, ms in points.items()}, one.bound))
    time_charts(RESULTS / "crowd.svg", panels, "lower bound", "time, in multiples of PTA's", "information loss ratio")


def quiet() -> str:
    """A word where the machine had more to do than this, because times are rough then."""
    load, cores = os.getloadavg()[2], os.cpu_count() or 1
    return "" if load <= cores else f"The machine was busy (load {load:.0f} on {cores} cores): times are rough."


def chosen() -> Iterator[tuple[str, Transactions, int]]:
    """The data to measure, each with the size of PTA's segments."""
    named = [word.removeprefix("--sets=").split(",") for word in sys.argv if word.startswith("--sets=")]
    for name in named[0] if named else (*FILES, "Zipf"):
        found = load(name)
        if found is not None:
            yield name, *found


def fill_cache() -> None:
    for name, data, _ in chosen():
        for k in KS:
            print(name, k, bound_of(name, data, k)["ratio"], flush=True)


def page() -> str:
    cases = [case(*found, k) for found in chosen() for k in KS]
    sampled = sorted({one.name for one in cases if one.confidence < 1})
    certain = f"With 99 % confidence for {', '.join(sampled)}, certain for the others." if sampled else "It is certain."
    certain += "".join(f" {one.name} with k = {one.k}: {one.note}." for one in cases if one.note)
    met, verdict = goals(cases)
    if "--write" in sys.argv:
        chart(cases)
    return PAGE.format(
        threads=os.cpu_count(),
        turns=TURNS,
        quiet=quiet(),
        losses=losses(cases),
        certain=certain,
        shares=shares(cases),
        goals=met,
        verdict=verdict,
        charted=CHARTED,
        diversity=diversity(),
        scale=scale() if "--scale" in sys.argv else "",
    )


if __name__ == "__main__":
    if "--bounds" in sys.argv:
        fill_cache()
    else:
        publish("crowd.md", page())
