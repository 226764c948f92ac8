"""Values that were lifted above what anchors say are still affordable, for every group of k or more."""

import random
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from anonset import Transactions
from anonset.assess.bound import increments
from anonset.assess.bound import search as module
from anonset.assess.bound.search import lower_bound
from anonset.data.job import Job
from tests.oracle.optimum import cheapest_group, optimum
from tests.oracle.test_anchors import prices_for, random_problem

PLENTY = 10**7


def settled(problem, values, target, prices, budget=PLENTY, *, safe=None, job=None):
    safe = np.zeros(len(values)) if safe is None else safe
    return problem.settled(values, target, prices, safe, budget, job or Job(0))


def anchored(problem, prices):
    return module._rounded(problem.at_least(prices, np.arange(len(prices)), 10**6, Job(0))[0])


def lifted(values, problem, draw, most):
    """A target that is too high, too low or just right, by odd amounts."""
    steps = [-1, 0, 0, 1 / 16, 1 / 8, 0.3, 0.5, 1, 2]
    target = module._rounded(values + np.array([draw.choice(steps) for _ in values]))
    return np.minimum(target, np.maximum(np.minimum(values, target), module._rounded(most)))


def test_no_group_loses_less_than_its_values_whatever_the_target_and_the_effort():
    draw, kept, asked, partly = random.Random(1), 0.0, 0.0, 0
    for _ in range(600):
        problem = random_problem(draw)
        prices = module._rounded(prices_for(problem, draw))
        values = anchored(problem, prices)
        wise = draw.random() < 0.7  # else some have enough in any group
        most = (problem.sets.lengths + wise * prices) / (1 + wise)
        target, budget = lifted(values, problem, draw, most), draw.choice([0, 30, 300, 3_000, PLENTY, PLENTY])
        safe = np.array([draw.choice([0, 0, 0.1, 0.5]) for _ in values])
        got = settled(problem, values, target, prices, budget, safe=safe)
        found, lifts = got.values, module._lifts(values, target)
        assert (found <= target).all()
        assert (got.reached <= lifts).all()
        assert cheapest_group(problem, found) >= -1e-9
        partly += ((got.reached > 0) & (got.reached < lifts)).sum()
        if wise and budget == PLENTY:
            assert (got.looks < budget).all()
            assert (got.reached == lifts).all()
            below = problem.total(np.minimum(values, target))
            kept += problem.total(found) - below
            asked += problem.total(target) - below
    assert kept > 0.2 * asked, "some of the lifts were affordable"
    assert partly > 50, "some could be searched with a part of their lifts only"


def test_groups_whose_center_holds_items_that_the_anchor_lacks_are_found():
    """Every two of three sets share an item that the third lacks: no set holds the whole center of all three."""
    data = Transactions.from_lists([["a", "b", "x"], ["b", "c", "y"], ["a", "c", "z"]])
    problem = module._problem(data, 3)
    prices = np.zeros(3)
    values = anchored(problem, prices)
    target = module._rounded(np.full(3, 2.5))
    got = settled(problem, values, target, prices)
    noted = got.failed
    assert cheapest_group(problem, got.values) >= -1e-9
    away = {2}  # from {a, b, c}: each lacks one of these, and has one of its own
    assert any(set(noted.distances[start:end].tolist()) == away for start, end in pairwise(noted.start.tolist()))


def failing(problem, target):
    """The centers of all groups of k that lose less than their values, by looking at all of them."""
    held = problem.sets.to_scipy().toarray().astype(int)
    copies = np.repeat(np.arange(len(held)), problem.weights)
    centers = set()
    for group in combinations(copies, problem.k):
        rows = held[list(group)]
        center = 2 * rows.sum(axis=0) > problem.k
        if target[list(group)].sum() > np.abs(rows - center).sum() + 1e-9:
            centers.add(tuple(center.tolist()))
    return centers


def best_center(problem, values, items):
    """The most that k sets are worth together at any center of the first items, by looking at all of them."""
    held = np.repeat(problem.sets.to_scipy().toarray().astype(int), problem.weights, axis=0)
    centers = np.zeros((1 << items, held.shape[1]), dtype=int)
    centers[:, :items] = np.arange(1 << items)[:, None] >> np.arange(items) & 1
    worths = np.repeat(values, problem.weights) - (held @ (1 - 2 * centers.T)).T - centers.sum(axis=1)[:, None]
    return float(np.sort(worths, axis=1)[:, -problem.k :].sum(axis=1).max())


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10])
def test_no_group_of_many_sets_loses_less_than_its_values(k):
    draw, failed = random.Random(k), 0
    for _ in range(4):
        sets = [draw.sample(range(11), draw.choice([1, 2, 2, 3, 3, 4, 5])) for _ in range(500)]
        problem = module._problem(Transactions.from_lists(sets), k)
        problem = replace(problem, weights=np.minimum(problem.weights, 2))
        prices = module._by_pairs(problem, 3, Job(0))[1]
        values = anchored(problem, prices)
        assert best_center(problem, values, 11) <= 1e-9
        target = lifted(values, problem, draw, (problem.sets.lengths + prices) / 2)
        assert best_center(problem, target, 11) > 0
        got = settled(problem, values, target, prices, draw.choice([1_000, 30_000, PLENTY]))
        assert best_center(problem, got.values, 11) <= 1e-9
        failed += len(got.failed.keys)
    assert failed > 50


def test_failing_groups_are_found_around_the_only_set_that_was_lifted():
    """Nobody else would find them; many keep items that it lacks."""
    failed = 0
    for seed in range(200, 300):
        draw = random.Random(seed)
        items, k, count = draw.choice([7, 9, 11]), draw.choice([3, 3, 4, 4, 5, 6, 7, 9, 10]), draw.choice([30, 60, 200])
        sizes = draw.choice([[1, 2, 2, 3, 3, 4, 5], [2, 3, 4, 5, 6], [1, 1, 2, 6], [3, 4], [4, 5, 6, 7]])
        steep = draw.choice([0, 0.5, 1])
        often = [1 / (item + 1) ** steep for item in range(items)]
        sets = [set(draw.choices(range(items), often, k=draw.choice(sizes))) for _ in range(count)]
        problem = module._problem(Transactions.from_lists(sets), k)
        problem = replace(problem, weights=np.minimum(problem.weights, draw.choice([1, 2])))
        if problem.weights.sum() < k:
            continue
        prices = module._by_pairs(problem, 3, Job(0))[1]
        values, items = anchored(problem, prices), problem.sets.n_items
        limits = np.maximum(values, (problem.sets.lengths + prices) / 2)
        for _ in range(4):
            target = values.copy()
            for one in draw.sample(range(len(values)), min(len(values), draw.choice([1, 1, 2, 4]))):
                target[one] = min(values[one] + draw.choice([0.2, 0.4, 0.8, 1.5, 3]), limits[one])
            target = module._rounded(target)
            failed += best_center(problem, target, items) > 1e-9
            found = settled(problem, values, target, prices).values
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
        problem = module._problem(
            Transactions.from_lists(few + many, labels=[*"abcdef", *strangers]), draw.choice([3, 3, 4, 5])
        )
        lengths = problem.sets.lengths
        strange = np.maximum.reduceat(problem.sets.items, problem.sets.offsets[:-1]) >= 6
        cheap = lengths - draw.choice([0, 0.5])
        prices = np.where(strange, cheap, [draw.choice([0.2, 0.4, 0.6, 0.8]) * each for each in lengths])
        prices = module._rounded(prices)
        values = anchored(problem, prices)
        lifts = np.where(strange, 0.0, [draw.choice([0, 0, 0.25, 0.5, 1]) for _ in lengths])
        target = np.minimum(values + lifts, np.maximum(values, module._rounded((lengths + prices) / 2)))
        failed += best_center(problem, target, 6) > 1e-9
        found = settled(problem, values, target, prices).values
        assert best_center(problem, found, 6) <= 1e-9
    assert failed > 80


def test_groups_are_found_that_keep_more_items_than_fit_a_word():
    """Too few sets for a group share eighty items that the others lack, and only those others are lifted."""
    failed = 0
    for seed in range(150):
        draw = random.Random(seed)
        k, many = draw.choice([3, 4, 5]), [str(number) for number in range(90)]
        long = [{"x", "y", *draw.sample(many, draw.choice([85, 88, 90]))} for _ in range(k - 1)]
        short = [{"x", *draw.sample("yzw", draw.randint(1, 3))} for _ in range(draw.randint(1, 3))]
        far = [set(draw.sample("pqrst", draw.randint(2, 4))) for _ in range(draw.randint(0, 3))]
        problem = module._problem(Transactions.from_lists(long + short + far), k)
        lengths = problem.sets.lengths
        prices = module._by_pairs(problem, draw.choice([2, 4, 6]), Job(0))[1]
        values = anchored(problem, prices)
        lifts = np.where(lengths > 64, 0.0, [draw.choice([0, 0.5, 1, 2]) for _ in lengths])
        target = module._rounded(np.minimum(values + lifts, np.maximum(values, (lengths + prices) / 2)))
        failed += cheapest_group(problem, target) < -1e-9
        found = settled(problem, values, target, prices).values
        assert cheapest_group(problem, found) >= -1e-9
    assert failed > 30


def test_what_is_too_long_to_be_searched_gives_back_its_lift():
    """Sets of more than 64 items that others share: a group of them fails at the target, and nobody looks for it."""
    failed = 0
    for seed in range(50):
        draw = random.Random(seed)
        k, many = draw.choice([3, 4, 5]), [str(number) for number in range(90)]
        sets = [set(draw.sample(many, draw.choice([85, 88, 90]))) for _ in range(k + draw.randint(0, 2))]
        problem = module._problem(Transactions.from_lists(sets), k)
        prices = module._by_pairs(problem, 4, Job(0))[1]
        values = anchored(problem, prices)
        target = module._rounded(np.minimum(values + 3, (problem.sets.lengths + prices) / 2))
        failed += cheapest_group(problem, target) < -1e-9
        got = settled(problem, values, target, prices)
        assert (got.values <= values).all()
        assert (got.looks == PLENTY).all()
        assert (got.reached == 0).all()
        assert cheapest_group(problem, got.values) >= -1e-9
    assert failed > 30


def test_no_more_is_given_back_than_failing_groups_are_worth():
    """A single group, which is the whole data: its members give back just what they have too much."""
    for seed in range(100):
        draw = random.Random(seed)
        k = draw.choice([2, 3, 5])
        sets = [set(draw.sample("abcdefg", draw.randint(1, 5))) for _ in range(k)]
        problem = module._problem(Transactions.from_lists([sorted(each) for each in sets]), k)
        prices = module._rounded(prices_for(problem, draw))
        values = anchored(problem, prices)
        target = np.maximum(values, problem.sets.lengths / 2)
        found = settled(problem, values, target, prices).values
        assert problem.total(found) <= optimum(sets, k) + 1e-9
        assert problem.total(found) >= min(optimum(sets, k), problem.total(target)) - k / 256


def test_all_centers_that_fail_are_found():
    draw, seen = random.Random(2), 0
    for _ in range(150):
        problem = random_problem(draw, longest=6, most=7)
        prices = module._rounded(prices_for(problem, draw))
        values = anchored(problem, prices)
        target = lifted(values, problem, draw, (problem.sets.lengths + prices) / 2)
        noted = settled(problem, values, target, prices).failed
        centers = failing(problem, target)
        assert len(noted.keys) >= len(centers)
        seen += len(centers)
    assert seen > 100


def worths(problem, target, noted):
    """What the k best of the sets that are noted at each center are worth together."""
    for start, end in pairwise(noted.start.tolist()):
        rows = noted.rows[start:end]
        each = np.repeat(target[rows] - noted.distances[start:end], problem.weights[rows])
        yield float(np.sort(each)[-problem.k :].sum()) if len(each) >= problem.k else None


def test_quick_looks_find_most_centers_of_the_worst_groups_and_none_that_do_not_fail():
    draw, found, best, failing_at_all = random.Random(5), 0, 0, 0
    for _ in range(200):
        problem = random_problem(draw)
        target = problem.sets.lengths - np.array([draw.choice([0.2, 0.5, 1, 1.5]) for _ in problem.sets.lengths])
        noted = problem.probed(target, 0.25, Job(0))
        all_worths = list(worths(problem, target, noted))
        assert all(worth is not None and worth > 0.25 for worth in all_worths)
        most = best_center(problem, target, problem.sets.n_items)
        failing_at_all += most > 0.25
        found += bool(all_worths) and most > 0.25
        best += bool(all_worths) and max(all_worths) >= most - 1e-9
    assert failing_at_all > 100
    assert found >= 0.95 * failing_at_all
    assert best >= 0.8 * failing_at_all


def test_the_values_do_not_depend_on_the_number_of_threads():
    draw = random.Random(3)
    sets = [draw.sample(range(40), draw.randint(1, 12)) for _ in range(400)]
    problem = module._problem(Transactions.from_lists(sets), 5)
    values, prices = module._by_pairs(problem, 3, Job(0))
    values = anchored(problem, prices)
    target = np.minimum(values + 0.25, problem.sets.lengths)
    one, many = (settled(problem, values, target, prices, 100_000, job=Job(0, threads)) for threads in (1, 3))
    for part in ("values", "reached", "stride", "looks"):
        assert (getattr(one, part) == getattr(many, part)).all()
    assert (one.failed.keys == many.failed.keys).all()
    assert (one.failed.rows == many.failed.rows).all()
    assert (one.reached > 0).any()
    assert (one.reached < module._lifts(values, target)).any()
    few, more = (problem.probed(target, 0.0, Job(0, threads)) for threads in (1, 3))
    assert len(few.keys) > 10
    assert (few.keys == more.keys).all()
    assert (few.rows == more.rows).all()


@pytest.mark.filterwarnings("error")
def test_long_transactions_that_hardly_overlap_get_a_higher_bound(monkeypatch):
    draw = random.Random(4)
    items = list(range(300))
    sets = [draw.choices(items, [1 / (i + 1) for i in items], k=draw.randint(4, 30)) for _ in range(300)]
    data = Transactions.from_lists([sorted(set(each)) for each in sets] + [[]])  # an empty one is nothing to divide by
    monkeypatch.setattr(module, "FAR", 1)
    assert lower_bound(data, 5).loss > 1.005 * lower_bound(data, 5, rounds=0).loss


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_no_partition_beats_the_bound_with_lifts(monkeypatch, k):
    monkeypatch.setattr(module, "FAR", 0)
    monkeypatch.setattr(module, "FEW", 2)  # all data count as sparse
    monkeypatch.setattr(increments, "FIRST_LIFT", 2.0)
    draw = random.Random(k)
    for _ in range(60):
        sets = [set(draw.sample("abcdefghij", draw.randint(1, 7))) for _ in range(7)]
        assert lower_bound(Transactions.from_lists(sets), k).loss <= optimum(sets, k) + 1e-9
