"""A release in groups as a matrix of expected shares, and as one of the worlds that fit it."""

import numpy as np
import pytest

import anonset
from anonset import InputError, Release, Transactions
from anonset.data.release import GroupCounts


@pytest.fixture
def release():
    random = np.random.default_rng(3)
    rows = [[f"q{i}" for i in random.choice(8, 3, replace=False)] for _ in range(90)]
    for place in range(0, 90, 9):
        rows[place].append("s" if place % 2 else "t")
    data = Transactions.from_lists(rows, sensitive=["s", "t"])
    return anonset.anonymize(data, method="cahd-gray", p=4, seed=1).release


def shares_by_hand(release):
    labels = release.transactions.labels.to_pylist()
    matrix = np.zeros((len(release), len(labels)))
    for row, names in enumerate(release.transactions):
        matrix[row, [labels.index(name) for name in names]] = 1
    for group, item, count in zip(release.counts.group, release.counts.item, release.counts.count, strict=True):
        members = np.flatnonzero(release.groups == group)
        matrix[members, item] = count / len(members)
    return matrix


def test_expected_shares_are_those_of_the_groups(release):
    assert np.array_equal(anonset.expected(release).toarray(), shares_by_hand(release))


def test_indices_are_those_that_other_libraries_take(release):
    matrix = anonset.expected(release)
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_sums_of_expected_shares_are_the_answers_of_query(release):
    matrix, labels = anonset.expected(release).toarray(), release.transactions.labels.to_pylist()
    both = (matrix[:, labels.index("q1")] * matrix[:, labels.index("s")]).sum()
    assert both == pytest.approx(anonset.query(release, "q1 AND s").count)


def test_a_sample_has_the_sets_and_the_counts_of_the_release(release):
    world = anonset.sampled(release, seed=5)
    secret = [release.transactions.labels.index(name).as_py() for name in ("s", "t")]
    assert world.only(~np.isin(np.arange(world.n_items), secret)).same_sets(release.transactions)
    for group, item, count in zip(release.counts.group, release.counts.item, release.counts.count, strict=True):
        rows = world.rows[world.items == item]
        assert (release.groups[rows] == group).sum() == count
    assert world.nnz == release.transactions.nnz + release.counts.count.sum()


def test_samples_are_fair(release):
    total = sum(anonset.sampled(release, seed).to_scipy().astype(float) for seed in range(600)) / 600
    assert np.abs(total.toarray() - shares_by_hand(release)).max() < 0.1  # five standard errors of a fair coin


def test_the_same_seed_gives_the_same_sample(release):
    one, same, other = (anonset.sampled(release, seed) for seed in (1, 1, 2))
    assert one.same_sets(same)
    assert not one.same_sets(other)


def test_group_numbers_may_have_gaps():
    data = Transactions.from_lists(["a", "b", "as", "b"], sensitive="s")
    counts = GroupCounts(np.full(1, 7, np.int32), np.full(1, 2, np.int32), np.full(1, 1))
    release = Release(data.quasi(), np.array([7, 3, 7, 3], np.int32), counts)
    assert anonset.expected(release).toarray()[:, 2].tolist() == [0.5, 0, 0.5, 0]
    assert sum("s" in row for row in anonset.sampled(release, 1)) == 1


@pytest.mark.parametrize("write", [anonset.expected, anonset.sampled])
def test_a_release_in_rows_needs_no_export(write):
    with pytest.raises(InputError, match="in rows"):
        write(Release(Transactions.from_lists(["a"])))
