"""What anchors say is true for every group, and as much as their definition promises."""

import random
from itertools import combinations

import numpy as np
import pytest

from anonset import Transactions, _native
from anonset.assess.bound import settings as constants
from anonset.assess.bound.problem import problem_of
from anonset.assess.bound.search import by_anchors, by_pairs, lower_bound
from anonset.data.job import Job
from tests.oracle.optimum import cheapest_group, group_loss, optimum

CLOSE = 1 / 64  # of an item: the search ends where less is at stake


def values_of(problem, prices, budget, threads=1):
    """Sets come by rising |set| − price, as the kernel wants them."""
    order = np.argsort(problem.sets.lengths - prices, kind="stable")
    sets, values = problem.sets.take(order), np.empty(len(prices))
    values[order], _ = _native.anchor_values(
        sets.offsets,
        sets.items,
        problem.weights[order],
        prices[order],
        sets.n_items,
        problem.k,
        np.arange(len(sets)),
        budget,
        Job(0).monitor,
        threads,
    )
    return values


def prices_for(problem, draw):
    return np.array([draw.randint(0, 256 * int(size)) / 256 for size in problem.sets.lengths])


def random_problem(draw, longest=8, most=9):
    items, n = "abcdefgh"[: draw.randint(3, longest)], draw.randint(5, most)
    share, k = draw.random(), draw.randint(2, 5)
    sets = [{item for item in items if draw.random() < share} for _ in range(n)]
    return problem_of(Transactions.from_lists(sets, labels=list(items)), k)


def test_no_group_loses_less_than_its_values_at_any_prices():
    draw = random.Random(1)
    for _ in range(600):
        problem = random_problem(draw)
        values = values_of(problem, prices_for(problem, draw), draw.choice([0, 5, 50, 10**6]))
        assert cheapest_group(problem, values) >= -1e-9


def charge(problem, prices, u):
    """The least that a set is charged in a group of k, by looking at all of them; strangers help for nothing."""
    k, slack = problem.k, (problem.sets.lengths - prices) / 2
    held = problem.sets.to_scipy().toarray().astype(int)
    copies = np.repeat(np.arange(len(held)), problem.weights - (np.arange(len(held)) == u))
    best = float("inf")
    for size in range(min(k, len(copies) + 1)):
        for others in combinations(copies, size):
            counts = held[u] + held[list(others)].sum(axis=0)
            saved = np.maximum(0, 2 - k / np.maximum(counts, 1))[held[u] > 0].sum()
            best = min(best, slack[list(others)].sum() / (k - 1) - saved)
    return float(problem.sets.lengths[u] - slack[u] + best)


def test_values_are_what_their_definition_says():
    draw, missing = random.Random(2), []
    for _ in range(60):
        problem = random_problem(draw, longest=6, most=8)
        prices = prices_for(problem, draw)
        values = values_of(problem, prices, 10**6)
        exact = np.array([charge(problem, prices, u) for u in range(len(values))])
        assert (values <= exact + 1e-9).all()
        missing += (exact - values).tolist()
    assert np.mean(missing) < 0.03
    assert np.mean(np.array(missing) < CLOSE) > 0.7


def test_without_a_search_anchors_say_what_pairs_say_and_never_less():
    draw = random.Random(3)
    for _ in range(200):
        problem = random_problem(draw)
        prices = prices_for(problem, draw)
        pairs, _ = problem.look(prices, np.arange(len(prices)), Job(0))
        assert (values_of(problem, prices, 1) >= pairs - 1e-9).all()
        assert (values_of(problem, prices, 10**6) >= pairs - 1e-9).all()


def violation_at(problem, values, center):
    """Of the k sets that contribute most if these items are published: above 0, the values are not feasible."""
    shared = problem.sets.to_scipy().toarray()[:, center].sum(axis=1)
    contributions = np.repeat(values - problem.sets.lengths - len(center) + 2 * shared, problem.weights)
    return np.sort(contributions)[-problem.k :].sum()


@pytest.mark.parametrize("k", [5, 10, 20])
def test_no_cut_at_few_popular_items_is_violated(k):
    """Too many sets for all groups, but the best centers hold one to three of the items that most sets hold."""
    rng = np.random.default_rng(8)
    chance = 1 / np.arange(1, 401)
    rows = [np.unique(rng.choice(400, rng.integers(1, 9), p=chance / chance.sum())) for _ in range(1500)]
    problem = problem_of(Transactions.from_lists([row.tolist() for row in rows]), k)
    _, prices = by_pairs(problem, 6, Job(0))
    values = by_anchors(problem, prices, Job(0))
    popular = np.argsort(-problem.sets.item_counts)[:12]
    for center in [list(some) for size in (1, 2, 3) for some in combinations(popular, size)]:
        assert violation_at(problem, values, center) <= 1e-9


def test_items_beyond_64_count_as_shared():
    """Nine sets that hardly differ lose little, though each has more items than are decided on."""
    draw = random.Random(4)
    rows = [set(range(100)) - {draw.randrange(100)} for _ in range(9)]
    problem = problem_of(Transactions.from_lists([sorted(row) for row in rows]), 9)
    values = values_of(problem, prices_for(problem, draw), 10**5)
    assert problem.total(values) <= group_loss(rows)
    assert problem.total(values_of(problem, problem.sets.lengths * 0.96, 10**5)) > 0


def test_many_minorities_raise_the_bound_above_pairs():
    """Everybody shares an item with many others, but no two the same: little of it can be kept in a group of ten."""
    rng = np.random.default_rng(5)
    rows = [rng.choice(60, 6, replace=False).tolist() for _ in range(600)]
    data = Transactions.from_lists(rows)
    problem = problem_of(data, 10)
    pairs, _ = by_pairs(problem, 6, Job(0))
    assert problem.sparse
    assert lower_bound(data, 10, rounds=0).loss > 1.1 * problem.total(pairs)


def test_no_partition_beats_anchors_on_sparse_sets():
    draw = random.Random(6)
    for _ in range(300):
        sets = [set(draw.sample("abcdefghijkl", draw.randint(1, 4))) for _ in range(draw.randint(5, 8))]
        problem = problem_of(Transactions.from_lists(sets), draw.randint(2, 4))
        _, prices = by_pairs(problem, 6, Job(0))
        assert problem.total(by_anchors(problem, prices, Job(0))) <= optimum(sets, problem.k) + 1e-9


def test_hard_anchors_are_judged_again_and_stay_true(monkeypatch):
    """With so few steps at first that most searches end too early, and then a few more, or enough."""
    draw, raised = random.Random(9), 0
    monkeypatch.setattr(constants, "ANCHOR_STEPS", 1)
    for _ in range(600):
        problem = random_problem(draw)
        prices, few = prices_for(problem, draw), draw.choice([1, 5, 20])
        monkeypatch.setattr(constants, "LEAST_STEPS", few)
        monkeypatch.setattr(constants, "HARD_STEPS", draw.choice([0, 50, 500, 10**6]))
        values = by_anchors(problem, prices, Job(0, 1))
        assert cheapest_group(problem, values) >= -1e-9
        assert (values >= values_of(problem, prices, few)).all()
        raised += problem.total(values) > problem.total(values_of(problem, prices, few))
    assert raised > 20


@pytest.mark.parametrize("budget", [10, 10**5])
def test_threads_change_nothing(budget):
    rng = np.random.default_rng(7)
    problem = problem_of(Transactions.from_lists([rng.choice(40, 5, replace=False) for _ in range(500)]), 6)
    prices = np.floor(rng.random(len(problem.sets)) * problem.sets.lengths * 256) / 256
    assert (values_of(problem, prices, budget, 1) == values_of(problem, prices, budget, 3)).all()
