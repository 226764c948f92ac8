"""`crowd` against the true optimum and the lower bound on tiny data, and against PTA on real data."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import Transactions, _native
from anonset.assess.bound.search import lower_bound
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.methods import crowd, pta
from anonset.methods.steps import pta_baseline
from anonset.methods.steps.group.centers import losses, majority
from anonset.methods.steps.order.gray import gray_sorted
from anonset.methods.steps.pta_baseline import best_of_both
from tests.oracle.crowd import center_and_half, first_groups, gain, most_at
from tests.oracle.optimum import optimum


def loss(data, draft):
    return information_loss(data, draft.release, draft.row_origin)["information_loss"]


def run_crowd(data, k, effort="thorough", seed=1, threads=2):
    return crowd.run(data, Job(seed=seed, threads=threads), k=k, effort=effort)


def groups_of(quasi, k, effort, threads=2):
    """The groups that `crowd` finds by itself, and what they publish, for transactions in Gray order."""
    return crowd.find_groups(quasi, k, crowd.PRESETS[effort], crowd.is_dense(quasi), Job(1, threads))


@settings(max_examples=150)
@given(
    st.lists(st.sets(st.sampled_from("abcdef"), max_size=5), min_size=4, max_size=8),
    st.integers(2, 4),
    st.sampled_from([["a", "b"], [str(i) for i in range(200)]]),  # the second vocabulary makes the data sparse
)
def test_crowd_is_never_better_than_the_optimum_nor_the_bound(sets, k, more):
    data = Transactions.from_lists(sets, labels=sorted({*"abcdef", *more}))
    draft = run_crowd(data, k)
    assert anonset.model("k-anonymity", k=k).check(draft.release).holds
    assert loss(data, draft) >= optimum(sets, k) >= lower_bound(data, k).loss - 1e-9


def test_crowd_finds_the_optimum_of_most_tiny_databases():
    draw = random.Random(3)
    hits = 0
    for _ in range(60):
        sets = [set(draw.sample("abcdef", draw.randint(1, 4))) for _ in range(8)]
        hits += loss(data := Transactions.from_lists(sets), run_crowd(data, 2)) == optimum(sets, 2)
    assert hits >= 31, f"optimal in only {hits} of 60"


@pytest.mark.parametrize("name", ["chess.dat.gz", "mushroom.dat.gz", "groceries.csv.gz", "BMS-WebView-1.dat.gz"])
def test_crowd_loses_less_than_pta_on_public_data(real_data, name):
    data = anonset.read(real_data(name))
    for k in (5, 20):
        draft = run_crowd(data, k, effort="quick")
        theirs = pta.run(data, Job(seed=1), k=k, segments=None, item_order="frequency", revote=True)
        assert anonset.model("k-anonymity", k=k).check(draft.release).holds
        assert loss(data, draft) < 0.95 * loss(data, theirs)
        assert loss(data, run_crowd(data, k, effort="usual")) <= loss(data, draft)


def losses_in_segments(quasi, groups, bounds, drawn, k):
    """What transactions lose in these groups and in PTA's, for each segment drawn."""
    both = (groups, pta_baseline.pta_groups(quasi, bounds, k, Job()))
    return [np.add.reduceat(losses(quasi, one, Job()), bounds[:-1])[drawn] for one in both]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from(list(crowd.PRESETS)))
def test_crowd_never_loses_more_than_pta(seed, k, effort):
    draw = np.random.default_rng(seed)
    items, longest = int(draw.choice([4, 12, 40, 200, 3000])), int(draw.choice([1, 3, 10, 40]))
    chance = 1 / np.arange(1, items + 1) ** draw.choice([0, 0.5, 1, 1.5])
    sets = [
        draw.choice(items, size=draw.integers(0, longest + 1), p=chance / chance.sum())
        for _ in range(draw.integers(k, 400))
    ]
    data = Transactions.from_lists([set(s.tolist()) for s in sets])
    theirs = pta.run(data, Job(seed=1), k=k, segments=None, item_order="frequency", revote=True)
    assert loss(data, run_crowd(data, k, effort)) <= loss(data, theirs)


@pytest.mark.parametrize("effort", ["quick", "usual"])
@pytest.mark.parametrize("items", [4, 12, 24])
def test_crowd_never_loses_more_than_pta_on_large_data_with_few_kinds_of_transactions(items, effort):
    draw = np.random.default_rng(2)
    data = Transactions.from_lists([np.flatnonzero(draw.random(items) < 0.3) for _ in range(2500)])
    for k in (2, 3):
        theirs = pta.run(data, Job(seed=1), k=k, segments=None, item_order="frequency", revote=True)
        assert loss(data, run_crowd(data, k, effort)) <= loss(data, theirs)


@pytest.mark.parametrize("sampled", [True, False])
def test_groups_that_lose_more_than_ptas_are_not_published(sampled):
    draw = np.random.default_rng(4)
    data = Transactions.from_lists([np.flatnonzero(draw.random(12) < 0.3) for _ in range(2500)])
    theirs = pta.run(data, Job(seed=1), k=2, segments=None, item_order="frequency", revote=True)
    _, quasi = gray_sorted(data, Job())
    poor = np.arange(2500, dtype=np.int32) % 1250
    bounds = pta.segment_bounds(len(quasi), 2)
    better, centers = best_of_both(quasi, poor, majority(quasi, poor, Job()), bounds, 2, sampled, Job(1))
    assert losses(quasi, better, Job(), centers).sum() == loss(data, theirs)


def test_groups_that_lose_less_than_ptas_are_kept():
    draw = np.random.default_rng(4)
    _, quasi = gray_sorted(Transactions.from_lists([[i % 500, 500 + draw.integers(900)] for i in range(2500)]), Job())
    groups, centers = groups_of(quasi, 5, "usual")
    for sampled in (True, False):
        kept, _ = best_of_both(quasi, groups, centers, pta.segment_bounds(2500, 5), 5, sampled, Job(1))
        assert kept is groups


def test_every_segment_is_drawn_equally_often_and_none_twice():
    times = np.zeros(30)
    for seed in range(3000):
        drawn = pta_baseline.draw(30, Job(seed))
        assert len(drawn) == pta_baseline.SAMPLE
        assert (np.diff(drawn) > 0).all()
        times[drawn] += 1
    assert np.abs(times / 3000 - pta_baseline.SAMPLE / 30).max() < 0.04
    assert np.array_equal(drawn, pta_baseline.draw(30, Job(2999)))


@pytest.mark.parametrize("worse", [0.9, 1.0, 1.3])
def test_a_sample_of_segments_convinces_only_where_pta_clearly_loses_more(worse):
    draw = np.random.default_rng(4)
    data = Transactions.from_lists([np.flatnonzero(draw.random(40) < 0.2) for _ in range(5000)])
    _, quasi = gray_sorted(data, Job())
    bounds = pta.segment_bounds(len(quasi), 5)
    groups = pta_baseline.pta_groups(quasi, bounds, 5, Job())
    drawn, centers = pta_baseline.draw(len(bounds) - 1, Job(1)), majority(quasi, groups, Job())
    ours, theirs = pta_baseline.losses_in(quasi, groups, centers, bounds, drawn, 5, Job(1))
    assert ours.tolist() == theirs.tolist()
    assert pta_baseline.clearly_less(ours / worse, theirs) == (worse > 1.2)


def test_the_losses_in_a_sample_are_those_in_its_segments():
    draw = np.random.default_rng(8)
    _, quasi = gray_sorted(Transactions.from_lists([np.flatnonzero(draw.random(60) < 0.1) for _ in range(900)]), Job())
    bounds, drawn = pta.segment_bounds(len(quasi), 3, 13), np.array([0, 3, 4, 7, 12])
    groups, centers = groups_of(quasi, 3, "quick")
    sample = pta_baseline.losses_in(quasi, groups, centers, bounds, drawn, 3, Job())
    expected = losses_in_segments(quasi, groups, bounds, drawn, 3)
    assert [one.tolist() for one in sample] == [one.tolist() for one in expected]


@pytest.mark.parametrize("effort", list(crowd.PRESETS))
def test_dense_groups_in_several_blocks_do_not_depend_on_the_number_of_threads(effort):
    draw = np.random.default_rng(5)
    data = Transactions.from_lists([np.flatnonzero(draw.random(40) < 0.3) for _ in range(9000)])
    alone, three = (run_crowd(data, 5, effort, threads=threads).release for threads in (1, 3))
    assert anonset.model("k-anonymity", k=5).check(alone).holds
    assert alone.transactions.items.tolist() == three.transactions.items.tolist()
    assert alone.transactions.offsets.tolist() == three.transactions.offsets.tolist()


@pytest.mark.parametrize("effort", list(crowd.PRESETS))
def test_the_groups_do_not_depend_on_the_number_of_threads(effort):
    draw = np.random.default_rng(5)
    wide = Transactions.from_lists([draw.choice(300, size=4, replace=False) for _ in range(3000)])
    full = Transactions.from_lists([draw.choice(30, size=12, replace=False) for _ in range(2000)])
    for data in (wide, full):
        drafts = [run_crowd(data, 4, effort, threads=threads) for threads in (1, 2, 4)]
        assert len({draft.release.transactions.items.tobytes() for draft in drafts}) == 1


def test_both_regimes_are_reached():
    draw = np.random.default_rng(5)
    assert crowd.is_dense(Transactions.from_lists([draw.choice(30, size=12, replace=False) for _ in range(50)]))
    assert not crowd.is_dense(Transactions.from_lists([draw.choice(300, size=4, replace=False) for _ in range(300)]))


@pytest.mark.parametrize("effort", list(crowd.PRESETS))
def test_what_groups_publish_is_the_majority_of_their_members(effort):
    draw = np.random.default_rng(6)
    wide = Transactions.from_lists([draw.choice(300, size=draw.integers(0, 6), replace=False) for _ in range(1500)])
    full = Transactions.from_lists([draw.choice(90, size=40, replace=False) for _ in range(1500)])
    for data in (wide, full):
        _, quasi = gray_sorted(data, Job())
        groups, centers = groups_of(quasi, 4, effort)
        assert np.bincount(groups).min() >= 4
        for found, voted in zip(centers, majority(quasi, groups, Job()), strict=True):
            assert found.tolist() == voted.tolist()


def test_a_shard_that_a_huge_transaction_fills_still_has_enough_others():
    small = [[i % 300, 300 + i % 7] for i in range(1000)]
    data = Transactions.from_lists([range(260_000), *small], labels=list(range(260_000)))
    for k in (2, 90):
        draft = run_crowd(data, k, effort="quick")
        assert anonset.model("k-anonymity", k=k).check(draft.release).holds


def rows_of(quasi):
    return [tuple(row.tolist()) for row in np.split(quasi.items, quasi.offsets[1:-1])]


def sparse_groups(quasi, k, **options):
    """Groups of rows as `crowd` begins with them, each looking at all others; options say what is done then."""
    begin = {"shards": 1, "every": 1, "reach": 100, "keep": 100, "rounds": 0, "augment": 0, "block": 1}
    settings = _native.CrowdSparse(**begin | options)
    found, _ = _native.crowd_sparse(quasi.offsets, quasi.items, quasi.n_items, k, settings, Job().monitor, 2)
    return [
        [row for row, g in zip(rows_of(quasi), found, strict=True) if g == group] for group in range(found.max() + 1)
    ]


@settings(max_examples=300)
@given(
    st.lists(st.frozensets(st.sampled_from("abcdefg"), max_size=5), min_size=4, max_size=20),
    st.integers(2, 4),
)
def test_sparse_groups_begin_as_the_best_ones_of_those_that_are_left(sets, k):
    often = {i for i in "abcdefg" if 2 * sum(i in s for s in sets) > k}  # other items are in no center
    _, quasi = gray_sorted(Transactions.from_lists([s & often for s in sets]), Job())
    found = sparse_groups(quasi, k)
    assert sorted(map(sorted, found)) == sorted(map(sorted, first_groups(rows_of(quasi), k)))


def rare_rows(seed, n=700, items=9000, mean=8):
    """Long transactions of rare items, some of which many hold."""
    draw = np.random.default_rng(seed)
    sets = [set((items ** draw.random(1 + draw.poisson(mean))).astype(int)) for _ in range(n)]
    return gray_sorted(Transactions.from_lists(sets, labels=list(range(items))), Job())[1]


@pytest.mark.parametrize("effort", list(crowd.PRESETS))
def test_rare_items_give_the_same_groups_with_any_number_of_threads(effort):
    quasi = rare_rows(len(effort), n=3000)
    one, two = (groups_of(quasi, 5, effort, threads)[0] for threads in (1, 2))
    assert one.tolist() == two.tolist()
    assert np.bincount(one).min() >= 5


@pytest.mark.parametrize("k", [2, 5, 20])
def test_items_that_are_in_no_center_change_nothing(k):
    draw = np.random.default_rng(k)
    sets = [draw.choice(60, size=draw.integers(0, 7), replace=False) for _ in range(1500)]
    _, plain = gray_sorted(Transactions.from_lists(sets, labels=list(range(60))), Job())
    rows = [[50 * item for item in row] for row in rows_of(plain)]
    for item in range(3000):
        if item % 50:
            rows[draw.integers(1500)].append(item)  # each item in a single row: k/2 at most
    more = Transactions.from_lists(rows, labels=list(range(3000)))
    settings = crowd.sparse_settings(plain, k, crowd.PRESETS["usual"])
    (groups, centers), (others, their_centers) = (
        _native.crowd_sparse(quasi.offsets, quasi.items, quasi.n_items, k, settings, Job().monitor, 2)
        for quasi in (plain, more)
    )
    assert groups.tolist() == others.tolist()
    assert centers[0].tolist() == their_centers[0].tolist()
    assert (50 * centers[1]).tolist() == their_centers[1].tolist()


def total_gain(groups):
    return sum(
        gain(row, (center, center)) for group in groups for center, _ in [center_and_half(group)] for row in group
    )


@pytest.mark.parametrize("k", [4, 5, 6])
def test_augmenting_paths_find_the_best_groups_of_given_centers_nearly_always(k):
    draw = np.random.default_rng(k)
    possible, best = 0, 0
    poor = {"reach": 2, "keep": 2 * k}  # so that there is something to gain
    for _ in range(300):
        sets = [draw.choice(8, size=draw.integers(0, 6), replace=False) for _ in range(draw.integers(k, 5 * k))]
        _, quasi = gray_sorted(Transactions.from_lists(sets), Job())
        before = sparse_groups(quasi, k, **poor)
        after = sparse_groups(quasi, k, **poor, augment=1, block=100)
        assert min(map(len, after)) >= k
        assert sorted(row for group in after for row in group) == sorted(rows_of(quasi))
        most = most_at(rows_of(quasi), [center_and_half(group)[0] for group in before], k)
        assert total_gain(before) <= min(most, total_gain(after))
        possible += most > total_gain(before)
        best += most > total_gain(before) and total_gain(after) >= most
    assert best >= 0.9 * possible
    assert possible >= 20


@settings(max_examples=60)
@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=12), st.integers(1, 3))
def test_losses_are_the_distances_to_the_majority(sets, groups):
    number = np.array([i % groups for i in range(len(sets))], dtype=np.int32)
    members = [[s for s, g in zip(sets, number, strict=True) if g == group] for group in range(groups)]
    centers = [{i for i in "abcdef" if 2 * sum(i in s for s in own) > len(own)} for own in members]
    expected = [len(s ^ centers[g]) for s, g in zip(sets, number, strict=True)]
    assert losses(Transactions.from_lists(sets), number, Job(threads=2)).tolist() == expected
