"""Each format's exact text, what it refuses to hold, and how labels are kept from being run as formulas."""

import bz2
import gzip
import io
import json
import lzma
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import InputError, ParameterError, Transactions
from anonset.io.containers.quoting import guarded
from anonset.io.formats.saving import save
from anonset.io.formats.wide import MOST_COLUMNS

PLAIN = Transactions.from_lists([["3", "10"], [], ["3"]])
NAMED = Transactions.from_lists([["wine", "dark bread"], [], ["wine"]])
FULL = replace(
    Transactions.from_lists([["wine", "bread"], [], ["wine"]], users=["ann", "bob", "ann"], sensitive=["wine"]),
    ids=pa.array(["t1", "t2", "t3"]),
    sensitivity=np.array([0.25, 1.0, 0.5]),
)


def text(data, format, **options):
    file = io.BytesIO()
    save(data, file, format, **options)
    return file.getvalue().decode()


def test_fimi():
    assert text(PLAIN, "fimi") == "3 10\n\n3\n"


def test_basket_quotes_what_would_end_or_change_a_field():
    data = Transactions.from_lists([["a", "b c"], [], ['5" disk', "x;y", "x,y", " z"]])
    assert text(data, "basket") == 'a,b c\n\n" z","5"" disk","x,y","x;y"\n'


def test_spmf_keeps_numbers_and_names_texts():
    assert text(PLAIN, "spmf") == "3 10\n\n3\n"
    assert text(NAMED, "spmf") == "@CONVERTED_FROM_TEXT\n@ITEM=1=dark bread\n@ITEM=2=wine\n1 2\n\n2\n"


def test_long_csv_marks_an_empty_transaction_by_a_quoted_empty_item():
    assert text(NAMED, "long.csv") == 'transaction,item\n1,dark bread\n1,wine\n2,""\n3,wine\n'


def test_long_csv_with_everything_there_is():
    assert text(FULL, "long.csv").splitlines() == [
        "transaction,user,item,sensitive,sensitivity",
        "t1,ann,bread,false,0.25",
        "t1,ann,wine,true,1",
        't2,bob,"",false,',
        "t3,ann,wine,true,0.5",
    ]


def test_long_tsv_uses_tabs():
    assert text(NAMED, "long.tsv").splitlines()[1] == "1\tdark bread"


def test_lists_jsonl_with_everything_there_is():
    lines = [json.loads(line) for line in text(FULL, "lists.jsonl").splitlines()]
    assert lines == [
        {"transaction": "t1", "user": "ann", "items": ["bread"], "sensitive": ["wine"], "sensitivity": [0.25, 1]},
        {"transaction": "t2", "user": "bob", "items": [], "sensitive": [], "sensitivity": []},
        {"transaction": "t3", "user": "ann", "items": [], "sensitive": ["wine"], "sensitivity": [0.5]},
    ]


def test_lists_csv_holds_json_lists():
    assert text(NAMED, "lists.csv") == 'items\n"[""dark bread"",""wine""]"\n"[]"\n"[""wine""]"\n'


def test_wide_csv_is_a_table_of_zeros_and_ones():
    assert text(NAMED, "wide.csv") == "dark bread,wine\n1,1\n0,0\n0,1\n"
    assert text(replace(NAMED, ids=pa.array(["a", "bb", "c"])), "wide.csv").splitlines()[2] == "bb,0,0"


def test_wide_jsonl():
    assert json.loads(text(NAMED, "wide.jsonl").splitlines()[2]) == {"dark bread": 0, "wine": 1}


def test_parquet_shows_every_reader_plain_texts_and_lists():
    file = io.BytesIO()
    save(replace(FULL, sensitivity=None), file, "lists.parquet")
    table = pq.read_table(file)
    assert table.schema.field("user").type == pa.string()
    assert pa.types.is_list(table.schema.field("items").type)
    assert table.to_pylist()[0] == {"transaction": "t1", "user": "ann", "items": ["bread"], "sensitive": ["wine"]}
    assert b"ARROW" not in (table.schema.metadata or {})


def test_arrow_keeps_the_vocabulary():
    file = io.BytesIO()
    save(NAMED, file, "lists.arrow")
    column = pa.ipc.open_file(file).read_all()["items"].combine_chunks()
    assert column.to_pylist() == NAMED.to_lists()
    assert column.values.dictionary.to_pylist() == ["dark bread", "wine"]


@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("container", ["parquet", "arrow"])
def test_binary_tables_say_the_same_as_text(layout, container):
    file = io.BytesIO()
    save(NAMED, file, f"{layout}.{container}")
    table = pq.read_table(file) if container == "parquet" else pa.ipc.open_file(file).read_all()
    assert table.to_pylist() == [json.loads(line) for line in text(NAMED, f"{layout}.jsonl").splitlines()]


def test_blocks_do_not_show(monkeypatch):
    data = Transactions.from_lists([[str(i), "x" * (1 + i % 7)] for i in range(1, 60)], users=range(59))
    whole = {f: text(data, f) for f in ("long.csv", "lists.jsonl", "lists.csv")}
    lines = {f: text(replace(data, users=None), f) for f in ("basket", "spmf")}
    monkeypatch.setattr("anonset.io.containers.rows.BLOCK_BYTES", 50)
    assert whole == {f: text(data, f) for f in whole}
    assert lines == {f: text(replace(data, users=None), f) for f in lines}


@pytest.mark.parametrize("format", ["fimi", "spmf", "basket", "long.csv", "long.jsonl", "lists.jsonl", "lists.csv"])
def test_an_empty_database_is_an_ordinary_value(format):
    written = text(Transactions.from_lists([]), format)
    assert written.count("\n") == (1 if format.endswith("csv") else 0)


@pytest.mark.parametrize(
    ("ending", "opener"), [("gz", gzip.decompress), ("bz2", bz2.decompress), ("xz", lzma.decompress)]
)
def test_compression_is_added_by_the_name_and_repeats_byte_for_byte(tmp_path, ending, opener):
    save(PLAIN, tmp_path / f"a.dat.{ending}")
    time.sleep(0.01)
    save(PLAIN, tmp_path / f"b.dat.{ending}")
    assert opener((tmp_path / f"a.dat.{ending}").read_bytes()) == b"3 10\n\n3\n"
    assert (tmp_path / f"a.dat.{ending}").read_bytes() == (tmp_path / f"b.dat.{ending}").read_bytes()


def test_zstd_too(tmp_path):
    save(PLAIN, tmp_path / "a.dat.zst")
    with pa.input_stream(tmp_path / "a.dat.zst", compression="zstd") as stream:
        assert stream.read() == b"3 10\n\n3\n"


def test_a_file_given_open_stays_open():
    for format in ("fimi", "fimi.zst", "fimi.gz", "lists.parquet", "lists.arrow"):
        file = io.BytesIO()
        save(PLAIN, file, format)
        assert not file.closed
        assert file.getvalue()


def test_data_of_some_size_are_written_as_they_were(some_data, tmp_path):
    original = gzip.decompress(some_data("T10I4D100K.dat.gz").read_bytes()).replace(b" \n", b"\n")
    data = Transactions.from_lists(line.split() for line in original.decode().splitlines())
    assert text(data, "fimi").encode() == original


# --- what a format cannot hold -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["fimi", "spmf", "basket"])
@pytest.mark.parametrize("part", ["users", "ids", "sensitive", "sensitivity"])
def test_lines_cannot_hold_more_than_items(format, part):
    others = {"users", "ids", "sensitive", "sensitivity"} - {part}
    with pytest.raises(InputError, match=rf"{format} cannot hold .* Use the format long or lists.*drop {part}"):
        text(FULL, format, drop=others)
    assert text(FULL, format, drop={*others, part})


@pytest.mark.parametrize("part", ["sensitive", "sensitivity"])
def test_wide_cannot_hold_marks_and_degrees(part):
    other = "sensitivity" if part == "sensitive" else "sensitive"
    with pytest.raises(InputError, match=r"wide\.csv cannot hold"):
        text(FULL, "wide.csv", drop=other)


def test_ids_that_only_say_the_position_are_no_loss():
    numbered = replace(PLAIN, ids=pa.array(["1", "2", "3"]))
    assert text(numbered, "fimi") == text(PLAIN, "fimi")
    with pytest.raises(InputError, match="ids"):
        text(replace(PLAIN, ids=pa.array(["1", "3", "2"])), "fimi")


def test_only_long_tables_hold_counts_but_they_can_be_dropped():
    counted = replace(PLAIN, counts=np.array([2, 1, 1], dtype=np.int32))
    with pytest.raises(InputError, match=r"item counts\. Use the format long, or leave them out"):
        text(counted, "lists.parquet")
    assert text(counted, "long.csv").splitlines()[:3] == ["transaction,item,count", "1,3,2", "1,10,1"]
    assert text(counted, "fimi", drop=["counts"]) == "3 10\n\n3\n"


def test_an_unknown_part_to_drop_suggests_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean users"):
        text(FULL, "fimi", drop="user")


@pytest.mark.parametrize(
    ("label", "formats"),
    [
        ("dark bread", ["fimi"]),
        ("tab\there", ["fimi"]),
        ("no\u00a0break", ["fimi"]),
        ("two\nlines", ["fimi", "spmf", "wide.csv"]),
        ("two\rlines", ["fimi", "spmf"]),
        ("", ["fimi", "spmf", "basket", "long.csv", "long.parquet", "wide.csv"]),
        ("@ITEM=1=x", ["fimi"]),
    ],
)
def test_labels_that_a_format_cannot_hold(label, formats):
    data = Transactions.from_lists([["plain", label]])
    for format in formats:
        with pytest.raises(InputError, match=r"cannot hold labels .*Use the format .*lists"):
            text(data, format)
    assert json.loads(text(data, "lists.jsonl")) == {"items": data.to_lists()[0]}


def test_a_nul_character_is_nothing_for_text():
    data = Transactions.from_lists([["a\0b"]])
    for format in ("fimi", "spmf", "basket", "long.csv", "lists.jsonl", "wide.parquet"):
        with pytest.raises(InputError, match=r"NUL character .*Use the format lists\.parquet or lists\.arrow"):
            text(data, format)
    save(data, io.BytesIO(), "lists.parquet")


def test_an_error_never_quotes_a_label():
    with pytest.raises(InputError) as caught:
        text(Transactions.from_lists([["dark secret"]]), "fimi")
    assert "secret" not in str(caught.value)


def test_items_that_do_not_occur_are_no_reason_to_refuse():
    data = Transactions.from_lists([["a"]], labels=["a", "not here"])
    assert save(data, io.BytesIO(), "fimi") == ("1 item of the vocabulary without an occurrence left out.",)


def test_wide_needs_a_sane_number_of_columns():
    with pytest.raises(InputError, match="between 1 and 10,000"):
        text(Transactions.from_lists([range(MOST_COLUMNS + 1)]), "wide.csv")
    with pytest.raises(InputError, match="between 1 and 10,000"):
        text(Transactions.from_lists([[]]), "wide.csv")
    with pytest.raises(InputError, match="called 'transaction' or 'user'"):
        text(Transactions.from_lists([["user"]]), "wide.csv")


def test_wide_refuses_columns_that_differ_only_in_case():
    with pytest.raises(InputError, match="differ only in upper and lower case"):
        text(Transactions.from_lists([["Bread", "bread"]]), "wide.csv")


def test_two_items_with_one_label_are_refused():
    data = Transactions(np.array([0, 2]), np.array([0, 1], dtype=np.int32), pa.array(["a", "a"]))
    with pytest.raises(InputError, match="same label"):
        text(data, "fimi")


# --- formulas --------------------------------------------------------------------------------------------------

RISKY = ["=1+1", "+cmd", "-cmd", "@sum", "\tx", "\rx", "-", "'=1+1", "''@x", "-5x", "＝1"]
HARMLESS = ["bread", "-5", "+5", "-1.5e3", "-,5", "a=b", "'quoted'", "5-3", ""]


def test_what_a_spreadsheet_would_run_gets_an_apostrophe():
    labels, count = guarded(pa.array(RISKY + HARMLESS))
    assert labels.to_pylist() == [*("'" + label for label in RISKY), *HARMLESS]
    assert count == len(RISKY)


@given(st.lists(st.text(alphabet="'=+-@5\t a", max_size=5), unique=True))
def test_guarding_never_makes_two_labels_one_and_leaves_nothing_to_run(names):
    labels = guarded(pa.array(names, pa.string()))[0].to_pylist()
    assert len(set(labels)) == len(names)
    left = [label for label in labels if label[:1] in tuple("=+-@\t")]
    assert all(label[0] in "+-" and label[1:].isdigit() for label in left)


@pytest.mark.parametrize(
    ("format", "changes"),
    [
        ("basket", True),
        ("long.csv", True),
        ("long.tsv", True),
        ("wide.csv", True),
        ("fimi", False),
        ("lists.csv", False),
        ("lists.jsonl", False),
    ],
)
def test_only_what_people_open_in_a_spreadsheet_is_guarded(format, changes):
    data = Transactions.from_lists([["=1+1", "-5"]])
    assert ("'=1+1" in text(data, format)) is changes
    assert "'" not in text(data, format, keep_formulas=True)
    notes = save(data, io.BytesIO(), format)
    assert notes == (
        ("1 name that a spreadsheet would run as a formula got an apostrophe in front.",) if changes else ()
    )


def test_users_and_ids_are_guarded_too():
    data = replace(Transactions.from_lists([["a"]], users=["@ann"]), ids=pa.array(["=t1"]))
    assert text(data, "long.csv").splitlines()[1] == "'=t1,'@ann,a"
    assert text(data, "lists.csv").splitlines()[1] == '\'=t1,\'@ann,"[""a""]"'
