"""What every mechanism of the bound is worth: each switched off alone, value and processor time.

`python -m benchmarks.bound_ablation` runs the cases that are not in bound_ablation.json yet, each in a process of its
own, and adds them; `--write` makes docs/results/bound-ablation.md of all that is there. What was measured with the code
before the removals has the key "before" and cannot be run again with the present code.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anonset.assess.bound import settings
from anonset.assess.bound.search import lower_bound
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from benchmarks._tools import ROOT, publish, table
from benchmarks.crowd import load

KEPT = ROOT / "benchmarks" / "bound_ablation.json"
WHOLE = "nothing"
PAGE = """# The bound: what each mechanism is worth

[The bound](../explanation/bound.md) combines several mechanisms. Each row switches one of them off and leaves all the
others on. A mechanism that raises the bound by less than 1 % of its value on all sets was removed, unless it is a few
lines that save time.

`python -m benchmarks.bound_ablation --write` made this page. A number behind the name of a data set says that the
bound is that of a random sample of so many transactions (`numpy` seed 0): a run on all of them takes up to an hour.
A sample has sparser neighbourhoods than the whole. Seconds are processor time, on a machine with much other work.

## Before the removals

The code of commit 185a1cc, 3,390 lines of C++. Native parts were switched off by edits of one line each: parts of
increments in `Searcher::run`, the upper bound before the leaf in `Search::visit` and `Judge`, outer items in
`Search::decide`. "One round of increments": the step of dual increments alone, with one round instead of four; the
time is that of the step.

{before}

All transactions, with and without dual increments, by the same code (four rounds; from its page of the bound):
Complete Journey with k = 5, 10, 20 has 0.7866, 0.8178, 0.8388 with and 0.770, 0.804, 0.827 without; Zipf has 0.6641,
0.6888, 0.7072 with and 0.642, 0.670, 0.691 without. So dual increments raise the bound by 1.4 to 3.4 %. The first of
the four rounds gave 0.7851 and 0.8372 on Complete Journey (k = 5, 20) and 0.7041 on Zipf (k = 20): the other three add
0.2 to 0.4 %.

## Now

The present code, {lines:,} lines of C++.

{now}

All mechanisms on, before and now:

{both}

The values of data that go the way of centers are the same. The sample of T10I4D100K is sparser than the whole, so it
goes the way of dual increments, where the whole goes the way of centers: there the removals cost more than 1 %
together, though each alone costs less in the cases above.

Not run: the present code on all transactions of Complete Journey and Zipf (their bounds in `benchmarks/bounds.json`
were proved by the earlier code, and say so); BMS-WebView-2, mushroom and connect; k = 20.

## What was decided

{decided}
"""
DECIDED = """| mechanism | decision |
| --- | --- |
| pairs and their prices | stay: all other steps start from them |
| anchors | stay: dual increments need them |
| center rounds | stay |
| violated cuts and subgradient steps | stay |
| dual increments | stay, in one round |
| rounds of increments after the first, with remembered safe increments | went: 0.2 to 0.4 % |
| heuristic separation | went: 0.3 % with one round, nothing with four |
| upper bound of two inequalities before the leaf | went: no loss, no gain of time |
| search for outer items before the leaf | went: no loss |
| parts of increments chosen by the growth of the search | halves instead: five lines |
| search for outer items at the leaf | stays: 0.9 to 1.4 % |
| offers counted in bytes; a first guess of outer items | went: they save time only (bytes: not measured alone) |
| second search at hard anchors, second look at neighbours, stop of busy rows, start near pairs | stay: a few lines |

The goal of 2,000 lines of C++ is missed: {lines:,}. Dual increments are {part:,} of them. Without them the bounds of
two of the nine sets would be 1.4 to 3.4 % lower, so they stay."""
INCREMENTS = ("increment", "leaf_check", "neighbours.", "outer_items", "restore_feasibility", "largest_ranked")


@dataclass(frozen=True)
class Switch:
    """A mechanism that is switched off by these constants, where data are of one of these kinds."""

    constants: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ("dense", "sparse", "long")


SWITCHES = {
    WHOLE: Switch(),
    "dual increments": Switch({"INCREMENT": 0.0}, ("long",)),
    "anchors": Switch({"SPARSE": 0.0}, ("sparse",)),
    "center rounds": Switch({"ROUNDS": 0, "LEAST_ROUNDS": (0, 0)}, ("dense", "sparse")),
    "violated cuts and subgradient steps": Switch({"CUTS": 0}, ("dense", "sparse")),
    "prices (one pass over pairs)": Switch({"PASSES": 1}, ("dense", "sparse")),
    "second search at hard anchors": Switch({"HARD_STEPS": 0}, ("sparse", "long")),
    "second look at 256 neighbours": Switch({"WIDEST": 64}, ("dense", "sparse")),
    "stop of busy rows": Switch({"BUSY": 2.0, "RESTING": 2.0}, ("dense", "sparse")),
    "start near pairs": Switch({"START": 100.0}, ("sparse",)),
}
CASES = (  # data, transactions drawn (0: all), k, kind
    ("Complete Journey", 8_000, 5, "long"),
    ("Zipf", 4_000, 5, "long"),
    ("groceries", 2_000, 5, "sparse"),
    ("BMS-WebView-1", 5_000, 5, "sparse"),
    ("BMS-WebView-2", 5_000, 5, "sparse"),
    ("T10I4D100K", 4_000, 5, "sparse"),
    ("chess", 0, 5, "dense"),
    ("chess", 0, 10, "dense"),
    ("mushroom", 3_000, 5, "dense"),
    ("connect", 3_000, 10, "dense"),
)


def sampled(name: str, count: int) -> Transactions:
    found = load(name)
    if found is None:
        raise SystemExit(f"{name} is not there.")
    data = found[0]
    return data.take(np.sort(np.random.default_rng(0).permutation(len(data))[:count])) if count else data


def run(name: str, count: int, k: int, label: str) -> dict[str, float]:
    """One case, in this process."""
    for constant, value in SWITCHES[label].constants.items():
        setattr(settings, constant, value)
    data = sampled(name, count)
    start = time.process_time()
    found = lower_bound(data, k, sample=0, passes=settings.PASSES, job=Job(0))
    return {"ratio": found.ratio, "seconds": time.process_time() - start}


def kept() -> dict[str, dict[str, dict[str, float]]]:
    """By code, then by data, sample, k and what was switched off."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {"before": {}, "now": {}}


def measure() -> None:
    for label, switch in SWITCHES.items():
        for name, count, k, kind in CASES:
            key = f"{name} | {count or 'all'} | {k} | {label}"
            if kind not in switch.kinds or key in kept()["now"]:
                continue
            command = [sys.executable, "-m", "benchmarks.bound_ablation", "--one", name, str(count), str(k), label]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
            known = kept()
            known["now"][key] = json.loads(said)
            KEPT.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
            print(key, said, flush=True)


def rows(found: dict[str, dict[str, float]]) -> str:
    """A line per case and switch: the bound, by how much it is below the whole, and the time."""
    lines = []
    for key, one in sorted(found.items(), key=lambda item: (item[0].rsplit(" | ", 1)[0], -item[1]["ratio"])):
        name, count, k, label = key.split(" | ")
        case = f"{name} | {count} | {k} | "
        whole = found.get(case + WHOLE)
        if whole is None or sum(other.startswith(case) for other in found) == 1:
            continue
        less = f"{(1 - one['ratio'] / whole['ratio']):.2%}" if label != WHOLE else ""
        where = name if count == "all" else f"{name}, {int(count):,}"
        lines.append([where, k, label, f"{one['ratio']:.4f}", less, f"{one['seconds']:.1f} s"])
    return table(["data", "k", "switched off", "bound", "lower by", "processor time"], lines)


def both(before: dict[str, dict[str, float]], now: dict[str, dict[str, float]]) -> str:
    lines = []
    for key in sorted(before.keys() & now.keys()):
        name, count, k, label = key.split(" | ")
        if label == WHOLE:
            old, new = before[key], now[key]
            change = f"{new['ratio'] / old['ratio'] - 1:+.2%}"
            times = [f"{one['seconds']:.1f} s" for one in (old, new)]
            lines.append([name, count, k, f"{old['ratio']:.4f}", f"{new['ratio']:.4f}", change, *times])
    head = ["data", "transactions", "k", "bound before", "now", "change", "processor time before", "now"]
    return table(head, lines)


def page() -> str:
    lines = {path.name: len(path.read_text().splitlines()) for path in (ROOT / "native" / "bound").glob("*.?pp")}
    part = sum(count for name, count in lines.items() if name.startswith(INCREMENTS))
    found = kept()
    return PAGE.format(
        before=rows(found["before"]),
        now=rows(found["now"]),
        both=both(found["before"], found["now"]),
        lines=sum(lines.values()),
        decided=DECIDED.format(lines=sum(lines.values()), part=part),
    ).rstrip()


if __name__ == "__main__":
    if "--one" in sys.argv:
        which, count, k, label = sys.argv[2:6]
        print(json.dumps(run(which, int(count), int(k), label)))
    else:
        if "--page" not in sys.argv:
            measure()
        publish("bound-ablation.md", page())
