"""The kernels of PTA give exactly what the textbook version gives: orders, tours, groups and centers."""

from __future__ import annotations

from itertools import chain, combinations, pairwise

import numpy as np
import pyarrow.compute as pc
import pytest

from anonset import Transactions, _native
from anonset.data.job import Job
from anonset.methods import pta
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import gray_keys, gray_order
from anonset.methods.steps.order.tour import prim_tours
from anonset.models import model
from tests.oracle import pta as oracle

SHAPES = ["sparse", "dense", "skewed", "duplicates", "sizes"]


def random_sets(seed: int, shape: str, n: int | None = None) -> tuple[list[frozenset[int]], int]:
    """Sets of many shapes, some of them empty, and the number of items."""
    rng = np.random.default_rng([seed, len(shape)])
    n = int(rng.integers(2, 70)) if n is None else n
    d = int(rng.integers(1, 90))
    chance = {
        "sparse": np.full((n, d), 0.06),
        "dense": np.full((n, d), 0.6),
        "skewed": np.broadcast_to(0.9 / np.arange(1, d + 1), (n, d)),
        "duplicates": np.full((n, d), 0.3),
        "sizes": np.broadcast_to(rng.random((n, 1)) ** 3, (n, d)),
    }[shape]
    bits = rng.random((n, d)) < chance
    if shape == "duplicates":
        bits = bits[rng.integers(0, max(1, n // 4), n)]
    return [frozenset(np.flatnonzero(row).tolist()) for row in bits], d


def as_transactions(sets: list[frozenset[int]], d: int) -> Transactions:
    return Transactions.from_lists(sets, labels=[str(i) for i in range(d)])


# --- Gray order ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", range(9))
def test_gray_order_of_all_sets_is_that_of_their_ranks(d) -> None:
    sets = [frozenset(s) for s in chain.from_iterable(combinations(range(d), size) for size in range(d + 1))]
    data = as_transactions(sets, d)
    order = gray_order(data, Job(), "given")
    assert [oracle.gray_rank(sets[t], d) for t in order] == list(range(2**d))
    assert np.array_equal(pc.sort_indices(gray_keys(data, "given")), order)


@pytest.mark.parametrize("item_order", ["frequency", "given"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_gray_order_and_keys(seed, shape, item_order) -> None:
    sets, d = random_sets(seed, shape)
    data = as_transactions(sets, d)
    expected = oracle.gray_order(sets, d, item_order)
    assert gray_order(data, Job(threads=1 + seed % 4), item_order).tolist() == expected
    assert pc.sort_indices(gray_keys(data, item_order)).to_pylist() == expected


@pytest.mark.parametrize("d", [254, 255, 256, 65_534, 65_535, 70_000, 2**24 - 2, 2**24])
def test_gray_tokens_of_every_width(d) -> None:
    """Around the limits of 1, 2 and 3 bytes; positions at both ends of the domain."""
    rng = np.random.default_rng(d)
    ends = np.array([0, 1, d - 2, d - 1])
    sets = [frozenset(rng.choice(ends, size).tolist()) for size in (0, 1, 1, 2, 2, 3, 4, 4)]
    sets += [frozenset(rng.integers(0, d, size).tolist()) for size in (5, 20)]
    offsets = np.concatenate(([0], np.cumsum([len(s) for s in sets])))
    items = np.array([i for s in sets for i in sorted(s)], dtype=np.int32)
    ranks = np.arange(d, dtype=np.int32)
    expected = sorted(range(len(sets)), key=lambda t: sparse_rank(sets[t], d))
    assert _native.gray_order(offsets, items, ranks, 1, Job().monitor).tolist() == expected
    bounds, content = _native.gray_keys(offsets, items, ranks)
    keys = [content[a:b].tobytes() for a, b in pairwise(bounds)]
    assert sorted(range(len(sets)), key=lambda t: keys[t]) == expected


def sparse_rank(items: frozenset[int], d: int) -> int:
    """The Gray rank as a number: bit by bit the parity of the items so far, which flips at each item."""
    places = [*sorted(items), d]
    ones = [range(a, b) for a, b in zip(places[:-1:2], places[1::2], strict=False)]
    return sum((1 << (d - run.start)) - (1 << (d - run.stop)) for run in ones)


def test_the_sparse_rank_is_the_rank() -> None:
    for seed in range(50):
        items = frozenset(np.flatnonzero(np.random.default_rng(seed).random(12) < 0.4).tolist())
        assert sparse_rank(items, 12) == oracle.gray_rank(items, 12)


# --- tours -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_tours(seed, shape) -> None:
    """Every start counts: the tours of the kernel are those of the plain version, and so are their lengths."""
    sets, d = random_sets(seed, shape)
    data = as_transactions(sets, d)
    order = np.random.default_rng(seed).permutation(len(sets))
    bounds = np.unique([0, len(sets) // 3, len(sets) // 2, len(sets)])
    loops, lengths = prim_tours(data, order, bounds, Job(threads=1 + seed % 4))
    for s in range(len(bounds) - 1):
        segment = order[bounds[s] : bounds[s + 1]].tolist()
        loop, length = oracle.prim_tsp([sets[t] for t in segment])
        assert loops[bounds[s] : bounds[s + 1]].tolist() == [segment[v] for v in loop]
        assert lengths[s] == length


@pytest.mark.parametrize("n", [128, 129])
def test_tours_around_the_size_where_sets_become_signs(n) -> None:
    sets, d = random_sets(n, "sparse", n)
    loop, length = oracle.prim_tsp(sets)
    loops, lengths = prim_tours(as_transactions(sets, d), np.arange(n), np.array([0, n]), Job())
    assert loops.tolist() == loop
    assert lengths.tolist() == [length]


def test_tours_of_segments_so_large_that_threads_share_one() -> None:
    """No oracle is that fast: every number of threads must agree, and with the segment's every start by itself."""
    sets, d = random_sets(5, "skewed", 700)
    data = as_transactions(sets, d)
    tours = [prim_tours(data, np.arange(700), np.array([0, 700]), Job(threads=t)) for t in (1, 2, 3)]
    for loops, lengths in tours[1:]:
        assert np.array_equal(loops, tours[0][0])
        assert np.array_equal(lengths, tours[0][1])
    loop = tours[0][0].tolist()
    assert loop == oracle.loop_from(loop[0], sets)[0]
    assert tours[0][1][0] == sum(oracle.hd(sets[a], sets[b]) for a, b in zip(loop, loop[1:] + loop[:1], strict=True))
    assert all(tours[0][1][0] <= oracle.loop_from(start, sets)[1] for start in range(0, 700, 100))


@pytest.mark.parametrize("longest", [400, 2_047, 2_048, 100_000])
def test_tours_where_distances_need_wider_keys(longest) -> None:
    """Eleven nodes take 4 bits of a key; twice the longest transaction must fit the rest of 16, or else of 32."""
    sets = [frozenset(range(0, longest, step)) for step in (1, 2, 3, 500)]
    sets += [frozenset(range(1, longest, 2)), frozenset(range(longest // 2)), frozenset()]
    sets += sets[:4]
    loop, length = oracle.prim_tsp(sets)
    loops, lengths = prim_tours(as_transactions(sets, longest), np.arange(11), np.array([0, 11]), Job())
    assert loops.tolist() == loop
    assert lengths.tolist() == [length]


def test_tours_where_distances_need_the_widest_keys() -> None:
    """600 nodes take 10 bits, which leaves 22 of 32 for a distance: 2.2 million is too much."""
    longest = 2_200_000
    offsets = np.concatenate((np.arange(600), [599 + longest]))
    items = np.concatenate((np.arange(599), np.arange(longest))).astype(np.int32)
    loops, lengths = _native.prim_tours(offsets, items, np.arange(600), np.array([0, 600]), longest, 2, Job().monitor)
    assert sorted(loops.tolist()) == list(range(600))
    assert lengths.tolist() == [2 * 598 + 2 * (longest - 1)]


# --- windows and the whole method ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 12))
@pytest.mark.parametrize("shape", SHAPES)
def test_window_groups_of_any_loop(shape, k) -> None:
    """Also on loops that are no good: the order of the tour must not matter to the windows."""
    for seed in range(4):
        sets, d = random_sets(seed, shape, k + 7 * seed)
        loop = np.random.default_rng(seed).permutation(len(sets))
        chosen, left = oracle.classes(loop.tolist(), sets, k)
        groups, voters = window_groups(as_transactions(sets, d), loop, np.array([0, len(sets)]), k, Job())
        assert [sorted(group.tids) for group in chosen] == [
            np.flatnonzero(groups == g).tolist() for g in range(len(chosen))
        ]
        assert set(np.flatnonzero(~voters).tolist()) == left


@pytest.mark.parametrize("k", range(2, 12))
@pytest.mark.parametrize("segments", [1, 2, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_pta(shape, segments, k) -> None:
    """Groups and centers, faithful and with the leftovers' votes; the release passes the model's check."""
    seed = 100 * k + segments
    sets, d = random_sets(seed, shape, k + seed % 60)
    data = as_transactions(sets, d)
    item_order = "given" if seed % 2 else "frequency"
    for revote in (False, True):
        params = {"k": k, "segments": segments, "item_order": item_order, "revote": revote}
        expected = [frozenset[int]()] * len(sets)
        for group in oracle.pta(sets, d, **params):
            for t in group.tids:
                expected[t] = group.center
        draft = pta.run(data, Job(threads=1 + seed % 3), **params)
        published = [frozenset(map(int, items)) for items in draft.release.transactions]
        assert published == expected
        assert model("k-anonymity", k=k).check(draft.release).holds
