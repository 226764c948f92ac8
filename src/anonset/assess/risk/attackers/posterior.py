"""Posterior: an attacker who knows that nobody's transaction is empty weighs all assignments that are possible.

A group of n transactions publishes how many of them hold each sensitive item. An assignment gives every item as many
holders; it is possible if every transaction that is published without items holds some sensitive item. All possible
assignments are equally likely. The chance is the largest probability of any member to hold the item.

With e empty members, inclusion and exclusion over those of them that hold nothing gives the number of assignments:
N = Σ_j (−1)^j C(e, j) Π_s C(n − j, f_s). That one given empty member holds item s, the others being covered, has
Σ_j (−1)^j C(e − 1, j) C(n − 1 − j, f_s − 1) Π_t C(n − j, f_t), with t over the other items of the group. The holders
expected among the e empty members are e times that, the other ones of f_s are shared out evenly among the other
members. Numbers are whole, in units of a fraction that has more digits than the sums can cancel.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.release import GroupCounts, Release
from anonset.data.transactions import Floats, Ints, Longs

GUARD = 128
"""Bits that are left when the alternating sums have cancelled."""


def run(case: Case) -> tuple[Finding, ...]:
    """The largest probability of any member, for each group and item in it."""
    chance = np.array([entry for _, entry in largest(case.release)])
    if not len(chance):
        return ()
    return (finding(SPEC, case, Chances(chance)),)


def largest(release: Release) -> Iterator[tuple[int, float]]:
    """For each line of counts (group, item) the group and the largest posterior of any member."""
    for group, size, empty, counts in _groups(release):
        if not empty:
            yield from ((group, min(1.0, count / size)) for count in counts)
        else:
            yield from ((group, max(pair)) for pair in posteriors(size, empty, counts))


def _groups(release: Release) -> Iterator[tuple[int, int, int, list[int]]]:
    """Each group with its size, its empty members, and the counts of its sensitive items."""
    groups, counts = release.groups, release.counts
    assert groups is not None
    assert counts is not None
    many = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=many)
    empty = np.bincount(groups[release.transactions.lengths == 0], minlength=many)
    yield from _lines(groups, sizes, empty, counts)


def _lines(groups: Ints, sizes: Longs, empty: Longs, counts: GroupCounts) -> Iterator[tuple[int, int, int, list[int]]]:
    there = (counts.count > 0) & (counts.group < len(sizes))
    lines, held = counts.group[there], counts.count[there]
    if not len(lines):
        return
    order = np.argsort(lines, kind="stable")
    found, first = np.unique(lines[order], return_index=True)
    for group, part in zip(found.tolist(), np.split(held[order], first[1:]), strict=True):
        yield group, int(sizes[group]), int(empty[group]), part.tolist()


def posteriors(size: int, empty: int, counts: list[int]) -> list[tuple[float, float]]:
    """For each item the probability that a given empty member holds it, and that a given other member does.

    Examples
    --------
    >>> posteriors(2, 1, [1])
    [(1.0, 0.0)]
    """
    if sum(counts) < empty:  # nobody knows what to make of it: the members are not what they seem
        return [(count / size, count / size) for count in counts]
    precision = 2 * empty + GUARD
    while (whole := _covered(size, empty, counts, precision)).bit_length() < empty + GUARD:
        precision *= 2
    found = []
    for place, count in enumerate(counts):
        others = counts[:place] + counts[place + 1 :]
        one = Fraction(_covered_but_one(size, empty, count, others, precision), whole) * Fraction(count, size)
        rest = (count - empty * one) / (size - empty) if size > empty else Fraction(0)
        found.append((min(1.0, max(0.0, float(one))), min(1.0, max(0.0, float(rest)))))
    return found


def _covered(size: int, empty: int, counts: list[int], precision: int) -> int:
    """The share of assignments in which every empty member holds something, in units of 2^−precision."""
    total, ways, share = 0, 1, 1 << precision
    for j in range(empty + 1):
        total += -ways * share if j % 2 else ways * share
        ways = ways * (empty - j) // (j + 1)
        for count in counts:
            share = share * max(size - j - count, 0) // (size - j) if size > j else 0
    return total


def _covered_but_one(size: int, empty: int, count: int, others: list[int], precision: int) -> int:
    """The same where one given empty member holds one item anyway; relative to all assignments in which it does."""
    total, ways, share = 0, 1, 1 << precision
    for j in range(empty):
        total += -ways * share if j % 2 else ways * share
        ways = ways * (empty - 1 - j) // (j + 1)
        left = size - 1 - j  # the item's other holders are among the other members
        share = share * max(left - (count - 1), 0) // left if left > 0 else 0
        for other in others:
            share = share * max(size - j - other, 0) // (size - j)
    return total


def group_posteriors(release: Release) -> Floats:
    """The largest posterior of each line of counts."""
    return np.array([chance for _, chance in largest(release)])


SPEC = AttackSpec(
    name="posterior",
    part="inference",
    title="possible holders",
    knows="in which group a person is, and that no transaction is empty",
    run=run,
    forms=("groups",),
    needs=("sensitive",),
)
