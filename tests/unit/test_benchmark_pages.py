"""What the pages of results rest on: domains that are full, pages that say when they were made, one notation."""

import re
import sys
from datetime import date

import pytest

from anonset import Transactions
from benchmarks import _tools, cahd, km


@pytest.fixture
def odd_ids():
    """Like BMS-WebView-2: every id is odd."""
    return Transactions.from_lists([[str(2 * (i + j) + 1) for j in range(3)] for i in range(200)])


def test_small_domains_are_made_by_rank_and_all_their_items_occur(odd_ids):
    for items in (40, 50, 60):
        part = km.small(odd_ids, 150, items)
        assert len(part) == 150
        assert (part.item_counts > 0).sum() == items


def test_a_domain_that_is_not_full_is_not_measured(odd_ids):
    with pytest.raises(AssertionError, match="of 60 items occur"):
        km.small(odd_ids, 10, 60)


def test_a_page_says_when_and_from_which_commit_it_was_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_tools, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench", "--write"])
    _tools.publish("page.md", "# Title\n\nText\n")
    text = (tmp_path / "page.md").read_text()
    assert re.fullmatch(
        rf"# Title\n\nText\n\n\*Made on {date.today()} from (commit [0-9a-f]{{9}}|an unknown commit)"
        r"( and changes since)? in \d+ s\.\*\n",
        text,
    )
    assert capsys.readouterr().out == text


def test_a_guess_is_a_share_and_how_many_times_better_than_blind_it_is():
    data = Transactions.from_lists([["a", "b", "s"], ["a"], ["a"], ["a"]] * 3, sensitive=["s"])
    _, (share, times) = cahd.guesses("cahd-gray", data, 4)
    assert (share, times) == (1, 4)  # the longest is always the holder, in groups of four
    assert _tools.percent(0.28345, 1) == "28.3 %"


def test_a_goal_that_is_missed_is_said():
    rows = [("one", "12 ms", "1.7 × (≤ 3)", "2.6 × (≤ 60)"), ("two", "23 ms", "3.3 × (≤ 3)", "4.8 × (≤ 60)")]
    assert km.missed(rows) == "The figures in brackets are goals. Missed: two, m = 2 with 3.3 × (≤ 3)."
    assert km.missed(rows[:1]) == "The figures in brackets are goals. All are reached."
