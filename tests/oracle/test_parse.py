"""The tokenizer against plain Python."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonset._native import Monitor, first_bad_byte, line_of_row, parse_separated, parse_spaced, sort_rows
from tests.oracle import parse as textbook

SPACED = st.text(st.sampled_from("ab1 \t\r\n\v\f@#é漢\x01\x1f\x80\u00a0"), min_size=1, max_size=120)
QUOTED = st.text(st.sampled_from('ab,;"" \t\r\n\né'), min_size=1, max_size=60)


def as_bytes(text):
    return np.frombuffer(text.encode() if isinstance(text, str) else text, dtype=np.uint8)


def rows_of(offsets, codes, texts):
    bounds, content = texts
    words = [bytes(content[start:end]).decode() for start, end in pairwise(bounds)]
    assert len(set(words)) == len(words)
    return [[words[code] for code in codes[start:end]] for start, end in pairwise(offsets)]


@given(SPACED, st.booleans(), st.sampled_from([1, 3]))
def test_items_between_white_space(text, comments, threads):
    found = parse_spaced(Monitor(), as_bytes(text), comments, threads)
    assert rows_of(*found[:3]) == textbook.spaced(text, comments)
    bounds, content = found[3]
    remarks = [bytes(content[start:end]).decode() for start, end in pairwise(bounds)]
    assert remarks == [line for line in textbook.lines(text) if comments and line.startswith(("@", "#", "%"))]


@settings(max_examples=20)  # of 14,000 lines each
@given(st.lists(st.text("abc", max_size=20), max_size=40), st.integers(1, 4))
def test_items_of_all_lengths_in_many_pieces(words, threads):
    text = "\n".join([" ".join(words)] * 700) + "\n"
    found = parse_spaced(Monitor(), as_bytes(text * 20), False, threads)
    assert rows_of(*found[:3]) == textbook.spaced(text * 20, False)
    assert found[4] == len(text.partition("\n")[0]) + 1


@given(QUOTED, st.sampled_from([",", ";", "\t", "é"]))
def test_items_between_separators_and_quotes(text, separator):
    rows, starts, wrong = textbook.fields(text, separator)
    found = parse_separated(Monitor(), as_bytes(text), separator)
    assert found[6][0] == {"": 0, "open": 1, "after": 2}[wrong]
    if wrong:
        return
    expected = [textbook.items(row) for row in rows]
    assert rows_of(*found[:3]) == [row for row, _ in expected]
    assert found[5][0] == sum(missing for _, missing in expected)
    if found[5][0]:
        first = next(place for place, (_, missing) in enumerate(expected) if missing)
        end = starts[first + 1] if first + 1 < len(starts) else text.count("\n") + 2
        assert starts[first] <= found[5][1] < end


@given(QUOTED, st.data())
def test_the_line_on_which_a_row_begins(text, data):
    rows, starts, wrong = textbook.fields(text, ",")
    assume(not wrong)
    row = data.draw(st.integers(0, len(rows) - 1))
    assert line_of_row(as_bytes(text), ",", row, True) == starts[row]
    filled = [start for start, fields in zip(starts, rows, strict=True) if fields != [""]]
    if row < len(filled):
        assert line_of_row(as_bytes(text), ",", row, False) == filled[row]


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=9), st.permutations(range(10)), st.integers(1, 3))
def test_rows_are_renumbered_sorted_and_cleared_of_repeats(rows, place, threads):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    starts, items = sort_rows(Monitor(), offsets, codes, np.array(place, dtype=np.int32), threads)
    assert [items[a:b].tolist() for a, b in pairwise(starts)] == [sorted({place[code] for code in row}) for row in rows]


@given(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)))
def test_the_first_byte_that_is_no_text(data):
    try:
        bad = data.decode().encode().find(b"\0")
    except UnicodeDecodeError as error:
        nul = data.find(b"\0")
        bad = error.start if nul < 0 else min(nul, error.start)
    assert first_bad_byte(as_bytes(data)) == bad


def test_nothing_at_all():
    for found in (parse_spaced(Monitor(), as_bytes(""), True, 2), parse_separated(Monitor(), as_bytes(""), ",")):
        assert rows_of(*found[:3]) == []
    assert first_bad_byte(as_bytes("")) == -1
    assert line_of_row(as_bytes(""), ",", 3, False) == 1
    with pytest.raises(ValueError, match="separator"):
        parse_separated(Monitor(), as_bytes("a"), "")
