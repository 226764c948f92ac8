"""What must hold for PTA whatever the data: sizes, determinism, edges, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import CancelledError, InfeasibleError, ParameterError, Transactions
from anonset.data.job import Job
from anonset.methods import pta
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import gray_order
from anonset.methods.steps.order.tour import prim_tours

sets = st.lists(st.frozensets(st.integers(0, 25), max_size=12), max_size=50)


@given(sets, st.integers(2, 8), st.integers(1, 6) | st.none(), st.booleans())
def test_a_release_is_k_anonymous_and_keeps_its_size(transactions, k, segments, revote) -> None:
    if 0 < len(transactions) < k:
        return
    result = anonset.anonymize(transactions, method="pta", k=k, segments=segments, revote=revote, seed=1)
    assert result.verdict.holds
    assert len(result.release) == len(transactions)
    assert np.array_equal(np.sort(result.row_origin), np.arange(len(transactions)))


@given(sets, st.integers(2, 8))
def test_to_vote_again_never_loses_more(transactions, k) -> None:
    if len(transactions) < k:
        return
    again, faithful = (
        anonset.anonymize(transactions, method="pta", k=k, revote=revote, seed=1).measurements["information_loss"]
        for revote in (True, False)
    )
    assert again <= faithful


@given(st.integers(0, 5_000), st.integers(2, 60), st.integers(1, 400) | st.none())
def test_segments_are_even_and_hold_k(n, k, segments) -> None:
    if 0 < n < k:
        return
    sizes = np.diff(pta.segment_bounds(n, k, segments))
    assert sizes.sum() == n
    if n:
        assert sizes.min() >= k
        assert sizes.max() - sizes.min() <= 1
        assert len(sizes) <= max(1, segments or n)


@pytest.mark.parametrize(("k", "size"), [(2, 100), (50, 100), (51, 51), (300, 300)])
def test_usual_segments_are_about_100_or_hold_one_group(k, size) -> None:
    assert np.diff(pta.segment_bounds(10_000, k)).mean() == pytest.approx(size, rel=0.02)


@pytest.mark.parametrize("k", [2, 3, 7, 20])
@pytest.mark.parametrize(
    "transactions",
    [
        pytest.param([{1, 2, 3}] * 20, id="all equal"),
        pytest.param([{i} for i in range(20)], id="all distinct"),
        pytest.param([set()] * 20, id="all empty"),
        pytest.param([set(), {1}] * 10, id="half empty"),
        pytest.param([set(range(i)) for i in range(20)], id="a staircase"),
    ],
)
def test_odd_data(transactions, k) -> None:
    """k = 20 is all of them."""
    result = anonset.anonymize(transactions, method="pta", k=k, seed=1)
    assert result.verdict.measured["k"] >= k


def test_equal_transactions_lose_nothing() -> None:
    result = anonset.anonymize([{1, 2}] * 7 + [{3}] * 9, method="pta", k=5, seed=1)
    assert result.measurements["information_loss"] == 0


def test_an_empty_database_gives_an_empty_release() -> None:
    result = anonset.anonymize([], method="pta", k=5, seed=1)
    assert len(result.release) == 0
    assert result.verdict.holds


def test_sensitive_items_stay_with_their_transactions() -> None:
    rng = np.random.default_rng(3)
    rows = [set(np.flatnonzero(rng.random(12) < 0.3).tolist()) for _ in range(40)]
    data = Transactions.from_lists(rows, labels=[str(i) for i in range(12)], sensitive=["0", "5", "11"])
    published = pta.run(data, Job(), k=4, segments=None, item_order="frequency", revote=True).release.transactions
    assert published.sensitive_part().same_sets(data.sensitive_part())
    assert not published.quasi().same_sets(data.quasi())
    blind = pta.run(data.quasi(), Job(), k=4, segments=None, item_order="frequency", revote=True).release.transactions
    assert published.quasi().same_sets(blind), "sensitive items must not influence the groups"


def groups_with(threads: int, data: Transactions, bounds: np.ndarray, k: int) -> list[np.ndarray]:
    job = Job(threads=threads)
    order = gray_order(data, job)
    loops, lengths = prim_tours(data, order, bounds, job)
    return [order, loops, lengths, *window_groups(data, loops, bounds, k, job)]


@pytest.mark.parametrize("segments", [1, 3, 40])
def test_any_number_of_threads_gives_the_same(segments) -> None:
    """Large enough that the sort runs in blocks, and one segment is shared by the threads."""
    rng = np.random.default_rng(segments)
    rows = rng.random((1_600, 40)) < 0.9 / np.arange(1, 41)
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in rows], labels=[str(i) for i in range(40)])
    bounds = pta.segment_bounds(len(data), 5, segments)
    one, *others = (groups_with(threads, data, bounds, 5) for threads in (1, 2, 4))
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_sort_of_many_equal_prefixes_is_the_same_for_any_number_of_threads() -> None:
    """All agree on far more than the 64 bits that are compared first."""
    rng = np.random.default_rng(1)
    tails = rng.random((12_000, 12)) < 0.5
    rows = [[*range(60), *(60 + np.flatnonzero(tail)).tolist()] for tail in tails]
    data = Transactions.from_lists(rows, labels=[str(i) for i in range(72)])
    one = gray_order(data, Job(threads=1), "given")
    for threads in (2, 3, 5):
        assert np.array_equal(gray_order(data, Job(threads=threads), "given"), one)
    keys = [np.logical_xor.accumulate(tail).tobytes() for tail in tails]
    assert one.tolist() == sorted(range(len(keys)), key=lambda t: keys[t])


def test_too_few_transactions_are_infeasible() -> None:
    with pytest.raises(InfeasibleError, match=r"'k' must be at most the number of transactions \(3\). Got 5"):
        anonset.anonymize([["a"], ["b"], ["c"]], method="pta", k=5)


def test_too_few_segments_say_what_they_would_need() -> None:
    with pytest.raises(ParameterError, match=r"'segments' must be at least 31 for 1,000,000 .* would need 3,725 GB"):
        pta.segment_bounds(1_000_000, 10, 1)
    assert len(pta.segment_bounds(1_000_000, 10, 31)) == 32


def test_more_segments_than_k_allows_are_fewer_and_noted() -> None:
    result = anonset.anonymize([{i % 7} for i in range(30)], method="pta", k=10, segments=9, seed=1)
    assert result.measurements["segments"] == 3
    assert any("3 segments instead of 9" in note for note in result.notes)


def test_stages_and_progress() -> None:
    seen: dict[str, list[tuple[int, int | None]]] = {}

    def progress(stage: str, done: int, total: int | None) -> None:
        seen.setdefault(stage, []).append((done, total))

    data = Transactions.from_lists([{i % 13, i % 7} for i in range(400)])
    job = Job(progress=progress)
    pta.run(data, job, k=5, segments=4, item_order="frequency", revote=True)
    assert list(job.seconds) == ["sort", "tours", "groups", "center"]
    for stage in job.seconds:
        assert seen[stage][0] == (0, 400)
        assert seen[stage][-1] == (400, 400)


def test_a_long_tour_can_be_stopped() -> None:
    """One segment of thousands takes minutes; a cancelled job ends with its next look at the clock."""
    rng = np.random.default_rng(0)
    rows = rng.random((8_000, 30)) < 0.3
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in rows], labels=[str(i) for i in range(30)])
    job = Job(progress=lambda stage, done, total: job.cancel() if stage == "tours" and done else None)
    with pytest.raises(CancelledError):
        pta.run(data, job, k=5, segments=1, item_order="frequency", revote=True)
