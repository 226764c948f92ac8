"""Where data comes from: files, folders, globs, pipes, compression, queries."""

import bz2
import gzip
import lzma
import os
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest

from anonset import DataError, InputError, ParameterError, Transactions
from anonset.io import ReadOptions, read, read_release

FIMI = b"1 2\n\n3\n"
LONG = b"transaction,item\n1,a\n1,b\n2,a\n"
PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACK)
def test_compressed_files_of_any_kind(saved, ending):
    pack = PACK[ending]
    assert read(saved(pack(FIMI), f"a.dat.{ending}")).to_lists() == [["1", "2"], [], ["3"]]
    assert read(saved(pack(LONG), f"a.csv.{ending}")).to_lists() == [["a", "b"], ["a"]]
    assert read(saved(pack(b'{"items":["a"]}\n'), f"a.jsonl.{ending}")).to_lists() == [["a"]]
    assert read(saved(pack(FIMI) + pack(b"4\n"), "two parts.dat")).to_lists() == [["1", "2"], [], ["3"], ["4"]]
    assert read(saved(pack(LONG), "no_ending")).to_lists() == [["a", "b"], ["a"]]


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("kind", ["dat", "csv"])
def test_a_damaged_archive_is_an_error(saved, ending, kind):
    whole = PACK[ending](FIMI * 100 if kind == "dat" else LONG * 100)
    with pytest.raises(DataError, match=rf"a.{kind}.{ending}: The file is damaged or incomplete"):
        read(saved(whole[: len(whole) // 2], f"a.{kind}.{ending}"))


def test_text_that_begins_like_an_archive_is_text(saved):
    assert read(saved(b"BZh9 x\nBZh91AY\n", "a.dat")).to_lists() == [["BZh9", "x"], ["BZh91AY"]]


def test_an_empty_archive_is_an_archive(saved):
    assert len(read(saved(bz2.compress(b""), "a.dat"))) == 0


def test_an_archive_by_name_only_is_read_as_it_is(saved):
    assert read(saved(FIMI, "a.dat.gz")).to_lists() == [["1", "2"], [], ["3"]]


def test_files_that_are_not_there(saved, tmp_path):
    for source, problem in (
        ("none.dat", "none.dat: There is no such file."),
        ("none*.dat", "none*.dat: No file matches this pattern."),
        (tmp_path, f"{tmp_path}: The folder holds no file that can be read as transactions."),
    ):
        with pytest.raises(DataError) as error:
            read(source)
        assert str(error.value) == problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(saved, tmp_path):
    (tmp_path / saved(FIMI, "a.dat")).chmod(0)
    with pytest.raises(DataError, match=r"a.dat: The file cannot be read: Permission denied"):
        read("a.dat")


def test_globs_read_all_files_in_order_of_their_names(saved):
    saved("3 1\n", "b.dat")
    saved(gzip.compress(b"2\n10 1\n"), "a.dat.gz")
    saved("", "c.dat")
    data = read("*.dat*")
    assert data.to_lists() == [["2"], ["1", "10"], ["1", "3"]]
    assert data.labels.to_pylist() == ["1", "2", "3", "10"]
    assert read(["b.dat", "b.dat"]).to_lists() == [["1", "3"], ["1", "3"]]


def test_a_name_with_signs_of_a_pattern_is_a_name(saved):
    saved("tid,item\n1,other\n", "ab.csv")
    assert read(saved("tid,item\n1,x\n", "a[b]*.csv")).to_lists() == [["x"]]


def test_a_folder_is_all_its_files_and_a_transaction_may_go_on_in_the_next(saved, tmp_path):
    saved("transaction,item\n1,a\n2,b\n", "part-1.csv")
    (tmp_path / "deeper").mkdir()
    saved("Item;Transaction_ID\nc;2\n", "deeper/part-2.csv")
    saved("x", "_SUCCESS")
    saved("x", ".hidden.csv")
    saved("remarks", "README.md")
    data = read(tmp_path)
    assert dict(zip(data.ids.to_pylist(), data, strict=True)) == {"1": ("a",), "2": ("b", "c")}
    assert data.notes == ("1 file of the folder was passed over for want of a known ending",)
    saved("transaction,item\n1,a\n3,\n", "part-3.csv")
    with pytest.raises(DataError, match=r"part-3.csv, line 3: The line has no item"):
        read(tmp_path)


def test_a_folder_of_plain_texts_without_ending(saved, tmp_path):
    saved("1 2\n", "part-00000")
    saved("2 3\n", "part-00001")
    assert read(str(tmp_path)).to_lists() == [["1", "2"], ["2", "3"]]


def test_different_formats_do_not_mix(saved):
    saved(FIMI, "a.dat")
    saved(LONG, "a.csv")
    with pytest.raises(DataError, match=r"a.csv: The files have different formats \(lines, tables\)"):
        read("a.*")
    saved("a;b;c\nd\n", "b.basket")
    with pytest.raises(DataError, match=r"The files have different formats \(basket, fimi\)"):
        read(["a.dat", "b.basket"])


def run(code, stdin):
    return subprocess.run([sys.executable, "-c", code], input=stdin, capture_output=True, timeout=120)


@pytest.mark.parametrize(
    ("stdin", "lists"),
    [
        (FIMI, [["1", "2"], [], ["3"]]),
        (LONG, [["a", "b"], ["a"]]),
        (gzip.compress(LONG), [["a", "b"], ["a"]]),
        (bz2.compress(b'{"items":["a"]}\n'), [["a"]]),
        (b"", []),
    ],
    ids=["fimi", "csv", "csv.gz", "jsonl.bz2", "empty"],
)
def test_standard_input_is_read_without_leaving_a_file(tmp_path, stdin, lists):
    code = "import anonset; print(anonset.read('-').to_lists())"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], input=stdin, capture_output=True, env=environment, check=True)
    assert done.stdout.decode().strip() == str(lists)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LONG,))
    writer.start()
    assert read(pipe).to_lists() == [["a", "b"], ["a"]]
    writer.join()


def test_ctrl_c_ends_a_query():
    code = (
        "import anonset, sys, duckdb; print('ready', flush=True)\n"
        "endless = 'SELECT count(*) AS tid, sum(a.range * b.range) AS item FROM range(1000000) a, range(1000000) b'\n"
        "anonset.read(None, query=endless)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert errors.decode().strip().endswith("KeyboardInterrupt")


# --- queries ---------------------------------------------------------------------------------------------------


def test_a_query_over_files(saved):
    saved("o,p,n\n1,a,3\n1,b,0\n2,a,1\n", "sales.csv")
    query = "SELECT o AS transaction, p AS item FROM 'sales.csv' WHERE n > 0"
    assert read(None, query=query).to_lists() == [["a"], ["a"]]
    query = "SELECT o AS transaction, list(p) AS items FROM data GROUP BY o ORDER BY o"
    assert read("sales.csv", query=query).to_lists() == [["a", "b"], ["a"]]
    table = pa.table({"x": [1, 1], "y": ["p", "q"]})
    assert read(table, query="SELECT x AS tid, upper(y) AS item FROM data").to_lists() == [["P", "Q"]]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DROP TABLE x", "'query' must be one SELECT statement"),
        ("SELECT 1; SELECT 2", "'query' must be one SELECT statement"),
        ("SELEC", "'query' cannot be run: line 1 of the query: syntax error"),
        ("SELECT * FROM 'none.csv'", "'query' cannot be run: it may read the files that it names"),
        (
            "SELECT 1 AS tid, CAST('secret' AS INT) AS item",
            r"'query' failed .*\(ConversionException\)\.$",
        ),
    ],
)
def test_a_query_that_fails(saved, query, message):
    with pytest.raises(InputError, match=message):
        read(None, query=query)


def test_a_query_writes_nothing(saved, tmp_path):
    saved(LONG, "a.csv")
    with pytest.raises(ParameterError):
        read(None, query="COPY (SELECT 1) TO 'out.csv'")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


# --- options ---------------------------------------------------------------------------------------------------


def test_every_option_of_read_has_a_help_text_and_no_other_exists():
    import inspect

    parameters = list(inspect.signature(read).parameters)[1:]
    fields = ReadOptions.__dataclass_fields__
    assert parameters == list(fields)
    assert all(len(field.metadata["help"]) > 10 for field in fields.values())
    assert ReadOptions(item="x").given() == {"item": "x"}


def test_the_options_can_be_looked_at_without_loading_anything_heavy():
    code = (
        "import sys; import anonset.io.source.options; print(sorted({'numpy', 'pyarrow', 'duckdb'} & set(sys.modules)))"
    )
    assert run(code, b"").stdout.decode().strip() == "[]"


def test_a_release_in_rows_is_read_like_transactions(saved):
    release = read_release(saved(FIMI, "a.dat"))
    assert (release.form, release.transactions.to_lists()) == ("rows", [["1", "2"], [], ["3"]])
    assert read_release(release) is release


@pytest.mark.parametrize("source", [5, b"1 2", {"a": ["b"]}, None])
def test_what_cannot_be_read_says_what_can(source):
    with pytest.raises(InputError, match=r"Pass a path, a data frame, a sparse matrix or a list of lists of items\."):
        read(source)


def test_transactions_stay_what_they_are():
    data = Transactions.from_lists([["a"]])
    assert read(data) is data
    assert read(data, sensitive="a").sensitive_names() == ["a"]


def test_a_text_among_lists_is_not_a_set_of_letters():
    with pytest.raises(InputError, match=r"Every transaction must be a list or set of items\. Got one of type str"):
        read([["a"], "bc"])
