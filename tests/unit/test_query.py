"""Counting on a release: exact where it can be, Eq. 4 where not, and always inside what is possible."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import anonset
from anonset import ParameterError, Release, Transactions
from anonset.assess.query import Answer, Question, parse, query
from anonset.data.release import GroupCounts

LABELS = ["wine", "strawberries", "meat", "cream", "pregnancy test", "viagra"]


@pytest.fixture
def release() -> Release:
    """Fig. 1d."""
    sets = [
        ["wine", "meat"],
        ["wine", "meat"],
        ["wine", "meat", "cream"],
        ["strawberries", "meat"],
        ["strawberries", "cream"],
    ]
    counts = GroupCounts(np.array([1, 2], np.int32), np.array([5, 4], np.int32), np.array([1, 1]))
    return Release(Transactions.from_lists(sets, labels=LABELS), np.array([1, 1, 1, 2, 2], np.int32), counts)


def test_patterns_without_sensitive_items_are_exact(release: Release) -> None:
    assert query(release, "meat") == Answer(4.0, 4, 4)
    assert query(release, "strawberries AND cream") == Answer(1.0, 1, 1)
    assert query(release, ["wine"], without=["cream"]) == Answer(2.0, 2, 2)
    assert query(release) == Answer(5.0, 5, 5)


def test_eq_4_shares_out_what_a_group_holds(release: Release) -> None:
    """Section 3.2: with cream and strawberries comes a pregnancy test with 50 % probability."""
    assert query(release, "'pregnancy test' AND cream AND strawberries") == Answer(0.5, 0, 1)
    assert query(release, "viagra AND cream") == Answer(pytest.approx(1 / 3), 0, 1)
    assert query(release, "NOT viagra AND wine") == Answer(pytest.approx(2.0), 2, 2)
    assert query(release, "viagra") == Answer(1.0, 1, 1)
    assert query(release, "viagra AND pregnancy test").count == 0


def test_the_cells_of_fig_2(release: Release) -> None:
    cells = query(release, "SELECT COUNT(*) FROM T WHERE 'pregnancy test' GROUP BY cream, meat")
    assert isinstance(cells, list)
    assert [(tuple(present for _, present in answer.cell), answer.count) for answer in cells] == [
        ((True, True), 0.0),
        ((True, False), 0.5),
        ((False, True), 0.5),
        ((False, False), 0.0),
    ]


def test_every_way_of_handing_out_stays_within_the_interval_and_averages_to_the_count() -> None:
    sets = [["a"], ["a"], ["b"], ["a", "b"]]
    counts = GroupCounts(np.array([0], np.int32), np.array([2], np.int32), np.array([2]))
    release = Release(Transactions.from_lists(sets, labels=["a", "b", "s"]), np.zeros(4, np.int32), counts)
    found = query(release, "a AND s")
    assert isinstance(found, Answer)
    ways = [sum(i < 2 and "a" in sets[place] for i, place in enumerate(order)) for order in permutations(range(4))]
    assert (found.low, found.high) == (min(ways), max(ways))
    assert found.count == pytest.approx(np.mean(ways))


def test_rows_are_counted_sensitive_items_too() -> None:
    rows = Transactions.from_lists([["a", "s"], ["a"], ["s"]], sensitive=["s"])
    assert query(Release(rows), "a AND s") == Answer(1.0, 1, 1)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("cream", (("cream", True),)),
        ("pregnancy test AND not cream", (("pregnancy test", True), ("cream", False))),
        ("select count(*) from release where (cream = 1) and (meat = 0)", (("cream", True), ("meat", False))),
        ("NOT NOT a AND NOT b = 0", (("a", True), ("b", True))),
        ("'it''s' AND \"AND\" AND 'x = 1'", (("it's", True), ("AND", True), ("x = 1", True))),
        ("", ()),
        ("SELECT COUNT(*)", ()),
    ],
)
def test_questions_in_words(text: str, conditions: tuple[tuple[str, bool], ...]) -> None:
    assert parse(text) == Question(conditions)


@pytest.mark.parametrize("text", ["a AND", "AND a", "NOT", "a = 2", "'a", "a GROUP BY", "a,b", "= 1"])
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ParameterError, match="'where' must"):
        parse(text)


def test_bad_questions(release: Release) -> None:
    with pytest.raises(ParameterError, match="Did you mean viagra"):
        query(release, "vigara")
    with pytest.raises(ParameterError, match="'group_by' must name quasi-identifier items only"):
        query(release, "wine", group_by=["viagra"])
    with pytest.raises(ParameterError, match="both for 'wine'"):
        query(release, "wine AND NOT wine")


def test_a_folder_is_asked_from_python_and_the_command_line(cli_run, tmp_path) -> None:
    baskets = [["cream", "test"], ["cream"], ["meat"], ["meat"]] * 5
    data = Transactions.from_lists(baskets, sensitive=["test"])
    anonset.publish(data, anonset.Targets(out=tmp_path / "out"), method="cahd-gray", p=4, seed=1)
    found = query(tmp_path / "out", "test AND cream")
    assert isinstance(found, Answer)
    assert found.low <= 5 <= found.high
    code, out, _ = cli_run("query", tmp_path / "out", "test AND cream")
    assert code == 0
    assert "transactions are expected" in out
    assert cli_run("query", tmp_path / "out", "cream")[1].strip() == "10 transactions."
    assert cli_run("query", tmp_path / "out", "test GROUP BY cream", "--json")[0] == 0
    code, _, err = cli_run("query", tmp_path / "out", "chream")
    assert code == 2
    assert "cream" in err


@pytest.fixture
def cli_run(capsys):
    from anonset.cli.base.outcome import run

    def call(*args: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call
