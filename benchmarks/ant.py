"""(k, p)-anonymity: the paper's Figs. 2 and 3 on the data at hand, our own method beside them, and speed.

`python -m benchmarks.ant --write` makes docs/results/ant.md and its charts. Loss is the paper's Definition 4 on the
mapped data; PTA and Gray-TSP get the same mapped data as sets in unary code, so that they are charged alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import anonset
import anonset.assess.utility.information_loss
from anonset import METHODS, Transactions
from anonset.data.hierarchy import Hierarchy, balanced
from anonset.data.job import Job
from anonset.generate import generate_quest
from anonset.methods.steps.group.attributes import kp_problem
from benchmarks._chart import Chart, panels
from benchmarks._tools import RESULTS, best_of, data_file, percent, publish, table

CLUSTERS = {"chess": 60, "mushroom": 150, "connect": 1250, "T10I4D100K": 1000}  # as the paper has them
KS = (5, 10, 15, 20, 25)
THRESHOLD = P = 0.75
KP = ("ant", "ant-minus", "kp-crowd")
K_ONLY = tuple(name for name in ("pta", "gray-tsp") if name in METHODS)
FAN_OUT = 2
FIXED_K = 10
TURNS, ENOUGH = 20, 2.0  # methods take turns until each has had this many, or this many seconds; the best time counts
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PER_CLUSTER = 100

PAGE = """# (k, p)-anonymity, measured

`python -m benchmarks.ant --write` made this page. Degrees are drawn at random, threshold {threshold}; the paper has one
letter for the threshold of degrees and for p, so p = {p} as well. It does not say which attributes it used: here two
neighbouring items share one, as in its Table 2. Numbers of clusters (of segments, for PTA and Gray-TSP) are the
paper's: {clusters}. pumsb and accidents were not at hand. Times are processor seconds of one thread, so that other work
on the machine does not count.

## Goals

{goals}

## Figure 2: information loss

Sum of the differences of attribute counts, divided by the sum of all counts.

{losses}

![Information loss by k](ant-loss.svg)

**The paper claims** that loss grows with k for all four; that ANT loses clearly less than PTA and Gray-TSP everywhere;
and that ANT− is better than ANT in some cases on three of its six data sets, and never for k above 20.

**We see** that loss grows with k. {ant_pta} PTA and Gray-TSP know nothing of p, so their task is even the easier one: p
and similarity pull in opposite directions, because transactions that look alike without their sensitive items often
lack the same ones. {ant_minus}

`kp-crowd`, this project's own, loses less than ANT and ANT− {own}.

These are the defaults: five rounds of k-means, effort 0. Both can be given more time; T10I4D100K, loss and seconds:

{more_time}

## Time by k

Seconds for the same runs; those of ANT, ANT− and `kp-crowd` are the best of several that took turns.

{times}

![Time by k](ant-time.svg)

**The paper claims** that ANT− becomes faster as k grows. **We see** that it does, because each of its groups looks at
everybody who is left, and fewer groups are made.

## Figure 3: time by the number of clusters and segments

The caption of the paper's figure says: a fixed k and various numbers of clusters (ANT) and segments (PTA, Gray-TSP).
Its text says that the number is fixed, and speaks about k. The axes are not readable, so here the numbers are a
quarter, a half, once and twice those above, with k =
{fixed_k}. Seconds and loss; ANT− has neither clusters nor segments.

{by_clusters}

**The paper claims** that ANT is always faster than Gray-TSP, by little, and than ANT−; that PTA's time is stable,
growing with k; that PTA is only slightly faster than ANT in some cases, when only the search and the anonymization are
counted; and that ANT loses less the more clusters there are.

**We see**, over all k of the table above: {faster} PTA's time does not
grow with k. With more segments Gray-TSP becomes slower and PTA faster: with a quarter of the paper's segments PTA is
slower than ANT on all data but connect. More clusters cost ANT more time, and up to the paper's numbers it loses less
with them; with twice as many it loses more on three of the four data sets. Beyond 1,500 clusters it cuts the
transactions into parts first, which is faster and loses more.

## Speed

T10I4D100K with 1,000 clusters, all cores, best of several. {speed}.

Ten times the data with ten times the clusters would take a plain k-means a hundred times as long: every transaction
meets every center. Below are data of the generator that T10I4D100K comes from, one cluster for every 100 transactions,
processor seconds of one thread, and how many times those for 100,000. Several things keep the curve near a line. Beyond
1,500 clusters the transactions are first cut into 128 parts, and clusters are made in each, so that a transaction meets
some 128 centers and then those of its part. The transactions of a cluster are put next to each other in memory before
groups are filled. In a large cluster, and there always is one, of transactions that have little in common with any
center, a founder finds its nearest by following the lists of those that share something with it. Those left over
looks among the groups of 250 clusters. `kp-crowd` works in blocks of at most 300.

What lies above a line comes from p. The more clusters, the more alike are the transactions of each, and many are alike
because the same item is sensitive, and so hidden, for all of them. Only a share of p of a group may be like that: when
those are used up who could go with them, the others are left over. In one measurement, with the data below, clusters of
which more than half hold the same sensitive attribute had 5 % of 100,000 transactions and 30 % of a million; filling
left over 3.6 % and 11.4 % of all, and each of these looks for the nearest group that can
take it. A founder passes over all that may not join its group at once, and a cluster is given up as soon as no group is
possible any more. Without these two, and with transactions where they were, filling and placing took 1.4 to 1.8 times
as long for a million in a few measurements. `kp-crowd` groups those whom their block cannot take among themselves where
they are many.

{scaling}
"""


@cache
def read(name: str) -> tuple[Transactions, Hierarchy] | None:
    """The data with random degrees, and the attributes."""
    path = data_file(f"{name}.dat.gz")
    if path is None:
        return None
    data = anonset.read(path)
    degrees = np.random.default_rng(1).random(data.nnz)
    return replace(data, sensitivity=degrees), balanced(data.labels, FAN_OUT)


def run(name: str, data: Transactions, threads: int = 1, **given: Any) -> tuple[float, float]:
    """The loss ratio and the processor seconds of one run."""
    spec = METHODS[name]
    values = {param.name: param.parse(given.pop(param.name, None)) for param in spec.params}
    start = time.process_time()
    draft = spec.run(data, Job(seed=1, threads=threads), **values, **given)
    taken = time.process_time() - start
    return float(draft.measurements.get("attribute_loss_ratio", np.nan)), taken


def kp(name: str, data: Transactions, tree: Hierarchy, k: int, clusters: int, **more: Any) -> tuple[float, float]:
    own = {"clusters": clusters} if name == "ant" else {}
    return run(name, data, k=k, p=P, threshold=THRESHOLD, hierarchy=tree, **own, **more)


def in_turns(data: Transactions, tree: Hierarchy, k: int, clusters: int) -> dict[str, tuple[float, float]]:
    """Loss and best time of each method; they take turns, so that all see the same weather."""
    times: dict[str, list[float]] = {method: [] for method in KP}
    losses = {}
    for _ in range(TURNS):
        for method, taken in times.items():
            if sum(taken) < ENOUGH:
                losses[method], seconds = kp(method, data, tree, k, clusters)
                taken.append(seconds)
    return {method: (losses[method], min(taken)) for method, taken in times.items()}


def k_only(name: str, sets: Transactions, k: int, segments: int) -> tuple[float, float]:
    """Loss and time of a method for plain k-anonymity on the mapped data."""
    spec = METHODS[name]
    values = {param.name: param.parse(None) for param in spec.params} | {"segments": min(segments, len(sets) // k)}
    start = time.process_time()
    draft = spec.run(sets, Job(seed=1, threads=1), k=k, **values)
    taken = time.process_time() - start
    loss = anonset.assess.utility.information_loss.information_loss(sets, draft.release, draft.row_origin)
    return float(loss["information_loss_ratio"]), taken


def figures() -> dict[tuple[str, str, int], tuple[float, float]]:
    """Loss and time by data, method and k."""
    found = {}
    for name, clusters in CLUSTERS.items():
        loaded = read(name)
        if loaded is None:
            continue
        data, tree = loaded
        sets = mapped(data, tree)
        for k in KS:
            for method, result in in_turns(data, tree, k, clusters).items():
                found[name, method, k] = result
            for method in K_ONLY:
                found[name, method, k] = k_only(method, sets, k, clusters)
            shown = {method: f"{found[name, method, k][0]:.4f}" for method in (*KP, *K_ONLY)}
            print(name, k, shown, file=sys.stderr, flush=True)
    return found


def rows(found: dict[Any, tuple[float, float]], what: int, form: Callable[[float], str]) -> Iterator[tuple[Any, ...]]:
    for name in CLUSTERS:
        for k in KS:
            if (name, "ant", k) in found:
                yield name, k, *(form(found[name, method, k][what]) for method in (*KP, *K_ONLY))


def charts(found: dict[Any, tuple[float, float]], what: int, y_name: str, log: bool) -> list[Chart]:
    return [
        Chart(
            name,
            KS,
            {method: [found[name, method, k][what] for k in KS] for method in (*KP, *K_ONLY)},
            "k",
            y_name,
            log=log,
        )
        for name in CLUSTERS
        if (name, "ant", KS[0]) in found
    ]


def by_clusters() -> Iterator[tuple[Any, ...]]:
    """Figure 3 of the paper: k stays, the number of clusters (of segments, for those that have no clusters) varies."""
    for name, clusters in CLUSTERS.items():
        loaded = read(name)
        if loaded is None:
            continue
        data, tree = loaded
        sets = mapped(data, tree)
        alone = kp("ant-minus", data, tree, FIXED_K, 0)
        for number in (clusters // 4, clusters // 2, clusters, 2 * clusters):
            runs = [kp("ant", data, tree, FIXED_K, number), alone]
            runs += [k_only(method, sets, FIXED_K, number) for method in K_ONLY]
            print(name, number, *runs, file=sys.stderr, flush=True)
            yield name, f"{number:,}", *(f"{taken:.3f} s, {percent(loss, 2)}" for loss, taken in runs)


def mapped(data: Transactions, tree: Hierarchy) -> Transactions:
    """Counts of attributes as sets in unary code, for methods that know only sets."""
    return kp_problem(data, Job(1), k=2, p=1.0, threshold=THRESHOLD, hierarchy=tree, level=None).sets


def more_time() -> Iterator[tuple[Any, ...]]:
    """What more rounds of k-means save, and more effort."""
    loaded = read("T10I4D100K")
    if loaded is None:
        return
    for k in (KS[0], KS[2], KS[4]):
        runs = [kp("ant", *loaded, k, CLUSTERS["T10I4D100K"], iterations=rounds) for rounds in (3, 5, 10)]
        runs += [kp("kp-crowd", *loaded, k, 0, effort=effort) for effort in (0, 3)]
        yield k, *(f"{percent(loss, 2)} ({taken:.2f} s)" for loss, taken in runs)


def where(found: dict[Any, tuple[float, float]], better: str, worse: str, what: int) -> tuple[int, int]:
    """In how many of the settings one method has less than another."""
    settings = [(name, k) for name in CLUSTERS for k in KS if (name, better, k) in found]
    return sum(found[name, better, k][what] < found[name, worse, k][what] for name, k in settings), len(settings)


def said(found: dict[Any, tuple[float, float]]) -> dict[str, str]:
    """The sentences that follow from the figures."""
    against_pta, n = where(found, "ant", "pta", 0)
    against_minus, _ = where(found, "ant", "ant-minus", 0)
    least, _ = where(found, "kp-crowd", "ant", 0)
    least_minus, _ = where(found, "kp-crowd", "ant-minus", 0)
    quick, _ = where(found, "kp-crowd", "ant", 1)
    pta_quick, _ = where(found, "pta", "ant", 1)
    minus, _ = where(found, "ant", "ant-minus", 1)
    tsp = where(found, "ant", "gray-tsp", 1)[0] if "gray-tsp" in K_ONLY else 0
    ratios = [
        found[name, "kp-crowd", k][1] / found[name, "ant", k][1]
        for name in CLUSTERS
        for k in KS
        if (name, "ant", k) in found
    ]
    return {
        "ant_pta": f"ANT loses less than PTA in {against_pta} of {n} settings.",
        "ant_minus": f"ANT loses less than ANT− in {against_minus} of {n} settings{_but(found)}.",
        "own": f"in {least} and {least_minus} of {n} settings, and takes less time than ANT in {quick} of them "
        f"({min(ratios):.2f} to {max(ratios):.2f} times its time)",
        "faster": f"ANT is faster than Gray-TSP in {tsp} of {n} settings, {_times(found, 'gray-tsp', 'ant')}, and than "
        f"ANT− in {minus}, where k is small; PTA is faster than ANT in {pta_quick}, {_times(found, 'ant', 'pta')}.",
    }


def _but(found: dict[Any, tuple[float, float]]) -> str:
    """The settings in which ANT loses no less than ANT−."""
    settings = [(name, k) for name in CLUSTERS for k in KS if (name, "ant", k) in found]
    others = [f"{name} (k = {k})" for name, k in settings if found[name, "ant", k][0] >= found[name, "ant-minus", k][0]]
    return f"; not on {', '.join(others)}" if others else ""


def _times(found: dict[Any, tuple[float, float]], slow: str, quick: str) -> str:
    """How many times as long one method takes, over all settings."""
    ratios = [
        found[name, slow, k][1] / found[name, quick, k][1]
        for name in CLUSTERS
        for k in KS
        if (name, slow, k) in found and (name, quick, k) in found
    ]
    return f"{min(ratios):.1f} to {max(ratios):.1f} times" if ratios else "not measured"


def speed() -> tuple[str, dict[int, str]]:
    """Reading and both methods in words, and for each k ANT's time as a multiple of reading."""
    path, loaded = data_file("T10I4D100K.dat.gz"), read("T10I4D100K")
    if path is None or loaded is None:
        return "not measured", {}
    data, tree = loaded
    words, multiples = [], {}
    for k in (5, 10):
        given = {"k": k, "p": P, "threshold": THRESHOLD, "hierarchy": tree, "threads": 0}
        reading, ant, own = best_of(
            15,
            lambda: anonset.read(path),
            lambda given=given: run("ant", data, clusters=1000, **given),
            lambda given=given: run("kp-crowd", data, **given),
            warm=True,
        )
        words.append(
            f"k = {k}: reading {1000 * reading:.0f} ms, `ant` {1000 * ant:.0f} ms, `kp-crowd` {1000 * own:.0f} ms"
        )
        multiples[k] = f"{ant / reading:.1f} ×"
    return "; ".join(words), multiples


def scaling() -> dict[tuple[str, int], float]:
    """Processor seconds by method and number of transactions; clusters grow with the data."""
    found = {}
    for n in SIZES:
        data = generate_quest(n, seed=1)
        data = replace(data, sensitivity=np.random.default_rng(2).random(data.nnz))
        tree = balanced(data.labels, FAN_OUT)
        for method in ("ant", "kp-crowd"):
            turns = 2 if n > 100_000 else 5
            found[method, n] = min(kp(method, data, tree, 5, n // PER_CLUSTER)[1] for _ in range(turns))
        print("scaling", n, found["ant", n], found["kp-crowd", n], file=sys.stderr, flush=True)
    return found


def curve(taken: dict[tuple[str, int], float]) -> Iterator[tuple[Any, ...]]:
    for n in SIZES:
        cells = [f"{taken[m, n]:.2f} ({taken[m, n] / taken[m, 100_000]:.2f} ×)" for m in ("ant", "kp-crowd")]
        yield f"{n:,}", f"{n // PER_CLUSTER:,}", *cells


def goals(
    found: dict[Any, tuple[float, float]], multiples: dict[int, str], taken: dict[tuple[str, int], float]
) -> Iterator[tuple[str, str, str]]:
    less, n = where(found, "kp-crowd", "ant", 0)
    less_minus, _ = where(found, "kp-crowd", "ant-minus", 0)
    quicker, _ = where(found, "kp-crowd", "ant", 1)
    grown = {method: taken[method, 1_000_000] / taken[method, 100_000] for method in ("ant", "kp-crowd")}
    for k, multiple in multiples.items():
        yield f"`ant`, T10I4D100K, 1,000 clusters, k = {k}, as a multiple of reading it", "≤ 10 ×", multiple
    yield "`ant`, ten times the data and the clusters", "≤ 12 ×", f"{grown['ant']:.1f} ×"
    yield "`kp-crowd`, ten times the data", "≤ 12 ×", f"{grown['kp-crowd']:.1f} ×"
    yield "`kp-crowd` loses less than `ant`", f"{n} of {n}", f"{less} of {n}"
    yield "`kp-crowd` loses less than `ant-minus`", f"{n} of {n}", f"{less_minus} of {n}"
    yield "`kp-crowd` takes no more time than `ant`", f"{n} of {n}", f"{quicker} of {n}"


def main() -> None:
    found = figures()
    methods = (*KP, *K_ONLY)
    words, multiples = speed()
    taken = scaling()
    if "--write" in sys.argv:
        panels(RESULTS / "ant-loss.svg", charts(found, 0, "loss", log=False))
        panels(RESULTS / "ant-time.svg", charts(found, 1, "seconds", log=True))
    publish(
        "ant.md",
        PAGE.format(
            threshold=THRESHOLD,
            p=P,
            clusters=", ".join(f"{name} {number:,}" for name, number in CLUSTERS.items()),
            goals=table(("what", "goal", "measured"), goals(found, multiples, taken)),
            losses=table(("data", "k", *methods), rows(found, 0, lambda loss: percent(loss, 2))),
            times=table(("data", "k", *methods), rows(found, 1, "{:.3f}".format)),
            by_clusters=table(("data", "clusters or segments", "ant", "ant-minus", *K_ONLY), by_clusters()),
            fixed_k=FIXED_K,
            more_time=table(("k", "ant, 3 rounds", "5 rounds", "10 rounds", "kp-crowd", "effort 3"), more_time()),
            speed=words,
            scaling=table(("transactions", "clusters", "ant, seconds", "kp-crowd, seconds"), curve(taken)),
            **said(found),
        ).rstrip(),
    )


if __name__ == "__main__":
    main()
