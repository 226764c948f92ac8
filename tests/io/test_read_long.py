"""Long tables: one line per item of a transaction."""

import gzip

import numpy as np
import pytest

from anonset import DataError, ParameterError
from anonset.io import read


def fails(name, message, **options):
    with pytest.raises(DataError) as error:
        read(name, **options)
    assert str(error.value) == message


def owners(data):
    return [data.user_labels[int(user)].as_py() for user in data.users]


@pytest.mark.parametrize(
    "header", ["transaction,item", "Transaction_ID,Item", "TID,sku", "order id,Product Name", "id,page"]
)
def test_columns_are_known_by_their_names(saved, header):
    data = read(saved(f"{header}\n7,b\n3,a\n7,a\n", "a.csv"))
    assert data.to_lists() == [["a", "b"], ["a"]]
    assert data.ids.to_pylist() == ["7", "3"]
    assert data.notes == ()


def test_columns_can_be_given(saved):
    name = saved("a,b,c\n1,x,u\n1,y,u\n2,z,v\n", "a.csv")
    data = read(name, transaction="a", item="B", user="c")
    assert data.to_lists() == [["x", "y"], ["z"]]
    assert owners(data) == ["u", "v"]
    with pytest.raises(ParameterError, match=r"'item' must be a known name. Got 'd'. Known: a, b, c"):
        read(name, transaction="a", item="d")


def test_unknown_columns_are_asked_for(saved):
    message = (
        "a.csv: It is not clear which column holds the transaction and which the item. The columns are: a, b. "
        "Most likely: transaction=a item=b. Name them so, or otherwise, or give the format if this is no long table."
    )
    fails(saved("a,b\n1,x\n1,y\n2,z\n", "a.csv"), message)
    with pytest.raises(DataError, match=r"which column holds the transaction. The columns are: customer, item"):
        read(saved("customer,item\nu,x\nu,y\n", "a.csv"))


def test_the_name_of_a_column_may_hold_quotes_and_line_ends(saved):
    data = read(saved('"my ""tid""","the\nitem"\n1,x\n', "a.csv"), transaction='my "tid"', item="the\nitem")
    assert data.to_lists() == [["x"]]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('\ufefftransaction,item\r\n1,a b\r\n\r\n1,"c""d"\r\n2,e\r\n', "a.csv"),
        ('transaction,item\r1,a b\r1,"c""d"\r2,e\r', "a.csv"),
        ('transaction,item\r\n1,a b\n1,"c""d"\r\n2,e\n', "a.csv"),
        ('transaction;item\n1;a b\n1;"c""d"\n2;e\n', "a.csv"),
        ('transaction\titem\n1\ta b\n1\t"c""d"\n2\te\n', "a.tsv"),
        ('transaction|item\n1|a b\n1|"c""d"\n2|e', "a.txt"),
        ('transaction,item,\n1,a b,\n1,"c""d",\n2,e,\n', "a.csv"),
        (
            '{"tid":1,"item":"a b"}\r\n\n{"item":"c\\"d","tid":"1"}\n{"tid":2,"item":"e","more":[]}',
            "a.jsonl",
        ),
        ('{"transaction":1,"item":"a b"}\n{"item":"c\\"d","transaction":"1"}\n{"transaction":2,"item":"e"}\n', "a"),
    ],
)
def test_line_ends_marks_separators_and_quotes_vary(saved, content, name):
    data = read(saved(content, name))
    assert data.to_lists() == [["a b", 'c"d'], ["e"]]
    assert data.ids.to_pylist() == ["1", "2"]


def test_labels_are_text_however_they_look(saved):
    items = ["007", "1e5", "2020-01-01", "12345678901234567890123", "1.10", "true", "NULL", "nan", "NA", "#x", " a "]
    content = "transaction,item\n" + "".join(f"1,{item}\n" for item in items)
    assert set(read(saved(content, "a.csv"))[0]) == set(items)
    content = "".join(f'{{"transaction":1,"item":"{item}"}}\n' for item in items)
    assert set(read(saved(content, "a.jsonl"))[0]) == set(items)


def test_a_null_is_an_error_with_its_line_unless_skipped(saved):
    name = saved('transaction,item\n1,"a\nb"\n\n1,\n,c\n2,d\n', "a.csv")
    fails(name, "a.csv, line 5: The line has no item. Use skip_nulls (--skip-nulls) to leave such lines out.")
    data = read(name, skip_nulls=True)
    assert data.to_lists() == [["a\nb"], ["d"]]
    assert data.notes == ("2 lines without a transaction or an item were left out",)
    name = saved('{"tid":1,"item":"a"}\n\n{"tid":null,"item":"b"}\n', "a.jsonl")
    fails(
        name,
        "a.jsonl, line 3: The line has no transaction. Use skip_nulls (--skip-nulls) to leave such lines out.",
    )


def test_an_empty_text_stands_for_a_transaction_without_items(saved):
    for content, name in (
        ('transaction,item,sensitivity\n1,a,0.5\n17,"",\n2,b,1\n2,"",\n', "a.csv"),
        (
            '{"transaction":1,"item":"a","sensitivity":0.5}\n{"transaction":17,"item":""}\n'
            '{"transaction":2,"item":"b","sensitivity":1}\n{"transaction":2,"item":""}\n',
            "a.jsonl",
        ),
    ):
        data = read(saved(content, name))
        assert data.to_lists() == [["a"], [], ["b"]]
        assert data.ids.to_pylist() == ["1", "17", "2"]
        assert data.sensitivity.tolist() == [0.5, 1]
        assert data.notes == ("1 empty item beside others was ignored",)


def test_users_belong_to_transactions(saved):
    data = read(saved("order,customer,sku\n7,u10,x\n8,u9,y\n7,u10,z\n", "a.csv"))
    assert owners(data) == ["u10", "u9"]
    name = saved("order,customer,sku\n7,u1,x\n8,u2,y\n7,u2,z\n", "a.csv")
    fails(
        name,
        "a.csv, line 4: This transaction occurs with two different users. Every transaction must belong to one user.",
    )


def test_degrees_belong_to_occurrences_and_the_highest_of_repeats_stays(saved):
    data = read(saved("tid,item,sensitivity\n2,b,1\n1,b,0.25\n1,a,0\n1,b,.5\n", "a.csv"))
    assert data.to_lists() == [["b"], ["a", "b"]]
    assert data.sensitivity.tolist() == [1, 0, 0.5]
    assert data.notes == ("1 repeated item was merged",)


@pytest.mark.parametrize("degree", ["1.5", "-0.1", "", "high", "nan"])
def test_a_degree_that_is_none_names_its_line(saved, degree):
    name = saved(f"tid,item,degree\n1,a,0.5\n1,b,{degree}\n", "a.csv")
    fails(name, "a.csv, line 3: The degree of sensitivity must be a number between 0 and 1.")


def test_a_column_can_mark_sensitive_items(saved):
    data = read(saved("tid,item,sensitive\n1,a,yes\n1,b,0\n2,c,\n2,d,TRUE\n", "a.csv"))
    assert data.sensitive_names() == ["a", "d"]
    assert data.notes == ()
    with pytest.raises(DataError, match="line 3: An item that is marked sensitive elsewhere"):
        read(saved("tid,item,sensitive\n1,a,1\n2,a,0\n", "a.csv"))
    data = read(saved("tid,item,secret\n1,a,f\n2,b,t\n", "a.csv"), sensitive_column="secret")
    assert data.sensitive_names() == ["b"]
    name = saved("tid,item,sensitive\n1,a,1\n2,a,perhaps\n", "a.csv")
    fails(name, "a.csv, line 3: The mark of a sensitive item must be true or false.")


def test_a_table_without_a_header_is_read_when_asked(saved):
    name = saved("1,x\n2,y\n2,z\n", "a.csv")
    assert read(name, format="long").to_lists() == [["x"], ["y", "z"]]
    assert read(name).to_lists() == [["1", "x"], ["2", "y"], ["2", "z"]]
    name = saved("x,9,1\ny,9,2\n", "a.csv")
    data = read(name, format="long", header=False, transaction="3", item="1", user="2")
    assert data.to_lists() == [["x"], ["y"]]
    assert owners(data) == ["9", "9"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b"transaction,item\n1,a\n1,b,c\n",
            "The line has 3 fields; 2 are expected. Quote fields that hold a separator.",
        ),
        (b"transaction,item\n1,a\n1\n", "The line has 1 field; 2 are expected. Quote fields that hold a separator."),
        (
            b"transaction,item\n1,\xc3\xa4\n1,\xff\n",
            "The text is not valid UTF-8. Give its encoding (encoding=latin-1, …).",
        ),
        (
            b'transaction,item\n1,a\n1,"b\n',
            'A quote is not closed, or text follows a closing quote. Double quotes that belong to a name ("").',
        ),
    ],
)
def test_a_broken_line_is_named_and_never_quoted(saved, content, problem):
    fails(saved(content, "a.csv"), f"a.csv, line 3: {problem}")
    fails(saved(gzip.compress(content), "a.csv.gz"), f"a.csv.gz, line 3: {problem}")


def test_broken_json_is_named_and_never_quoted(saved):
    with pytest.raises(DataError) as error:
        read(saved('{"tid":1,"item":"secret"}\n\n{"tid":1,"item":secret}\n', "a.jsonl"))
    assert str(error.value) == "a.jsonl, line 3: The line is not valid JSON."
    message = "a.jsonl, line 3: Other lines have a list where this one has none."
    fails(saved('{"items":["a"]}\n\n{"items":"b"}\n', "a.jsonl"), message)


def test_another_encoding_can_be_given(saved):
    name = saved("transaction,item\n1,Müsli\n".encode("cp1252"), "a.csv")
    assert read(name, encoding="cp1252")[0] == ("Müsli",)
    assert read(saved("transaction\titem\n1\tMüsli\n".encode("utf-16"), "a.tsv"))[0] == ("Müsli",)


def test_a_line_of_ten_megabytes_is_read(saved):
    data = read(saved("transaction,item\n1," + "x" * 10_000_000 + "\n2,y\n", "a.csv"))
    assert data.lengths.tolist() == [1, 1]
    data = read(saved('{"items":["' + "x" * 20_000_000 + '"]}\n{"items":["y"]}\n', "a.jsonl"))
    assert data.lengths.tolist() == [1, 1]


def test_a_table_with_a_header_only_is_an_empty_database(saved):
    data = read(saved("transaction,item\n", "a.csv"))
    assert (len(data), data.n_items) == (0, 0)


def test_items_of_a_transaction_may_be_apart(saved):
    random = np.random.default_rng(3)
    pairs = np.column_stack((random.integers(0, 500, 5000), random.integers(0, 90, 5000)))
    data = read(saved("tid,item\n" + "\n".join(f"t{t},{i}" for t, i in pairs), "a.csv"))
    sets: dict[str, set[str]] = {}
    for transaction, item in pairs:
        sets.setdefault(f"t{transaction}", set()).add(str(item))
    assert dict(zip(data.ids.to_pylist(), map(set, data), strict=True)) == sets
    assert data.ids.to_pylist() == list(sets)
    assert data.labels.to_pylist() == sorted({str(i) for _, i in pairs}, key=int)
    assert data.notes == (f"{5000 - data.nnz:,} repeated items were merged",)


# --- counts and attributes ---------------------------------------------------------------------------------------


def test_counts_and_attributes_of_items(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("transaction,item,attribute,count\n1,milk,dairy,2\n2,wine,drinks,1\n2,brie,dairy,3\n")
    data = read(path)
    assert dict(zip(data.labels.to_pylist(), data.attributes.to_pylist(), strict=True)) == {
        "brie": "dairy",
        "milk": "dairy",
        "wine": "drinks",
    }
    assert data.counts.tolist() == [2, 3, 1]


@pytest.mark.parametrize("count", ["-1", "1.5", "many", "nan"])
def test_a_count_that_is_none_is_an_error_with_its_line(tmp_path, count):
    path = tmp_path / "data.csv"
    path.write_text(f"transaction,item,count\n1,milk,2\n2,wine,{count}\n")
    with pytest.raises(DataError, match=r"line 3: The count must be a whole number"):
        read(path)


def test_an_item_with_two_attributes_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("transaction,item,attribute\n1,milk,dairy\n2,milk,drinks\n")
    with pytest.raises(DataError, match="line 3: This item occurs with two different attributes"):
        read(path)
