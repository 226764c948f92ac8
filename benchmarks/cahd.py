"""Privacy degree: the paper's Figs. 12 to 17 on BMS-WebView-1 and -2, our own method beside them, speed and memory.

`python -m benchmarks.cahd [--write]` prints the tables; with `--write` they and their charts become
docs/results/cahd.md. Times are processor seconds of one thread, so that other work on the machine does not count.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import anonset
from anonset import METHODS, Transactions
from anonset.assess.expected import expected
from anonset.assess.utility.reconstruction import divergences, workload
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.transactions import Mask
from benchmarks._cahd_page import ATTACK, CLAIMS, CLUSTERING, HEAD, PAPER, SPEED
from benchmarks._chart import Chart, panels
from benchmarks._tools import RESULTS, Said, best_of, data_file, peak_memory, percent, publish, table

FILES = {"BMS1": "BMS-WebView-1.dat.gz", "BMS2": "BMS-WebView-2.dat.gz"}
NAMES = ("cahd-gray", "cahd-rcm", "nn", "lsh", "perm-mondrian", "cahd-balanced")
P, M, R = (4, 6, 8, 10, 15, 20), (5, 10, 15, 20), (2, 4, 6, 8)
SEEDS, QUERIES = 4, 80
WEIGHTINGS = ("uniform", "frequency")


def with_secrets(data: Transactions, m: int, seed: int) -> Transactions:
    """m random items become sensitive, of those that p = 20 can hide."""
    hidable = np.flatnonzero((data.item_counts > 0) & (data.item_counts * max(P) <= len(data)))
    marks = np.zeros(data.n_items, dtype=np.bool_)
    marks[np.random.default_rng(seed).choice(hidable, m, replace=False)] = True
    return replace(data, sensitive=marks)


def run(name: str, data: Transactions, p: int, **params: Any) -> tuple[Draft, float]:
    spec = METHODS[name]
    values = {param.name: param.parse(params.get(param.name)) for param in spec.params}
    start = time.process_time()
    draft = spec.run(data, Job(seed=1, threads=1), p=p, **values)
    return draft, time.process_time() - start


def sweep(data: Transactions, settings: list[tuple[int, int]]) -> dict[Any, list[float]]:
    """Errors by (weighting, name, p, m, r) and times by ("time", name, p, m), one value per seed."""
    found: dict[Any, list[float]] = defaultdict(list)
    for seed in range(SEEDS):
        for p, m in settings:
            marked = with_secrets(data, m, seed)
            rs = R if (p, m) == (10, 10) else (4,)
            asked = {
                (w, r): workload(marked, r=r, queries=QUERIES, weighting=w, seed=seed) for w in WEIGHTINGS for r in rs
            }
            for name in NAMES:
                draft, seconds = run(name, marked, p)
                found["time", name, p, m].append(seconds)
                for (w, r), queries in asked.items():
                    error = divergences(marked, draft.release, queries).mean()
                    found[w, name, p, m, r].append(float(error))
    return found


def errors_table(found: dict[Any, list[float]], what: str, values: tuple[int, ...], key: Any) -> str:
    rows = []
    for value in values:
        cells = []
        for name in NAMES:
            both = [np.mean(found[key(w, name, value)]) for w in WEIGHTINGS]
            cells.append(f"{both[0]:.4f} / {both[1]:.4f}")
        rows.append((value, *cells))
    return table((what, *NAMES), rows)


def times_table(found: dict[Any, list[float]], what: str, values: tuple[int, ...], key: Any) -> str:
    rows = [(value, *(f"{1e3 * np.mean(found[key(name, value)]):.0f}" for name in NAMES)) for value in values]
    return table((what, *NAMES), rows)


Guess = tuple[float, float]  # how often it is right, and how many times as often as a blind one


def guesses(name: str, data: Transactions, p: int) -> tuple[Guess, Guess]:
    """How often the most central, and the longest, member of a group with one sensitive transaction is that one."""
    draft, _ = run(name, data, p)
    groups = draft.release.groups
    assert groups is not None
    sensitive = data.sensitive_part().lengths > 0
    matrix = data.quasi().to_scipy().astype(np.int64)
    size = np.bincount(groups)
    one = np.flatnonzero((np.bincount(groups, weights=sensitive) == 1) & (size > 1) & (size <= 10 * p))
    members = np.argsort(groups, kind="stable")
    starts = np.concatenate(([0], np.cumsum(size)))
    central, longest = [], []
    for group in one[:: max(1, len(one) // 1000)]:
        rows = members[starts[group] : starts[group + 1]]
        part = matrix[rows]
        length = part.sum(axis=1)
        # Σ distances to the others, up to what is the same for all members
        far = len(rows) * length - 2 * (part @ np.asarray(part.sum(axis=0)).reshape(-1))
        central.append(_right(sensitive[rows], far == far.min()))
        longest.append(_right(sensitive[rows], length == length.max()))
    return _mean(central), _mean(longest)


def _right(sensitive: Mask, guessed: Mask) -> Guess:
    """How likely one of the guessed members, taken at random, is sensitive."""
    share = float(sensitive[guessed].mean())
    return share, share * len(sensitive)


def _mean(found: list[Guess]) -> Guess:
    return float(np.mean([share for share, _ in found])), float(np.mean([times for _, times in found]))


def sums(found: dict[str, dict[Any, list[float]]]) -> Said:
    """What the text says in numbers: ratios over p and m, or at p = m = 10."""
    said = Said()
    for data, values in found.items():
        settings = [key[2:] for key in values if key[:2] == ("time", "cahd-gray")]

        def error(w: str, one: str, p: int, m: int, r: int = 4, values: Any = values) -> float:
            return float(np.mean(values[w, one, p, m, r]))

        def taken(one: str, p: int, m: int, values: Any = values) -> float:
            return float(np.mean(values["time", one, p, m]))

        for one in NAMES:
            word = f"{one.replace('-', '_')}_{data}"
            said[f"time_{word}"] = between([taken(one, *s) / taken("cahd-gray", *s) for s in settings], ".1f")
            said[f"more_time_{word}"] = f"{taken(one, 10, 20) / taken(one, 10, 5):.1f}"
        said[f"more_error_{data}"] = between(
            [error("uniform", one, 10, 20) / error("uniform", one, 10, 5) for one in NAMES], ".1f"
        )
        for w in WEIGHTINGS:
            said[f"nn_{w}_{data}"] = f"{100 * error(w, 'nn', 10, 10) / error(w, 'cahd-gray', 10, 10):.0f} %"
            ratios = [100 * error(w, "cahd-balanced", *s) / error(w, "nn", *s) for s in settings]
            said[f"balanced_{w}_{data}"] = between(ratios, ".0f") + " %"
        best = [min(error("uniform", one, 10, 10, r) for one in NAMES) for r in R]
        gray = [error("uniform", "cahd-gray", 10, 10, r) for r in R]
        said[f"gray_to_best_{data}"] = ", ".join(f"{g / b:.2f}" for g, b in zip(gray, best, strict=True))
    return said


def between(values: list[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}"


def clustering(data: Transactions) -> str:
    """Fig. 17: the mean cosine between a transaction and the center of its cluster, relative to the original's."""
    from scipy.sparse import csr_array
    from sklearn.cluster import KMeans, kmeans_plusplus

    original = data.to_scipy().astype(np.float64)
    start, _ = kmeans_plusplus(original, 20, random_state=0)

    def accuracy(matrix: Any) -> float:
        found = KMeans(20, init=start, n_init=1, max_iter=20).fit_predict(matrix)
        members = csr_array((np.ones(len(found)), (found, np.arange(len(found)))))
        centers = (members @ original).toarray()
        centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
        norms = np.sqrt(np.asarray(original.multiply(original).sum(axis=1)).reshape(-1))
        along = original.multiply(csr_array(centers[found])).sum(axis=1)
        return float(np.mean(np.asarray(along).reshape(-1) / np.maximum(norms, 1e-12)))

    best = accuracy(original)
    names = ("cahd-gray", "cahd-rcm", "lsh", "perm-mondrian", "cahd-balanced")
    found = {name: [100 * accuracy(expected(run(name, data, p)[0].release)) / best for p in P] for name in names}
    draw(17, [Chart("BMS1: clustering", P, found, "p", "accuracy, % of the original's")])
    return table(("p", *names), [(p, *(f"{found[name][i]:.1f} %" for name in names)) for i, p in enumerate(P)])


def speed(data: dict[str, Transactions]) -> str:
    rows = []
    for name, transactions in data.items():
        path = str(data_file(FILES[name]))
        marked = with_secrets(transactions, 10, 0)
        ten = replace(
            marked,
            offsets=np.concatenate([marked.offsets[:-1] + i * marked.nnz for i in range(10)] + [[10 * marked.nnz]]),
            items=np.tile(marked.items, 10),
        )
        read, *taken = best_of(5, partial(anonset.read, path), *(partial(elapse, one, marked) for one in NAMES))
        times = dict(zip(NAMES, taken, strict=True))
        gray, more = best_of(10, partial(elapse, "cahd-gray", marked), partial(elapse, "cahd-gray", ten), warm=True)
        rows += [
            (name, "`cahd-gray` / reading the file", f"{times['cahd-gray'] / read:.2f}", "≤ 2"),
            (name, "`cahd-rcm` / `cahd-gray`", f"{times['cahd-rcm'] / times['cahd-gray']:.2f}", "≤ 10"),
            (name, "`nn` / `cahd-gray`", f"{times['nn'] / times['cahd-gray']:.2f}", "≤ 60"),
            (name, "`lsh` / `nn`", f"{times['lsh'] / times['nn']:.2f}", "< 1"),
            (name, "`cahd-balanced` / `cahd-gray`", f"{times['cahd-balanced'] / times['cahd-gray']:.2f}", ""),
            (name, "`cahd-gray` on 10 × the data / on the data", f"{more / gray:.2f}", "≤ 12"),
            (name, "`cahd-rcm`: memory above the data", f"{_memory(path):.0f} MB", "≤ 300 MB"),
        ]
    return table(("data", "what", "measured", "goal"), rows)


def elapse(name: str, data: Transactions) -> None:
    """One run on all threads, as a user sees it."""
    spec = METHODS[name]
    values = {param.name: param.parse(None) for param in spec.params}
    spec.run(data, Job(seed=1), p=10, **values)


def _memory(path: str) -> float:
    code = f"""
import anonset, anonset._native, anonset.methods, anonset.pipeline, anonset.methods.steps.order.band
from anonset.data.job import Job
data = anonset.read({path!r})
middle = data.item_counts.argsort()[len(data.labels) // 2:][:10].tolist()
data = data.with_sensitive([data.labels[i].as_py() for i in middle])
"""
    with_rcm = peak_memory(code + "anonset.METHODS['cahd-rcm'].run(data, Job(1), p=10, alpha=1)")
    return (with_rcm - peak_memory(code)) / 2**20


def draw(number: int, charts: list[Chart]) -> None:
    if "--write" in sys.argv:
        panels(RESULTS / f"cahd-fig{number}.svg", charts)


def figure(number: int, name: str, found: dict[Any, list[float]], over: str, said: Said) -> list[str]:
    """One of Figs. 12 to 15: errors and times over p or over m."""
    values = P if over == "p" else M

    def setting(value: int) -> tuple[int, int]:
        return (value, 10) if over == "p" else (10, value)

    errors = {one: [float(np.mean(found["uniform", one, *setting(v), 4])) for v in values] for one in NAMES}
    times = {one: [1e3 * float(np.mean(found["time", one, *setting(v)])) for v in values] for one in NAMES}
    draw(
        number,
        [
            Chart(f"{name}: reconstruction error", values, errors, over, "KL divergence, uniform queries"),
            Chart(f"{name}: time", values, times, over, "ms", log=True),
        ],
    )
    fixed = "m = 10, r = 4" if over == "p" else "p = 10, r = 4"
    return [
        f"## Fig. {number}: {name}, variable {over} ({fixed})\n\nReconstruction error (uniform / by frequency):\n",
        errors_table(found, over, values, lambda w, one, v: (w, one, *setting(v), 4)),
        "\nProcessor time in ms:\n",
        times_table(found, over, values, lambda one, v: ("time", one, *setting(v))),
        f"\n![Reconstruction error and time over {over}](cahd-fig{number}.svg)\n",
        CLAIMS[number].format_map(said),
    ]


def by_items(found: dict[str, dict[Any, list[float]]], said: Said) -> list[str]:
    """Fig. 16: errors over the number of items that queries ask about."""
    parts, charts = ["## Fig. 16: variable r (p = 10, m = 10)\n"], []
    for name, values in found.items():
        errors = {one: [float(np.mean(values["uniform", one, 10, 10, r])) for r in R] for one in NAMES}
        charts.append(Chart(name, R, errors, "r", "KL divergence, uniform queries"))
        shown = errors_table(values, "r", R, lambda w, one, r: (w, one, 10, 10, r))
        parts += [f"{name}, reconstruction error (uniform / by frequency):\n", shown, ""]
    draw(16, charts)
    return [*parts, "![Reconstruction error over r](cahd-fig16.svg)\n", CLAIMS[16].format_map(said)]


def main() -> None:
    paths = {name: data_file(file) for name, file in FILES.items()}
    data = {name: anonset.read(path) for name, path in paths.items() if path is not None}
    if not data:
        return
    settings = [*((p, 10) for p in P), *((10, m) for m in M if m != 10)]
    found = {name: sweep(transactions, settings) for name, transactions in data.items()}
    said = sums(found)
    parts = [HEAD.format(seeds=SEEDS, queries=QUERIES)]
    for over, first in (("p", 12), ("m", 14)):
        for number, (name, values) in enumerate(found.items(), first):
            parts += figure(number, name, values, over, said)
    parts += by_items(found, said)
    parts += [CLUSTERING, clustering(with_secrets(next(iter(data.values())), 10, 0))]
    parts += ["\n![Clustering accuracy over p](cahd-fig17.svg)\n", CLAIMS[17], ATTACK]
    head = [f"{name}, {guess}" for name in data for guess in ("central", "longest")]
    marked = [with_secrets(one, 10, 0) for one in data.values()]
    rows = []
    for name in NAMES:
        guessed = [guesses(name, one, 10) for one in marked]
        rows.append((name, *(f"{percent(share, 1)} ({times:.1f} ×)" for both in guessed for share, times in both)))
        said[f"guess_{name.replace('-', '_')}"] = " / ".join(percent(longest[0], 1) for _, longest in guessed)
    parts += [table(("method", *head), rows), "", SPEED, speed(data), "", PAPER.format_map(said)]
    publish("cahd.md", "\n".join(parts).rstrip())


if __name__ == "__main__":
    main()
