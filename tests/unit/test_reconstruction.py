"""The reconstruction error: the paper's example by hand, its bounds, and its workloads."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

import anonset
from anonset import Release, Transactions
from anonset.assess.utility.reconstruction import divergences, mean_error, reconstruction_error, workload
from anonset.assess.utility.workload import GroupBy, Workload
from anonset.data.release import GroupCounts

LABELS = ["wine", "strawberries", "meat", "cream", "pregnancy test", "viagra"]
BASKETS = [
    ["wine", "meat", "viagra"],
    ["wine", "meat"],
    ["strawberries", "cream", "pregnancy test"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]


@pytest.fixture
def data() -> Transactions:
    return Transactions.from_lists(BASKETS, labels=LABELS, sensitive=LABELS[4:])


def grouped(data: Transactions, groups: list[int]) -> Release:
    secret = data.sensitive_part()
    pairs = Counter(zip(np.array(groups)[secret.rows].tolist(), secret.items.tolist(), strict=True))
    columns = np.array([[group, item, count] for (group, item), count in sorted(pairs.items())]).reshape(-1, 3)
    counts = GroupCounts(columns[:, 0].astype(np.int32), columns[:, 1].astype(np.int32), columns[:, 2])
    return Release(data.quasi(), np.array(groups, dtype=np.int32), counts)


def test_figs_1d_and_2_cost_ln_2(data: Transactions) -> None:
    """Claire bought cream and no meat; half of the estimate falls to Andrea, who bought meat and no cream."""
    release = grouped(data, [1, 1, 2, 2, 1])
    assert divergences(data, release, [GroupBy("pregnancy test", ("cream", "meat"))]) == pytest.approx(math.log(2))


def test_rows_that_keep_their_sensitive_items_lose_nothing(data: Transactions) -> None:
    assert reconstruction_error(data, Release(data), r=2, queries=20) == 0.0


def test_groups_of_equal_transactions_lose_nothing() -> None:
    data = Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b", "s"]], sensitive=["s"])
    assert reconstruction_error(data, grouped(data, [0, 0, 1, 1]), r=2, queries=5) == 0.0
    assert reconstruction_error(data, grouped(data, [0, 1, 0, 1]), r=2, queries=5) == 0.0, "errors may cancel out"
    assert reconstruction_error(data, grouped(data, [0, 0, 0, 0]), r=2, queries=5) == 0.0
    lopsided = Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b"]], sensitive=["s"])
    assert reconstruction_error(lopsided, grouped(lopsided, [0] * 4), r=2) == pytest.approx(math.log(2))


def by_hand(data: Transactions, release: Release, query: GroupBy) -> float:
    assert release.groups is not None
    sets, groups = [set(basket) for basket in data], release.groups.tolist()
    total = sum(query.sensitive in basket for basket in sets)
    error = 0.0
    for cell in product([False, True], repeat=len(query.items)):
        fits = [[item in basket for item in query.items] == list(cell) for basket in sets]
        actual = sum(fit and query.sensitive in basket for fit, basket in zip(fits, sets, strict=True))
        estimate = 0.0
        for group in set(groups):
            members = [i for i, g in enumerate(groups) if g == group]
            a = sum(query.sensitive in sets[i] for i in members)
            b = sum(fits[i] for i in members)
            estimate += a * b / len(members)
        if actual:
            error += actual / total * math.log(actual / estimate)
    return error


@pytest.mark.parametrize("seed", range(8))
def test_it_is_eq_4_and_the_divergence_summed_cell_by_cell(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = np.array([*"abcdef", "s1", "s2"])
    data = Transactions.from_lists([names[rng.random(8) < 0.4].tolist() for _ in range(40)], labels=names.tolist())
    data = data.with_sensitive(["s1", "s2"])
    release = grouped(data, rng.integers(0, 6, 40).tolist())
    queries = workload(data, r=3, queries=10, seed=seed)
    expected = [by_hand(data, release, query) for query in queries]
    assert divergences(data, release, queries) == pytest.approx(expected, abs=1e-12)


def test_workloads_are_seeded_and_weighted() -> None:
    baskets = [["common", "s"], *[["common"]] * 200, *[[f"rare {i}"] for i in range(20)]]
    data = Transactions.from_lists(baskets, sensitive=["s"])
    assert workload(data, seed=3) == workload(data, seed=3)
    assert workload(data, seed=3) != workload(data, seed=4)
    share = {
        how: np.mean(["common" in query.items for query in workload(data, r=1, queries=300, weighting=how)])
        for how in ("uniform", "frequency")
    }
    assert share["uniform"] < 0.15
    assert share["frequency"] > 0.8
    assert all(query.sensitive == "s" and "s" not in query.items for query in workload(data, r=4))


def test_each_part_of_a_workload_asks_about_all_sensitive_items_and_all_strata_equally_often() -> None:
    baskets = [[f"i{item:02d}" for item in range(start, 40)] + [f"s{start % 4}"] for start in range(40)]
    data = Transactions.from_lists(baskets, sensitive=["s0", "s1", "s2", "s3"])
    asked = Workload(r=2, queries=200)
    queries = asked.draw(data, seed=5)
    assert asked.parts == [20] * 10
    for part in range(10):
        own = queries[20 * part : 20 * part + 20]
        assert Counter(query.sensitive for query in own) == {f"s{number}": 5 for number in range(4)}
        thirds = Counter(int(item[1:]) // 10 for query in own for item in query.items)
        assert all(8 <= thirds[quarter] <= 12 for quarter in range(4)), "each place draws evenly from rare to frequent"
    assert all(len(set(query.items)) == 2 for query in queries)


def test_workloads_of_one_release_agree_within_their_margins() -> None:
    rng = np.random.default_rng(3)
    names = np.array([f"i{item:02d}" for item in range(30)])
    chance = np.geomspace(0.5, 0.02, 30)
    secrets, rare = np.array(["s", "t", "u"]), np.array([0.1, 0.03, 0.005])
    baskets = [[*names[rng.random(30) < chance].tolist(), *secrets[rng.random(3) < rare].tolist()] for _ in range(600)]
    data = Transactions.from_lists(baskets, sensitive=secrets.tolist())
    release = grouped(data, (np.arange(600) // 10).tolist())
    truth, _ = mean_error(data, release, Workload(r=3, queries=8_000), seed=99)
    found = [mean_error(data, release, Workload(r=3, queries=200), seed) for seed in range(40)]
    covered = sum(abs(mean - truth) <= margin for mean, margin in found)
    assert covered >= 33, "about 95 % of the intervals hold the mean of a far larger workload"
    naive = [divergences(data, release, Workload(r=3, queries=1).draw(data, 1000 + at))[0] for at in range(200)]
    stratified = np.std([mean for mean, _ in found])
    assert stratified < 0.9 * np.std(naive) / math.sqrt(200), "narrower than one by one"


def test_bad_questions_are_refused(data: Transactions) -> None:
    release = grouped(data, [0] * 5)
    with pytest.raises(anonset.ParameterError, match=r"quasi-identifier items only\. Got 'viagra', which is sensitive"):
        divergences(data, release, [GroupBy("pregnancy test", ("wine", "viagra"))])
    with pytest.raises(anonset.ParameterError, match=r"'sensitive' must be one of the sensitive items\. Got 'wine'"):
        divergences(data, release, [GroupBy("wine", ("meat",))])
    with pytest.raises(anonset.ParameterError, match="'r' must lie between 1 and 20"):
        workload(data, r=0)
    with pytest.raises(anonset.ParameterError, match="weighting"):
        workload(data, weighting="loud")  # type: ignore[arg-type]


def test_nothing_to_ask_costs_nothing() -> None:
    assert reconstruction_error(Transactions.from_lists([["a"]]), Release(Transactions.from_lists([["a"]]))) == 0.0
