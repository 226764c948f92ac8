"""GSC and Gray-TSP against plain Python, and the tours against the best of all tours."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import Transactions, _native
from anonset.data.job import Job
from anonset.methods import gray_tsp, gsc
from anonset.methods import pta as pta_method
from anonset.methods.steps.order.tour import genetic_tours
from tests.oracle import baselines as oracle
from tests.oracle import pta

DOMAIN = 9
SETS = st.lists(st.frozensets(st.integers(0, DOMAIN - 1), max_size=6), min_size=1, max_size=30)


def transactions(sets):
    return Transactions.from_lists([[str(i) for i in s] for s in sets], labels=[str(i) for i in range(DOMAIN)])


def published(draft):
    data = draft.release.transactions
    return [frozenset(data.items[a:b].tolist()) for a, b in pairwise(data.offsets)]


def centers(groups, n):
    found = [None] * n
    for group in groups:
        for t in group.tids:
            found[t] = group.center
    return found


@given(SETS, st.integers(2, 6), st.sampled_from(["frequency", "given"]))
def test_gsc_equals_plain_python(sets, k, item_order):
    if len(sets) < k:
        return
    draft = gsc.run(transactions(sets), Job(1), k=k, item_order=item_order, protect="all")
    assert published(draft) == centers(oracle.gsc(sets, DOMAIN, k, item_order), len(sets))


@given(SETS, st.integers(2, 5), st.sampled_from([[0], [2, 5]]))
def test_gsc_leaves_runs_without_a_sensitive_item_as_they_are(sets, k, secret):
    data = transactions(sets)
    data = data.with_sensitive([str(i) for i in secret])
    hidden = [s & set(secret) for s in sets]
    if len(sets) < k or not any(hidden):
        return
    quasi = [s - set(secret) for s in sets]
    expected = [q | h for q, h in zip(quasi, hidden, strict=True)]
    for group in oracle.gsc(quasi, DOMAIN, k):
        if any(hidden[t] for t in group.tids):
            for t in group.tids:
                expected[t] = group.center | hidden[t]
    draft = gsc.run(data, Job(1), k=k, item_order="frequency", protect="sensitive-only")
    assert published(draft) == expected
    assert anonset.model("k-anonymity", k=k, protect="sensitive-only").check(draft.release).holds


@settings(max_examples=60)
@given(SETS, st.integers(2, 7), st.integers(0, 12), st.sampled_from(["gray", "random"]), st.integers(0, 2**62))
def test_the_genetic_algorithm_equals_plain_python(sets, population, generations, start, seed):
    data, n = transactions(sets), len(sets)
    bounds = np.array([0, n // 2, n])
    loops, lengths = _native.genetic_tours(
        data.offsets,
        data.items,
        np.arange(n),
        bounds,
        DOMAIN,
        population,
        generations,
        start == "random",
        seed,
        2,
        Job(1).monitor,
    )
    for stream, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if begin == end:
            continue
        segment = sets[begin:end]
        tour = oracle.genetic_tour(segment, population, generations, seed, stream, start)
        assert (loops[begin:end] - begin).tolist() == tour
        assert lengths[stream] == oracle.length(tour, segment)


@given(SETS, st.integers(1, 40), st.integers(0, 1000))
def test_more_generations_never_give_a_longer_tour(sets, generations, seed):
    data, bounds = transactions(sets), np.array([0, len(sets)])
    found = [
        genetic_tours(data, np.arange(len(sets)), bounds, Job(seed), population=6, generations=g)[1][0]
        for g in (0, generations, 2 * generations)
    ]
    assert oracle.length(list(range(len(sets))), sets) >= found[0] >= found[1] >= found[2]


def test_small_tours_are_the_shortest_there_are():
    rng = np.random.default_rng(4)
    hits = 0
    for seed in range(40):
        sets = [frozenset(np.flatnonzero(rng.random(DOMAIN) < 0.4).tolist()) for _ in range(7)]
        data = transactions(sets)
        _, lengths = genetic_tours(data, np.arange(7), np.array([0, 7]), Job(seed), population=30, generations=300)
        best = min(oracle.length([0, *rest], sets) for rest in permutations(range(1, 7)))
        assert lengths[0] >= best
        hits += lengths[0] == best
    assert hits >= 38


@settings(max_examples=40)
@given(SETS, st.integers(2, 5), st.integers(1, 4), st.booleans(), st.sampled_from(["gray", "random"]))
def test_gray_tsp_publishes_the_groups_of_pta_on_its_own_tours(sets, k, segments, revote, start):
    if len(sets) < k:
        return
    data = transactions(sets)
    given = {"k": k, "segments": segments, "item_order": "given", "revote": revote, "population": 5, "generations": 6}
    draft = gray_tsp.run(data, Job(3), **given, start=start)
    seed = int(Job(3).random("tours").integers(1 << 62))
    expected = []
    for stream, segment in enumerate(pta.segments_of(pta.gray_order(sets, DOMAIN, "given"), k, segments)):
        tour = oracle.genetic_tour([sets[t] for t in segment], 5, 6, seed, stream, start)
        made, _ = pta.classes([segment[v] for v in tour], sets, k)
        expected += made
    if revote:
        for group in expected:
            group.center = pta.majority([sets[t] for t in group.tids])
    assert published(draft) == centers(expected, len(sets))


@pytest.mark.parametrize("name", ["mushroom.dat.gz", "BMS-WebView-1.dat.gz"])
def test_on_public_data_breeding_shortens_the_gray_order_and_prim_tsp_is_shorter_still(real_data, name):
    data = anonset.read(real_data(name))
    given = {"k": 10, "segments": None, "item_order": "frequency", "revote": True}
    runs = [
        gray_tsp.run(data, Job(1), **given, population=10, generations=0),
        gray_tsp.run(data, Job(1), **given, population=10, generations=100),
        pta_method.run(data, Job(1), **given),
    ]
    gray, bred, prim = (draft.measurements["loop_length"] for draft in runs)
    assert gray > bred > prim


def test_a_small_search_from_random_tours_loses_what_the_paper_reports(real_data):
    data = anonset.read(real_data("mushroom.dat.gz"))
    small = {"start": "random", "population": 10, "generations": 10, "item_order": "label", "revote": False}
    lost = [
        [
            anonset.anonymize(data, method="gray-tsp", k=15, segments=n, seed=seed, **small).measurements
            for seed in (1, 2)
        ]
        for n in (100, 200)
    ]
    ratios = [np.mean([found["information_loss_ratio"] for found in runs]) for runs in lost]
    assert ratios == [pytest.approx(0.28, abs=0.01), pytest.approx(0.23, abs=0.015)]  # Fig. 10(b)
