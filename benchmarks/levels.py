"""Categories in k-anonymity: `crowd` with a hierarchy beside `partition`, and whole receipts with and without columns.

`python -m benchmarks.levels` measures what benchmarks/levels.json lacks and draws docs/results/levels.md from it;
`--sets=groceries,chess` takes only some sets, `--draw` measures nothing. Data without a hierarchy get one of fan-out 5
over their items in natural order.
"""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import anonset
from anonset.data.hierarchy import Hierarchy, balanced
from anonset.data.transactions import Transactions
from benchmarks._tools import ROOT, data_file, publish, table

STORE = ROOT / "benchmarks" / "levels.json"
FAN_OUT = 5
MOST_ADDED = 0.08
KS = (5, 10, 20)
FILES = {
    "groceries": ("groceries.csv.gz", "groceries-hierarchy.csv.gz"),
    "BMS-WebView-1": ("BMS-WebView-1.dat.gz", None),
    "BMS-WebView-2": ("BMS-WebView-2.dat.gz", None),
    "chess": ("chess.dat.gz", None),
    "mushroom": ("mushroom.dat.gz", None),
    "Complete Journey": ("completejourney.csv.gz", "completejourney-hierarchy.csv.gz"),
    "T10I4D100K": ("T10I4D100K.dat.gz", None),
    "connect": ("connect.dat.gz", None),
}
KEPT = ("ncp", "ncp_implied", "exact_items", "nodes_added_ratio", "information_loss_ratio")
RECEIPTS = "completejourney-receipts.parquet"
QUERY = (
    "SELECT basket_id, product_id, quantity, store_id, strftime(transaction_timestamp, '%Y-%m') AS month FROM data "
    "ORDER BY basket_id"
)


def ways(height: int) -> dict[str, dict[str, Any]]:
    """What is compared: `partition`, and `crowd` with these weights."""
    levels = range(1, height)
    every = ",".join(["item=1", *(f"level{level}=1" for level in levels)])
    most = ",".join(["item=1", *(f"level{level}={max(8 - 2 * level, 1)}" for level in levels)])
    upper = ",".join(["item=1", *(f"level{level}={max(4 - level, 1)}" for level in levels)])
    return {
        "partition": {"method": "partition"},
        "crowd, default": {"method": "crowd"},
        "crowd, all levels 1": {"method": "crowd", "levels": every},
        "crowd, upper levels 3, 2": {"method": "crowd", "levels": upper},
        "crowd, upper levels 6, 4, 2": {"method": "crowd", "levels": most},
        "crowd, upper levels 3, 2, add most": {"method": "crowd", "levels": upper, "add": "most"},
        "crowd, upper levels 6, 4, 2, add most": {"method": "crowd", "levels": most, "add": "most"},
        "crowd, all levels 1, add none": {"method": "crowd", "levels": every, "add": "none"},
    }


@cache
def loaded(name: str) -> tuple[Transactions, Hierarchy]:
    """The data and their hierarchy."""
    file, tree = FILES[name]
    data = anonset.read(data_file(file), no_user=True) if tree else anonset.read(data_file(file))
    if tree is None:
        return data, balanced(data.labels, FAN_OUT)
    found = anonset.read_hierarchy(data_file(tree), items=data.labels, repair=True)
    return data, found


def measure(sets: list[str]) -> None:
    """Measure what is missing, and keep each figure as soon as it is there."""
    known = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in sets:
        for k in KS:
            for way in ways(2):
                key = f"{name} | {k} | {way}"
                if key in known:
                    continue
                data, tree = loaded(name)
                start = time.process_time()
                result = anonset.anonymize(data, hierarchy=tree, k=k, seed=1, threads=1, **ways(tree.height)[way])
                figures = {one: result.measurements[one] for one in KEPT}
                figures |= {one: value for one, value in result.measurements.items() if one.startswith("level")}
                known[key] = {**figures, "seconds": time.process_time() - start}
                STORE.write_text(json.dumps(known, indent=1) + "\n")
                print(key, {one: round(value, 3) for one, value in known[key].items()}, flush=True)


def measure_receipts() -> None:
    """Whole receipts of Complete Journey, k = 10: items alone, with categories, with store and month."""
    known = json.loads(STORE.read_text()) if STORE.exists() else {}
    tree = loaded("Complete Journey")[1]
    runs = {
        "items": {},
        "items, categories": {"hierarchy": tree},
        "items, store, month": {"attribute": ["store_id", "month"]},
        "items, categories, store, month": {"hierarchy": tree, "attribute": ["store_id", "month"]},
        "items, categories, store, month, add none": {
            "hierarchy": tree,
            "attribute": ["store_id", "month"],
            "add": "none",
        },
        "items, categories, store, month, quantities": {
            "hierarchy": tree,
            "attribute": ["store_id", "month"],
            "count": "quantity",
        },
        "k^m, m = 2: items, categories, store, month": {
            "hierarchy": tree,
            "attribute": ["store_id", "month"],
            "method": "km-refine",
            "m": 2,
        },
    }
    columns = {"transaction": "basket_id", "item": "product_id", "unit": "transaction"}
    for way, options in runs.items():
        key = f"receipts | 10 | {way}"
        if key in known:
            continue
        result = anonset.anonymize(data_file(RECEIPTS), query=QUERY, k=10, seed=1, threads=1, **columns, **options)
        known[key] = {one: value for one, value in result.measurements.items() if isinstance(value, float)}
        known[key]["seconds"] = sum(result.seconds.values())
        STORE.write_text(json.dumps(known, indent=1) + "\n")
        print(key, {one: round(value, 3) for one, value in known[key].items()}, flush=True)


def page() -> str:
    """The page of results."""
    known = json.loads(STORE.read_text())
    compared = [row for name in FILES for k in KS for row in _rows(known, name, k)]
    head = ("data", "k", "method", "NCP", "NCP, narrow", "exact", "added per item", "processor s")
    wins = _wins(known)
    receipts = [
        (key.split(" | ")[2], *(_share(_figure(found, one)) for one in _RECEIPTS), f"{found['seconds']:.0f}")
        for key, found in known.items()
        if key.startswith("receipts")
    ]
    quantities = next((found for key, found in known.items() if key.endswith("quantities")), None)
    of_receipts = (
        "what is published",
        "item loss",
        "level 1",
        "exact",
        "NCP",
        "store: NCP",
        "false",
        "month: NCP",
        "false",
    )
    return "\n".join(
        [
            "# Categories and whole receipts",
            "",
            _filled(
                "NCP is the mean over item occurrences, and every lost item counts 1: 0 for an item that is published,",
                "else the share of all items that the nearest category stands for which is said, and 1 where none",
                "is said.",
                "Who publishes `brie` says that there was some dairy: *NCP* takes a category as said where it or",
                "anything",
                "in it is published, *NCP, narrow* only where it stands there by its own name. *Exact* is the share of",
                "item occurrences published as they are, *added* the nodes per item that nothing in the transaction",
                "lies",
                "in.",
            ),
            "",
            _findings(wins),
            "",
            table(("data", *(f"k = {k}" for k in KS)), list(_winners(known))),
            "",
            _filled(
                "By the narrow NCP `crowd` wins next to nowhere: `partition` publishes something of every item, and a",
                "category only where none of its items stands, while a majority drops what fewer than half of a",
                "group hold. What `partition` pays for that: it keeps fewer items as they are. `--add most` publishes",
                "what two thirds of a group hold; with `--add none` nothing is added at all.",
            ),
            "",
            table(head, compared),
            "",
            "## Whole receipts",
            "",
            "Complete Journey, 155,848 receipts, k = 10. Store and month are columns beside the items. *False* is the",
            "share of receipts that show another value than their own, since a group publishes what most of its",
            "members have; `--add none` publishes nothing false.",
            "",
            table((*of_receipts, "seconds"), receipts),
            "",
            *([] if quantities is None else [_of_quantities(quantities)]),
            "",
            "## How it was measured",
            "",
            "`python -m benchmarks.levels`, one thread, seed 1, every receipt for itself (no users). Data without a",
            "hierarchy have one of fan-out 5 over their items in natural order. Processor seconds were taken on a busy",
            "machine of two cores and compare roughly.",
            "",
        ]
    )


def _filled(*parts: str) -> str:
    return textwrap.fill(" ".join(parts), 110)


def _of_quantities(found: dict[str, float]) -> str:
    return _filled(
        "Quantities: of the published items that were there",
        f"{found['quantities_exact']:.1%} have their own quantity, and {found['quantities_told']:.1%} have any;",
        f"{found['quantities_false']:.1%} of the published quantities are another one's. (Most are 1.)",
    )


_RECEIPTS = (
    "information_loss_ratio",
    "level1_loss_ratio",
    "exact_items",
    "ncp",
    "store_id_ncp",
    "store_id_false",
    "month_ncp",
    "month_false",
)


def _figure(found: dict[str, float], name: str) -> float | None:
    """The figure of this name; of NCP the wider one, where there is one."""
    return found.get("ncp_implied", found.get("ncp")) if name == "ncp" else found.get(name)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _rows(known: dict[str, Any], name: str, k: int) -> Iterator[tuple[Any, ...]]:
    for way in ways(2):
        found = known.get(f"{name} | {k} | {way}")
        if found is not None:
            shown = (_share(found[one]) for one in ("ncp_implied", "ncp", "exact_items", "nodes_added_ratio"))
            yield (name, k, way, *shown, f"{found['seconds']:.1f}")


def _findings(wins: dict[str, int]) -> str:
    """In how many cases `crowd` is better in both, and how that changes with what is asked."""
    return _filled(
        f"**In {wins['implied']} of {wins['cases']} cases some `--levels` of `crowd` have less NCP and more",
        "exact items",
        f"than `partition`**; with at most {MOST_ADDED:g} nodes added per item in {wins['few']}, with `--add none` in",
        f"{wins['none']}, by the narrow NCP in {wins['strict']}. The table names for each case two of the",
        "weights that are",
        "better in both, those that add least, with the nodes added per item.",
    )


def _better(known: dict[str, Any], name: str, k: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The ways of `crowd` that keep more items exactly than `partition`, with their figures and those",
    "of `partition`."""
    classic = known.get(f"{name} | {k} | partition")
    for way in ways(2):
        found = known.get(f"{name} | {k} | {way}")
        if classic and found and way != "partition" and found["exact_items"] > classic["exact_items"]:
            yield way.removeprefix("crowd, "), found, classic


def _winners(known: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """For each set and k the ways that are better in both."""
    for name in FILES:
        cells = []
        for k in KS:
            better = _better(known, name, k)
            able = [(one["nodes_added_ratio"], way) for way, one, other in better if _less(one, other)]
            cells.append("; ".join(f"{way} ({added:.3f})" for added, way in sorted(able)[:2]) or "none")
        yield (name, *cells)


def _less(found: dict[str, Any], classic: dict[str, Any]) -> bool:
    return bool(found["ncp_implied"] < classic["ncp"])


def _wins(known: dict[str, Any]) -> dict[str, int]:
    """In how many cases some weights of `crowd` lose less and keep more than `partition`, by what is asked of them."""
    wins = {"cases": 0, "strict": 0, "implied": 0, "few": 0, "none": 0}
    for name in FILES:
        for k in KS:
            more = [*_better(known, name, k)]
            less = [(way, one) for way, one, other in more if _less(one, other)]
            wins["cases"] += f"{name} | {k} | partition" in known
            wins["strict"] += any(one["ncp"] < other["ncp"] for _, one, other in more)
            wins["implied"] += bool(less)
            wins["few"] += any(one["nodes_added_ratio"] <= MOST_ADDED for _, one in less)
            wins["none"] += any(way.endswith("add none") for way, _ in less)
    return wins


def main() -> None:
    """Measure what is missing and draw the page."""
    chosen = next((one.partition("=")[2].split(",") for one in sys.argv if one.startswith("--sets=")), [*FILES])
    if "--draw" not in sys.argv:
        measure([name for name in chosen if name in FILES])
        if "receipts" in chosen or chosen == [*FILES]:
            measure_receipts()
    publish("levels.md", page())


if __name__ == "__main__":
    main()
