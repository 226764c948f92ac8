"""The groups that `crowd` begins with on sparse data, by the book: each that looks, looks at all."""

from collections import Counter

UNIT = 32  # a surplus is counted in 1/32 of an item
TURNS = 2  # in which members and center are chosen


def first_groups(rows, k):
    """Groups of rows (tuples of items, in Gray order; every item in more than k/2 of them) before any improvement."""
    groups = best_first(rows, k)
    left = list((Counter(rows) - Counter(row for group in groups for row in group)).elements())
    centers = [center_and_half(group) for group in groups]
    best = [max(((gain(row, c), -g) for g, c in enumerate(centers)), default=(0, 0)) for row in left]
    rest = [row for row, (gained, _) in zip(left, best, strict=True) if gained <= 0]
    for row, (gained, g) in zip(left, best, strict=True):
        if gained > 0:
            groups[-g] = [*groups[-g], row]
    if len(rest) >= k or not groups:
        return groups + [rest] * bool(rest)
    centers = [center_and_half(group) for group in groups]
    for row in rest:
        _, g = max((gain(row, c), -g) for g, c in enumerate(centers))
        groups[-g] = [*groups[-g], row]
    return groups


def center_and_half(group):
    counts = Counter(item for row in group for item in row)
    return {i for i, c in counts.items() if 2 * c > len(group)}, {i for i, c in counts.items() if 2 * c >= len(group)}


def gain(row, center_half):
    """What a row gains that joins a group."""
    center, half = center_half
    return len(half & set(row)) - len(center - set(row))


def best_first(rows, k):
    """Groups of k, the best ones first, and what is left of k or more equal rows."""
    copies = Counter(rows)
    left = {row: c - k if c >= k else c for row, c in copies.items()}
    wishes = {}
    for anchor in copies:
        if copies[anchor] < k and anchor:
            wishes[anchor] = best_group(anchor, copies, left, k)
    groups = []
    while open_ := [a for a, wish in wishes.items() if wish and left[a]]:
        anchor = max(open_, key=lambda a: wishes[a][0])  # the first of equals
        group = wishes[anchor][1]
        if all(left[row] >= group.count(row) for row in group):
            left = {row: c - group.count(row) for row, c in left.items()}
            groups.append(group)
        else:
            wishes[anchor] = best_group(anchor, copies, left, k)
    return groups + [[row] * (k + left[row]) for row in copies if copies[row] >= k]


def best_group(anchor, copies, left, k):
    """The rows that bring most to a center inside the anchor, and their center, in turn, while the surplus grows."""
    sharing = dict.fromkeys(row for item in anchor for row in copies if item in row and row != anchor)
    candidates = sorted(sharing, key=lambda row: len(set(row) & set(anchor)) < 2)
    best, center = None, set(anchor)
    for _ in range(TURNS):
        ranked = sorted(candidates, key=lambda row: expected(row, copies, k) - 2 * UNIT * len(center & set(row)))
        group = [row for row in [anchor, *ranked] for _ in range(left[row])][:k]
        counts = {i: sum(i in row for row in group) for i in anchor}
        center = {i for i, c in counts.items() if 2 * c > k}
        surplus = sum(UNIT * (2 * counts[i] - k) for i in center) - sum(expected(row, copies, k) for row in group)
        if len(group) < k or not center or (best and surplus <= best[0]):
            return best
        best = surplus, group
    return best


def expected(row, copies, k):
    """What a row can expect to keep: about one item, or all of them if k are equal."""
    return UNIT * len(row) if copies[row] >= k else UNIT - 1 + len(row)


def most_at(rows, centers, k):
    """What rows gain at most if each publishes one of these centers, and each center is published by k or more."""
    best = {(0,) * len(centers): 0}  # how many are at each center, up to k
    for row in rows:
        step = {}
        for counts, gained in best.items():
            for c, center in enumerate(centers):
                now = (*counts[:c], min(k, counts[c] + 1), *counts[c + 1 :])
                step[now] = max(step.get(now, -len(rows) * 100), gained + 2 * len(center & set(row)) - len(center))
        best = step
    return best[(k,) * len(centers)]
