"""The running example of Lin et al., "PTA", section 5: thirteen transactions, k = 3, two segments (Figs. 2 to 7)."""

from __future__ import annotations

import numpy as np
import pytest

import anonset
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.methods import pta
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import gray_keys, gray_order
from anonset.methods.steps.order.tour import prim_tours
from tests.oracle import pta as oracle

BITMAPS = {
    "T1": "01010",
    "T2": "11100",
    "T3": "00111",
    "T4": "10111",
    "T5": "11010",
    "T6": "01011",
    "T7": "10100",
    "T8": "00011",
    "T9": "10001",
    "T10": "01010",
    "T11": "01010",
    "T12": "10101",
    "T13": "01110",
}
NAMES = list(BITMAPS)
SORTED = "T8 T3 T13 T1 T10 T11 T6 T5 T2 T7 T12 T4 T9".split()
RANKS = [2, 5, 11, 12, 12, 12, 13, 19, 23, 24, 25, 26, 30]
SEGMENTS = [SORTED[:7], SORTED[7:]]
LOOPS = ["T8 T6 T1 T10 T11 T13 T3".split(), "T9 T4 T12 T7 T2 T5".split()]
LENGTHS = [6, 10]
FIG_4 = """
    0 1 3 2 2 2 1
    1 0 2 3 3 3 2
    3 2 0 1 1 1 2
    2 3 1 0 0 0 1
    2 3 1 0 0 0 1
    2 3 1 0 0 0 1
    1 2 2 1 1 1 0
"""
WINDOW_LOSSES = {"T8": 2, "T6": 2, "T1": 1, "T10": 0, "T11": 1, "T13": 3, "T3": 3}
# group → (center, information loss)
CLASSES = [
    {"T1 T10 T11 T13": ("01010", 1), "T3 T6 T8": ("00011", 2)},
    {"T4 T9 T12": ("10101", 2), "T2 T5 T7": ("11100", 3)},
]


def items(bitmap: str) -> frozenset[int]:
    return frozenset(i for i, bit in enumerate(bitmap) if bit == "1")


def bitmap(items: frozenset[int]) -> str:
    return "".join("1" if i in items else "0" for i in range(5))


SETS = [items(bits) for bits in BITMAPS.values()]


def same_cycle(a: list[str], b: list[str]) -> bool:
    """Equal up to rotation and reflection."""
    turns = [b[i:] + b[:i] for i in range(len(b))]
    return a in turns or a[::-1] in turns


def in_order(group: str) -> list[str]:
    return sorted(group.split(), key=NAMES.index)


@pytest.fixture
def data() -> anonset.Transactions:
    return anonset.Transactions.from_lists([["ABCDE"[i] for i in s] for s in SETS], labels=list("ABCDE"))


@pytest.fixture
def tours(data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bounds = pta.segment_bounds(13, 3, 2)
    return (*prim_tours(data, gray_order(data, Job(), "given"), bounds, Job()), bounds)


def test_gray_ranks() -> None:
    assert [oracle.gray_rank(items(BITMAPS[name]), 5) for name in SORTED] == RANKS


def test_gray_order(data) -> None:
    assert [NAMES[t] for t in gray_order(data, Job(), "given")] == SORTED
    keys = gray_keys(data, "given").to_pylist()
    assert sorted(range(13), key=lambda t: keys[t]) == [NAMES.index(name) for name in SORTED]


def test_segments() -> None:
    assert pta.segment_bounds(13, 3, 2).tolist() == [0, 7, 13]
    assert [[NAMES[t] for t in s] for s in oracle.segments_of(oracle.gray_order(SETS, 5, "given"), 3, 2)] == SEGMENTS


def test_distances_of_segment_1() -> None:
    matrix = [[oracle.hd(items(BITMAPS[a]), items(BITMAPS[b])) for b in SEGMENTS[0]] for a in SEGMENTS[0]]
    assert matrix == [[int(x) for x in row.split()] for row in FIG_4.strip().splitlines()]


@pytest.mark.parametrize("segment", [0, 1])
def test_loops(tours, segment) -> None:
    loops, lengths, bounds = tours
    found = [NAMES[t] for t in loops[bounds[segment] : bounds[segment + 1]]]
    assert same_cycle(found, LOOPS[segment])
    assert lengths[segment] == LENGTHS[segment]
    by_eye, length = oracle.prim_tsp([items(BITMAPS[name]) for name in SEGMENTS[segment]])
    assert [SEGMENTS[segment][v] for v in by_eye] == found
    assert length == LENGTHS[segment]


def test_window_losses_of_segment_1() -> None:
    loop = [NAMES.index(name) for name in LOOPS[0]]
    candidates = oracle.map_and_vote(loop, SETS, 3)
    assert dict(zip(LOOPS[0], (group.loss for group in candidates), strict=True)) == WINDOW_LOSSES


def test_the_vote_of_figure_6() -> None:
    assert bitmap(oracle.majority([items("01011"), items("01010"), items("00011")])) == "01011"


@pytest.mark.parametrize("segment", [0, 1])
def test_classes_by_the_oracle(segment) -> None:
    loop = [NAMES.index(name) for name in LOOPS[segment]]
    groups, _ = oracle.classes(loop, SETS, 3)
    found = {frozenset(NAMES[t] for t in g.tids): (bitmap(g.center), g.loss) for g in groups}
    assert found == {frozenset(names.split()): value for names, value in CLASSES[segment].items()}


def test_classes_by_the_kernel(data, tours) -> None:
    loops, _, bounds = tours
    groups, voters = window_groups(data, loops, bounds, 3, Job())
    found = [[NAMES[t] for t in np.flatnonzero(groups == g)] for g in range(groups.max() + 1)]
    assert found[:2] == [in_order(names) for names in CLASSES[0]]  # the best window first
    assert sorted(found[2:]) == sorted(in_order(names) for names in CLASSES[1])
    assert [NAMES[t] for t in np.flatnonzero(~voters)] == ["T13"]


@pytest.mark.parametrize("revote", [False, True])
def test_the_whole_way(data, revote) -> None:
    params = {"k": 3, "segments": 2, "item_order": "given", "revote": revote}
    result = anonset.anonymize(data, method="pta", seed=1, **params, keep=anonset.Keep(order=True))
    for names, (center, _) in {**CLASSES[0], **CLASSES[1]}.items():
        for name in names.split():
            published = result.release.transactions[NAMES.index(name)]
            assert published == tuple("ABCDE"[i] for i in sorted(items(center)))
    assert result.measurements["information_loss"] == 1 + 2 + 2 + 3
    assert result.verdict.measured == {"k": 3, "groups": 4, "below_k": 0}


def test_classes_and_loops_are_there_for_the_owner(data) -> None:
    result = anonset.anonymize(data, method="pta", k=3, segments=2, item_order="given", seed=1)
    classes = [frozenset(NAMES[t] for t in np.flatnonzero(result.groups == g)) for g in range(4)]
    assert set(classes) == {frozenset(names.split()) for names in {**CLASSES[0], **CLASSES[1]}}
    tours = [[NAMES[t] for t in tour] for tour in result.tours]
    for tour, loop in zip(tours, LOOPS, strict=True):
        start = tour.index(loop[0])
        turned = tour[start:] + tour[:start]
        assert loop in (turned, [turned[0], *turned[:0:-1]])


def test_table_2_has_four_item_differences() -> None:
    table_1 = ["ab", "bc", "bcd", "abc", "abd", "acd"]
    table_2 = ["abd", "bc", "bc", "bc", "abd", "abd"]
    original, published = (anonset.Transactions.from_lists(rows, labels="abcd") for rows in (table_1, table_2))
    lost = information_loss(original, anonset.Release(published), np.arange(6))
    assert (lost["item_differences"], lost["information_loss"]) == (4, 5)


def test_four_anonymity_of_the_first_class(data) -> None:
    result = anonset.anonymize(data, method="pta", k=3, segments=2, item_order="given", keep=anonset.Keep(order=True))
    sets = list(result.release.transactions)
    assert sets.count(("B", "D")) == 4
