"""Blind groups by enumeration: over all shuffles and assignments, every member is as likely as the next."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonset import InfeasibleError, Job, Transactions, _native, anonymize
from anonset.assess.risk.guess import guess_holders

ONE_BLOCK = 100
"""So many groups in a block at least that there is but one."""


def grouped(holders, keys, lengths, p: int, block: int, cells: int = 8) -> tuple[list[int], list[int]]:
    """The group and the cell of each row, when `holders` hold the one sensitive item."""
    held = np.array([row in holders for row in range(len(keys))])
    offsets = np.concatenate(([0], np.cumsum(held))).astype(np.int64)
    keys, lengths = np.array(keys, dtype=np.float64), np.array(lengths, dtype=np.int32)
    items = np.zeros(int(held.sum()), dtype=np.int32)
    found = _native.blind_groups(offsets, items, lengths, keys, 1, p, block, cells, Job().monitor)
    return found[0].tolist(), found[1].tolist()


def gathered(values: list[int]) -> list[list[int]]:
    """The rows that have the same value."""
    members = defaultdict(list)
    for row, value in enumerate(values):
        members[value].append(row)
    return list(members.values())


def posteriors(n: int, p: int, count: int, block: int, orders) -> list[tuple[float, float]]:
    """For every group that can be published: the largest chance of a member, and count / size."""
    seen: Counter = Counter()
    held: dict[object, Counter] = defaultdict(Counter)
    lengths = [1 + row % 3 for row in range(n)]
    for chosen in combinations(range(n), count):
        holders = frozenset(chosen)
        for keys in orders(n):
            groups, _ = grouped(holders, keys, lengths, p, block)
            release = frozenset((tuple(rows), len(holders & set(rows))) for rows in gathered(groups))
            seen[release] += 1
            held[release].update(holders)
    return [
        (max(held[release][row] for row in rows) / times, occurrences / len(rows))
        for release, times in seen.items()
        for rows, occurrences in release
    ]


@pytest.mark.parametrize(("p", "n", "count"), [(2, 5, 2), (2, 6, 1), (2, 6, 2), (2, 6, 3), (3, 6, 1), (3, 6, 2)])
def test_in_a_block_every_member_is_as_likely_as_the_next(p, n, count):
    found = posteriors(n, p, count, ONE_BLOCK, lambda n: permutations(range(n)))
    assert found
    for largest, fair in found:
        assert largest == pytest.approx(fair)
        assert fair <= 1 / p


@pytest.mark.parametrize(("p", "n", "count"), [(2, 4, 1), (2, 4, 2), (2, 8, 2), (4, 8, 1), (4, 8, 2), (4, 16, 3)])
def test_neither_cutting_nor_folding_tells_who_holds_the_item(p, n, count):
    # blocks of one group: what is published depends on nothing but who holds the item
    found = posteriors(n, p, count, 1, lambda n: [range(n)])
    assert found
    for largest, fair in found:
        assert largest == pytest.approx(fair)
        assert fair <= 1 / p


@pytest.mark.parametrize(("p", "count"), [(2, 5), (4, 3), (4, 4)])
def test_each_cell_of_a_folded_block_is_as_likely_to_hold_the_item(p, count):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 5, 16)
    seen: dict[int, Counter] = defaultdict(Counter)
    for chosen in combinations(range(16), count):
        for _ in range(4):
            groups, cells = grouped(set(chosen), rng.random(16), lengths, p, 2)
            for rows in gathered(groups):
                held = [row for row in rows if row in chosen]
                parts = sorted({cells[row] for row in rows})
                shares = {sum(cells[row] == part for row in rows) for part in parts}
                if len(held) == 1 and len(parts) > 1 and len(shares) == 1:
                    seen[len(parts)][parts.index(cells[held[0]])] += 1
    assert 2 in seen
    for parts, found in seen.items():
        for part in range(parts):
            assert found[part] * parts / found.total() == pytest.approx(1, abs=0.08)


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


@given(
    held=st.lists(st.booleans(), min_size=1, max_size=60),
    lengths=st.lists(st.integers(1, 4), min_size=60, max_size=60),
    p=st.integers(2, 4),
    most=st.sampled_from([2, 4, 8]),
)
@settings(max_examples=150)
def test_blocks_and_cells_are_those_of_the_textbook(held, lengths, p, most):
    n, block = len(held), 2
    assume(sum(held) * p <= n)
    leaves = 1
    while 2 * leaves * p * block <= n:
        leaves *= 2

    def good(*parts: list[int]) -> bool:
        rows = [row for part in parts for row in part]
        return sum(held[row] for row in rows) * p <= len(rows)

    def cut(low: int, high: int) -> list[list[int]]:
        middle = (low + high + 1) // 2
        first, second, last = (at * n // leaves for at in (low, middle, high))
        halves = [list(range(first, second)), list(range(second, last))]
        if high - low == 1:
            return [list(range(first, last))]
        if good(halves[0]) and good(halves[1]):
            return cut(low, middle) + cut(middle, high)
        return fold([sorted(half, key=lambda row: lengths[row]) for half in halves])

    def fold(cells: list[list[int]]) -> list[list[int]]:
        size = min(map(len, cells))
        if size * len(cells) < 2 * p * block:
            return cells
        short, long = [cell[: size // 2] for cell in cells], [cell[size // 2 :] for cell in cells]
        if good(*short) and good(*long):
            return fold(short) + fold(long)
        return fold(short + long) if 2 * len(cells) <= min(p, most) else cells

    holders = {row for row in range(n) if held[row]}
    groups, cells = grouped(holders, np.random.default_rng(0).random(n), lengths[:n], p, block, most)
    assert sorted(gathered(cells)) == sorted(sorted(cell) for cell in cut(0, leaves) if cell)
    for rows in gathered(groups):
        assert sum(held[row] for row in rows) * p <= len(rows)


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
