"""PTA: its speed in ratios, and the paper's own experiment.

`python -m benchmarks.pta --write` makes docs/results/pta.md.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

import anonset
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.generate import generate_quest
from anonset.methods import pta
from anonset.methods.steps.order.gray import ItemOrder
from benchmarks._pta_figures import figures
from benchmarks._pta_figures import run as compared
from benchmarks._tools import best_of, data_file, peak_memory, percent, publish, seconds, table
from tests.oracle import pta as oracle

T10 = "T10I4D100K.dat.gz"
SETTINGS = {"chess": 60, "mushroom": 150, "connect": 1250, "T10I4D100K": 1000}  # the paper's numbers of segments
KS = (5, 10, 15, 20, 25)
ORDERS: tuple[ItemOrder, ...] = ("label", "given", "frequency")

PAGE = """# PTA, measured

`python -m benchmarks.pta --write` made this page ({threads} threads unless said otherwise; best of several runs).

## Speed

{speed}

## The paper's setting

Information loss (a share of all items) and, in brackets, seconds of the method itself (sort, tours, groups, centers),
with the paper's numbers of segments. Faithful: as the paper votes, by the window only. Default: leftovers vote too.

{losses}

What the paper states (its figures give no more digits; its times are Java on a Core i3-4160). It does not say in
which order its Gray code reads the items. By label both methods lose about what the paper reports; in the order in
which the file names items first (`given`) they lose less, and with the more frequent items first (`frequency`, the
default here) least. Gray-TSP: 10 random tours, 10 generations.

{statements}

## The paper's figures

Accidents and pumsb, which the paper also uses, were not at hand. PTA votes as in the paper here, and Gray code reads
the items by label, which comes nearest to the paper's losses. Gray-TSP is shown twice: started with the Gray order
and 30 tours over 300 generations (its default here), and with 10 random tours over 10 generations, which loses what
the paper reports. Times are processor seconds of one thread, so that other work on the machine does not count.

{figures}
"""


def run(
    data: anonset.Transactions,
    k: int,
    segments: int,
    threads: int = 0,
    revote: bool = True,
    item_order: ItemOrder = "frequency",
) -> Draft:
    return pta.run(data, Job(threads=threads), k=k, segments=segments, item_order=item_order, revote=revote)


def speed() -> str:
    rows = [*against_reading(), *against_the_oracle(), *at_scale()]
    return table(["", "goal", "measured"], rows)


def against_reading() -> list[tuple[str, str, str]]:
    path = data_file(T10)
    if path is None:
        return []
    data = anonset.read(path)
    reading, two, one, both = best_of(
        120,
        lambda: anonset.read(path),
        lambda: run(data, 10, 1000, 2),
        lambda: run(data, 10, 1000, 1),
        lambda: at_once(lambda: run(data, 10, 1000, 1)),
        warm=True,
    )
    size = "T10I4D100K, k = 10, 1,000 segments"
    times = f"one thread ({one * 1000:.0f} ms) ÷ two threads ({two * 1000:.0f} ms)"
    return [
        (f"{size}: method ÷ reading the file ({reading * 1000:.0f} ms)", "≤ 3 ×", f"{two / reading:.2f} ×"),
        (f"{size}: {times}", "≥ 1.7 ×", f"{one / two:.2f} ×"),
        ("what two cores of this machine give: two such runs at once, one thread each", "", f"{2 * one / both:.2f} ×"),
    ]


def at_once(call: Callable[[], Any]) -> None:
    """The call twice, at the same time."""
    other = Thread(target=call)
    other.start()
    call()
    other.join()


def against_the_oracle() -> list[tuple[str, str, str]]:
    path = data_file(T10)
    if path is None:
        return []
    data = anonset.read(path).take(np.arange(2_000))
    sets = [frozenset(data.items[a:b].tolist()) for a, b in zip(data.offsets, data.offsets[1:], strict=False)]
    (ours,) = best_of(15, lambda: run(data, 10, 20))
    plain = seconds(lambda: oracle.pta(sets, data.n_items, 10, 20))
    return [("its first 2,000 transactions: plain Python ÷ method", "≥ 300 ×", f"{plain / ours:,.0f} ×")]


def at_scale() -> list[tuple[str, str, str]]:
    small, large = generate_quest(100_000, seed=1), generate_quest(1_000_000, seed=1)
    short, long = best_of(3, lambda: run(small, 10, 1_000), lambda: run(large, 10, 10_000))
    arrays = large.offsets.nbytes + large.items.nbytes
    limit = 12 * arrays + 300e6
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.npz"
        np.savez(file, offsets=large.offsets, items=large.items, labels=np.array(large.labels.to_pylist()))
        code = (
            "import anonset, numpy as np\n"
            f"parts = np.load({str(file)!r})\n"
            "data = anonset.Transactions(parts['offsets'], parts['items'], parts['labels'].tolist())\n"
            "assert anonset.anonymize(data, method='pta', k=10, segments=10_000, seed=1).verdict.holds"
        )
        peak = peak_memory(code)
    size = "1,000,000 generated transactions, k = 10, 10,000 segments"
    return [
        (f"{size}: their time ({long:.2f} s) ÷ that of 100,000 ({short:.2f} s)", "≤ 12 ×", f"{long / short:.1f} ×"),
        (f"{size}: peak memory of the whole `anonymize`", f"≤ {limit / 1e6:,.0f} MB", f"{peak / 1e6:,.0f} MB"),
    ]


def losses() -> str:
    rows = []
    for name, segments in SETTINGS.items():
        path = data_file(f"{name}.dat.gz")
        if path is None:
            continue
        data = anonset.read(path)
        for mode, revote in (("faithful", False), ("default", True)):
            cells = [cell(data, k, segments, revote) for k in KS]
            rows.append([name, f"{segments:,}", mode, *cells])
    return table(["data", "segments", "mode", *(f"k = {k}" for k in KS)], rows)


def cell(data: anonset.Transactions, k: int, segments: int, revote: bool) -> str:
    (taken,) = best_of(3, lambda: run(data, k, segments, revote=revote))
    return f"{percent(ratio(data, k, segments, revote))} ({taken:.3f})"


def ratio(
    data: anonset.Transactions, k: int, segments: int, revote: bool, item_order: ItemOrder = "frequency"
) -> float:
    draft = run(data, k, segments, revote=revote, item_order=item_order)
    return float(information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"])


def statements() -> str:
    rows: list[tuple[str, ...]] = []
    mushroom, chess = data_file("mushroom.dat.gz"), data_file("chess.dat.gz")
    if mushroom is not None:
        data = anonset.read(mushroom)
        for segments, said in ((100, "19.5 %"), (200, "19 %")):
            lost = (percent(ratio(data, 15, segments, False, order), 1) for order in ORDERS)
            rows.append((f"PTA, mushroom, k = 15, {segments} segments: information loss", said, *lost))
        for segments, said in ((100, "28 %"), (200, "23 %")):
            lost = (percent(compared("gray-tsp, random start", data, 15, segments, o).loss, 1) for o in ORDERS)
            rows.append((f"Gray-TSP, mushroom, k = 15, {segments} segments: information loss", said, *lost))
    if chess is not None:
        data = anonset.read(chess)
        taken = best_of(5, *(lambda o=o: run(data, 15, 60, 1, False, o) for o in ORDERS))
        rows.append(
            ("PTA, chess, k = 15, 60 segments: seconds, one thread", "about 0.01", *(f"{t:.4f}" for t in taken))
        )
    return table(["", "the paper", *(f"faithful, `{order}`" for order in ORDERS)], rows)


def main() -> None:
    parts = {"speed": speed(), "losses": losses(), "statements": statements(), "figures": figures()}
    publish("pta.md", PAGE.format(threads=os.cpu_count(), **parts).rstrip())


if __name__ == "__main__":
    main()
