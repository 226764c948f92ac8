"""Values that were raised above what anchors say are still feasible, for every group of k or more."""

import random
from dataclasses import replace

import numpy as np
import pytest

from anonset import Transactions
from anonset.assess.bound import settings as constants
from anonset.assess.bound.problem import problem_of, rounded
from anonset.assess.bound.search import by_pairs, lower_bound
from anonset.data.job import Job
from tests.oracle.optimum import cheapest_group, optimum
from tests.oracle.test_anchors import prices_for, random_problem

PLENTY = 10**7


def incremented(problem, values, target, prices, budget=PLENTY, threads=1):
    return problem.incremented(values, target, prices, budget, Job(0, threads))


def anchored(problem, prices):
    return rounded(problem.at_least(prices, np.arange(len(prices)), 10**6, Job(0))[0])


def raised(values, draw, most):
    """A target that is too high, too low or just right, by odd amounts."""
    steps = [-1, 0, 0, 1 / 16, 1 / 8, 0.3, 0.5, 1, 2]
    target = rounded(values + np.array([draw.choice(steps) for _ in values]))
    return np.minimum(target, np.maximum(np.minimum(values, target), rounded(most)))


def test_no_group_loses_less_than_its_values_whatever_the_target_and_the_effort():
    draw, kept, asked = random.Random(1), 0.0, 0.0
    for _ in range(600):
        problem = random_problem(draw)
        prices = rounded(prices_for(problem, draw))
        values = anchored(problem, prices)
        wise = draw.random() < 0.7  # else some save enough in any group
        most = (problem.sets.lengths + wise * prices) / (1 + wise)
        target, budget = raised(values, draw, most), draw.choice([0, 30, 300, 3_000, PLENTY, PLENTY])
        found = incremented(problem, values, target, prices, budget)
        assert (found <= target).all()
        assert cheapest_group(problem, found) >= -1e-9
        if wise and budget == PLENTY:
            below = problem.total(np.minimum(values, target))
            kept += problem.total(found) - below
            asked += problem.total(target) - below
    assert kept > 0.2 * asked, "some of the increments were feasible"


def test_a_part_of_an_increment_is_kept_where_the_whole_takes_too_long():
    """With ever more steps allowed around each set the sum of the values never falls, and some are in between."""
    draw, between = random.Random(7), 0
    for _ in range(20):
        rows = [draw.sample(range(14), draw.randint(3, 8)) for _ in range(60)]
        problem = problem_of(Transactions.from_lists(rows), 4)
        prices = by_pairs(problem, 3, Job(0))[1]
        values = anchored(problem, prices)
        target = rounded(np.minimum(values + 0.5, np.maximum(values, (problem.sets.lengths + prices) / 2)))
        found = incremented(problem, values, target, prices, 2_000) - values
        between += ((found > 0) & (found < np.floor((target - values) * 32) / 32)).sum()
    assert between > 20


def test_groups_whose_center_holds_items_that_the_anchor_lacks_are_found():
    """Every two of three sets share an item that the third lacks: no set holds the whole center of all three."""
    data = Transactions.from_lists([["a", "b", "x"], ["b", "c", "y"], ["a", "c", "z"]])
    problem = problem_of(data, 3)
    prices = np.full(3, 2.0)
    values = anchored(problem, prices)
    target = rounded(np.full(3, 2.5))
    assert cheapest_group(problem, target) < 0
    found = incremented(problem, values, target, prices)
    assert cheapest_group(problem, found) >= -1e-9
    assert problem.total(found) >= 6 - 3 / 256, "no more is given back than that group asks for"


def best_center(problem, values, items):
    """The most that k sets are worth together at any center of the first items, by looking at all of them."""
    held = np.repeat(problem.sets.to_scipy().toarray().astype(int), problem.weights, axis=0)
    centers = np.zeros((1 << items, held.shape[1]), dtype=int)
    centers[:, :items] = np.arange(1 << items)[:, None] >> np.arange(items) & 1
    worths = np.repeat(values, problem.weights) - (held @ (1 - 2 * centers.T)).T - centers.sum(axis=1)[:, None]
    return float(np.sort(worths, axis=1)[:, -problem.k :].sum(axis=1).max())


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10])
def test_no_group_of_many_sets_loses_less_than_its_values(k):
    draw = random.Random(k)
    for _ in range(4):
        sets = [draw.sample(range(11), draw.choice([1, 2, 2, 3, 3, 4, 5])) for _ in range(500)]
        problem = problem_of(Transactions.from_lists(sets), k)
        problem = replace(problem, weights=np.minimum(problem.weights, 2))
        prices = by_pairs(problem, 3, Job(0))[1]
        values = anchored(problem, prices)
        assert best_center(problem, values, 11) <= 1e-9
        target = raised(values, draw, (problem.sets.lengths + prices) / 2)
        assert best_center(problem, target, 11) > 0
        found = incremented(problem, values, target, prices, draw.choice([1_000, 30_000, PLENTY]))
        assert best_center(problem, found, 11) <= 1e-9


def test_failing_groups_are_found_around_the_only_set_that_was_raised():
    """Nobody else would find them; many keep items that it lacks."""
    failed = 0
    for seed in range(200, 300):
        draw = random.Random(seed)
        items, k, count = draw.choice([7, 9, 11]), draw.choice([3, 3, 4, 4, 5, 6, 7, 9, 10]), draw.choice([30, 60, 200])
        sizes = draw.choice([[1, 2, 2, 3, 3, 4, 5], [2, 3, 4, 5, 6], [1, 1, 2, 6], [3, 4], [4, 5, 6, 7]])
        steep = draw.choice([0, 0.5, 1])
        often = [1 / (item + 1) ** steep for item in range(items)]
        sets = [set(draw.choices(range(items), often, k=draw.choice(sizes))) for _ in range(count)]
        problem = problem_of(Transactions.from_lists(sets), k)
        problem = replace(problem, weights=np.minimum(problem.weights, draw.choice([1, 2])))
        if problem.weights.sum() < k:
            continue
        prices = by_pairs(problem, 3, Job(0))[1]
        values, items = anchored(problem, prices), problem.sets.n_items
        limits = np.maximum(values, (problem.sets.lengths + prices) / 2)
        for _ in range(4):
            target = values.copy()
            for one in draw.sample(range(len(values)), min(len(values), draw.choice([1, 1, 2, 4]))):
                target[one] = min(values[one] + draw.choice([0.2, 0.4, 0.8, 1.5, 3]), limits[one])
            target = rounded(target)
            failed += best_center(problem, target, items) > 1e-9
            found = incremented(problem, values, target, prices)
            assert best_center(problem, found, items) <= 1e-9
    assert failed > 100


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_those_who_help_are_found_behind_many_others_who_ask_less(shared):
    """More than are looked at first: two hundred help for nothing, who share nothing or little with anybody."""
    failed = 0
    for seed in range(150):
        draw = random.Random(seed)
        few = [set(draw.sample("abcdef", draw.randint(1, 4))) for _ in range(draw.randint(4, 9))]
        strangers = [str(number) for number in range(200)]
        many = [{each, *"ab"[:shared]} for each in strangers]
        problem = problem_of(
            Transactions.from_lists(few + many, labels=[*"abcdef", *strangers]), draw.choice([3, 3, 4, 5])
        )
        lengths = problem.sets.lengths
        strange = np.maximum.reduceat(problem.sets.items, problem.sets.offsets[:-1]) >= 6
        cheap = lengths - draw.choice([0, 0.5])
        prices = np.where(strange, cheap, [draw.choice([0.2, 0.4, 0.6, 0.8]) * each for each in lengths])
        prices = rounded(prices)
        values = anchored(problem, prices)
        increments = np.where(strange, 0.0, [draw.choice([0, 0, 0.25, 0.5, 1]) for _ in lengths])
        target = np.minimum(values + increments, np.maximum(values, rounded((lengths + prices) / 2)))
        failed += best_center(problem, target, 6) > 1e-9
        found = incremented(problem, values, target, prices)
        assert best_center(problem, found, 6) <= 1e-9
    assert failed > 80


def test_groups_are_found_that_keep_more_items_than_fit_a_word():
    """Too few sets for a group share eighty items that the others lack, and only those others are raised."""
    failed = 0
    for seed in range(150):
        draw = random.Random(seed)
        k, many = draw.choice([3, 4, 5]), [str(number) for number in range(90)]
        long = [{"x", "y", *draw.sample(many, draw.choice([85, 88, 90]))} for _ in range(k - 1)]
        short = [{"x", *draw.sample("yzw", draw.randint(1, 3))} for _ in range(draw.randint(1, 3))]
        far = [set(draw.sample("pqrst", draw.randint(2, 4))) for _ in range(draw.randint(0, 3))]
        problem = problem_of(Transactions.from_lists(long + short + far), k)
        lengths = problem.sets.lengths
        prices = by_pairs(problem, draw.choice([2, 4, 6]), Job(0))[1]
        values = anchored(problem, prices)
        increments = np.where(lengths > 64, 0.0, [draw.choice([0, 0.5, 1, 2]) for _ in lengths])
        target = rounded(np.minimum(values + increments, np.maximum(values, (lengths + prices) / 2)))
        failed += cheapest_group(problem, target) < -1e-9
        found = incremented(problem, values, target, prices)
        assert cheapest_group(problem, found) >= -1e-9
    assert failed > 30


def test_what_is_too_long_to_be_searched_gives_back_its_increment():
    """Sets of more than 64 items that others share: a group of them fails at the target, and nobody looks for it."""
    failed = 0
    for seed in range(50):
        draw = random.Random(seed)
        k, many = draw.choice([3, 4, 5]), [str(number) for number in range(90)]
        sets = [set(draw.sample(many, draw.choice([85, 88, 90]))) for _ in range(k + draw.randint(0, 2))]
        problem = problem_of(Transactions.from_lists(sets), k)
        prices = by_pairs(problem, 4, Job(0))[1]
        values = anchored(problem, prices)
        target = rounded(np.minimum(values + 3, (problem.sets.lengths + prices) / 2))
        failed += cheapest_group(problem, target) < -1e-9
        found = incremented(problem, values, target, prices)
        assert (found <= values).all()
        assert cheapest_group(problem, found) >= -1e-9
    assert failed > 30


def test_no_more_is_given_back_than_failing_groups_are_worth():
    """A single group, which is the whole data: its members give back just what they have too much."""
    for seed in range(100):
        draw = random.Random(seed)
        k = draw.choice([2, 3, 5])
        sets = [set(draw.sample("abcdefg", draw.randint(1, 5))) for _ in range(k)]
        problem = problem_of(Transactions.from_lists([sorted(each) for each in sets]), k)
        prices = rounded(prices_for(problem, draw))
        values = anchored(problem, prices)
        target = np.maximum(values, problem.sets.lengths / 2)
        found = incremented(problem, values, target, prices)
        assert problem.total(found) <= optimum(sets, k) + 1e-9
        assert problem.total(found) >= min(optimum(sets, k), problem.total(target)) - k / 256


def test_the_values_do_not_depend_on_the_number_of_threads():
    draw = random.Random(3)
    sets = [draw.sample(range(40), draw.randint(1, 12)) for _ in range(400)]
    problem = problem_of(Transactions.from_lists(sets), 5)
    prices = by_pairs(problem, 3, Job(0))[1]
    values = anchored(problem, prices)
    target = np.minimum(values + 0.25, problem.sets.lengths)
    one, many = (incremented(problem, values, target, prices, 100_000, threads) for threads in (1, 3))
    assert (one == many).all()
    assert ((one > values) & (one < target)).any()


@pytest.mark.filterwarnings("error")
def test_long_transactions_that_hardly_overlap_get_a_higher_bound(monkeypatch):
    draw = random.Random(4)
    items = list(range(300))
    sets = [draw.choices(items, [1 / (i + 1) for i in items], k=draw.randint(4, 30)) for _ in range(300)]
    data = Transactions.from_lists([sorted(set(each)) for each in sets] + [[]])  # an empty one is nothing to divide by
    monkeypatch.setattr(constants, "FAR", 1)
    assert lower_bound(data, 5).loss > 1.005 * lower_bound(data, 5, rounds=0).loss


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_no_partition_beats_the_bound_with_increments(monkeypatch, k):
    monkeypatch.setattr(constants, "FAR", 0)
    monkeypatch.setattr(constants, "SPARSE", 2)  # all data count as sparse
    monkeypatch.setattr(constants, "INCREMENT", 2.0)
    draw = random.Random(k)
    for _ in range(60):
        sets = [set(draw.sample("abcdefghij", draw.randint(1, 7))) for _ in range(7)]
        assert lower_bound(Transactions.from_lists(sets), k).loss <= optimum(sets, k) + 1e-9
