"""Columns beside the items by plain loops: what their values generalise to, and how much is lost."""

from __future__ import annotations

import datetime


def above(kind, value, hierarchy=None):
    """Everything more general than a value, from the nearest to the widest."""
    if hierarchy is not None:
        return hierarchy[value]
    if kind == "date":
        day = datetime.date.fromisoformat(value)
        month = f"{day.year}-{day.month:02}"
        week = f"{month}-W{day.isocalendar()[1]:02}"
        return [week, month, f"{day.year}-Q{(day.month - 1) // 3 + 1}", str(day.year)]
    return []


def ranges(number, numbers):
    """The ranges of a whole number, from the narrowest to the widest."""
    spread = max(numbers) - min(numbers)
    found = []
    for power in range(10):
        for step in (1, 5):
            width = step * 10**power
            if width > 1 and spread / 100 <= width <= spread:
                low = number // width * width
                found.append(f"{low}..{low + width - 1}")
    return found


def losses(originals, published, paths):
    """NCP, share of exact values and share of false ones; `None` is no value, `paths[v]` what is above a value."""
    values = sorted(paths)
    stands_for = dict.fromkeys(values, 1)
    for value in values:
        for node in paths[value]:
            stands_for[node] = stands_for.get(node, 0) + 1
    total, exact, false, held = 0.0, 0, 0, 0
    for before, after in zip(originals, published, strict=True):
        true = after is None or (before is not None and (after == before or after in paths[before]))
        false += not true
        if before is None:
            continue
        held += 1
        share = stands_for[after] / len(values) if after is not None and stands_for[after] > 1 else 0.0
        loss = 1.0 if after is None or not true else 0.0 if after == before else share
        total += loss
        exact += loss == 0
    return total / held, exact / held, false / len(originals)
