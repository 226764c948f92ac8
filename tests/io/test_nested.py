"""JSON lines with objects inside: values have paths, and no object is ever an item."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import InputError, read

ORDERS = [
    {"order": {"id": 7, "customer": {"no": "007"}}, "lines": [{"sku": "tea", "n": 1}, {"sku": "milk", "n": 2}]},
    {"order": {"id": 8, "customer": {"no": "008"}}, "lines": []},
    {"order": {"id": 9, "customer": {"no": "007"}}, "lines": [{"sku": "tea", "n": 1}]},
]


def lines(objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


def test_nested_orders_open_without_an_option(saved):
    data = read(saved(lines(ORDERS), "a.jsonl"))
    assert data.to_lists() == [["milk", "tea"], [], ["tea"]]
    assert data.ids.to_pylist() == ["7", "8", "9"]
    assert data.unread == ("order.customer.no", "lines[].n")


def test_paths_name_items_transactions_and_users(saved):
    data = read(saved(lines(ORDERS), "a.jsonl"), item="lines[].n", transaction="order.id", user="order.customer.no")
    assert data.to_lists() == [["1", "2"], [], ["1"]]
    assert data.user_labels.to_pylist() == ["007", "008"]


def test_objects_are_no_items_and_the_paths_are_named(saved):
    name = saved(lines(ORDERS), "a.jsonl")
    with pytest.raises(InputError, match=r"Did you mean lines\[\]\.n, lines\[\]\.sku"):
        read(name, item="lines")


def test_of_several_lists_of_objects_the_one_with_items_is_read_or_a_path_is_asked_for(saved):
    both = [{"id": n, "lines": [{"sku": "a"}], "paid": [{"how": "cash"}]} for n in range(3)]
    assert read(saved(lines(both), "a.jsonl")).to_lists() == [["a"]] * 3
    unclear = [{"id": n, "left": [{"x": "a"}], "right": [{"y": "b"}]} for n in range(3)]
    name = saved(lines(unclear), "b.jsonl")
    with pytest.raises(InputError, match=r"item=…\. There are: left\[\]\.x, right\[\]\.y"):
        read(name)
    assert read(name, item="right[].y").to_lists() == [["b"]] * 3


def test_without_an_id_every_object_is_a_transaction(saved):
    assert read(saved(lines([{"lines": [{"item": "a"}]}] * 3), "a.jsonl")).to_lists() == [["a"]] * 3


def test_a_missing_item_is_an_error_with_its_row(saved):
    name = saved(lines([{"id": 1, "lines": [{"sku": "a"}, {"n": 2}]}]), "a.jsonl")
    with pytest.raises(InputError, match="row 2: The row has no item"):
        read(name)


names = st.text("abc.\"' ü", min_size=1, max_size=4).filter(str.strip)


@settings(max_examples=30)
@given(st.lists(st.lists(names, max_size=4, unique=True), min_size=1, max_size=6).filter(any))
def test_any_orders_are_read_as_they_are(tmp_path_factory, baskets):
    path = tmp_path_factory.mktemp("nested") / "a.jsonl"
    objects = ({"no": {"id": n}, "a": {"lines": [{"sku": x} for x in one]}} for n, one in enumerate(baskets))
    path.write_text(lines(objects))
    data = read(path, item="a.lines[].sku", transaction="no.id")
    assert [sorted(one) for one in data.to_lists()] == [sorted(one) for one in baskets]
