"""The lower bound is a lower bound: never above the true optimum, often close to it, sampled or not."""

import gzip
import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import InfeasibleError, ParameterError, Transactions, _native
from anonset.assess.bound import settings as constants
from anonset.assess.bound.cuts import Cuts
from anonset.assess.bound.problem import problem_of, rounded
from anonset.assess.bound.sampled import first_prices, sampled
from anonset.assess.bound.search import by_centers, by_pairs, lower_bound
from anonset.data.job import Job
from tests.oracle.optimum import cheapest_group, group_loss, optimum

TINY_DATA = st.lists(st.sets(st.sampled_from("abcdef"), max_size=6), min_size=5, max_size=7)
TINY = st.lists(st.sets(st.sampled_from("abcdef"), max_size=5), min_size=4, max_size=7)


@settings(max_examples=300)
@given(TINY_DATA, st.integers(2, 5))
def test_no_partition_beats_the_bound(sets, k):
    assert lower_bound(Transactions.from_lists(sets), k).loss <= optimum(sets, k) + 1e-9


@settings(max_examples=300)
@given(TINY, st.integers(2, 4), st.randoms())
def test_no_partition_beats_the_bound_of_any_prices(sets, k, draw):
    """The theorem itself, with prices that no ascent would choose."""
    problem = problem_of(Transactions.from_lists(sets), k)
    prices = np.array([draw.random() * size for size in problem.sets.lengths])
    values, _ = problem.look(prices, np.arange(len(prices)), Job(0))
    assert (problem.weights * values).sum() <= optimum(sets, k) + 1e-9


def restored(problem, values, increments, dense=False, keep=64, budget=10**6):
    """One round, with exactly `keep` sets looked at around each."""
    sets, k = problem.sets, problem.k
    found, _, _ = _native.restore_feasibility(
        sets.offsets,
        sets.items,
        problem.weights,
        values + increments,
        increments,
        sets.n_items,
        k,
        dense,
        keep,
        keep,
        budget,
        3,
        Job(0).monitor,
        1,
    )
    return found


def test_no_group_loses_less_than_its_values_whatever_the_effort():
    """After every pass, for every group of k or more, with increments that no ascent would choose."""
    draw = random.Random(1)
    for _ in range(600):
        items, n = "abcdefgh"[: draw.randint(3, 8)], draw.randint(5, 9)
        k, share, dense = draw.randint(2, 5), draw.random(), draw.random() < 0.5
        sets = [{item for item in items if draw.random() < share} for _ in range(n)]
        problem = problem_of(Transactions.from_lists(sets, labels=list(items)), k)
        values = rounded(by_pairs(problem, 3, Job(0, 1))[0])
        keep, budget = draw.choice([1, 2, 3, 64]), draw.choice([0, 1, 3, 1000])
        for _ in range(6):
            room = np.floor((problem.sets.lengths - values) * 8) / 8
            increments = np.clip([draw.choice([0, 0, 1, 2, 4, 8, 16]) / 8 for _ in values], 0, room)
            values = restored(problem, values, increments, dense, keep, budget)
            assert cheapest_group(problem, values) >= -1e-9


def test_sets_that_are_not_looked_at_lower_the_anchor():
    """Increments so large that nearly every cut is violated, and no or only one other set is looked at."""
    draw = random.Random(1)
    for _ in range(600):
        items, n = "abcdefghij"[: draw.randint(3, 10)], draw.randint(6, 10)
        k, share = draw.randint(2, 5), draw.random()
        sets = [{item for item in items if draw.random() < share} for _ in range(n)]
        problem = problem_of(Transactions.from_lists(sets, labels=list(items)), k)
        values = np.zeros(len(problem.sets))
        keep, budget = draw.choice([0, 1]), draw.choice([0, 1000])
        for _ in range(3):
            room = np.floor((problem.sets.lengths - values) * 8) / 8
            increments = np.clip([draw.choice([1, 2, 3]) for _ in values], 0, room)
            values = restored(problem, values, increments, draw.random() < 0.5, keep, budget)
            assert cheapest_group(problem, values) >= -1e-9


def test_any_target_is_lowered_until_it_is_feasible(monkeypatch):
    """Some values fall, others rise by odd amounts, and there are more centers than may be looked at, or not."""
    draw = random.Random(2)
    monkeypatch.setattr(constants, "SEPARATION_STEPS", 1)
    for _ in range(600):
        monkeypatch.setattr(constants, "LEAST_STEPS", draw.choice([1, 10, 1000]))
        items, n = "abcdefgh"[: draw.randint(3, 8)], draw.randint(5, 9)
        k, share = draw.randint(2, 5), draw.random()
        sets = [{item for item in items if draw.random() < share} for _ in range(n)]
        problem = problem_of(Transactions.from_lists(sets, labels=list(items)), k)
        values = rounded(by_pairs(problem, 3, Job(0, 1))[0])
        for _ in range(4):
            target = rounded(values + np.array([draw.choice([-1.5, -0.4, 0, 0.03, 0.3, 1]) for _ in values]))
            target = np.minimum(target, problem.sets.lengths)
            values, _, _ = problem.restored(values, target, Job(0))
            assert (values <= target).all()
            assert cheapest_group(problem, values) >= -1e-9


def test_the_cuts_are_violated_and_have_their_true_distances():
    """At a target that is too high by far; a center is found again as one that has these distances."""
    draw, seen = random.Random(3), 0
    for _ in range(60):
        rows = list({frozenset(draw.sample("abcdef", draw.randint(1, 5))) for _ in range(8)})
        problem = problem_of(Transactions.from_lists(rows), 3)
        target = problem.sets.lengths * 0.75
        cuts = problem.restored(np.zeros(len(target)), target, Job(0))[2]
        rows = [set(row) for row in problem.sets.to_lists()]
        centers = [set(itertools.compress("abcdef", bits)) for bits in itertools.product((0, 1), repeat=6)]
        assert len(set(cuts.keys.tolist())) == len(cuts.keys)
        for start, end in itertools.pairwise(cuts.start.tolist()):
            near = dict(zip(cuts.rows[start:end].tolist(), cuts.distances[start:end].tolist(), strict=True))
            assert any(all(len(rows[v] ^ center) == near[v] for v in near) for center in centers)
            worths = sorted(target[v] - away for v, away in near.items())
            assert sum(worths[-3:]) > 0 or max(problem.weights) > 1
            seen += 1
    assert seen > 100


def test_subgradient_steps_are_what_the_page_says():
    """Against a plain version: all rise, and the k that contribute most to each cut give back its violation."""
    draw = random.Random(4)
    for _ in range(100):
        n, k = draw.randint(3, 8), draw.randint(2, 4)
        weights = [draw.randint(1, 3) for _ in range(n)]
        lists = [draw.sample(range(n), draw.randint(1, n)) for _ in range(5)]
        away = [[draw.randint(0, 3) for _ in rows] for rows in lists]
        values, most = ([draw.random() * 3 for _ in range(n)] for _ in range(2))
        rises = [0.5, 0.1, 0.0]
        cuts = Cuts(
            np.arange(5, dtype=np.uint64),
            np.cumsum([0, *map(len, lists)]),
            np.array([v for rows in lists for v in rows], dtype=np.int32),
            np.array([d for distances in away for d in distances], dtype=np.int32),
        )
        target = _native.subgradient_steps(
            cuts.start,
            cuts.rows,
            cuts.distances,
            np.array(weights),
            k,
            np.array(values),
            np.array(most),
            np.array(rises),
            Job(0).monitor,
        )
        for rise in rises:
            values = [min(value + rise, limit) for value, limit in zip(values, most, strict=True)]
            for rows, distances in zip(lists, away, strict=True):
                copies = [(values[v] - d, -v) for v, d in zip(rows, distances, strict=True) for _ in range(weights[v])]
                group = sorted(copies, reverse=True)[:k]
                violation, taken = sum(each for each, _ in group), Counter(-v for _, v in group)
                if len(group) < k or violation <= 0:
                    continue
                shares = {v: count / weights[v] for v, count in taken.items()}
                for v, share in shares.items():
                    values[v] -= violation * share / sum(taken[u] * shares[u] for u in taken)
        assert np.allclose(target, values)


def test_subgradient_steps_raise_the_sum_where_no_value_can_rise_alone():
    """Six sets differ from a seventh in one item: half an item for all is feasible, and so is one for the six."""
    data = Transactions.from_lists([["c", "d"], *(["c", "d", each] for each in "123456")])
    problem = problem_of(data, 2)
    values = np.full(7, 0.5)
    assert cheapest_group(problem, values) == 0, "no value can rise alone"
    found = by_centers(problem, values, 10, Job(0))
    assert cheapest_group(problem, found) >= 0
    assert problem.total(found) > 5.5


def test_a_cut_found_twice_counts_once():
    older = Cuts(
        np.array([2, 5], np.uint64), np.array([0, 1, 3]), np.array([7, 8, 9], np.int32), np.arange(3, dtype=np.int32)
    )
    newer = Cuts(
        np.array([3, 5], np.uint64),
        np.array([0, 2, 4]),
        np.array([1, 2, 9, 3], np.int32),
        np.array([4, 5, 2, 6], np.int32),
    )
    both = older.union(newer)
    assert both.keys.tolist() == [2, 3, 5]
    assert both.start.tolist() == [0, 1, 3, 6]
    assert both.rows.tolist() == [7, 1, 2, 3, 8, 9]
    assert both.distances.tolist() == [0, 4, 5, 6, 1, 2]
    again = Cuts.none().union(older)
    assert (again.start.tolist(), again.rows.tolist()) == ([0, 1, 3], [7, 8, 9])


@pytest.mark.parametrize("apart", [10, 60, 70, 90])
def test_a_center_may_change_more_than_64_items(apart):
    """One set is far from two others, so that their center changes all in which it differs from them."""
    common = [f"common {i}" for i in range(20)]
    rows = [common + [f"own {i}" for i in range(apart)], [*common, "left"], [*common, "right"]]
    problem = problem_of(Transactions.from_lists(rows), 3)
    far = problem.sets.lengths > 21
    values = np.where(far, apart, 1.0)  # just what this group loses: one for each of its own items, "left" and "right"
    assert cheapest_group(problem, values) == 0
    assert cheapest_group(problem, restored(problem, values, np.where(far, 4.0, 0.5))) >= 0


def test_centers_raise_what_pairs_say_and_never_lower_it():
    """Rows that differ in one attribute each: pairs see a distance of 2, but no three are that close to one another."""
    rows = [[f"{a}{value >> a & 1}" for a in range(7)] for value in range(128)]
    data = Transactions.from_lists(rows)
    assert lower_bound(data, 5, rounds=0).loss == pytest.approx(128)
    assert lower_bound(data, 5).loss > 190
    draw = random.Random(3)
    for _ in range(50):
        data = Transactions.from_lists([draw.sample("abcdefgh", draw.randint(1, 5)) for _ in range(30)])
        assert lower_bound(data, 4).loss >= lower_bound(data, 4, rounds=0).loss


def test_more_than_64_items_to_choose_from_keep_the_bound_true():
    """As many sets as a group needs: all of them together are the only release, and its loss is known."""
    rng = np.random.default_rng(4)
    center = rng.random(100) < 0.5
    rows = [np.flatnonzero(center ^ (rng.random(100) < 0.35)).tolist() for _ in range(9)]
    found = lower_bound(Transactions.from_lists(rows), 9, rounds=8).loss
    assert 0 < found <= group_loss([set(row) for row in rows])


def test_the_sampled_bound_is_one_too_on_hundreds_of_tiny_databases():
    draw, said = random.Random(5), []
    for seed in range(300):
        sets = [set(draw.sample("abcdefgh", draw.randint(1, 5))) for _ in range(draw.randint(4, 7))]
        k = draw.randint(2, 3)
        found = lower_bound(Transactions.from_lists(sets), k, sample=3_000, job=Job(seed))
        assert found.confidence == 0.99
        said.append(found.loss / optimum(sets, k))
    assert max(said) <= 1
    assert np.mean(said) > 0.5, "it says something, too"


def test_the_confidence_is_kept_by_the_sum_that_is_estimated():
    """Against the exact value at the same prices, for which the sample may be too high by bad luck only."""
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((300, 40)) < 0.6 / np.arange(1, 41) ** 0.5]
    problem = problem_of(Transactions.from_lists(rows), 4)
    above, errors = 0, []
    for seed in range(100):
        prices = first_prices(problem, 100, Job(seed))
        values, _ = problem.look(prices, np.arange(len(problem.sets)), Job(0))
        exact = float((problem.weights * values).sum()) / problem.occurrences
        found = sampled(problem, 400, Job(seed))
        above += found.ratio > exact
        errors.append(found.estimate - exact)
        assert 0 < found.error < 0.1
    assert above <= 3
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 10, "the estimate leans to one side"


def test_the_bound_is_within_a_third_of_the_optimum_on_average():
    draw = random.Random(7)
    shares = []
    for _ in range(150):
        sets = [set(draw.sample("abcdefgh", draw.randint(1, 5))) for _ in range(7)]
        shares.append(lower_bound(Transactions.from_lists(sets), 2).loss / optimum(sets, 2))
    assert np.mean(shares) > 0.67
    assert max(shares) <= 1 + 1e-9


def best_offers(u, sets, weights, prices, k):
    """The value of set u and the dearest of the k − 1 cheapest offers it gets, by looking at every copy."""
    offers = [-prices[u]] * (weights[u] - 1)
    for v in range(len(sets)):
        offers += [min(len(sets[u] ^ sets[v]) - prices[v], len(sets[u]))] * (weights[v] if v != u else 0)
    taken = sorted([*offers, *[len(sets[u])] * k])[: k - 1]
    return (prices[u] + sum(taken) / (k - 1)) / 2, taken[-1]


LONG = [set(range(300)) - {i, 2 * i} for i in range(9)]  # too long for counters of one byte


@pytest.mark.parametrize("fraction", [256, None])
@given(TINY, st.integers(2, 5), st.booleans(), st.booleans(), st.randoms())
def test_a_pass_equals_a_look_at_every_copy(fraction, sets, k, dense, long, draw):
    distinct = LONG if long else [set(s) for s in dict.fromkeys(map(frozenset, sets))]
    data = Transactions.from_lists(distinct)
    weights = np.array([draw.randint(1, 3) for _ in distinct])
    prices = np.array([draw.random() * len(s) for s in distinct])
    if fraction:
        prices = np.floor(prices * fraction) / fraction
    rows, job = np.arange(len(distinct)), Job(seed=0)
    value, dearest = _native.pair_values(
        data.offsets, data.items, weights, prices, data.n_items, k, rows, dense, job.monitor, 2
    )
    expected = [best_offers(u, distinct, weights.tolist(), prices.tolist(), k) for u in rows]
    assert np.allclose(value, [each for each, _ in expected])
    assert np.allclose(dearest, [price for _, price in expected])


def test_bitmaps_and_lists_long_and_short_agree():
    """Frequent items have lists that are counted blindly, rare ones lists whose rows are remembered."""
    rng = np.random.default_rng(2)
    rows = [{*rng.choice(20, 3).tolist(), *(20 + rng.choice(2_000, 2)).tolist()} for _ in range(3_000)]
    rows += [{20 + i, 21 + i} for i in range(0, 1_800, 7)]
    problem = problem_of(Transactions.from_lists(rows), 5)
    sets = problem.sets
    prices = np.floor(rng.random(len(sets)) * sets.lengths * 256) / 256
    passes = [
        _native.pair_values(
            sets.offsets,
            sets.items,
            problem.weights,
            prices,
            sets.n_items,
            5,
            np.arange(len(sets)),
            dense,
            Job(0).monitor,
            2,
        )
        for dense in (True, False)
    ]
    for one, other in zip(*passes, strict=True):
        assert np.allclose(one, other)


@pytest.mark.parametrize("k", [2, 3])
def test_identical_transactions_lose_nothing(k):
    assert lower_bound(Transactions.from_lists([["a", "b"]] * 6), k).loss == 0
    assert lower_bound(Transactions.from_lists([[]] * 6, labels=["a"]), k).loss == 0


def test_too_few_transactions_are_infeasible_and_bad_samples_refused():
    with pytest.raises(InfeasibleError, match="'k' must be at most"):
        lower_bound(Transactions.from_lists([["a"]]), 2)
    with pytest.raises(ParameterError, match="'sample' must be at least 2"):
        lower_bound(Transactions.from_lists([["a"]] * 3), 2, sample=1)


def test_threads_do_not_change_the_bound_and_a_seed_repeats_the_sample():
    rng = np.random.default_rng(3)
    data = Transactions.from_lists([rng.choice(50, 5, replace=False) for _ in range(400)])
    assert lower_bound(data, 3, job=Job(1, 1)) == lower_bound(data, 3, job=Job(2, 3))
    one, two, other = (
        lower_bound(data, 3, sample=200, job=Job(seed, threads)) for seed, threads in ((1, 1), (1, 3), (2, 1))
    )
    assert one == two != other


def test_large_data_are_sampled_by_themselves(monkeypatch):
    rng = np.random.default_rng(3)
    data = Transactions.from_lists([rng.choice(50, 5, replace=False) for _ in range(400)])
    monkeypatch.setattr(constants, "MOST_WORK", 1e3)
    monkeypatch.setattr(constants, "SAMPLED_WORK", 1e3)
    found = lower_bound(data, 3)
    assert (found.confidence, found.sample) == (0.99, 1_000)
    assert found.ratio < lower_bound(data, 3, sample=0).ratio


def test_the_known_bounds_of_public_data(real_data):
    with gzip.open(real_data("chess.dat.gz"), "rt") as lines:
        data = Transactions.from_lists([line.split() for line in lines])
    assert lower_bound(data, 5, rounds=0).ratio == pytest.approx(0.0369, abs=2e-4)
    assert lower_bound(data, 20, rounds=0).ratio == pytest.approx(0.0636, abs=2e-4)
    assert lower_bound(data, 5).ratio == pytest.approx(0.0534, abs=4e-4)


# --- where it is asked for -----------------------------------------------------------------------------------------

ROWS = [[str(i % 5), str(i % 3 + 10), str(i % 2 + 20)] for i in range(60)]


def test_a_result_has_its_bound_only_where_asked_and_is_above_it():
    assert anonset.anonymize(ROWS, k=4, seed=1).bound is None
    result = anonset.anonymize(ROWS, k=4, seed=1, bound=True)
    assert 0 < result.bound.loss <= result.measurements["information_loss"]
    assert anonset.anonymize([], k=4, seed=1, bound=True).bound is None


def test_no_bound_is_offered_where_it_is_not_true():
    with pytest.raises(ParameterError, match="'bound' must be off"):
        anonset.anonymize(
            Transactions.from_lists(ROWS, sensitive=["20"]), method="gsc", protect="sensitive-only", k=4, bound=True
        )
    with pytest.raises(ParameterError, match="'bound' must be off"):
        anonset.anonymize(Transactions.from_lists(ROWS, sensitive=["4"]), "privacy-degree", p=2, bound=True)


def test_the_report_shows_the_bound_and_the_gap(tmp_path):
    result = anonset.publish(ROWS, anonset.Targets(report=tmp_path / "report.json"), k=4, seed=1, bound=True)
    said = json.loads((tmp_path / "report.PRIVATE.json").read_text())
    assert said["private"]["bound"]["loss"] == result.bound.loss
    page = anonset.write_report(result, ROWS, tmp_path / "report.html").read_text()
    assert "Least possible" in page
    assert "no 4-anonymous release changes fewer items" in " ".join(page.split())


def test_the_command_says_the_bound(tmp_path, capsys):
    from anonset.cli.base.outcome import run

    path = tmp_path / "data.dat"
    path.write_text("\n".join(" ".join(row) for row in ROWS) + "\n")
    assert run(["bound", str(path), "-k", "4", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["loss"] == lower_bound(anonset.read(path), 4).loss
    assert (answer["confidence"], answer["sample"]) == (1.0, None)
    assert run(["bound", str(path), "-k", "4", "--sample", "500"]) == 0
    assert "500 transactions drawn at random" in " ".join(capsys.readouterr().out.split())
    assert run(["bound", str(path), "-k", "4", "--rounds", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loss"] == lower_bound(anonset.read(path), 4, rounds=0).loss
    assert run(["bound", str(path), "-k", "400"]) == 3
    assert run(["bound", str(path)]) == 2
    assert run(["anonymize", str(path), "-k", "4", "--bound", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["private"]["bound"]["loss"] == answer["loss"]


def test_a_comparison_shows_the_gap(tmp_path):
    from anonset.choose.compare import compare

    runs, _ = compare(Transactions.from_lists(ROWS), tmp_path, methods=["pta", "gsc"], grid={"k": [4]}, bound=True)
    for run in runs:
        figures = run.figures
        assert figures["loss_gap"] == pytest.approx(figures["information_loss_ratio"] - figures["loss_bound"])
        assert figures["loss_gap"] >= 0
