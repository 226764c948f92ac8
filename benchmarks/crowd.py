"""`crowd` beside PTA and the lower bound: which share of the gap it closes, and in which multiple of PTA's time.

`python -m benchmarks.crowd --write` writes docs/results/crowd.md. Parameters of `crowd` were set while looking at
chess, mushroom, T10I4D100K and BMS-WebView-1; the other sets were only measured.
"""

from __future__ import annotations

import anonset
from anonset.job import Job
from anonset.methods import crowd, pta
from anonset.release import Draft
from anonset.transactions import Transactions
from anonset.utility.bound import lower_bound
from anonset.utility.information_loss import information_loss
from benchmarks._tools import best_of, data_file, publish, table

SETS = {
    "chess": ("chess.dat.gz", 54),
    "mushroom": ("mushroom.dat.gz", 54),
    "connect": ("connect.dat.gz", 54),
    "T10I4D100K": ("T10I4D100K.dat.gz", 100),
    "BMS-WebView-1": ("BMS-WebView-1.dat.gz", 100),
    "BMS-WebView-2": ("BMS-WebView-2.dat.gz", 100),
    "groceries": ("groceries.csv.gz", 100),
}
EFFORTS = (0, 2, 5)
KS = (5, 10, 20)


def ratio(data: Transactions, draft: Draft) -> float:
    return float(information_loss(data, draft.release, draft.source)["information_loss_ratio"])


def rows_of(name: str, file: str, segment: int) -> list[list[object]]:
    path = data_file(file)
    if path is None:
        return []
    data = anonset.read(path)
    rows: list[list[object]] = []
    for k in KS:
        bound = lower_bound(data, k).ratio

        def run_pta(k: int = k) -> Draft:
            parts = max(1, round(len(data) / segment))
            return pta.run(data, Job(seed=1), k=k, segments=parts, item_order="frequency", revote=True)

        runs = [lambda e=e, k=k: crowd.run(data, Job(seed=1), k=k, effort=e) for e in EFFORTS]
        times = best_of(3, run_pta, *runs)
        theirs = ratio(data, run_pta())
        cells: list[object] = [name, k, f"{bound:.4f}", f"{theirs:.4f} ({1000 * times[0]:.0f} ms)"]
        for run, seconds in zip(runs, times[1:], strict=True):
            ours = ratio(data, run())
            share = (theirs - ours) / (theirs - bound)
            cells.append(f"{ours:.4f}: {share:.0%} @ {seconds / times[0]:.1f} ×")
        rows.append(cells)
        print(*cells, sep=" | ", flush=True)
    return rows


def page() -> str:
    rows = [row for name, (file, segment) in SETS.items() for row in rows_of(name, file, segment)]
    head = ["data", "k", "bound", "PTA", *(f"crowd, effort {effort}" for effort in EFFORTS)]
    return f"""# `crowd`, measured

`python -m benchmarks.crowd --write` made this page (all cores; best of three runs, taken in turn).

Information loss ratio of PTA (segments of about 100 transactions, 54 for the dense sets) and of `crowd`; behind the
colon the share of the gap between PTA and the lower bound that `crowd` closes, and its time as a multiple of PTA's.
Parameters were set while looking at chess, mushroom, T10I4D100K and BMS-WebView-1; the other sets were only measured.

{table(head, rows)}
"""


if __name__ == "__main__":
    publish("crowd.md", page())
