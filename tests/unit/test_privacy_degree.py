"""The check of privacy degree p: what holds, what is measured, and every way a release can betray a link."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import Release, Transactions
from anonset.data.release import GroupCounts
from anonset.models import model
from anonset.models.privacy_degree import check

LABELS = ["cream", "meat", "pregnancy test", "strawberries", "viagra", "wine"]


def published(sets: list[list[str]], groups: list[int], counts: list[tuple[int, str, int]]) -> Release:
    data = Transactions.from_lists(sets, labels=LABELS)
    lines = GroupCounts(
        np.array([group for group, _, _ in counts], dtype=np.int32),
        np.array([LABELS.index(name) for _, name, _ in counts], dtype=np.int32),
        np.array([count for _, _, count in counts], dtype=np.int64),
    )
    return Release(data, np.array(groups, dtype=np.int32), lines)


def figure_1d() -> Release:
    """The groups the paper publishes: Bob, David, Ellen and Andrea, Claire (members in the order of their items)."""
    return published(
        [
            ["wine", "meat", "cream"],
            ["wine", "meat"],
            ["wine", "meat"],
            ["cream", "strawberries"],
            ["meat", "strawberries"],
        ],
        [1, 1, 1, 2, 2],
        [(1, "viagra", 1), (2, "pregnancy test", 1)],
    )


def test_the_papers_published_groups_have_degree_2() -> None:
    verdict = check(figure_1d(), p=2)
    assert verdict.holds
    assert verdict.measured == {"p": 2, "degree": 2.0, "groups": 2, "groups_below_p": 0}


def test_the_worst_group_is_the_witness() -> None:
    verdict = check(figure_1d(), p=3)
    assert not verdict.holds
    assert verdict.measured["groups_below_p"] == 1
    assert verdict.witnesses[0].items == ("pregnancy test",)
    assert "group 2, which needs 3 transactions and has 2" in verdict.witnesses[0].statement


def test_repeated_lines_of_counts_are_added_up() -> None:
    release = published([["meat"]] * 4, [1, 1, 1, 1], [(1, "viagra", 1), (1, "viagra", 1)])
    assert check(release, p=2).holds
    assert not check(release, p=3).holds


def test_a_sensitive_item_inside_a_transaction_is_a_breach() -> None:
    release = published([["meat"], ["meat", "viagra"], ["meat"]], [1, 2, 2], [(2, "viagra", 1)])
    verdict = check(release, p=2)
    assert not verdict.holds
    assert verdict.witnesses[0].items == ("viagra",)


def test_an_item_marked_sensitive_but_never_counted_is_a_breach_too() -> None:
    release = published([["meat"], ["meat", "viagra"]], [1, 1], [])
    marked = Release(release.transactions.with_sensitive(["viagra"]), release.groups, release.counts)
    assert check(release, p=2).holds
    assert not check(marked, p=2).holds


def test_counts_of_a_group_that_nobody_is_in_are_a_breach() -> None:
    verdict = check(published([["meat"], ["meat"]], [1, 1], [(7, "viagra", 1)]), p=2)
    assert not verdict.holds
    assert "no transactions" in verdict.witnesses[0].statement


def test_negative_counts_are_refused() -> None:
    release = published([["meat"], ["meat"]], [1, 1], [(1, "viagra", 2), (1, "viagra", -1)])
    assert not check(release, p=2).holds


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_only_the_canonical_order_inside_a_group_holds(order: tuple[int, ...]) -> None:
    sets = [["cream"], ["meat"], ["meat", "wine"]]
    release = published([sets[i] for i in order], [5, 5, 5], [(5, "viagra", 1)])
    assert check(release, p=3).holds == (order == (0, 1, 2))


def test_the_canonical_order_does_not_depend_on_the_codes() -> None:
    data = Transactions.from_lists([["9"], ["10"]], labels=["10", "9", "s"])
    counts = GroupCounts(np.array([0], np.int32), np.array([2], np.int32), np.array([1]))
    assert check(Release(data, np.zeros(2, np.int32), counts), p=2).holds


def test_groups_may_alternate_as_long_as_each_is_in_order() -> None:
    release = published([["cream"], ["cream"], ["meat"], ["meat"]], [2, 1, 2, 1], [(1, "viagra", 1), (2, "viagra", 1)])
    assert check(release, p=2).holds


def test_rows_are_read_as_groups_of_equal_quasi_identifiers() -> None:
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]], sensitive=["s"])
    assert check(Release(data), p=3).holds
    assert not check(Release(data), p=4).holds
    with pytest.raises(anonset.ParameterError, match="'sensitive' must name the sensitive items"):
        check(Release(replace(data, sensitive=None)), p=2)


def test_nothing_sensitive_and_nothing_at_all_hold() -> None:
    assert check(published([["meat"]], [0], []), p=10).holds
    verdict = check(published([], [], []), p=10)
    assert verdict.holds
    assert verdict.measured["groups"] == 0


def test_p_below_two_is_refused() -> None:
    with pytest.raises(anonset.ParameterError, match="'p' must be at least 2"):
        model("privacy-degree", p=1)


@given(
    st.lists(st.integers(0, 4), max_size=30),
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["viagra", "pregnancy test"]), st.integers(0, 4)), max_size=8
    ),
    st.integers(2, 6),
)
def test_the_check_agrees_with_the_definition(groups: list[int], lines: list[tuple[int, str, int]], p: int) -> None:
    total: dict[tuple[int, str], int] = {}
    for group, name, count in lines:
        total[group, name] = total.get((group, name), 0) + count
    ratios = [groups.count(group) / count for (group, _), count in total.items() if count]
    verdict = check(published([["meat"] for _ in groups], groups, lines), p)
    assert verdict.holds == all(ratio >= p for ratio in ratios)
    assert verdict.measured["degree"] == min(ratios, default=len(groups))
