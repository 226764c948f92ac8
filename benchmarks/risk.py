"""The risk of real data: Table 3 of the CAHD paper, and what attacking and measuring cost in reading times.

`python -m benchmarks.risk --write` makes docs/results/risk.md.
"""

from __future__ import annotations

import sys

import numpy as np

import anonset
from anonset.assess.risk import singled_out
from anonset.assess.utility import measure
from anonset.data.job import Job
from anonset.data.release import Release
from anonset.data.transactions import Transactions
from benchmarks._chart import Chart, panels
from benchmarks._tools import RESULTS, best_of, data_file, percent, publish, table

PAPER = {"BMS-WebView-1": (0.3, 9.5, 24.3, 50.0), "BMS-WebView-2": (0.8, 18.8, 41.6, 91.1)}
KNOWN = (1, 2, 3, 4)

PAGE = """# Risk, measured

`python -m benchmarks.risk --write` made this page.

## How many transactions a few items single out (CAHD paper, Table 3)

The paper gives "the percentage of re-identified transactions based on a randomly chosen set of QID items" without
saying over what it is taken. Ours, for `random`: every transaction with at least m items counts once, every m-subset of
its items is equally likely, and it is singled out where no other transaction holds the subset (all subsets counted, or
drawn with the error given). `rarest` knows the m rarest items instead. `possible` is the share of transactions with at
least one subset that nobody else holds (among those drawn, where subsets were drawn): no attacker does better.

{table3}

![Share of transactions singled out over the number of known items, the paper's and ours](risk-table3.svg)

**What the paper claims:** a few known items are enough, most of all in the sparser BMS2: 91 % with four items.

**What we see:** the same growth with m and the same order of the two data sets. The values themselves cannot be
reproduced under any definition tried. With one item even the best attacker singles out at most {most1} of the
transactions of BMS1 and {most2} of BMS2, because only 14 and 51 items occur once; the paper's 0.3 % and 0.8 % are above
what is possible.

## What it costs

Best of three, on two threads, in multiples of the time of reading the same file.

{costs}
"""


def table3() -> tuple[str, dict[str, float]]:
    rows, charts, possible_with_one = [], [], {}
    for name, paper in PAPER.items():
        path = data_file(f"{name}.dat.gz")
        if path is None:
            continue
        data = anonset.read(path)
        lines: dict[str, list[float]] = {"the paper": [*paper], "random": [], "rarest": [], "possible": []}
        for m in KNOWN:
            random, rarest = singled_out(data, m), singled_out(data, m, "rarest")
            possible = float(np.nanmean(random.scores > 0)) * len(data) / random.attacked
            if m == 1:
                possible_with_one[name] = possible
            error = "" if random.exact else f" ± {percent((random.interval[1] - random.interval[0]) / 2)}"
            shown = (percent(random.share) + error, percent(rarest.share), percent(possible))
            for line, share in (("random", random.share), ("rarest", rarest.share), ("possible", possible)):
                lines[line].append(100 * share)
            rows.append((name, m, f"{paper[m - 1]} %", *shown, f"{random.attacked:,}"))
        charts.append(Chart(name, KNOWN, lines, "known items", "% singled out"))
    if charts and "--write" in sys.argv:
        panels(RESULTS / "risk-table3.svg", charts)
    head = ("data", "m", "paper", "random", "rarest", "possible", "transactions with ≥ m items")
    return table(head, rows), possible_with_one


def shuffled_half(data: Transactions) -> Release:
    """Something to measure: every transaction without its rarer half of items."""
    common = data.item_counts >= np.median(data.item_counts)
    return Release(data.only(common))


def costs() -> str:
    rows = []
    bms, t10 = data_file("BMS-WebView-2.dat.gz"), data_file("T10I4D100K.dat.gz")
    if bms is not None:
        data = anonset.read(bms)
        read, risk = best_of(3, lambda: anonset.read(bms), lambda: singled_out(data, 4))
        rows.append(("risk, BMS-WebView-2, m = 4", f"{risk / read:.1f} ×", "≤ 10 ×"))
    if t10 is not None:
        data = anonset.read(t10)
        release, source = shuffled_half(data), np.arange(len(data))
        read, lost = best_of(3, lambda: anonset.read(t10), lambda: measure(data, release, source, job=Job(0)))
        rows.append(("measure, T10I4D100K", f"{lost / read:.1f} ×", "≤ 15 ×"))
    return table(("what", "measured", "aim"), rows)


def main() -> None:
    text, possible = table3()
    most = [percent(possible.get(name, 0)) for name in PAPER]
    publish("risk.md", PAGE.format(table3=text, most1=most[0], most2=most[1], costs=costs()))


if __name__ == "__main__":
    main()
