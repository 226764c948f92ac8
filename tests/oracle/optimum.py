"""The least information loss of any k-anonymous release, by trying every way to part a tiny database into groups."""

from collections.abc import Iterator

import numpy as np


def partitions(things: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every way to part `things` into groups of at least k."""
    if not things:
        yield []
        return
    first, rest = things[0], things[1:]
    for members in range(1 << len(rest)):
        group = [first] + [thing for bit, thing in enumerate(rest) if members >> bit & 1]
        if len(group) >= k:
            yield from ([group, *others] for others in partitions([t for t in rest if t not in group], k))


def group_loss(sets: list[set[str]]) -> int:
    """What a group loses when every member becomes the majority of its items."""
    items = set().union(*sets)
    return sum(min(c, len(sets) - c) for c in (sum(item in s for s in sets) for item in items))


def optimum(sets: list[set[str]], k: int) -> int:
    """The least loss over all partitions."""
    return min(
        sum(group_loss([sets[i] for i in group]) for group in parts) for parts in partitions(list(range(len(sets))), k)
    )


def cheapest_group(problem, values):
    """The least that a group of k or more loses beyond what its members' values add up to."""
    held = np.repeat(problem.sets.to_scipy().toarray().astype(int), problem.weights, axis=0)
    groups = np.arange(1 << len(held))[:, None] >> np.arange(len(held)) & 1
    groups = groups[groups.sum(axis=1) >= problem.k]
    counts = groups @ held
    losses = np.minimum(counts, groups.sum(axis=1)[:, None] - counts).sum(axis=1)
    return float((losses - groups @ np.repeat(values, problem.weights)).min())
