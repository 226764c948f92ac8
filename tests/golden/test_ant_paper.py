"""The running example of the ANT paper: Tables 1, 2, 4 (with its misprints put right), 5 and 6."""

from dataclasses import replace

import numpy as np
import pytest

import anonset
from anonset import _native
from anonset.data.hierarchy import Hierarchy
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods.ant import cluster
from anonset.methods.steps.group.attributes import kp_problem

# Table 1: the degrees of each transaction's items.
TABLE_1 = [
    {1: 0.9, 3: 0.6, 4: 0.1, 5: 0.3, 7: 0.3, 11: 0.4},
    {3: 0.3, 4: 0.2, 7: 0.7, 8: 0.2, 12: 0.7},
    {3: 0.6, 4: 0.2, 8: 0.5, 9: 0.1},
    {2: 0.3, 4: 0.2, 5: 0.6, 11: 0.8, 12: 0.9},
    {2: 0.4, 5: 0.1, 7: 0.3, 10: 0.3, 12: 0.9},
    {1: 0.1, 5: 0.4, 6: 0.5, 11: 0.8},
    {2: 0.4, 4: 0.7, 5: 0.1, 7: 0.2, 11: 0.8},
    {2: 0.2, 5: 0.2, 9: 0.5, 10: 0.1},
    {1: 0.3, 3: 0.7, 4: 0.6, 6: 0.4, 8: 0.2, 12: 0.8},
    {1: 0.2, 5: 0.2, 6: 0.3, 8: 0.5},
    {3: 0.1, 5: 0.3, 12: 0.8},
    {1: 0.2, 5: 0.3, 9: 0.4},
]
TABLE_2 = {"A": (1, 7, 11), "B": (2, 9), "C": (3, 6), "D": (4, 10), "E": (5, 8), "F": (12,)}
# Table 4, non-sensitive part. Misprinted there: the E of T3 (item 8 is there) and the A of T6 (11 is sensitive).
COUNTS = [
    "201110", "101111", "011110", "010110", "110110", "101010",
    "110110", "020110", "102110", "101020", "001010", "110010",
]  # fmt: skip
SECRETS = ["A", "", "", "AF", "F", "A", "A", "", "F", "", "F", ""]
CLUSTERS = [{1, 2, 6, 9, 10, 11}, {3, 4, 5, 7, 8, 12}]  # Table 5
GROUPS = {(1, 2, 9): "101110", (6, 10, 11): "101010", (3, 4, 8): "010110", (5, 7, 12): "110110"}  # Table 6


def example() -> Transactions:
    data = Transactions.from_lists([list(row) for row in TABLE_1], labels=[str(item) for item in range(1, 13)])
    degrees = [row[int(name)] for row, names in zip(TABLE_1, data, strict=True) for name in names]
    return replace(data, sensitivity=np.array(degrees))


def tree() -> Hierarchy:
    pairs = [(str(item), name) for name, items in TABLE_2.items() for item in items]
    return Hierarchy.from_levels([item for item, _ in pairs], [[name for _, name in pairs]])


@pytest.fixture
def problem():
    return kp_problem(example(), Job(1), k=3, p=0.6, threshold=0.8, hierarchy=tree(), level=None)


def test_the_mapped_data_of_table_4(problem):
    names = problem.attributes.names.to_pylist()
    assert sorted(names) == list("ABCDEF")
    sizes = np.diff(problem.first)
    owner = np.repeat(np.arange(6), sizes)
    rows = [problem.codes[a:b] for a, b in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)]
    counts = [np.bincount(owner[row], minlength=6) for row in rows]
    by_name = ["".join(str(row[names.index(name)]) for name in "ABCDEF") for row in counts]
    assert by_name == COUNTS
    secret = [
        "".join(sorted(names[a] for a in problem.secrets[start:end]))
        for start, end in zip(problem.secret_offsets[:-1], problem.secret_offsets[1:], strict=True)
    ]
    assert secret == SECRETS


def test_the_clusters_of_table_5(problem):
    found = cluster(problem, 2, 3, Job(1), np.array([0, 2]))
    assert [set(np.flatnonzero(found == c) + 1) for c in (0, 1)] == CLUSTERS


def test_rounded_means_would_not_give_table_5():
    """Why the means stay real: with centers rounded half up, the loop ends elsewhere."""
    vectors = np.array([[int(c) for c in row] for row in COUNTS], dtype=float)
    centers = vectors[[0, 2]]
    for _ in range(20):
        of = np.argmin(np.abs(vectors[:, None] - centers[None]).sum(axis=2), axis=1)
        centers = np.array([np.floor(vectors[of == c].mean(axis=0) + 0.5) for c in (0, 1)])
    assert [set(np.flatnonzero(of == c) + 1) for c in (0, 1)] != CLUSTERS


def test_the_groups_of_table_6():
    result = anonset.anonymize(
        example(),
        method="ant",
        k=3,
        p=0.6,
        threshold=0.8,
        clusters=2,
        start="1,3",
        hierarchy=tree(),
        keep=anonset.Keep(order=True),
    )
    out = result.release.transactions
    for members, center in GROUPS.items():
        for member in members:
            assert published_counts(out, member - 1) == center
    assert result.verdict.measured["k"] == 3
    assert result.verdict.measured["p"] == pytest.approx(1 / 3)
    assert result.measurements["attribute_loss"] == 8


def published_counts(out: Transactions, row: int) -> str:
    span = slice(out.offsets[row], out.offsets[row + 1])
    names = out.labels.take(out.items[span]).to_pylist()
    counts = {name: n for name, n in zip(names, out.counts[span].tolist(), strict=True) if name in TABLE_2}
    return "".join(str(counts.get(name, 0)) for name in "ABCDEF")


def test_everybody_keeps_the_sensitive_items_of_table_7():
    result = anonset.anonymize(
        example(),
        method="ant",
        k=3,
        p=0.6,
        threshold=0.8,
        clusters=2,
        start="1,3",
        hierarchy=tree(),
        keep=anonset.Keep(order=True),
    )
    own = [sorted(names, key=int) for names in result.release.transactions.sensitive_part()]
    assert own == [["1"], [], [], ["11", "12"], ["12"], ["11"], ["11"], [], ["12"], [], ["12"], []]


def test_the_kernel_alone_gives_table_6(problem):
    clusters = np.array([0 if row + 1 in CLUSTERS[0] else 1 for row in range(12)], dtype=np.int32)
    groups = _native.ant_groups(*problem.kernel, clusters, 3, (3, 5), 1, Job(1).monitor)
    assert {tuple(np.flatnonzero(groups == g) + 1) for g in range(4)} == set(GROUPS)
