"""`crowd` on 10 million transactions, and with `diversity`: the last parts of docs/results/crowd.md."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import anonset
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.transactions import Transactions
from anonset.generate import generate_quest
from anonset.methods import crowd, pta
from benchmarks._tools import best_of, data_file, peak_memory, processor_seconds, seconds, table

K = 10
SENSITIVE, SHARE = (
    10,
    30,
)  # so many items are sensitive: the most frequent that one of so many transactions hold at most
DEGREES = (None, 4, 10)

ALONE = """
data = anonset.Transactions(parts["offsets"], parts["items"], [str(i) for i in range(int(parts["n"]))])
from anonset.data.job import Job
from anonset.methods import crowd
crowd.run(data, Job(1), k=10, effort="quick")
"""


def scale() -> str:
    """10 million transactions in the shape of T10I4, against 1 million and against PTA."""
    small = generate_quest(1_000_000, seed=1)
    common = {"k": K, "segments": None, "item_order": "frequency", "revote": True}
    ours, theirs = best_of(2, lambda: _fast(small), lambda: pta.run(small, Job(1), **common))
    large = generate_quest(10_000_000, seed=1)
    (long,) = best_of(2, lambda: _fast(large))
    arrays, peak = large.offsets.nbytes + large.items.nbytes, _peak(large)
    rows = [
        (f"10 M ({long:.1f} s) ÷ 1 M ({ours:.1f} s)", "≤ 12 ×", f"{long / ours:.1f} ×"),
        (f"1 M ÷ PTA on the same ({theirs:.1f} s)", "≤ 1 ×", f"{ours / theirs:.2f} ×"),
        (f"10 M: peak memory ({peak / 1e6:,.0f} MB) ÷ the data's arrays", "≤ 4 ×", f"{peak / arrays:.1f} ×"),
    ]
    return f"\n## Scale\n\nT10I4 shape, k = {K}, quick.\n\n{table(['', 'goal', 'measured'], rows)}\n"


def _fast(data: Transactions) -> Draft:
    return crowd.run(data, Job(1), k=K, effort="quick")


def _peak(data: Transactions) -> int:
    """The memory of a fresh process that reads the data and does nothing else but this."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.npz"
        np.savez(file, offsets=data.offsets, items=data.items, n=data.n_items)
        return peak_memory(f"import anonset, numpy as np\nparts = np.load({str(file)!r})\n{ALONE}")


def diversity() -> str:
    """What the second promise costs, in loss and in time, on T10I4D100K."""
    path = data_file("T10I4D100K.dat.gz")
    if path is None:
        return "T10I4D100K was not there."
    data = _with_sensitive(anonset.read(path))
    rows = [_diverse_row(data, p) for p in DEGREES]
    head = ["diversity", "information loss ratio", "seconds", "of the processor", "k and p that the checks measure"]
    said = f"T10I4D100K, k = {K}, usual; sensitive are the {SENSITIVE} most frequent items of those that at most one of"
    return f"{said} {SHARE} transactions holds.\n\n{table(head, rows)}"


def _with_sensitive(data: Transactions) -> Transactions:
    counts = data.item_counts
    rare = np.flatnonzero(counts * SHARE <= len(data))
    chosen = rare[np.argsort(-counts[rare], kind="stable")[:SENSITIVE]]
    return data.with_sensitive([str(data.labels[int(item)]) for item in chosen])


def _diverse_row(data: Transactions, p: int | None) -> list[object]:
    made: list[Draft] = []
    elapsed: list[float] = []
    work = processor_seconds(
        lambda: elapsed.append(seconds(lambda: made.append(crowd.run(data, Job(1), k=K, effort="usual", diversity=p))))
    )
    loss = information_loss(data, made[0].release, made[0].row_origin)["information_loss_ratio"]
    k = anonset.model("k-anonymity", k=K).check(made[0].release).measured["k"]
    degree = anonset.model("privacy-degree", p=p or 2).check(made[0].release).measured["p"]
    return [p or "none", f"{loss:.4f}", f"{elapsed[0]:.1f}", f"{work:.1f}", f"{k}, {degree:.3g}"]
