"""The lower bound is a lower bound: never above the true optimum, and often close to it."""

import gzip
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import InfeasibleError, Transactions, _native
from anonset.job import Job
from anonset.utility.bound import lower_bound
from tests.oracle.optimum import optimum

TINY = st.lists(st.sets(st.sampled_from("abcdef"), max_size=5), min_size=4, max_size=7)


@settings(max_examples=300)
@given(TINY, st.integers(2, 4))
def test_no_partition_beats_the_bound(sets, k):
    assert lower_bound(Transactions.from_lists(sets), k).loss <= optimum(sets, k) + 1e-9


def test_the_bound_is_within_a_third_of_the_optimum_on_average():
    draw = random.Random(7)
    shares = []
    for _ in range(150):
        sets = [set(draw.sample("abcdefgh", draw.randint(1, 5))) for _ in range(7)]
        shares.append(lower_bound(Transactions.from_lists(sets), 2).loss / optimum(sets, 2))
    assert np.mean(shares) > 0.67
    assert max(shares) <= 1 + 1e-9


@given(TINY, st.integers(2, 4), st.booleans(), st.randoms())
def test_a_sweep_equals_the_sum_over_all_pairs(sets, k, dense, draw):
    distinct = [set(s) for s in dict.fromkeys(map(frozenset, sets))]
    data = Transactions.from_lists(distinct)
    weights = np.array([draw.randint(1, 3) for _ in distinct])
    prices = np.array([draw.random() * len(s) for s in distinct])
    job, everything = Job(seed=0), np.arange(len(distinct))
    best, penalty = _native.dual_sweep(
        data.offsets, data.items, weights, prices, data.n_items, k, everything, dense, job.monitor, 2
    )
    expected = np.zeros(len(distinct))
    for u, v in combinations(range(len(distinct)), 2):
        slack = max(0.0, prices[u] + prices[v] - len(distinct[u] ^ distinct[v]))
        expected[u] += weights[v] * slack
        expected[v] += weights[u] * slack
    assert np.allclose(penalty, expected)
    assert np.allclose(best, [best_price(u, distinct, weights, prices, k) for u in everything])


def best_price(u, sets, weights, prices, k):
    """The price at which the offers of the other sets, cheapest first, make up the k copies that u needs."""
    if weights[u] >= k:
        return 0.0
    offers = sorted((len(sets[u] ^ sets[v]) - prices[v], weights[v]) for v in range(len(sets)) if v != u)
    held = weights[u]
    for value, weight in offers:
        held += weight
        if held >= k:
            return min(max(0.0, value), len(sets[u]))
    return float(len(sets[u]))


@pytest.mark.parametrize("k", [2, 3])
def test_identical_transactions_lose_nothing(k):
    assert lower_bound(Transactions.from_lists([["a", "b"]] * 6), k).loss == 0


def test_too_few_transactions_are_infeasible():
    with pytest.raises(InfeasibleError, match="'k' must be at most"):
        lower_bound(Transactions.from_lists([["a"]]), 2)


def test_the_known_bounds_of_public_data(real_data):
    with gzip.open(real_data("chess.dat.gz"), "rt") as lines:
        data = Transactions.from_lists([line.split() for line in lines])
    assert lower_bound(data, 5).ratio == pytest.approx(0.0369, abs=2e-4)
    assert lower_bound(data, 20).ratio == pytest.approx(0.0636, abs=2e-4)
