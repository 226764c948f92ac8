"""Frequent itemsets kept, lost and invented.

At a support σ (a share of the transactions) let F be the frequent itemsets of the original and F' those of the release.
*Kept* are those in both, *lost* those only in F, *invented* those only in F'. Precision = |F ∩ F'| / |F'| (what is
found is true), recall = |F ∩ F'| / |F| (what is true is found), F1 their harmonic mean. Three supports are chosen
from the data: the smallest of a fixed ladder at which the original has no more itemsets than a person would look at.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anonset.assess.utility.metric import LEVELS, Comparison, Figure, Metric
from anonset.mining.itemsets import Patterns

NAMES = ("kept", "lost", "invented", "precision", "recall", "f1")


def changes(before: Patterns, after: Patterns) -> tuple[int, int, int]:
    """How many itemsets were kept, lost and invented (both in the same codes)."""
    kept = int(pc.sum(pc.is_in(keys(after), value_set=keys(before))).as_py() or 0)
    return kept, len(before) - kept, len(after) - kept


def overlap(kept: int, lost: int, invented: int) -> tuple[float, float, float]:
    """Precision, recall and F1.

    Examples
    --------
    >>> overlap(kept=1, lost=2, invented=1)
    (0.5, 0.3333333333333333, 0.4)
    """
    precision = kept / (kept + invented) if kept + invented else 1.0 if not lost else 0.0
    recall = kept / (kept + lost) if kept + lost else 1.0
    return precision, recall, f1(precision, recall)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall.

    Examples
    --------
    >>> f1(0.5, 1.0)
    0.6666666666666666
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def keys(patterns: Patterns) -> pa.Array:
    """One byte string for each itemset; equal sets have equal strings."""
    item_bytes = pa.py_buffer(patterns.items.tobytes())
    bounds = pa.py_buffer((patterns.offsets * patterns.items.itemsize).tobytes())
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(patterns), [None, bounds, item_bytes])


def _run(comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for level, mined in zip(LEVELS, comparison.mined, strict=True):
        found[f"itemsets_support_{level}"] = mined.support
        values: tuple[float | None, ...] = (None,) * len(NAMES)
        if mined.after is not None:
            counts = changes(mined.before, mined.after)
            values = (*counts, *overlap(*counts))
        for name, value in zip(NAMES, values, strict=True):
            found[f"itemsets_{name}_{level}"] = value
    return found


def _figures() -> tuple[Figure, ...]:
    figures = []
    for level in LEVELS:
        shown = f"Itemsets, {level}"
        figures += [
            Figure(f"itemsets_support_{level}", f"{shown} support", "Share of the transactions.", "share", ""),
            Figure(f"itemsets_kept_{level}", f"{shown}: kept", "Frequent before and after.", "count", ""),
            Figure(f"itemsets_lost_{level}", f"{shown}: lost", "Frequent before only.", "count", "low"),
            Figure(f"itemsets_invented_{level}", f"{shown}: invented", "Frequent after only.", "count", "low"),
            Figure(f"itemsets_precision_{level}", f"{shown}: precision", "Kept, of those found.", "share", "high"),
            Figure(f"itemsets_recall_{level}", f"{shown}: recall", "Kept, of the true ones.", "share", "high"),
            Figure(f"itemsets_f1_{level}", f"{shown}: F1", "Both in one number.", "share", "high"),
        ]
    return tuple(figures)


METRIC = Metric(
    name="itemsets",
    title="Frequent itemsets",
    definition="Frequent itemsets kept, lost and invented at three supports; precision, recall and F1.",
    reference="R. Agrawal, R. Srikant, Fast algorithms for mining association rules, VLDB 1994 (frequent itemsets)",
    figures=_figures(),
    run=_run,
)
