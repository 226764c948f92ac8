"""Sensitive items by name."""

import time

import pytest

from anonset import ParameterError, Transactions
from anonset.io import read

DATA = [["HIV test", "bread"], ["bread", "a,b"], [" x "]]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("HIV test", ["HIV test"]),
        ("HIV test, bread", ["HIV test", "bread"]),
        ('"a,b",bread', ["a,b", "bread"]),
        (["a,b", " x "], [" x ", "a,b"]),
        ("", []),
        ((), []),
    ],
)
def test_names_in_a_text_or_a_list(names, expected):
    assert read(DATA, sensitive=names).sensitive_names() == expected


def test_names_in_a_file_one_per_line(saved):
    name = saved("\ufeffHIV test\r\n\r\na,b\r\n x \r\n", "names.txt")
    assert read(DATA, sensitive_file=name).sensitive_names() == [" x ", "HIV test", "a,b"]
    assert read(DATA, sensitive="bread", sensitive_file=name).sensitive_names() == [" x ", "HIV test", "a,b", "bread"]
    assert read(DATA, sensitive_file=saved("bread  \n", "names.txt")).sensitive_names() == ["bread"]


def test_names_add_to_what_a_column_marks(saved):
    name = saved("tid,item,sensitive\n1,a,1\n1,b,0\n1,c,0\n", "a.csv")
    assert read(name, sensitive="c").sensitive_names() == ["a", "c"]


def test_an_unknown_name_suggests_the_nearest(saved):
    message = "'sensitive' must be a known name. Got 'HIV-test'. Did you mean HIV test?"
    with pytest.raises(ParameterError) as error:
        read(DATA, sensitive="HIV-test")
    assert str(error.value) == message
    with pytest.raises(ParameterError) as error:
        read(DATA, sensitive_file=saved("HIV-test\n", "names.txt"))
    assert str(error.value) == message
    with pytest.raises(ParameterError, match=r"Got 'zzzzzz'. No item of the data has this name\."):
        read(DATA, sensitive="zzzzzz")


def test_the_nearest_of_a_million_names_is_found_quickly():
    labels = [f"product number {number}" for number in range(1_000_000)]
    data = Transactions.from_codes([0, 1], [0], labels)
    start = time.perf_counter()
    with pytest.raises(ParameterError, match="Did you mean product number 77777"):
        data.with_sensitive(["produkt number 77777"])
    assert time.perf_counter() - start < 20  # comparing with each takes minutes
