"""Blind groups by enumeration: over all shuffles and assignments, every member is as likely as the next."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import InfeasibleError, Job, Transactions, _native, anonymize
from anonset.assess.risk.guess import guess_holders
from anonset.methods.steps.group import blind
from anonset.methods.steps.group.degree import degree_problem


def groups_of(holders: frozenset[int], place: tuple[int, ...], block: tuple[int, int, int], p: int) -> list[int]:
    """The group of each row when the rows stand in the order `place` and `holders` hold the one sensitive item."""
    offsets = np.concatenate(([0], np.cumsum([row in holders for row in place]))).astype(np.int64)
    items = np.zeros(len(holders), dtype=np.int32)
    found = _native.blind_groups(offsets, items, np.array(block, dtype=np.int64), p, Job().monitor)
    groups = [0] * len(place)
    for at, row in enumerate(place):
        groups[row] = int(found[at])
    return groups


def shuffles(block: tuple[int, int, int]) -> list[tuple[int, ...]]:
    first, middle, last = block
    halves = (permutations(range(first, middle)), permutations(range(middle, last)))
    return [one + two for one, two in product(*halves)]


def posteriors(block: tuple[int, int, int], p: int, count: int, possible) -> list[tuple[float, float]]:
    """For every release that can be published: the largest chance of a member, and count / size of its group."""
    seen: Counter = Counter()
    held: dict[object, Counter] = defaultdict(Counter)
    for chosen in combinations(range(block[2]), count):
        holders = frozenset(chosen)
        if not possible(holders):
            continue
        for place in shuffles(block):
            groups = groups_of(holders, place, block, p)
            members = defaultdict(list)
            for row, group in enumerate(groups):
                members[group].append(row)
            release = frozenset((tuple(rows), len(holders & set(rows))) for rows in members.values())
            seen[release] += 1
            held[release].update(holders)
    return [
        (max(held[release][row] for row in rows) / times, occurrences / len(rows))
        for release, times in seen.items()
        for rows, occurrences in release
    ]


@pytest.mark.parametrize(("p", "n", "count"), [(2, 5, 2), (2, 6, 1), (2, 6, 2), (2, 6, 3), (3, 6, 1), (3, 6, 2)])
def test_in_a_block_every_member_is_as_likely_as_the_next(p, n, count):
    found = posteriors((0, n, n), p, count, lambda holders: True)
    assert found
    for largest, fair in found:
        assert largest == pytest.approx(fair)
        assert fair <= 1 / p


@pytest.mark.parametrize("count", [3, 4])
def test_a_joined_block_does_not_tell_which_half_holds_too_much(count):
    block, p = (0, 4, 8), 2

    def joined(holders: frozenset[int]) -> bool:  # what an attacker knows: one of the halves has no degree p
        first = sum(row < 4 for row in holders)
        return max(first, len(holders) - first) * p > 4

    found = posteriors(block, p, count, joined)
    assert found
    for largest, fair in found:
        assert largest == pytest.approx(fair)


def marked(rows: list[set[str]]) -> Transactions:
    return Transactions.from_lists(rows, labels=[*"abcdef", "s", "t"], sensitive=["s", "t"])


BASKETS = st.lists(st.sets(st.sampled_from([*"abcdef", "s", "t"])), min_size=1, max_size=60)


@given(rows=BASKETS, p=st.integers(2, 4))
@settings(max_examples=80)
def test_a_release_exactly_when_the_transactions_that_are_published_have_degree_p(rows, p):
    kept = [row for row in rows if row - {"s", "t"}]
    feasible = all(sum(item in row for row in kept) * p <= len(kept) for item in "st")
    if not feasible:
        with pytest.raises(InfeasibleError):
            anonymize(marked(rows), method="cahd-blind", p=p, seed=1)
        return
    result = anonymize(marked(rows), method="cahd-blind", p=p, seed=1)
    assert result.verdict.holds
    published = [set(row) for row in result.release.transactions]
    assert sorted(map(sorted, published)) == sorted(sorted(row - {"s", "t"}) for row in kept)
    assert result.release.counts.count.sum() == sum(len(row & {"s", "t"}) for row in kept)


@given(rows=BASKETS, p=st.integers(2, 3))
@settings(max_examples=40)
def test_blocks_are_the_tree_cut_wherever_both_halves_have_degree_p(rows, p):
    kept = [row for row in rows if row - {"s", "t"}]
    if any(sum(item in row for row in kept) * p > len(kept) for item in "st"):
        return

    def good(first: int, last: int) -> bool:
        return all(sum(item in row for row in kept[first:last]) * p <= last - first for item in "st")

    n, leaves = len(kept), 1
    while 2 * leaves * p * blind.BLOCK <= n:
        leaves *= 2

    def cut(low: int, high: int) -> list[tuple[int, int, int]]:
        middle = (low + high + 1) // 2
        first, second, last = (at * n // leaves for at in (low, middle, high))
        if high - low > 1 and good(first, second) and good(second, last):
            return cut(low, middle) + cut(middle, high)
        return [(first, second, last)]

    assert blind._blocks(degree_problem(marked(kept), p)).tolist() == [list(one) for one in cut(0, leaves)]


def test_a_seed_that_betrays_itself_is_found_by_the_attacker_and_hidden_by_blindness():
    rng = np.random.default_rng(5)
    items = np.array([f"i{number:02d}" for number in range(40)])
    rows = [set(rng.choice(items, 6, replace=False).tolist()) for _ in range(3_000)]
    for row in rng.choice(3_000, 60, replace=False):
        rows[row].add("s")
    data = Transactions.from_lists(rows, sensitive=["s"])

    def seed_guess(method: str) -> float:
        result = anonymize(data, method=method, p=10, seed=1)
        found = guess_holders(data, result.release, result.row_origin, Job(1))
        return next(guess.success for guess in found if guess.attacker == "seed")

    assert seed_guess("nn") > 0.5
    assert seed_guess("cahd-blind") < 0.25
