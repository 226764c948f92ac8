"""Every value of `crowd`'s presets set to its simplest one, one at a time: what that does to loss and time.

`python -m benchmarks.ablation --presets=quick --sets=chess,Zipf --ks=5,10` measures some of it, without options
everything, and keeps the figures in benchmarks/ablation.json; `--write` makes docs/results/crowd-ablation.md of what is
kept. Time is the ratio of processor times of one thread, both the least of a few runs taken in turn, so that a busy
machine matters little; loss is deterministic. benchmarks/ablation-before.json has what the commit that brought this
file measured; that one could also switch off mechanisms inside the kernels.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods import crowd
from benchmarks._ablation_page import page
from benchmarks._tools import RESULTS, ROOT
from benchmarks.crowd import load

KEPT = ROOT / "benchmarks" / "ablation.json"
BEFORE = ROOT / "benchmarks" / "ablation-before.json"
FORMER = ROOT / "benchmarks" / "ablation-former.json"  # the presets by the former efforts: loss and time
DENSE = ("mushroom", "chess", "connect")
SPARSE = ("T10I4D100K", "BMS-WebView-1", "BMS-WebView-2", "groceries", "Complete Journey", "Zipf")
RUNS = {"quick": 3, "usual": 2, "thorough": 1}
Change = Callable[[crowd.Preset], crowd.Preset]


def dense(**values: Any) -> Change:
    return lambda preset: replace(preset, dense=replace(preset.dense, **values))


def sparse(**values: Any) -> Change:
    return lambda preset: replace(preset, sparse=replace(preset.sparse, **values))


ROWS: dict[str, Change] = {
    "dense: small blocks (2,048)": dense(block=2_048),
    "dense: no pool, neighbours in Gray order": dense(pool=0),
    "dense: two neighbours": dense(near=2),
    "dense: neighbours in Gray order only": dense(sorts=0),
    "dense: one round": dense(rounds=1),
    "dense: no visits": dense(visits=0.0),
    "small shards (50,000)": sparse(shard=50_000),
    "one anchor of k": sparse(anchors=1),
    "reach k": sparse(reach=0),
    "k candidates": sparse(candidates=1),
    "a round for long ones, too": sparse(round_for_long=True),
    "no round for long ones": sparse(round_for_long=False),
    "no augmenting paths": sparse(augment=0),
    "augmenting paths once": lambda preset: sparse(augment=min(1, preset.sparse.augment))(preset),
    "blocks of 256 groups": lambda preset: sparse(block=min(256, preset.sparse.block))(preset),
    "PTA's groups always formed": lambda preset: replace(preset, sample_pta=False),
}
RULES: dict[str, dict[str, Any]] = {  # constants of methods/crowd.py instead
    "dense: the sparse way": {"DENSITY": 2.0},
    "as many anchors for long ones": {"LONG_SETS": float("inf")},
}


@contextmanager
def changed(row: str, name: str) -> Iterator[None]:
    """Change this in the preset of this name."""
    presets = crowd.PRESETS | ({name: ROWS[row](crowd.PRESETS[name])} if row in ROWS else {})
    with patch.multiple(crowd, PRESETS=presets, **RULES.get(row, {})):
        yield


def matters(row: str, preset: str, name: str) -> bool:
    """Whether the row changes anything for this preset on this kind of data."""
    if row in ROWS and ROWS[row](crowd.PRESETS[preset]) == crowd.PRESETS[preset]:
        return False
    return row.startswith("PTA") or row.startswith("dense") == (name in DENSE)


def measured(data: Transactions, k: int, preset: str) -> tuple[float, float]:
    """Loss ratio and processor seconds."""
    start = time.process_time()
    draft = crowd.run(data, Job(1, threads=1), k=k, effort=preset)
    taken = time.process_time() - start
    return float(information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"]), taken


def compare(data: Transactions, k: int, preset: str, row: str) -> list[float]:
    """Loss and time after the change, as multiples of what they were."""
    plain, other = [], []
    for _ in range(RUNS[preset]):
        plain.append(measured(data, k, preset))
        with changed(row, preset):
            other.append(measured(data, k, preset))
    ratio = min(taken for _, taken in other) / min(taken for _, taken in plain)
    return [round(other[0][0] / plain[0][0], 4), round(ratio, 2)]


def chosen(option: str, default: tuple[Any, ...]) -> list[str]:
    named = [word.removeprefix(f"--{option}=").split(",") for word in sys.argv if word.startswith(f"--{option}=")]
    return named[0] if named else [str(one) for one in default]


def kept() -> dict[str, dict[str, list[float]]]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def measure(preset: str, name: str, data: Transactions) -> None:
    for row in (*ROWS, *RULES):
        if not matters(row, preset, name):
            continue
        for k in map(int, chosen("ks", (5, 10, 20))):
            found = kept()
            found.setdefault(row, {})[f"{preset} {name} {k}"] = compare(data, k, preset, row)
            KEPT.write_text(json.dumps(found, indent=0) + "\n")
            print(preset, name, k, row, found[row][f"{preset} {name} {k}"], flush=True)


def main() -> None:
    if "--write" in sys.argv:
        text = page(
            kept(), json.loads(BEFORE.read_text()), json.loads(FORMER.read_text()), tuple(crowd.PRESETS), DENSE, SPARSE
        )
        (RESULTS / "crowd-ablation.md").write_text(text, encoding="utf-8")
        return
    for preset in chosen("presets", tuple(crowd.PRESETS)):
        for name in chosen("sets", (*DENSE, *SPARSE)):
            if (found := load(name)) is not None:
                measure(preset, name, found[0])


if __name__ == "__main__":
    main()
