"""The running example of Ghinita, Kalnis and Tao: five transactions, Figs. 1, 2 and 4."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import anonset
from anonset import Transactions
from anonset.data.job import Job
from anonset.methods.steps.group.cahd import cahd_groups
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.group.lsh import signatures, tables_needed
from anonset.methods.steps.order.gray import gray_order

PEOPLE = ["Bob", "David", "Claire", "Andrea", "Ellen"]
QUASI = ["wine", "strawberries", "meat", "cream"]
SECRET = ["pregnancy test", "viagra"]
BASKETS = [
    ["wine", "meat", "viagra"],
    ["wine", "meat"],
    ["strawberries", "cream", "pregnancy test"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]


@pytest.fixture
def data() -> Transactions:
    return Transactions.from_lists(BASKETS, labels=QUASI + SECRET, sensitive=SECRET)


def inverse_gray(word: str) -> str:
    natural, bit = "", 0
    for digit in word:
        bit ^= int(digit)
        natural += str(bit)
    return natural


def test_inverse_gray_codes_of_section_5_2() -> None:
    words = ["".join("01"[item in basket] for item in QUASI) for basket in BASKETS]
    assert words == ["1010", "1010", "0101", "0110", "1011"]
    assert [inverse_gray(word) for word in words] == ["1100", "1100", "0110", "0100", "1101"]


def test_gray_order_of_fig_1c(data: Transactions) -> None:
    order = gray_order(data.quasi(), Job(), "given")
    assert [PEOPLE[i] for i in order] == ["Andrea", "Claire", "Bob", "David", "Ellen"]


def test_cahd_with_p_2_forms_three_groups(data: Transactions) -> None:
    """Not the two groups of Fig. 1d: a group is taken as soon as it has p members."""
    problem = degree_problem(data, 2).in_order(gray_order(data.quasi(), Job(), "given"))
    groups = problem.draft(cahd_groups(problem, 1, Job())).release.groups
    assert groups is not None
    members = defaultdict(set)
    for person, group in zip(PEOPLE, groups.tolist(), strict=True):
        members[group].add(person)
    assert sorted(map(sorted, members.values())) == [["Andrea", "Claire"], ["Bob", "David"], ["Ellen"]]


def test_the_same_groups_from_a_wide_table_whose_columns_are_the_paper_s(tmp_path) -> None:
    names = QUASI + SECRET
    lines = [",".join("01"[name in basket] for name in names) for basket in BASKETS]
    (tmp_path / "fig1.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    table = anonset.read(tmp_path / "fig1.csv", sensitive=SECRET)
    result = anonset.anonymize(table, method="cahd-gray", p=2, item_order="given", seed=1)
    groups = {frozenset(PEOPLE[i] for i in np.flatnonzero(result.groups == g)) for g in set(result.groups.tolist())}
    assert groups == {frozenset({"Andrea", "Claire"}), frozenset({"Bob", "David"}), frozenset({"Ellen"})}


@pytest.mark.parametrize(
    ("dimensions", "buckets"),
    [
        (["wine", "strawberries"], [["Bob", "David", "Ellen"], ["Claire", "Andrea"]]),
        (["strawberries", "cream"], [["Bob", "David"], ["Claire"], ["Andrea"], ["Ellen"]]),
    ],
)
def test_lsh_buckets_of_fig_4(data: Transactions, dimensions: list[str], buckets: list[list[str]]) -> None:
    items = np.array([QUASI.index(name) for name in dimensions], dtype=np.int32)
    found = defaultdict(list)
    for person, signature in zip(PEOPLE, signatures(data.quasi(), items).tolist(), strict=True):
        found[signature].append(person)
    assert sorted(found.values()) == sorted(buckets)


def test_eq_6_needs_66_tables_where_the_paper_says_32() -> None:
    assert tables_needed(32, p1=0.9, delta=0.1) == 66
    assert pytest.approx(0.67, abs=0.005) == 1 - (1 - 0.9**32) ** 32
