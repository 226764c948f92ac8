"""Association rules kept: do the rules "who has X has also y" still hold?

For a release in rows: groups publish quasi-identifier items exactly, so that all rules among them stay; what becomes of
rules with sensitive items is measured by `sensitive-rules`.

Rules X → y with one item on the right, from the frequent itemsets at the middle support of the ladder, with a
confidence support(X ∪ y) / support(X) of at least 60 %. Precision and recall as for itemsets, and the mean absolute
change of the confidence of the original's rules that are still found. A figure about rules that do not exist has no
value: recall and F1 where the original has none, precision where the release has none.
"""

from __future__ import annotations

from typing import Any

from anonset.assess.utility.itemsets import f1, keys
from anonset.assess.utility.metric import LEVELS, Comparison, Figure, Metric
from anonset.mining.itemsets import Patterns

CONFIDENCE = 0.6
CODE = 4  # bytes of an item code

Rules = dict[tuple[bytes, bytes], float]


def rules(patterns: Patterns, confidence: float = CONFIDENCE) -> Rules:
    """The rules among these itemsets and their confidence: (items on the left, item on the right) → confidence.

    Examples
    --------
    >>> from anonset.mining.itemsets import frequent
    >>> found = rules(frequent([["wine", "bread"], ["wine", "bread"], ["bread"]], 2))
    >>> list(found.values())  # wine → bread always, bread → wine in two of three
    [1.0, 0.6666666666666666]
    """
    support = dict(zip(keys(patterns).to_pylist(), patterns.counts.tolist(), strict=True))
    found: Rules = {}
    for items, count in support.items():
        for place in range(0, len(items) if len(items) > CODE else 0, CODE):
            left = items[:place] + items[place + CODE :]
            share = count / support[left]
            if share >= confidence:
                found[left, items[place : place + CODE]] = share
    return found


def compared(before: Rules, after: Rules) -> dict[str, Any]:
    """Precision, recall and F1 of the rules, and how far their confidence moved; None where there are no rules."""
    both = before.keys() & after.keys()
    moved = [abs(before[rule] - after[rule]) for rule in both]
    return {
        "rules": len(before),
        "rules_found": len(after),
        **_shares(len(before), len(after), len(both)),
        "rules_confidence_error": sum(moved) / len(moved) if moved else None,
    }


def _shares(before: int, after: int, both: int) -> dict[str, float | None]:
    precision = both / after if after else None
    recall = both / before if before else None
    score = None if recall is None else f1(precision or 0.0, recall)
    return {"rules_precision": precision, "rules_recall": recall, "rules_f1": score}


def _run(comparison: Comparison) -> dict[str, Any]:
    mined = comparison.mined[LEVELS.index("middle")]
    if mined.after is None:
        return dict.fromkeys((figure.name for figure in METRIC.figures), None)
    return compared(rules(mined.before), rules(mined.after))


METRIC = Metric(
    name="rules",
    title="Association rules",
    definition="Precision, recall and F1 of the rules X → y of confidence ≥ 60 % at the middle support.",
    reference="R. Agrawal, T. Imieliński, A. Swami, Mining association rules between sets of items, SIGMOD 1993",
    figures=(
        Figure("rules", "Rules in the original", "Rules X → y of confidence ≥ 60 %.", "count", ""),
        Figure("rules_found", "Rules in the release", "… of the release.", "count", ""),
        Figure("rules_precision", "Rules: true", "Of the rules found, those of the original.", "share", "high"),
        Figure("rules_recall", "Rules: kept", "Of the original's rules, those still found.", "share", "high"),
        Figure("rules_f1", "Rules: F1", "Both in one number.", "share", "high"),
        Figure("rules_confidence_error", "Rules: confidence moved", "Mean change of kept rules.", "share"),
    ),
    run=_run,
    needs=("rows",),
)
