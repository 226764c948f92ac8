"""Re-identification with m known items, compared with counting by hand."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import triu

import anonset
from anonset import ParameterError, Transactions
from anonset.assess.risk import singled_out
from anonset.assess.risk.summary import wilson

BASKETS = [["wine", "bread"], ["wine", "bread"], ["bread", "beer"], ["beer"]]

databases = st.lists(st.frozensets(st.integers(0, 7), max_size=6), min_size=1, max_size=14)


def brute_force(sets, m):
    """For each transaction of at least m items, the sizes of the candidate sets of all its m-subsets."""
    return {
        i: [sum(known <= other for other in sets) for known in map(frozenset, combinations(sorted(own), m))]
        for i, own in enumerate(sets)
        if len(own) >= m
    }


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def random_sets(seed, n=300, items=40, longest=9):
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, items + 1)
    return [
        frozenset(random.choice(items, random.integers(1, longest + 1), replace=False, p=weights / weights.sum()))
        for _ in range(n)
    ]


@given(databases, st.integers(1, 6))
def test_counted_risk_equals_brute_force(sets, m):
    risk = singled_out([map(str, own) for own in sets], m)
    sizes = brute_force(sets, m)
    assert risk.exact
    assert risk.interval == (risk.share, risk.share)
    assert risk.attacked == len(sizes)
    assert risk.too_short == len(sets) - len(sizes)
    assert risk.share == pytest.approx(mean(mean(s == 1 for s in own) for own in sizes.values()))
    assert risk.expected_candidates == pytest.approx(mean(mean(own) for own in sizes.values()))
    assert risk.success == pytest.approx(mean(mean(1 / s for s in own) for own in sizes.values()), abs=1e-8)
    assert risk.smallest_candidates == min((min(own) for own in sizes.values()), default=0)
    for i, own in sizes.items():
        assert risk.scores[i] == pytest.approx(mean(s == 1 for s in own))
    assert np.isnan(risk.scores[[i for i in range(len(sets)) if i not in sizes]]).all()


@given(databases, st.integers(1, 4), st.integers(1, 3))
def test_an_attacker_who_knows_absent_items_equals_brute_force(sets, m, absent):
    data = Transactions.from_lists([map(str, own) for own in sets])
    by_frequency = [int(data.labels[int(i)].as_py()) for i in np.argsort(-data.item_counts, kind="stable")]
    risk = singled_out(data, m, absent=absent)
    shares = []
    for own in sets:
        lacking = [item for item in by_frequency if item not in own][:absent]
        candidates = [other for other in sets if not other.intersection(lacking)]
        subsets = [frozenset(known) for known in combinations(sorted(own), m)]
        if subsets:
            shares.append(mean(sum(known <= other for other in candidates) == 1 for known in subsets))
    assert risk.share == pytest.approx(mean(shares))


@pytest.mark.parametrize("attacker", ["rarest", "frequent"])
def test_an_attacker_with_preferences_learns_items_by_their_frequency(attacker):
    sets = random_sets(1)
    data = Transactions.from_lists([map(str, own) for own in sets])
    counts = dict(zip(data.labels.to_pylist(), data.item_counts.tolist(), strict=True))
    code = {label: i for i, label in enumerate(data.labels.to_pylist())}
    sign = 1 if attacker == "rarest" else -1
    singled = []
    for own in sets:
        known = set(sorted(map(str, own), key=lambda item: (sign * counts[item], sign * code[item]))[:3])
        if len(known) == 3:
            singled.append(sum(known <= set(map(str, other)) for other in sets) == 1)
    assert singled_out(data, 3, attacker).share == pytest.approx(mean(singled))


def test_given_items_are_learnt_in_the_order_given():
    risk = singled_out(BASKETS, 1, "given", items=["beer", "wine"])
    assert risk.attacked == 4
    assert risk.expected_candidates == 2
    assert singled_out(BASKETS, 1, "given", items=["bread"]).attacked == 3


def test_only_the_items_named_can_become_known():
    assert singled_out(BASKETS, 2, items=["beer", "bread"]).attacked == 1


def test_sensitive_items_are_not_what_an_attacker_knows():
    data = Transactions.from_lists(BASKETS, sensitive=["beer"])
    assert singled_out(data, 1).expected_candidates == pytest.approx((2.5 + 2.5 + 3) / 3)
    with pytest.raises(ParameterError, match="known name"):
        singled_out(data, 1, items=["cheese"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("m", [2, 4])
def test_sampling_covers_the_exact_share_within_its_interval(seed, m):
    data = Transactions.from_lists([map(str, own) for own in random_sets(seed)])
    exact = singled_out(data, m)
    for samples in (200, 20_000):
        drawn = singled_out(data, m, subsets=0, samples=samples, seed=seed, confidence=0.999)
        assert not drawn.exact
        assert drawn.sampled == drawn.attacked
        assert drawn.interval[0] <= exact.share <= drawn.interval[1]
        assert drawn.interval[0] < drawn.share < drawn.interval[1]


def test_counting_what_is_countable_narrows_the_interval():
    sets = [*random_sets(3), *(frozenset(range(start, start + 60)) for start in range(10))]
    data = Transactions.from_lists([map(str, own) for own in sets])
    exact = singled_out(data, 3, subsets=10**9)
    mixed = singled_out(data, 3, subsets=100_000, confidence=0.999, seed=1)
    drawn = singled_out(data, 3, subsets=0, samples=20_000, confidence=0.999, seed=1)
    assert exact.exact
    assert 0 < mixed.sampled <= 10
    assert mixed.interval[0] <= exact.share <= mixed.interval[1]
    assert mixed.interval[1] - mixed.interval[0] < drawn.interval[1] - drawn.interval[0]


@pytest.mark.parametrize("subsets", [0, 10**9])
def test_the_answer_does_not_depend_on_the_number_of_threads(subsets):
    data = Transactions.from_lists([map(str, own) for own in random_sets(7, n=2_000)])
    one, two, many = (singled_out(data, 3, subsets=subsets, seed=5, threads=t) for t in (1, 2, 7))
    assert one.to_dict() == two.to_dict() == many.to_dict()
    np.testing.assert_array_equal(one.scores, many.scores)


def test_frequent_items_are_counted_as_rare_ones_are():
    """Items in more than 1 of 32 transactions take another way through the counting."""
    sets = random_sets(11, n=400, items=300)
    data = Transactions.from_lists([map(str, own) for own in sets])
    assert (data.item_counts * 32 > len(data)).any()
    assert (data.item_counts * 32 <= len(data)).any()
    sizes = brute_force(sets, 2)
    drawn = singled_out(data, 2, subsets=0, samples=50_000, seed=1, confidence=0.9999)
    assert drawn.interval[0] <= mean(mean(s == 1 for s in own) for own in sizes.values()) <= drawn.interval[1]
    assert drawn.expected_candidates == pytest.approx(mean(mean(own) for own in sizes.values()), rel=0.05)


def test_no_transactions_no_risk():
    for attacker in ("random", "rarest"):
        risk = singled_out(Transactions.from_lists([]), 2, attacker)
        assert (risk.share, risk.attacked) == (0, 0)


def test_a_very_long_transaction_is_sampled():
    data = Transactions.from_lists([map(str, range(5_000)), map(str, range(2_500, 7_500))])
    risk = singled_out(data, 6, subsets=10**18)
    assert risk.sampled == 2
    assert risk.share == pytest.approx(1 - 1 / 2**6, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 0}, "'m' must be between 1 and 6. Got 0"),
        ({"m": 7}, "'m' must be between 1 and 6. Got 7"),
        ({"m": 2, "attacker": "rare"}, "Did you mean"),
        ({"m": 2, "attacker": "given"}, "'items' must name"),
        ({"m": 2, "absent": 65}, "'absent' must be between 0 and 64"),
        ({"m": 2, "confidence": 1.0}, "'confidence' must be between 0 and 1"),
    ],
)
def test_wrong_arguments_are_explained(arguments, message):
    with pytest.raises(ParameterError, match=message):
        singled_out(BASKETS, **arguments)


def test_wilson_interval_of_a_textbook_example():
    low, high = wilson(0.1, 10, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.0179, 0.4042)
    assert wilson(0.0, 100, 0.95)[0] == 0
    assert math.isclose(wilson(1.0, 100, 0.95)[1], 1.0)


@pytest.mark.parametrize(("name", "share"), [("BMS-WebView-1", 0.0104673), ("BMS-WebView-2", 0.1015384)])
def test_two_items_on_real_data_single_out_what_a_matrix_product_says(real_data, name, share):
    """A pair that occurs once is a 1 in AᵀA; a transaction's share of such pairs is its score."""
    data = anonset.read(real_data(f"{name}.dat.gz"))
    matrix = data.to_scipy().astype(np.int32)
    once = triu(matrix.T @ matrix, k=1).tocsr()
    once.data = (once.data == 1).astype(np.int32)
    unique = np.asarray((matrix @ once).multiply(matrix).sum(axis=1)).reshape(-1)
    pairs = data.lengths * (data.lengths - 1) / 2
    risk = singled_out(data, 2)
    assert risk.exact
    assert risk.share == pytest.approx(share, abs=1e-6)
    np.testing.assert_allclose(risk.scores[pairs > 0], unique[pairs > 0] / pairs[pairs > 0])
