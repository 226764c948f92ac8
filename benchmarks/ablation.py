"""Every mechanism of `crowd` switched off, or set to its simplest value, one at a time: loss and processor time.

`python -m benchmarks.ablation --efforts=0,2 --sets=chess,Zipf --ks=5,10 --rows=swaps,parts` measures some of it and adds
it to benchmarks/ablation.json; without options it measures everything. Time is the ratio of processor times of one
thread, both the least of a few runs taken in turn, so that a busy machine matters little; loss is deterministic.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anonset import _native
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods import crowd
from benchmarks._tools import ROOT
from benchmarks.crowd import load

KEPT = ROOT / "benchmarks" / "ablation.json"
DENSE = ("mushroom", "chess", "connect")
SPARSE = ("T10I4D100K", "BMS-WebView-1", "BMS-WebView-2", "groceries", "Complete Journey", "Zipf")
RUNS = {0: 3, 2: 2, 8: 1}
Options = dict[str, Any]

MASKS = (
    *("swaps", "dissolving", "circles", "dice", "tries", "refill turns", "sampled members", "waiting", "silent group"),
    *("forgetful counts", "scores in bytes", "expectation by length", "drop infrequent items"),
    *("dense: dissolving", "dense: proposals passed over", "dense: prefetch", "dense: telling items"),
    "dense: greedy end",
)
SET: dict[str, Options] = {
    "parts of shards": {"part": 10**9},
    "look again": {"again": 0},
    "turns": {"turns": 1},
    "six turns": {"turns": 2},
    "round of improvement": {"rounds": 0, "after": 0},
    "augmenting paths": {"relays": 0},
    "second time": {"relays": lambda given: min(1, given["relays"])},
    "round after augmenting paths": {"after": 0},
    "look everywhere": {"everywhere": False, "open": False},
    "open new groups": {"open": False},
    "recency": {"recent": False},
    "shards by rarity": {"shards": lambda given: -(-given["nnz"] // 250_000)},
    "far reach": {"reach": lambda given: given["k"]},
    "many candidates": {"keep": lambda given: given["k"] + 8},
    "dense: annealing": {"hot": 1e-9, "cold": 1e-9},
    "dense: pool": {"pool": 0},
    "dense: visits": {"visits": 0.0},
    "dense: swaps": {"partners": 0},
    "dense: rounds": {"rounds": 1},
    "dense: large blocks": {"block": 2048},
    "dense: sorts": {"sorts": 0},
    "dense: two neighbours": {"near": 2},
}
ROWS = (*MASKS, *SET)


@contextmanager
def without(row: str, data: Transactions) -> Iterator[None]:
    """Switch this off in every call of the kernels."""
    if row in MASKS:
        _native.crowd_without(1 << MASKS.index(row))
    change = SET.get(row, {})

    def changed(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arrays: Any, **given: Any) -> Any:
            facts = given | {"nnz": data.nnz}
            new = {name: value(facts) if callable(value) else value for name, value in change.items()}
            return kernel(*arrays, **given | new)

        return call

    name = "crowd_dense" if row.startswith("dense") else "crowd_sparse"
    kernel = getattr(_native, name)
    setattr(_native, name, changed(kernel))
    try:
        yield
    finally:
        setattr(_native, name, kernel)
        _native.crowd_without(0)


def measured(data: Transactions, k: int, effort: int) -> tuple[float, float]:
    """Loss ratio and processor seconds."""
    start = time.process_time()
    draft = crowd.run(data, Job(1, threads=1), k=k, effort=effort)
    taken = time.process_time() - start
    return float(information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"]), taken


def compare(data: Transactions, k: int, effort: int, row: str) -> tuple[float, float]:
    """Loss and time without the mechanism, as multiples of what they are with it."""
    plain, other = [], []
    for _ in range(RUNS[effort]):
        plain.append(measured(data, k, effort))
        with without(row, data):
            other.append(measured(data, k, effort))
    return other[0][0] / plain[0][0], min(t for _, t in other) / min(t for _, t in plain)


def chosen(option: str, default: tuple[Any, ...]) -> list[str]:
    named = [word.removeprefix(f"--{option}=").split(",") for word in sys.argv if word.startswith(f"--{option}=")]
    return named[0] if named else [str(one) for one in default]


def main() -> None:
    for effort in map(int, chosen("efforts", (0, 2, 8))):
        for name in chosen("sets", (*DENSE, *SPARSE)):
            found = load(name)
            if found is None:
                continue
            for k in map(int, chosen("ks", (5, 10, 20))):
                for row in chosen("rows", ROWS):
                    if row.startswith("dense") == (name in DENSE):
                        loss, taken = compare(found[0], k, effort, row)
                        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
                        kept.setdefault(row, {})[f"{effort} {name} {k}"] = [round(loss, 4), round(taken, 2)]
                        KEPT.write_text(json.dumps(kept, indent=0) + "\n")
                        print(effort, name, k, row, f"{loss:.4f} {taken:.2f}", flush=True)


if __name__ == "__main__":
    main()
