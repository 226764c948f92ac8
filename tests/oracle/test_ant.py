"""The kernels of ANT against the plain Python version, on small random data."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import anonset
from anonset import _native
from anonset.data.job import Job
from tests.oracle import ant as oracle

CASES = [(seed, k, p) for seed in range(60) for k, p in ((2, 0.5), (3, 0.6), (3, 0.34), (4, 0.3))]


def random_problem(seed: int, p: float):
    """Counts, sensitive attributes that keep p over all rows, and both as the kernels take them."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(4, 40)), int(rng.integers(1, 6))
    vectors = [tuple(map(int, row)) for row in rng.poisson(0.9, (n, width))]
    secrets = [set(np.flatnonzero(row).tolist()) for row in rng.random((n, width)) < 0.35]
    for a in range(width):
        holders = [row for row in range(n) if a in secrets[row]]
        for row in holders[int(Fraction(str(p)) * n) :]:
            secrets[row].discard(a)
    most = [max(row[a] for row in vectors) for a in range(width)]
    first = np.concatenate(([0], np.cumsum(most))).astype(np.int32)
    codes = [[int(first[a]) + level for a in range(width) for level in range(row[a])] for row in vectors]
    return vectors, secrets, (*csr(codes), *csr([sorted(row) for row in secrets]), first)


def csr(rows) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return offsets, np.array([code for row in rows for code in row], dtype=np.int32)


@pytest.mark.parametrize(("seed", "k", "p"), CASES)
def test_groups_are_those_of_the_oracle(seed, k, p):
    vectors, secrets, arrays = random_problem(seed, p)
    if len(vectors) < k:
        pytest.skip("fewer transactions than k")
    clusters = np.random.default_rng(seed).integers(0, 3, len(vectors)).astype(np.int32)
    limit = Fraction(str(p))
    found = _native.ant_groups(*arrays, clusters, k, (limit.numerator, limit.denominator), 2, Job(1).monitor)
    groups = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)}
    assert groups == oracle.ant(vectors, secrets, clusters.tolist(), k, limit)


@pytest.mark.parametrize("seed", range(60))
def test_with_very_many_clusters_those_left_over_look_in_their_own_part_first(seed):
    vectors, secrets, arrays = random_problem(seed, 0.5)
    clusters = np.random.default_rng(seed).choice([0, 249, 250, 1499, 1500], len(vectors)).astype(np.int32)
    found = _native.ant_groups(*arrays, clusters, 2, (1, 2), 2, Job(1).monitor)
    groups = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)}
    assert groups == oracle.ant(vectors, secrets, clusters.tolist(), 2, Fraction(1, 2))


@pytest.mark.parametrize(("n", "attributes"), [(300, 12), (200, 150)])
def test_groups_of_larger_clusters_are_those_of_the_oracle(n, attributes):
    """Few attributes: rows are compared as bitmaps. Many: only with rows that share something."""
    rng = np.random.default_rng(n)
    vectors = [tuple(map(int, row)) for row in rng.poisson(4 / attributes, (n, attributes))]
    secrets = [set(np.flatnonzero(row).tolist()) for row in rng.random((n, attributes)) < 1 / attributes]
    first = np.concatenate(([0], np.cumsum(np.max(vectors, axis=0)))).astype(np.int32)
    codes = [[int(first[a]) + level for a in range(attributes) for level in range(row[a])] for row in vectors]
    arrays = (*csr(codes), *csr([sorted(row) for row in secrets]), first)
    found = _native.ant_groups(*arrays, np.zeros(n, dtype=np.int32), 4, (1, 2), 2, Job(1).monitor)
    groups = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)}
    assert groups == oracle.ant(vectors, secrets, [0] * n, 4, Fraction(1, 2))


@pytest.mark.parametrize("mean", [8, 30, 200])
def test_k_means_of_long_rows_is_that_of_the_oracle(mean):
    """Means are kept to 1/512, to 1/128, and in 32 bits to 1/1,024 again."""
    rng = np.random.default_rng(mean)
    vectors = [tuple(map(int, row)) for row in rng.poisson(mean, (60, 5))]
    first = np.concatenate(([0], np.cumsum(np.max(vectors, axis=0)))).astype(np.int32)
    codes = [[int(first[a]) + level for a in range(5) for level in range(row[a])] for row in vectors]
    starts = rng.choice(60, 7, replace=False)
    found = _native.k_means(*csr(codes), first, starts, 7, 10, 1, 2, Job(1).monitor)
    assert found.tolist() == oracle.k_means(vectors, starts.tolist())


@pytest.mark.parametrize("seed", range(60))
def test_k_means_is_that_of_the_oracle(seed):
    vectors, _, (offsets, codes, _, _, first) = random_problem(seed, 0.5)
    starts = np.random.default_rng(seed).choice(len(vectors), min(3, len(vectors)), replace=False)
    found = _native.k_means(offsets, codes, first, starts, 3, 10, 1, 2, Job(1).monitor)
    assert found.tolist() == oracle.k_means(vectors, starts.tolist())


@pytest.mark.parametrize("clusters", [50, 90, 150])
def test_clusters_that_fill_a_part_of_a_table_or_more_than_one_are_the_oracles_too(clusters):
    rng = np.random.default_rng(5)
    vectors = [tuple(map(int, row)) for row in rng.poisson(1.5, (400, 6))]
    first = np.concatenate(([0], np.cumsum(np.max(vectors, axis=0)))).astype(np.int32)
    codes = [[int(first[a]) + level for a in range(6) for level in range(row[a])] for row in vectors]
    starts = rng.choice(400, clusters, replace=False)
    found = _native.k_means(*csr(codes), first, starts, clusters, 10, 1, 2, Job(1).monitor)
    assert found.tolist() == oracle.k_means(vectors, starts.tolist())


@pytest.mark.parametrize("clusters", [7, 3000])
def test_k_means_depends_on_the_seed_and_not_on_threads(clusters):
    rng = np.random.default_rng(6)
    rows = rng.poisson(0.4, (9000, 20))
    first = np.concatenate(([0], np.cumsum(rows.max(axis=0)))).astype(np.int32)
    offsets, codes = csr([[int(first[a]) + v for a in range(20) for v in range(row[a])] for row in rows])
    none = np.empty(0, dtype=np.int64)
    one, two, other = (
        _native.k_means(offsets, codes, first, none, clusters, 5, seed, threads, Job(1).monitor)
        for seed, threads in ((1, 1), (1, 3), (2, 1))
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    assert len(np.unique(one)) > 0.5 * clusters


def test_without_a_hierarchy_the_certificate_says_what_an_attribute_is(tmp_path):
    rows = [[("a", 0.9), ("g", 0.1)], [("b", 0.1), ("c", 0.2)], [("d", 0.1), ("e", 0.3)], [("f", 0.2)]]
    table = pa.table(
        {
            "transaction": [number for number, row in enumerate(rows) for _ in row],
            "item": [item for row in rows for item, _ in row],
            "sensitivity": [degree for row in rows for _, degree in row],
        }
    )
    given = {"method": "ant", "k": 2, "p": 0.5, "threshold": 0.8, "seed": 1}
    result = anonset.publish(table, anonset.Targets(out=tmp_path / "release.csv"), **given)
    assert any("'group3' stands for some items that are neighbours" in note for note in result.certificate.notes)
    assert "group1" in result.release.transactions.labels.to_pylist()
    kinds = {"item": list("abcdefg"), "level1": ["food"] * 4 + ["drinks"] * 3}
    assert not anonset.anonymize(table, **given, hierarchy=kinds).public_notes
