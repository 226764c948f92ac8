"""k^m-anonymity: speed in ratios, the paper's figures 8 to 11, and what `km-refine` saves.

`python -m benchmarks.km --write` makes docs/results/km.md and its charts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import anonset
from anonset import _native
from anonset.data.errors import AnonsetError
from anonset.data.hierarchy import Hierarchy, balanced
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods import METHODS
from anonset.methods.steps.cuts import count_tree_size, domain
from benchmarks._chart import Chart, panels
from benchmarks._km_page import PAGE
from benchmarks._tools import RESULTS, data_file, peak_memory, percent, processor_seconds, publish, table

WV1, WV2 = "BMS-WebView-1.dat.gz", "BMS-WebView-2.dat.gz"
DATA_SETS = {  # name: the m that are tried
    WV1: (2, 3),
    WV2: (2, 3),
    "chess.dat.gz": (2,),
    "mushroom.dat.gz": (2, 3),
    "connect.dat.gz": (2,),
    "T10I4D100K.dat.gz": (2,),
    "groceries.csv.gz": (2, 3),
    "completejourney.csv.gz": (2,),
}

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "apriori": ("km-apriori", {}),
    "exact": ("km-refine", {"suppress": 0.0}),
    "loose": ("km-refine", {}),
}


def run(
    name: str, data: Transactions, k: int, m: int, tree: Hierarchy | None, threads: int = 0, **more: Any
) -> dict[str, Any]:
    """The measurements of one run."""
    spec = METHODS[name]
    given = {param.name: param.default for param in spec.params} | {"k": k, "m": m, "hierarchy": tree} | more
    return dict(spec.run(data, Job(seed=1, threads=threads), **given).measurements)


def read(name: str) -> Transactions | None:
    path = data_file(name)
    return None if path is None else anonset.read(path)


def hierarchy_of(name: str, data: Transactions) -> Hierarchy:
    path = data_file(name.replace(".csv", "-hierarchy.csv")) if name.endswith(".csv.gz") else None
    return balanced(data.labels, 5) if path is None else anonset.read_hierarchy(path, items=data.labels, repair=True)


def speed() -> Iterator[tuple[Any, ...]]:
    for path in filter(None, map(data_file, (WV1, WV2))):
        data = anonset.read(path)
        calls = [partial(run, "km-apriori", data, 5, m, None, threads=1) for m in (2, 3)]
        in_turn = [[processor_seconds(call) for call in (partial(anonset.read, path), *calls)] for _ in range(15)]
        reading, two, three = map(min, zip(*in_turn, strict=True))
        ratios = f"{two / reading:.1f} × (≤ 3)", f"{three / reading:.1f} × (≤ 60)"
        yield stem(path.name), f"{1000 * reading:.0f} ms", *ratios


def missed(rows: list[tuple[Any, ...]]) -> str:
    """Which goals of `speed` are not reached, in words."""
    cells = [(row[0], m, cell) for row in rows for m, cell in zip((2, 3), row[2:], strict=True)]
    over = [f"{name}, m = {m} with {cell}" for name, m, cell in cells if _over(cell)]
    return f"The figures in brackets are goals. {'Missed: ' + '; '.join(over) if over else 'All are reached'}."


def _over(cell: str) -> bool:
    reached, goal = re.findall(r"[0-9.]+", cell)
    return float(reached) > float(goal)


def memory() -> str:
    path = data_file(WV2)
    if path is None:
        return "–"
    code = f"import anonset; anonset.anonymize({str(path)!r}, method='km-apriori', k=5, m=3)"
    return f"{peak_memory(code) / 1e6:.0f}"


def refined() -> Iterator[tuple[str, int, float, float, float, tuple[Any, ...]]]:
    for name, sizes in DATA_SETS.items():
        data = read(name)
        if data is None:
            continue
        tree = hierarchy_of(name, data)
        for m in sizes:
            calls = {key: partial(run, method, data, 5, m, tree, **more) for key, (method, more) in RUNS.items()}
            found = {key: call() for key, call in calls.items()}
            times = [min(map(processor_seconds, [call] * 5)) for call in calls.values()]
            losses = [found[key]["ncp"] for key in RUNS]
            share = found["loose"].get("items_left_out", 0) / data.nnz
            row = (stem(name), m, percent(losses[0]))
            row += tuple(
                f"{percent(loss)} ({t / times[0]:.2f} ×)" for loss, t in zip(losses[1:], times[1:], strict=True)
            )
            print(*row, file=sys.stderr, flush=True)
            yield stem(name), m, *losses, (*row, percent(share))  # type: ignore[misc]


def small(data: Transactions, transactions: int, items: int) -> Transactions:
    """The first transactions with item ranks modulo the domain size, as the paper makes its small data.

    Ranks, not ids: the ids of BMS-WebView-2 are all odd, and half of an even domain would stay empty.
    """
    numbers = np.arange(data.n_items) % items
    offsets = data.offsets[: transactions + 1]
    part = Transactions.from_codes(offsets, numbers[data.items[: offsets[-1]]], [str(i) for i in range(items)])
    occurring = int((part.item_counts > 0).sum())
    assert occurring == items, f"{occurring} of {items} items occur"
    return part


def optimum(data: Transactions) -> Iterator[tuple[Any, ...]]:
    for transactions, items, k, m in (
        (2000, 60, 5, 2),
        (2000, 60, 5, 3),
        (10_000, 60, 5, 3),
        (10_000, 100, 5, 2),
        (10_000, 100, 5, 3),
        (77_512, 200, 5, 3),
    ):
        part = small(data, transactions, items)
        tree = balanced(part.labels, 4)
        losses = [loss_or_dash(method, part, k, m, tree) for method in ("km-optimal", "km-apriori", "km-direct")]
        own = [loss_or_dash("km-refine", part, k, m, tree, suppress=share) for share in (0.0, 0.01)]
        yield f"{transactions:,}", items, k, m, *losses, *own


def loss_or_dash(method: str, data: Transactions, k: int, m: int, tree: Hierarchy, **more: Any) -> str:
    try:
        return percent(run(method, data, k, m, tree, **more)["ncp"])
    except AnonsetError:
        return "–"


SMALL_FIGURES: dict[str, tuple[str, dict[str, Any]]] = {
    "OA as printed": ("km-optimal", {"search": "breadth-first", "max_cuts": 10**7}),
    "km-optimal": ("km-optimal", {}),
    "km-direct": ("km-direct", {}),
    "km-apriori": ("km-apriori", {}),
}
TREES = ("OA, DA", "AA")  # whose count-trees the paper's memory plots show
VARIED = {  # figure: what varies, and its settings as (value, transactions, items, m)
    8: ("transactions", [(n, n, 40, 3) for n in (2000, 5000, 10_000, 15_000)]),
    9: ("items", [(items, 10_000, items, 3) for items in (40, 50, 60)]),
    10: ("m", [(m, 10_000, 40, m) for m in (1, 2, 3, 4)]),
}
LARGE_FIGURES = {  # part of figure 11: what varies, and its settings as (value, k, m, fan-out)
    "b": ("k", [(k, k, 3, 5) for k in (2, 5, 10, 20)]),
    "c": ("fan-out", [(fanout, 5, 3, fanout) for fanout in (3, 5, 10, 25)]),
    "d": ("m", [(m, 5, m, 5) for m in (1, 2, 3, 4)]),
}

Cell = tuple[float, float] | None  # NCP and milliseconds; None where the method could not finish


def figures(data: Transactions) -> dict[int, str]:
    """Figs. 8 to 10: a table each, and with --write a chart each."""
    found = {}
    for number, (what, settings) in VARIED.items():
        rows: list[list[Cell]] = []
        trees: list[tuple[int, ...]] = []
        for _, transactions, items, m in settings:
            part = small(data, transactions, items)
            tree = balanced(part.labels, 4)
            rows.append([timed(method, part, 100, m, tree, **more) for method, more in SMALL_FIGURES.values()])
            trees.append((whole_tree(part, m, tree), last_tree(part, 100, m, tree)))
        values = [value for value, *_ in settings]
        found[number] = _shown(f"km-fig{number}.svg", what, values, tuple(SMALL_FIGURES), rows, TREES, trees)
    return found


def cuts_examined(data: Transactions, search: str) -> str:
    """How many cuts OA looks at for Fig. 9's domains."""
    counts = []
    for _, transactions, items, m in VARIED[9][1]:
        part = small(data, transactions, items)
        found = run("km-optimal", part, 100, m, balanced(part.labels, 4), search=search, max_cuts=10**7)
        counts.append(f"{found['cuts_examined']:,}")
    return ", ".join(counts[:-1]) + f" and {counts[-1]}"


def whole_tree(data: Transactions, m: int, tree: Hierarchy) -> int:
    """The nodes of the count-tree that OA and DA build."""
    return count_tree_size(domain(data, tree), m, Job())


def last_tree(data: Transactions, k: int, m: int, tree: Hierarchy) -> int:
    """The nodes of the count-tree in the last round of AA, which the paper reports for it."""
    found, job = domain(data, tree), Job()
    with job.stage("cut") as monitor:
        none = np.full(len(found.node), -1, dtype=np.int32)
        cut = _native.km_greedy(*found.arrays, k, m - 1, True, 1, monitor) if m > 1 else none
    return count_tree_size(found, m, job, cut)


def large(data: dict[str, Transactions]) -> dict[str, str]:
    """Fig. 11: a table for each part, and with --write a chart each."""
    found = {}
    for part, (what, settings) in LARGE_FIGURES.items():
        rows, trees = [], []
        for _, k, m, fanout in settings:
            hierarchies = [balanced(one.labels, fanout) for one in data.values()]
            both = list(zip(data.values(), hierarchies, strict=True))
            rows.append([timed("km-apriori", one, k, m, tree) for one, tree in both])
            trees.append(tuple(last_tree(one, k, m, tree) for one, tree in both))
        values = [value for value, *_ in settings]
        found[part] = _shown(f"km-fig11{part}.svg", what, values, tuple(data), rows, tuple(data), trees)
    return found


def by_item_order(data: Transactions) -> str:
    """Fig. 11a on BMS-WebView-1: what the order of the leaves under a balanced hierarchy does to the loss."""
    orders = {"ids": np.arange(data.n_items), "frequency": np.argsort(-data.item_counts, kind="stable")}
    orders |= {f"random, seed {seed}": np.random.default_rng(seed).permutation(data.n_items) for seed in (1, 2, 3)}
    rows = []
    for name, order in orders.items():
        tree = balanced(data.labels.take(pa.array(order)), 5)
        rows.append((name, *(percent(run("km-apriori", data, 5, m, tree)["ncp"]) for m in (2, 3))))
    return table(("leaves by", "m = 2", "m = 3"), rows)


def _shown(
    file: str,
    what: str,
    values: list[int],
    names: tuple[str, ...],
    rows: list[list[Cell]],
    tree_names: tuple[str, ...],
    trees: list[tuple[int, ...]],
) -> str:
    """The table of a figure; with --write its chart, too."""
    if "--write" in sys.argv:
        losses, times = (
            {name: [None if row[i] is None else row[i][j] for row in rows] for i, name in enumerate(names)}  # type: ignore[index]
            for j in (0, 1)
        )
        sizes = {name: [row[i] for row in trees] for i, name in enumerate(tree_names)}
        charts = [
            Chart("Information loss", values, losses, what, "NCP", even=True),
            Chart("Time", values, times, what, "ms", log=True, even=True),
            Chart("Count-tree", values, sizes, what, "nodes", log=True, even=True),
        ]
        panels(RESULTS / file, charts)
    shown = [["–" if cell is None else f"{percent(cell[0])}, {cell[1]:.0f} ms" for cell in row] for row in rows]
    counted = [[f"{size:,}" for size in row] for row in trees]
    lines = [(f"{value:,}", *row, *size) for value, row, size in zip(values, shown, counted, strict=True)]
    head = (what, *names, *(f"count-tree, {name}" for name in tree_names))
    return table(head, lines) + f"\n\n![NCP, time and count-tree over {what}]({file})"


def timed(method: str, data: Transactions, k: int, m: int, tree: Hierarchy, **more: Any) -> Cell:
    """NCP and milliseconds; the best of three where a run is short."""
    call = partial(run, method, data, k, m, tree, threads=1, **more)
    found: list[dict[str, Any]] = []
    try:
        taken = processor_seconds(lambda: found.append(call()))
    except AnonsetError:
        return None
    if taken < 1:
        taken = min(taken, *(processor_seconds(call) for _ in range(2)))
    return found[0]["ncp"], 1000 * taken


def stem(name: str) -> str:
    return name.split(".")[0]


def chart(rows: Iterable[tuple[str, int, float, float, float, Any]]) -> str:
    """Bars of NCP: km-apriori above km-refine, each relative to km-apriori."""
    names = {"km-apriori": "#888888", "km-refine, nothing left out": "#1b6ca8", "km-refine, up to 1 %": "#66a182"}
    parts, y = [], 40
    for i, (name, colour) in enumerate(names.items()):
        parts.append(f'<rect x="{20 + 210 * i}" y="10" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{38 + 210 * i}" y="20">{escape(name)}</text>')
    for name, m, *losses, _ in rows:
        parts.append(f'<text x="170" y="{y + 25}" text-anchor="end">{escape(name)}, m = {m}</text>')
        for i, (loss, colour) in enumerate(zip(losses, names.values(), strict=True)):
            width = 400 * loss / (losses[0] or 1)
            parts.append(f'<rect x="180" y="{y + 11 * i}" width="{width:.1f}" height="9" fill="{colour}"/>')
            parts.append(f'<text x="{186 + width:.1f}" y="{y + 8 + 11 * i}" font-size="9">{percent(loss)}</text>')
        y += 44
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {y}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="660" height="{y}" fill="white"/>', *parts, "</svg>"]) + "\n"


def main() -> None:
    streams = {stem(name): data for name in (WV1, WV2) if (data := read(name)) is not None}
    clicks = streams.get(stem(WV2))
    rows = list(refined())
    if "--write" in sys.argv:
        Path(RESULTS / "km.svg").write_text(chart(rows), encoding="utf-8")
    small_ones = dict.fromkeys(VARIED, "") if clicks is None else figures(clicks)
    timed = list(speed())
    publish(
        "km.md",
        PAGE.format(
            speed=table(("data", "reading", "m = 2", "m = 3"), timed),
            missed=missed(timed),
            memory=memory(),
            refined=table(
                ("data", "m", "km-apriori", "km-refine, suppress=0", "km-refine", "left out"),
                [row for *_, row in rows],
            ),
            optimum="" if clicks is None else optimum_table(clicks),
            printed="" if clicks is None else cuts_examined(clicks, "breadth-first"),
            best="" if clicks is None else cuts_examined(clicks, "best-first"),
            orders=by_item_order(streams[stem(WV1)]) if stem(WV1) in streams else "",
            **{f"fig{number}": text for number, text in small_ones.items()},
            **{f"fig11{part}": text for part, text in large(streams).items()},
        ).rstrip(),
    )


def optimum_table(data: Transactions) -> str:
    own = ("km-refine, suppress=0", "km-refine")
    return table(("transactions", "items", "k", "m", "km-optimal", "km-apriori", "km-direct", *own), optimum(data))


if __name__ == "__main__":
    main()
