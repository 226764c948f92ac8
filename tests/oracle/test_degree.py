"""The kernels for privacy degree give exactly what the textbook versions give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import reverse_cuthill_mckee as scipy_rcm

import anonset
from anonset import InfeasibleError, ParameterError, Transactions, _native
from anonset.data.job import Job
from anonset.methods.steps.group.balanced import balanced_groups
from anonset.methods.steps.group.cahd import cahd_groups
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.group.lsh import lsh_groups, projections
from anonset.methods.steps.group.mondrian import mondrian_groups
from anonset.methods.steps.group.nearest import nearest_groups
from anonset.methods.steps.order.band import band_order

from . import degree as oracle

SEEDS = range(60)


def random_case(seed: int):
    """Small data of many shapes: few or many items, rare or common secrets, duplicates, empty transactions."""
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(1, 60)), int(rng.integers(1, 12)), int(rng.integers(1, 6))
    quasi = [set(np.flatnonzero(row).tolist()) for row in rng.random((n, d)) < rng.uniform(0.05, 0.7)]
    secrets = [set((np.flatnonzero(row) + d).tolist()) for row in rng.random((n, m)) < rng.uniform(0.02, 0.3)]
    labels = [str(i) for i in range(d + m)]
    data = Transactions.from_lists([q | s for q, s in zip(quasi, secrets, strict=True)], labels=labels)
    return data.with_sensitive(labels[d:]), quasi, secrets, int(rng.integers(2, 7))


def feasible_cases():
    for seed in SEEDS:
        data, quasi, secrets, p = random_case(seed)
        try:
            yield pytest.param(degree_problem(data, p), quasi, secrets, p, id=str(seed))
        except InfeasibleError:
            continue


def as_sets(groups: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)}


def expected(groups: list[list[int]]) -> set[frozenset[int]]:
    return {frozenset(group) for group in groups}


CASES = list(feasible_cases())


def test_the_cases_are_worth_something() -> None:
    assert len(CASES) > 25


@pytest.mark.parametrize("alpha", [1, 2, 5])
@pytest.mark.parametrize(("problem", "quasi", "secrets", "p"), CASES)
def test_cahd(problem, quasi, secrets, p, alpha) -> None:
    groups = cahd_groups(problem, alpha, Job())
    assert as_sets(groups) == expected(oracle.form_groups(secrets, p, oracle.cahd(quasi, secrets, p, alpha)))


@pytest.mark.parametrize("alpha", [1, 2])
@pytest.mark.parametrize(("problem", "quasi", "secrets", "p"), CASES)
def test_balanced(problem, quasi, secrets, p, alpha) -> None:
    groups = balanced_groups(problem, alpha, Job())
    assert as_sets(groups) == expected(oracle.form_groups(secrets, p, oracle.Balanced(quasi, secrets, p, alpha)))


@pytest.mark.parametrize(("problem", "quasi", "secrets", "p"), CASES)
def test_nearest_neighbours(problem, quasi, secrets, p) -> None:
    groups = nearest_groups(problem, Job())
    assert as_sets(groups) == expected(oracle.form_groups(secrets, p, oracle.nearest(quasi, secrets, p)))


@pytest.mark.parametrize("interrupt", [False, True])
@pytest.mark.parametrize(("width", "tables"), [(1, 1), (3, 2), (4, 5)])
@pytest.mark.parametrize(("problem", "quasi", "secrets", "p"), CASES)
def test_hashed_neighbours(problem, quasi, secrets, p, width, tables, interrupt) -> None:
    dims = projections(np.flatnonzero(problem.quasi.quasi_mask), width, tables, Job(seed=5)).tolist()
    groups, _ = lsh_groups(problem, width, tables, interrupt, Job(seed=5))
    most = max(2 * tables, 4 * p) if interrupt else 0
    assert as_sets(groups) == expected(oracle.form_groups(secrets, p, oracle.hashed(quasi, secrets, p, dims, most)))


@pytest.mark.parametrize(("problem", "quasi", "secrets", "p"), CASES)
def test_mondrian(problem, quasi, secrets, p) -> None:
    assert as_sets(mondrian_groups(problem, Job())) == expected(oracle.mondrian(quasi, secrets, p))


@pytest.mark.parametrize("seed", SEEDS)
def test_band_order(seed: int) -> None:
    data, quasi, _, _ = random_case(seed)
    assert band_order(data.quasi(), Job()).tolist() == oracle.reverse_cuthill_mckee(quasi)


def bandwidth(data: Transactions, order: np.ndarray) -> int:
    matrix = data.to_scipy().astype(np.int32)[order]
    rows, columns = (matrix @ matrix.T).nonzero()
    return int(np.abs(rows - columns).max(initial=0))


def test_band_order_is_as_narrow_as_scipys() -> None:
    ours, theirs, scattered = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        starts = rng.integers(0, 60, 80)
        data = Transactions.from_lists([[s, s + int(rng.integers(1, 4))] for s in starts])
        graph = data.to_scipy().astype(np.int32)
        ours.append(bandwidth(data, band_order(data, Job())))
        theirs.append(bandwidth(data, scipy_rcm((graph @ graph.T).tocsr(), symmetric_mode=True)))
        scattered.append(bandwidth(data, np.arange(80)))
    assert np.mean(ours) <= 1.02 * np.mean(theirs)
    assert np.mean(ours) < 0.5 * np.mean(scattered)


def test_both_searches_for_nearest_neighbours_agree() -> None:
    """The same sets, once in a small vocabulary (bitmaps) and once in a huge one (inverted lists)."""
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((300, 40)) < 0.4]
    lists = [[*row, *([40] if i % 9 == 0 else [])] for i, row in enumerate(rows)]
    small = Transactions.from_lists(lists, labels=[str(i) for i in range(41)], sensitive=["40"])
    large = Transactions.from_lists(lists, labels=[str(i) for i in range(50_000)], sensitive=["40"])
    one, two = (nearest_groups(degree_problem(data, 5), Job()) for data in (small, large))
    assert np.array_equal(one, two)


@pytest.mark.timeout(20)
def test_a_long_run_of_conflicting_transactions_costs_no_walk() -> None:
    """Half of the transactions hold one of two sensitive items, all in a row: a walk over them would take minutes."""
    n = 400_000
    offsets = np.arange(n // 2 + 1)
    secret_offsets = np.concatenate((offsets, np.full(n // 2, n // 2)))
    quasi = (np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    secrets = (np.arange(n // 2) % 2).astype(np.int32)
    groups = _native.cahd_groups(*quasi, secret_offsets, secrets, 0, 2, 4, 1, Job().monitor)
    counts = np.stack([np.bincount(groups[: n // 2][secrets == s], minlength=groups.max() + 1) for s in (0, 1)])
    assert (counts * 4 <= np.bincount(groups)).all()


@pytest.mark.parametrize("method", ["cahd-gray", "cahd-rcm", "cahd-balanced"])
def test_alpha_times_p_cannot_wrap(method):
    data = Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b"]] * 3, sensitive=["s"])
    most = 2**31 - 1
    with pytest.raises(ParameterError, match="'alpha' must be at most 2,147,483,647"):
        anonset.anonymize(data, method=method, p=3, alpha=most + 1, seed=1)
    far, all_of_them = (anonset.anonymize(data, method=method, p=3, alpha=a, seed=1) for a in (most, len(data)))
    assert np.array_equal(far.groups, all_of_them.groups)
