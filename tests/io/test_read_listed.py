"""Tables with one row per transaction: a column of lists, or a column of 0 and 1 per item."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonset import DataError, InputError
from anonset.io import read


def fails(name, message, **options):
    with pytest.raises(DataError) as error:
        read(name, **options)
    assert str(error.value) == message


def owners(data):
    return [data.user_labels[int(user)].as_py() for user in data.users]


def as_parquet(table):
    pq.write_table(pa.table(table), "a.parquet")
    return "a.parquet"


def as_arrow(table, stream=False):
    table = pa.table(table)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make("a.arrow", table.schema) as file:
        file.write_table(table)
    return "a.arrow"


# --- lists -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('{"items":["b","a"],"user":"u"}\n\n{"user":"v","items":[]}\n{"items":["a",10,9],"user":"u"}\n', "a.jsonl"),
        ('{"items":["b","a"],"user":"u"}\n{"user":"v","items":[]}\n{"items":["a",10,9],"user":"u"}', "a.ndjson"),
        ('user,items\nu,"[""b"",""a""]"\nv,[]\nu,"[""a"",10,""9""]"\n', "a.csv"),
        ('user\tproducts\nu\t"[""b"",""a""]"\nv\t[]\nu\t"[""a"", 10, ""9""]"\n', "a.tsv"),
    ],
)
def test_lists_in_text(saved, content, name):
    data = read(saved(content, name))
    assert data.to_lists() == [["a", "b"], [], ["9", "10", "a"]]
    assert owners(data) == ["u", "v", "u"]
    assert data.notes == ()


LIST_TYPES = [
    pa.list_(pa.string()),
    pa.large_list(pa.large_string()),
    pa.list_(pa.dictionary(pa.int8(), pa.string())),
    pa.list_(pa.string_view()),
    pa.list_view(pa.string()),
]


@pytest.mark.parametrize("kind", LIST_TYPES, ids=str)
@pytest.mark.parametrize("stream", [False, True])
def test_lists_in_arrow(saved, kind, stream):
    lists = pa.array([["b", "a"], [], ["a", "c"]], type=kind)
    data = read(as_arrow({"basket": lists, "id": [7, 8, 9]}, stream))
    assert list(map(set, data)) == [{"a", "b"}, set(), {"a", "c"}]
    assert data.ids.to_pylist() == ["7", "8", "9"]


def test_lists_in_parquet(saved):
    table = {"items": [["b", "a"], [], ["a", "a"]], "customer": ["u", "v", "u"], "price": [1.5, 2, 3]}
    data = read(as_parquet(table))
    assert data.to_lists() == [["a", "b"], [], ["a"]]
    assert owners(data) == ["u", "v", "u"]
    assert data.notes == ("1 column was left aside, with no part to play: price", "1 repeated item was merged")
    data = read(as_parquet({"pages": [[1, 10], [9]], "n": [["x"], []]}), item="pages")
    assert data.to_lists() == [["1", "10"], ["9"]]
    with pytest.raises(DataError, match=r"not clear which column holds the lists of items. The columns are: a, b"):
        read(as_parquet({"a": [["x"]], "b": [["y"]]}))


def test_lists_of_bare_values(saved):
    assert read(saved('["b","a"]\n[]\n["c"]\n', "a.jsonl")).to_lists() == [["a", "b"], [], ["c"]]


def test_sensitive_items_may_have_a_list_of_their_own(saved):
    lines = [
        '{"items":["a","b"],"sensitive":["s"]}',
        '{"items":["a"],"sensitive":[]}',
        '{"items":["t"],"sensitive":["s"]}',
    ]
    data = read(saved("\n".join(lines), "a.jsonl"))
    assert data.to_lists() == [["a", "b", "s"], ["a"], ["s", "t"]]
    assert data.sensitive_names() == ["s"]
    with pytest.raises(DataError, match="line 3: An item that is marked sensitive elsewhere"):
        read(saved("\n".join([*lines[:2], '{"items":["s","t"],"sensitive":["t"]}']), "a.jsonl"))


def test_repeats_are_counted_but_not_between_items_and_sensitive_items(saved):
    data = read(saved('{"items":["a","a","s"],"sensitive":["s","s"]}\n', "a.jsonl"))
    assert data.to_lists() == [["a", "s"]]
    assert data.notes == ("1 repeated item was merged",)


def test_degrees_follow_the_items_and_then_the_sensitive_items(saved):
    lines = ['{"items":["b","a"],"sensitive":["s"],"sensitivity":[0.1,0.2,1]}', '{"items":[]}']
    data = read(saved("\n".join(lines), "a.jsonl"))
    assert data.to_lists() == [["a", "b", "s"], []]
    assert data.sensitivity.tolist() == [0.2, 0.1, 1]
    data = read(saved('{"items":["b","a"],"sensitive":["a"],"sensitivity":[0.1,0.2]}\n', "a.jsonl"))
    assert data.sensitivity.tolist() == [0.2, 0.1]
    assert data.sensitive_names() == ["a"]


def test_degrees_that_do_not_fit_name_their_line(saved):
    name = saved('{"items":["a"],"sensitivity":[1]}\n{"items":["b","a"],"sensitivity":[0.1]}\n', "a.jsonl")
    fails(name, "a.jsonl, line 2: There must be one degree of sensitivity for each item.")
    name = saved('{"items":["a"],"sensitivity":[1]}\n{"items":["b"],"sensitivity":[7]}\n', "a.jsonl")
    fails(name, "a.jsonl, line 2: The degree of sensitivity must be a number between 0 and 1.")
    table = {"items": [["a"], ["b"]], "sensitivity": [[1.0], [None]]}
    fails(as_parquet(table), "a.parquet, row 2: The degree of sensitivity must be a number between 0 and 1.")


def test_nulls_in_lists(saved):
    table = {"items": [["a"], ["b", None], None]}
    message = "a.parquet, row 3: The row has no item. Use skip_nulls (--skip-nulls) to leave such rows out."
    fails(as_parquet(table), message)
    data = read("a.parquet", skip_nulls=True)
    assert data.to_lists() == [["a"], ["b"]]
    assert data.notes == ("1 row without an item was left out", "1 missing item was left out")
    name = saved('{"items":["a"]}\n\n{"items":["b",null]}\n', "a.jsonl")
    fails(
        name,
        "a.jsonl, line 3: An item of the list is missing. Use skip_nulls (--skip-nulls) to leave such items out.",
    )
    name = saved('items\n"[""a""]"\nnonsense\n', "a.csv")
    fails(
        name,
        "a.csv, line 3: The line has no item. Use skip_nulls (--skip-nulls) to leave such lines out.",
        format="lists",
    )


def test_the_order_of_a_dictionary_is_kept(saved):
    lists = pa.array([["b", "a"]], pa.list_(pa.dictionary(pa.int32(), pa.string())))
    assert read(as_arrow({"items": lists})).labels.to_pylist() == ["b", "a"]


# --- long in binary files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [as_parquet, as_arrow])
def test_long_tables_in_binary_files(saved, write):
    table = {"tid": [7, 7, 3, 3], "item": [10, 9, 10, None], "user": ["u", "u", "v", "v"], "more": [[1], [], [], []]}
    name = write(table)
    fails(name, f"{name}, row 4: The row has no item. Use skip_nulls (--skip-nulls) to leave such rows out.")
    data = read(name, skip_nulls=True)
    assert data.to_lists() == [["9", "10"], ["10"]]
    assert data.ids.to_pylist() == ["7", "3"]
    assert owners(data) == ["u", "v"]
    aside = "1 column was left aside, with no part to play: more"
    assert data.notes == (aside, "1 row without a transaction or an item was left out")


def test_a_damaged_binary_file_is_an_error(saved):
    fails(
        saved(b"PAR1 and no more", "a.parquet"),
        "a.parquet: The file cannot be read as parquet. Check that it is complete, or pass its format.",
    )
    with pytest.raises(DataError, match=r"a.arrow: The file is damaged or no Arrow file"):
        read(saved(b"ARROW1 and no more", "a.arrow"))


# --- wide ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("milk,bread,eggs\n1,0,1\n0,0,0\n0,1,0\n", "a.csv"),
        ("milk\tbread\teggs\nTrue\tFalse\tTRUE\nF\tF\tf\n0\tt\t0\n", "a.tsv"),
        ('{"milk":1,"bread":0,"eggs":true}\n{"milk":0,"bread":0,"eggs":0}\n{"milk":0,"bread":1,"eggs":0}\n', "a.jsonl"),
    ],
)
def test_wide_tables_keep_the_order_of_their_columns(saved, content, name):
    data = read(saved(content, name))
    assert data.to_lists() == [["milk", "eggs"], [], ["bread"]]
    assert data.labels.to_pylist() == ["milk", "bread", "eggs"]
    assert data.ids is None


def test_wide_tables_may_name_their_transactions_and_users(saved):
    data = read(saved("order_id,milk,customer,bread\nx,1,u,0\ny,0,v,1\n", "a.csv"))
    assert data.to_lists() == [["milk"], ["bread"]]
    assert (data.ids.to_pylist(), owners(data)) == (["x", "y"], ["u", "v"])
    data = read(saved(",milk,page\n0,1,0\n1,0,1\n", "a.csv"))
    assert data.to_lists() == [["milk"], ["page"]]
    assert data.ids.to_pylist() == ["0", "1"]


def test_a_cell_that_is_neither_0_nor_1_names_its_line(saved):
    content = "milk,bread\n1,0\n" + "0,1\n" * 300 + "0,2\n"
    fails(saved(content, "a.csv"), "a.csv, line 303: A cell of the wide table is neither 0 nor 1.")
    table = {"milk": [0, 1], "bread": [1, 3]}
    fails(as_parquet(table), "a.parquet, row 2: A cell of the wide table is neither 0 nor 1.", format="wide")


def test_an_empty_cell_of_a_wide_table_is_a_null(saved):
    name = saved("milk,bread\n1,0\n,1\n", "a.csv")
    fails(
        name,
        "a.csv, line 3: A cell of the wide table is empty. Use skip_nulls (--skip-nulls) to read empty cells as 0.",
    )
    data = read(name, skip_nulls=True)
    assert data.to_lists() == [["milk"], ["bread"]]
    assert data.notes == ("1 empty cell was read as 0",)


def test_wide_tables_in_parquet(saved):
    data = read(as_parquet({"b": [True, False], "a": [1.0, 0.0], "transaction": [1, 0]}))
    assert data.to_lists() == [["b", "a"], []]
    assert data.ids.to_pylist() == ["1", "0"]


def test_a_column_that_is_there_twice_is_refused(saved):
    lists = pa.array([[1], [2, 3], []])
    table = pa.Table.from_arrays(
        [pa.array(["1", "1", "2"]), lists, pa.array(["a", "b", "a"]), pa.array(["c", "c", "c"])],
        names=["transaction", "more", "item", "item"],
    )
    pq.write_table(table, "twice.parquet")
    with pytest.raises(InputError, match="'item' is there twice"):
        read("twice.parquet")
