"""FIMI, SPMF and basket files, tidy and messy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import DataError, ParameterError
from anonset._native import Monitor, parse_separated, parse_spaced, sort_rows
from anonset.io import read

NO_BLANKS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\v\f\r\0\ufeff"), min_size=1)


TWO_TRIMMED = ("2 ends of items with blanks were trimmed",)


def check(name, lists, notes=(), **options):
    data = read(name, **options)
    assert data.to_lists() == lists
    assert data.notes == notes


# --- FIMI ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "lists"),
    [
        ("1 2 3\n2 3\n", [["1", "2", "3"], ["2", "3"]]),
        ("3 1\t2 \n\t2   3\v4\f5\n", [["1", "2", "3"], ["2", "3", "4", "5"]]),
        ("1 2\r\n3\r\n", [["1", "2"], ["3"]]),
        ("1 2\r3\r", [["1", "2"], ["3"]]),
        ("\ufeff1 2\n", [["1", "2"]]),
        ("1\n\n2\n \t\n", [["1"], [], ["2"], []]),
        ("1 2\n3", [["1", "2"], ["3"]]),
        ("", []),
        ("\n", [[]]),
        (" ", [[]]),
        ("\n\n", [[], []]),
        ("10 9 -3 a 007 B\n", [["-3", "9", "10", "007", "B", "a"]]),
        (
            "123456789012345678901234567890 12345678901234567890\n",
            [["12345678901234567890", "123456789012345678901234567890"]],
        ),
        ("größe 漢字 🙂\n", [["größe", "漢字", "🙂"]]),
        ("a\u00a0b c\u2028d\n", [["a\u00a0b", "c\u2028d"]]),
    ],
)
def test_fimi_splits_on_any_white_space(saved, content, lists):
    check(saved(content, "a.dat"), lists)


def test_items_that_look_alike_in_eight_bytes_stay_apart(saved):
    words = ["a", "aa", "aaaaaaa", "aaaaaaaa", "aaaaaaaab", "aaaaaaaac", "\x01a", "a\x02"]
    check(saved(" ".join(words) + "\n", "a.dat"), [sorted(words)])


def test_repeated_items_are_merged_and_counted(saved):
    check(saved("2 1 2 2\n1 1\n", "a.dat"), [["1", "2"], ["1"]], ("3 repeated items were merged",))
    check(saved("2 1 2\n", "a.dat"), [["1", "2"]], ("1 repeated item was merged",))


def test_a_line_of_ten_megabytes_is_read(saved):
    data = read(saved("x" * 10_000_000 + " y\nz\n", "a.dat"))
    assert data.lengths.tolist() == [2, 1]
    data = read(saved(" ".join(map(str, range(1_300_000))) + "\n", "a.dat"))
    assert (len(data), data.nnz) == (1, 1_300_000)


def test_invalid_utf8_names_the_line_and_the_remedy(saved):
    name = saved("1 2ä\n".encode() + b"br\xf6tchen 3\n", "a.dat")
    with pytest.raises(DataError) as error:
        read(name)
    expected = "a.dat, line 2: The text is not valid UTF-8. Give its encoding (encoding=latin-1, …)."
    assert str(error.value) == expected
    check(name, [["1", "2Ã¤"], ["3", "brötchen"]], encoding="latin-1")


def test_a_text_that_is_nowhere_utf8_is_windows_1252(saved):
    name = saved(b"1 2\nbr\xf6tchen 3\n", "a.dat")
    check(name, [["1", "2"], ["3", "brötchen"]], ("a.dat is not UTF-8 and was read as Windows-1252",))


@pytest.mark.parametrize(
    "bad", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x80", b"\xf0\x8f\x80\x80"]
)
def test_everything_that_is_no_utf8_is_found(saved, bad):
    with pytest.raises(DataError, match=r"line 3: The text is not valid UTF-8"):
        read(saved("näher\nheran\n".encode() + bad + b"\n", "a.dat"))


def test_a_nul_byte_is_not_text(saved):
    with pytest.raises(DataError) as error:
        read(saved(b"1 2\n3 \x00 4\n", "a.dat"))
    expected = "a.dat, line 2: A NUL byte: this is not plain text. If it is UTF-16, say so: encoding=utf-16."
    assert str(error.value) == expected


def test_utf16_is_known_by_its_mark_or_by_the_option(saved):
    check(saved("1 ö\n2\n".encode("utf-16"), "a.dat"), [["1", "ö"], ["2"]])
    check(saved("1 ö\n2\n".encode("utf-16-be"), "b.dat"), [["1", "ö"], ["2"]], encoding="utf-16-be")


def test_an_unknown_or_a_wrong_encoding_is_an_error(saved):
    with pytest.raises(ParameterError, match=r"'encoding' must be a known character encoding. Got 'klingon'"):
        read(saved("1\n", "a.dat"), encoding="klingon")
    with pytest.raises(DataError, match=r"a.dat, line 2: The text is not valid ascii. Pass another encoding"):
        read(saved("1\nö\n", "a.dat"), encoding="ascii")


def test_an_unexpected_header_is_skipped_and_said(saved):
    name = saved("item_a item_b\n1 2\n3\n", "a.dat")
    check(name, [["1", "2"], ["3"]], ("The first line of a.dat is a header and was left out",))
    check(name, [["item_a", "item_b"], ["1", "2"], ["3"]], header=False)
    check(saved("a b\nc 1\n", "a.dat"), [["a", "b"], ["1", "c"]])
    check(saved("a 2\n1 2\n", "a.dat"), [["2", "a"], ["1", "2"]])
    check(
        saved("5 6\n1 2\n", "a.dat"),
        [["1", "2"]],
        ("The first line of a.dat is a header and was left out",),
        header=True,
    )
    check(saved("a b\n", "a.dat"), [["a", "b"]])


def test_columns_make_no_sense_for_lines(saved):
    with pytest.raises(ParameterError, match=r"'item' must name a column of a table. Got 'x'. a.dat is read as fimi"):
        read(saved("1 2\n", "a.dat"), item="x")


@given(st.lists(st.lists(NO_BLANKS, max_size=6), max_size=8))
def test_any_labels_without_white_space_survive_lines(lists):
    text = "".join(" ".join(row) + "\n" for row in lists).encode()
    assert as_sets(text, lambda data: parse_spaced(Monitor(), data, False, 1)) == [set(row) for row in lists]


def as_sets(text, parse):
    if not text:
        return []
    offsets, codes, (bounds, content), *_ = parse(np.frombuffer(text, np.uint8))
    words = [bytes(content[start:end]).decode() for start, end in pairwise(bounds)]
    return [{words[code] for code in codes[start:end]} for start, end in pairwise(offsets)]


def test_the_result_does_not_depend_on_the_number_of_threads():
    random = np.random.default_rng(5)
    rows = random.integers(0, 3000, (20_000, 30))
    text = "\n".join(" ".join(map(str, row[: row[0] % 30])) for row in rows).encode()
    data = np.frombuffer(text, np.uint8)
    one = parse_spaced(Monitor(), data, False, 1)
    for threads in (2, 3, 8):
        other = parse_spaced(Monitor(), data, False, threads)
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(one[2][1], other[2][1])
        assert one[4:] == other[4:]
    place = random.permutation(3000).astype(np.int32)
    sorted_rows = [sort_rows(Monitor(), one[0], one[1], place, threads) for threads in (1, 4)]
    np.testing.assert_array_equal(sorted_rows[0][0], sorted_rows[1][0])
    np.testing.assert_array_equal(sorted_rows[0][1], sorted_rows[1][1])
    starts, items = sorted_rows[0]
    first = one[1][: one[0][1]]
    assert items[: starts[1]].tolist() == sorted({int(place[code]) for code in first})


# --- SPMF ------------------------------------------------------------------------------------------------------


def test_spmf_names_its_items_in_the_head(saved):
    content = (
        "@CONVERTED_FROM_TEXT\n@ITEM=1=whole milk\n@ITEM=2=a=b\r\n@ITEM=3= blank \n@OTHER\n# remark\n% remark\n"
        "1 2\n\n3\n# remark\n1\n"
    )
    lists = [["a=b", "whole milk"], [], [" blank "], ["whole milk"]]
    for name in ("a.spmf", "a.txt", "a.dat"):
        check(saved(content, name), lists, ("4 comment lines were left out",))


def test_spmf_items_may_be_plain(saved):
    check(saved("1 2\n3\n", "a.spmf"), [["1", "2"], ["3"]])
    note = "1 item was kept by number for want of an @ITEM line"
    check(saved("@ITEM=1=x\n1 2\n", "a.spmf"), [["2", "x"]], (note,))


def test_spmf_codes_with_one_name_are_one_item(saved):
    notes = ("1 item was merged with another of the same name", "1 repeated item was merged")
    check(saved("@ITEM=1=x\n@ITEM=2=x\n1 2\n1\n", "a.spmf"), [["x"], ["x"]], notes)


# --- basket ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "lists"),
    [
        ("milk,bread\neggs\n\nmilk\n", [["bread", "milk"], ["eggs"], [], ["milk"]]),
        ('"a,b","say ""hi""",c\n', [["a,b", "c", 'say "hi"']]),
        ('"two\nlines",x\n"cr\r\nlf"\n', [["two\nlines", "x"], ["cr\r\nlf"]]),
        ("milk , whole bread\t,eggs\r\n", [["eggs", "milk", "whole bread"]]),
        ('" kept ", "quoted"  \n', [[" kept ", "quoted"]]),
        ("\v,\fx\n", [["\v", "\fx"]]),
        ("a,b,,,\n,,,\n", [["a", "b"], []]),
        ('nail 5"\n', [['nail 5"']]),
        ('a,""\n""\n', [["a"], []]),
        ("a;b\nc;d;e\n", [["a", "b"], ["c", "d", "e"]]),
        ("a|b\nc\n", [["a", "b"], ["c"]]),
        ("a b\tc\nd\n", [["a b", "c"], ["d"]]),
        ("3,5% milk;x\n1,5% milk;y\n", [["3,5% milk", "x"], ["1,5% milk", "y"]]),
        ("", []),
    ],
)
def test_baskets_have_quotes_padding_and_any_separator(saved, content, lists):
    trimmed = {"milk , whole": ("3 ends of items with blanks were trimmed",), '" kept "': TWO_TRIMMED}
    notes = next((said for start, said in trimmed.items() if content.startswith(start)), ())
    check(saved(content, "a.basket"), lists, notes)


@pytest.mark.parametrize("inside", ["\t", "\t\t", ";"])
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_separator_inside_a_quoted_name_is_none(saved, inside, lines):
    check(saved(f'0,"{inside}"\n' * lines, "a.basket"), [["0", inside]] * lines)


def test_a_quoted_name_may_hold_a_quote_beside_another_separator(saved):
    check(saved('transaction,item\n1,"""|"\n', "a.csv"), [['"|']])


@pytest.mark.parametrize("format", ["basket", "fimi"])
def test_a_name_may_look_like_json_if_the_format_is_given(saved, format):
    check(saved("[]\n", "a.txt"), [["[]"]], format=format)


def test_a_separator_can_be_given(saved):
    check(saved("a;b\nc;d\n", "a.basket"), [["a;b"], ["c;d"]], separator=",")
    check(saved("a·b\nc\n", "a.basket"), [["a", "b"], ["c"]], separator="·")
    with pytest.raises(ParameterError, match=r"'separator' must be one character"):
        read(saved("a;b\n", "a.basket"), separator=";;")


def test_a_gap_between_items_is_an_error_unless_skipped(saved):
    name = saved('a\n"x\ny",b\nc,,d\n', "a.basket")
    with pytest.raises(DataError) as error:
        read(name)
    expected = (
        "a.basket, line 4: An item is missing between two separators. "
        "Use skip_nulls (--skip-nulls) to leave such gaps out."
    )
    assert str(error.value) == expected
    check(name, [["a"], ["b", "x\ny"], ["c", "d"]], ("1 missing item was left out",), skip_nulls=True)


def test_broken_quotes_name_their_line(saved):
    with pytest.raises(DataError, match=r"a.basket, line 2: A quote is opened and never closed"):
        read(saved('a\n"b\nc\n', "a.basket"))
    with pytest.raises(DataError, match=r"a.basket, line 2: Text follows a closing quote"):
        read(saved('a\n"b"c\n', "a.basket"))


def test_a_header_over_numbers_is_skipped_and_line_numbers_stay_right(saved):
    note = "The first line of a.csv is a header and was left out"
    check(saved("i1,i2,i3\n1,2,3\n4,5,\n", "a.csv"), [["1", "2", "3"], ["4", "5"]], (note,))
    with pytest.raises(DataError, match=r"a.csv, line 3"):
        read(saved("i1,i2,i3\n1,2,3\n4,,5\n", "a.csv"))


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5), max_size=6))
def test_any_labels_survive_quoting(lists):
    def quoted(label: str) -> str:
        return '"' + label.replace('"', '""') + '"'

    text = "".join(",".join(map(quoted, row)) + "\n" for row in lists).encode()
    assert as_sets(text, lambda data: parse_separated(Monitor(), data, ",")) == [set(row) for row in lists]


def test_read_is_public():
    assert anonset.read is read
