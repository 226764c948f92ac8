"""The Quest generator: the paper's model, the public file's shape, the same answer on any number of threads."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from anonset import CancelledError, Job, ParameterError, Transactions
from anonset.generate import generate_quest


def same(one: Transactions, other: Transactions) -> bool:
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.items, other.items)


def pair_supports(data: Transactions) -> np.ndarray:
    """In how many transactions each pair of items occurs together."""
    matrix = data.to_scipy().astype(np.int32)
    together = (matrix.T @ matrix).tocoo()
    return together.data[together.row < together.col]


def distinct(data: Transactions) -> int:
    return len({tuple(items) for items in data.to_lists()})


# --- shape ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    return generate_quest(100_000, seed=6)


@pytest.fixture(scope="module")
def published(real_data):
    with gzip.open(real_data("T10I4D100K.dat.gz"), "rt") as lines:
        return Transactions.from_lists([line.split() for line in lines])


def test_the_defaults_have_the_lengths_of_the_published_file(generated, published):
    mine, theirs = generated.lengths, published.lengths
    assert len(mine) == len(theirs) == 100_000
    assert mine.mean() == pytest.approx(theirs.mean(), abs=0.1)
    assert mine.var() == pytest.approx(theirs.var(), rel=0.05)
    assert mine.min() == 1
    assert abs(int(mine.max()) - int(theirs.max())) <= 4


def test_the_defaults_use_as_many_items_as_the_published_file(generated, published):
    used = np.count_nonzero(generated.item_counts)
    assert used == pytest.approx(np.count_nonzero(published.item_counts), abs=35)


def test_item_frequencies_fall_like_those_of_the_published_file(generated, published):
    mine = np.sort(generated.item_counts)[::-1]
    theirs = np.sort(published.item_counts)[::-1]
    ranks = [9, 49, 99, 199, 299, 399, 499, 599]
    assert mine[ranks] == pytest.approx(theirs[ranks], rel=0.25)


def test_as_many_pairs_are_frequent_as_in_the_published_file(generated, published):
    mine, theirs = pair_supports(generated), pair_supports(published)
    assert (mine >= 50).sum() == pytest.approx((theirs >= 50).sum(), rel=0.2)
    assert (mine >= 100).sum() == pytest.approx((theirs >= 100).sum(), rel=0.2)
    assert 0.5 < (mine >= 500).sum() / (theirs >= 500).sum() < 2.2  # few pairs: varies much with the seed


def test_as_many_transactions_are_distinct_as_in_the_published_file(generated, published):
    assert distinct(generated) == pytest.approx(distinct(published), rel=0.03)


# --- the paper's model ------------------------------------------------------------------------------------------


def test_single_item_patterns_give_poisson_lengths():
    data = generate_quest(
        50_000,
        mean_length=6,
        patterns=200_000,
        pattern_length=1,
        items=200_000,
        corruption=0,
        corruption_variance=0,
        seed=3,
    )
    seen = np.bincount(data.lengths, minlength=30)[1:16]
    expected = poisson.pmf(np.arange(15), 5)
    assert chisquare(seen, expected / expected.sum() * seen.sum()).pvalue > 1e-4


def test_a_pattern_that_is_never_corrupted_is_always_whole():
    data = generate_quest(500, patterns=1, pattern_length=5, corruption=0, corruption_variance=0, seed=4)
    assert distinct(data) == 1


def test_more_corruption_leaves_fewer_whole_patterns():
    settings = {"patterns": 3, "pattern_length": 4, "mean_length": 4, "corruption_variance": 0, "seed": 5}
    kinds = [distinct(generate_quest(2000, corruption=level, **settings)) for level in (0, 0.3, 0.8)]
    assert kinds == sorted(kinds)
    assert kinds[0] < kinds[2]


def test_correlated_patterns_share_items_so_that_fewer_items_occur():
    used = [np.count_nonzero(generate_quest(20_000, correlation=level, seed=6).item_counts) for level in (0, 0.5, 1)]
    assert used[0] > used[1] > used[2]


def test_equally_popular_items_nearly_all_occur():
    data = generate_quest(50_000, popularity="equal", seed=7)
    assert np.count_nonzero(data.item_counts) > 980


def test_fewer_patterns_are_more_frequent():
    few, many = (np.sort(pair_supports(generate_quest(20_000, patterns=n, seed=8)))[-100] for n in (200, 5000))
    assert few > 2 * many


def test_lengths_follow_the_mean_also_far_from_ten():
    assert generate_quest(2000, mean_length=40, pattern_length=10, seed=9).lengths.mean() == pytest.approx(40, rel=0.05)
    assert generate_quest(2000, mean_length=1, pattern_length=1, seed=9).lengths.max() == 1


def test_a_vocabulary_smaller_than_the_lengths_still_ends():
    data = generate_quest(1000, items=10, mean_length=10, patterns=3, pattern_length=2, seed=10)
    assert data.lengths.max() <= 10
    assert data.lengths.min() >= 1


# --- seeds, threads, jobs -----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_transactions_on_any_number_of_threads():
    one, *others = (generate_quest(30_001, seed=11, threads=threads) for threads in (1, 2, 3, 8))
    assert all(same(one, other) for other in others)


def test_other_seeds_give_other_transactions():
    assert not same(generate_quest(1000, seed=1), generate_quest(1000, seed=2))
    assert not same(generate_quest(1000), generate_quest(1000))


def test_blocks_do_not_repeat_each_other():
    data = generate_quest(3 * 8192, seed=12)
    first = [data.take(np.arange(start, start + 8192)) for start in (0, 8192)]
    assert not same(*first)


def test_no_transactions_are_an_empty_database():
    data = generate_quest(0, items=5, seed=1, mean_length=2, pattern_length=2)
    assert len(data) == 0
    assert data.labels.to_pylist() == ["0", "1", "2", "3", "4"]


def test_a_job_brings_its_seed_and_hears_of_progress():
    told = []
    data = generate_quest(100_000, job=Job(13, 2, lambda stage, done, total: told.append((stage, done, total))))
    assert same(data, generate_quest(100_000, seed=13))
    assert told[0] == ("generate", 0, 13)
    assert told[-1] == ("generate", 13, 13)


def test_a_cancelled_job_ends_with_an_error():
    job = Job(1)
    job.cancel()
    with pytest.raises(CancelledError):
        generate_quest(1000, job=job)


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"transactions": -1}, "transactions"),
        ({"transactions": 2.5}, "transactions"),
        ({"transactions": 10**12}, "transactions"),
        ({"mean_length": 0}, "mean_length"),
        ({"mean_length": float("nan")}, "mean_length"),
        ({"mean_length": 1001}, "mean_length"),
        ({"pattern_length": 0.5}, "pattern_length"),
        ({"pattern_length": 50, "items": 20, "mean_length": 5}, "pattern_length"),
        ({"patterns": 0}, "patterns"),
        ({"items": 0}, "items"),
        ({"items": "many"}, "items"),
        ({"correlation": -0.1}, "correlation"),
        ({"corruption": 1}, "corruption"),
        ({"corruption_variance": -1}, "corruption_variance"),
        ({"popularity": "equall"}, "popularity"),
        ({"seed": -1}, "seed"),
        ({"threads": -2}, "threads"),
    ],
)
def test_a_bad_parameter_is_named(bad, name):
    with pytest.raises(ParameterError, match=f"'{name}' must") as error:
        generate_quest(**{"transactions": 10, **bad})
    assert str(error.value).endswith((".", "?"))


MEMORY = """
import resource
from anonset.generate import generate_quest
generate_quest(10, seed=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = generate_quest({n}, seed=1)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * {unit} / (data.items.nbytes + data.offsets.nbytes))
"""


def test_memory_stays_near_the_arrays_themselves():
    unit = 1 if sys.platform == "darwin" else 1024
    code = MEMORY.format(n=1_000_000, unit=unit)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 3
