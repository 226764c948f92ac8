"""`anonset verify` is not fooled: each of these files once got the answer "holds"."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset import InputError, Transactions
from anonset.data.release import GroupCounts, Release

GROUPS = "group,transaction,item\n0,1,a\n0,2,a\n0,3,a\n0,4,a\n"
COUNTS = "group,item,count\n0,s,1\n"


def folder(path: Path, transactions: str = GROUPS, sensitive: str = COUNTS, **changes: object) -> Path:
    """A release in groups whose certificate fits its files."""
    path.mkdir()
    files = {"transactions.csv": transactions, "sensitive.csv": sensitive}
    for name, text in files.items():
        (path / name).write_text(text)
    certificate = {
        "anonset": "certificate",
        "model": "privacy-degree",
        "parameters": {"p": 2},
        "promise": "in every published group a sensitive item occurs in at most one of 2 transactions",
        "measured": {},
        "sensitive_items": ["s"],
        "transactions": 4,
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
        **changes,
    }
    (path / "certificate.json").write_text(json.dumps(certificate))
    return path


def said(done) -> str:
    return " ".join((done.out + done.err).split())


# --- numbers that do not fit --------------------------------------------------------------------------------------


def test_a_sound_folder_holds(cli, tmp_path):
    assert cli("verify", folder(tmp_path / "r")).code == 0


@pytest.mark.parametrize("number", ["4294967296", "-1", "9223372036854775807", "9223372036854775808", "1.5", ""])
def test_a_group_number_that_is_none_is_refused(cli, tmp_path, number):
    torn = GROUPS.replace("0,4,a", f"{number},4,a")
    done = cli("verify", folder(tmp_path / "r", torn))
    assert done.code == 2, said(done)
    assert "transactions.csv" in done.err


def test_a_group_number_of_a_count_does_not_wrap_either(cli, tmp_path):
    done = cli("verify", folder(tmp_path / "r", sensitive="group,item,count\n4294967296,s,1\n"))
    assert done.code == 2


@pytest.mark.parametrize(
    "counts",
    ["0,s,4611686018427387904", "0,s,2\n0,s,9223372036854775807", "0,s,9007199254740993\n0,s,-9007199254740993"],
)
def test_a_count_that_overflows_breaks_the_promise(cli, tmp_path, counts):
    path = folder(tmp_path / "r", sensitive=f"group,item,count\n{counts}\n")
    done = cli("verify", path, "-p", "4")
    assert done.code in (2, 3), said(done)


@pytest.mark.parametrize("counts", [[2**62], [2, 2**63 - 1], [2**62, 2**62, 2**62, 2**62], [3]])
def test_counts_in_memory_do_not_overflow(counts):
    data = Transactions.from_lists([["a"]] * 8, labels=["a", "s"], sensitive=["s"])
    lines = len(counts)
    group, item = np.zeros(lines, dtype=np.int32), np.ones(lines, dtype=np.int32)
    release = Release(data, np.zeros(8, dtype=np.int32), GroupCounts(group, item, np.array(counts, dtype=np.int64)))
    verdict = anonset.verify(release, "privacy-degree", p=4)
    assert not verdict.holds
    assert verdict.measured["p"] in (0, 2)


def test_a_count_of_an_item_does_not_wrap_when_lines_are_added_up(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("transaction,item,count\n1,a,2147483647\n1,a,2147483647\n1,a,4\n2,a,2\n")
    done = cli("verify", path, "-k", "2")
    assert done.code in (2, 3), said(done)


@pytest.mark.parametrize("name", ["items", "users", "counts"])
def test_codes_that_do_not_fit_are_refused(name):
    columns = {"offsets": [0, 1, 2], "items": [0, 0], "labels": ["a"], "users": [0, 0], "counts": [1, 1]}
    columns["user_labels"] = ["u"]
    columns[name] = np.array([0, 2**32], dtype=np.int64)
    with pytest.raises(InputError):
        Transactions(**columns)
    if name == "items":
        with pytest.raises(InputError):
            Transactions.from_codes([0, 1, 2], columns["items"], ["a"])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_groups_that_do_not_fit_are_refused(dtype):
    data = Transactions.from_lists([["a"], ["a"]], labels=["a", "s"], sensitive=["s"])
    none = GroupCounts(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
    with pytest.raises(InputError):
        Release(data, np.array([0, 2**32], dtype=dtype), none)


# --- which transaction a line belongs to --------------------------------------------------------------------------


def test_lines_of_a_transaction_must_stand_together(cli, tmp_path):
    done = cli("verify", folder(tmp_path / "r", "group,transaction,item\n0,1,a\n0,2,a\n0,1,b\n0,2,b\n0,1,c\n0,2,c\n"))
    assert done.code == 2
    assert "transactions.csv" in done.err


def test_a_transaction_belongs_to_one_group(cli, tmp_path):
    for number, lines in enumerate(("0,1,a\n1,1,b\n0,2,a\n1,3,b\n", "0,1,a\n0,2,a\n1,1,a\n1,3,a\n")):
        done = cli("verify", folder(tmp_path / f"{number}", f"group,transaction,item\n{lines}"))
        assert done.code == 2, said(done)


def test_a_list_names_a_transaction_once(tmp_path):
    path = folder(tmp_path / "r")
    rows = pa.table({"group": [0, 0], "transaction": ["1", "1"], "items": [["a"], ["b"]]})
    lines = pa.table({"group": [0], "item": ["s"], "count": [1]})
    _replace(path, transactions=rows, sensitive=lines)
    with pytest.raises(InputError, match="transaction"):
        anonset.read_release(path)


def _replace(path: Path, **tables: pa.Table) -> None:
    """The same folder with Parquet files, and a certificate about them."""
    said = json.loads((path / "certificate.json").read_text())
    said["files"] = {}
    for name, table in tables.items():
        (path / f"{name}.csv").unlink()
        pq.write_table(table, path / f"{name}.parquet")
        said["files"][f"{name}.parquet"] = hashlib.sha256((path / f"{name}.parquet").read_bytes()).hexdigest()
    (path / "certificate.json").write_text(json.dumps(said))


# --- columns that nobody checks -----------------------------------------------------------------------------------

TABLE = "transaction,item,ssn\n1,a,1\n1,b,1\n2,a,2\n2,b,2\n"


def test_a_column_that_no_check_reads_breaks_the_promise_and_is_named(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(TABLE)
    done = cli("verify", path, "-k", "2")
    assert done.code == 3
    assert "'ssn'" in said(done)
    assert "--ignore-columns" in said(done)
    assert json.loads(cli("verify", path, "-k", "2", "--json").out)["holds"] is False
    assert cli("verify", path, "-k", "2", "--ignore-columns", "ssn").code == 0
    assert cli("verify", path, "-k", "2", "--ignore-columns", "other").code == 3
    assert not anonset.verify(path, k=2).holds
    assert anonset.verify(path, k=2, ignore_columns=["ssn"]).holds
    assert "'ssn'" in said(cli("verify", path))


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "arrow", "tsv"])
@pytest.mark.parametrize("layout", ["long", "lists"])
def test_columns_are_found_in_every_container(tmp_path, ending, layout):
    long = {"transaction": ["1", "1", "2", "2"], "item": ["a", "b", "a", "b"], "ssn": ["7", "7", "8", "8"]}
    lists = {"items": [["a"], ["a"]], "name of holder": ["x", "y"]}
    path = tmp_path / f"r.{ending}"
    if layout == "lists" and ending == "tsv":
        path.write_text('items\tname of holder\n["a"]\tx\n["a"]\ty\n')
    else:
        _save(pa.table(long if layout == "long" else lists), path)
    verdict = anonset.verify(path, k=2)
    assert not verdict.holds
    assert ("'ssn'" if layout == "long" else "'name of holder'") in verdict.witnesses[0].statement
    assert anonset.verify(path, k=2, ignore_columns="ssn, name of holder").holds


def _save(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        rows = [table.column_names, *zip(*table.to_pydict().values(), strict=True)]
        path.write_text("".join("\t".join(row) + "\n" for row in rows))


def test_a_frame_with_other_columns_does_not_hold():
    frame = pa.table({"transaction": [1, 2], "item": ["a", "a"], "age": [33, 44]})
    assert not anonset.verify(frame, k=2).holds
    assert anonset.verify(frame, k=2, ignore_columns=["age"]).holds


@pytest.mark.parametrize("table", ["transactions", "sensitive"])
def test_a_column_of_a_folder_of_groups_is_named(cli, tmp_path, table):
    texts = {"transactions": GROUPS, "sensitive": COUNTS}
    lines = texts[table].splitlines()
    texts[table] = "\n".join([lines[0] + ",holder", *(f"{line},x" for line in lines[1:])]) + "\n"
    done = cli("verify", folder(tmp_path / "r", **texts))
    assert done.code == 3
    assert "'holder'" in said(done)
    assert cli("verify", tmp_path / "r", "--ignore-columns", "holder").code == 0


def test_a_count_column_is_read_by_the_check_or_breaks_the_promise(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("transaction,item,count\n1,a,1\n2,a,7\n")
    assert cli("verify", path, "-k", "2").code == 3
    assert cli("verify", path, "--model", "km-anonymity", "-k", "2", "-m", "1").code == 3
    path.write_text("transaction,item,count,sensitive\n1,a,1,0\n1,s,1,1\n2,a,7,0\n3,a,7,0\n")
    done = cli("verify", path, "--model", "privacy-degree", "-p", "2")
    assert done.code == 3, "who knows the count knows who holds s"
    path.write_text("transaction,user,item,count\n1,u,a,1\n2,v,a,7\n3,w,a,7\n")
    done = cli("verify", path, "--model", "multi-pattern", "-k", "2", "--support", "1")
    assert done.code == 3
    assert "'count'" in said(done)


# --- marks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "transaction,item,sensitive\n1,a,0\n2,a,1\n3,b,0\n"),
        ("r.jsonl", '{"items": ["a"], "sensitive": ["s"]}\n{"items": ["s"], "sensitive": []}\n'),
    ],
)
def test_contradictory_marks_are_refused_with_the_line(cli, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    done = cli("verify", path, "-k", "2")
    assert done.code == 2
    assert "line" in done.err
    assert "sensitive" in done.err


# --- certificates -------------------------------------------------------------------------------------------------


@pytest.fixture
def release(cli, tmp_path):
    """A release of ours; x is sensitive."""
    data = tmp_path / "data.dat"
    data.write_text("a b x\na b\na b c\nc d\nc d x\nc\n")
    out = tmp_path / "out.dat"
    assert cli("anonymize", data, "-k", "3", "--sensitive", "x", "-o", out).code == 0
    return out


def edit(release: Path, **changes: object) -> None:
    path = release.with_name(release.name + ".certificate.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


PROMISE = "every published set of quasi-identifier items is shared by at least {} transactions"


@pytest.mark.parametrize("asked", [[], ["-k", "2"], ["-k", "3"], ["--model", "km-anonymity", "-k", "2", "-m", "1"]])
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"files": {"out.dat": "0" * 64}}, "sha256"),
        ({"files": {}}, "sha256"),
        ({"promise": "nobody can be found"}, "promise"),
        ({"measured": {"k": 30, "groups": 2, "below_k": 0}}, "k = 30"),
        ({"measured": {"q": 3}}, "q"),
        ({"transactions": 60}, "60"),
        ({"sensitive_items": []}, "measured"),
        ({"sensitive_items": ["a"]}, "measured"),
        ({"sensitive_items": ["nobody"]}, "sensitive"),
        ({"parameters": {"k": 6}, "promise": PROMISE.format(6)}, "hold"),
    ],
)
def test_any_difference_from_the_certificate_ends_with_3_and_is_said(cli, release, asked, changes, what):
    edit(release, **changes)
    done = cli("verify", release, *asked)
    assert done.code == 3, said(done)
    assert what in said(done)
    answer = json.loads(cli("verify", release, *asked, "--json").out)
    assert answer["certificate"]["matches"] is False
    assert answer["certificate"]["differences"]


@pytest.mark.parametrize("asked", [[], ["-k", "2"], ["--sensitive", "x"], ["--sensitive", "x,a", "-k", "2"]])
def test_an_honest_certificate_matches_whatever_is_asked(cli, release, asked):
    answer = json.loads(cli("verify", release, *asked, "--json").out)
    assert answer["certificate"]["matches"] is True
    assert answer["certificate"]["differences"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"unit": "user"', '"unit": "transaction"'),
        ("different users", "different users of a kind"),
        ("at least 2 different", "at least 3 different"),
        ('"persons": {', '"persons": {"holds": false}, "was": {'),
        ('"persons": {', '"persons": null, "was": {'),
        ('"persons": {', '"persons": true, "was": {'),
    ],
)
def test_what_a_certificate_says_of_persons_must_fit_its_promise(cli, tmp_path, old, new):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("transaction,user,item\n" + "".join(f"{row},u{row % 4},{'ab'[row % 2]}\n" for row in range(16)))
    assert cli("anonymize", data, "-k", "2", "-o", out).code == 0
    honest = cli("verify", out)
    assert honest.code == 0
    assert "what it says of transactions was found again" in said(honest)
    path = out.with_name("out.csv.certificate.json")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert cli("verify", out).code == 3


def test_a_certificate_that_says_something_twice_is_refused(cli, release):
    path = release.with_name("out.dat.certificate.json")
    path.write_text(path.read_text().replace('"parameters": {', '"parameters": {"k": 2},\n"parameters": {', 1))
    done = cli("verify", release)
    assert done.code == 2
    assert "twice" in done.err


@pytest.mark.parametrize("method", ["crowd", "km-apriori", "cahd-gray", "kamp", "ant"])
def test_certificates_of_every_model_match(cli, tmp_path, method):
    lines = ["transaction,user,item,attribute,sensitivity,sensitive"]
    for number in range(24):
        for item in ("ab", "ac", "bc")[number % 3]:
            lines.append(f"{number},u{number % 8},{item},A,0.1,0")
        if number == 5:
            lines.append(f"{number},u{number % 8},s,B,0.9,1")
    data = tmp_path / "data.csv"
    data.write_text("\n".join(lines) + "\n")
    asked = {
        "crowd": ["-k", "2"],
        "km-apriori": ["-k", "2", "-m", "1"],
        "cahd-gray": ["-p", "2"],
        "kamp": ["-k", "2", "--support", "0.1"],
        "ant": ["-k", "2", "-p", "0.5"],
    }[method]
    out = tmp_path / ("out" if method == "cahd-gray" else "out.csv")
    made = cli("anonymize", data, "--method", method, *asked, "-o", out, "--seed", "1", "--accept", "inference,loss")
    assert made.code == 0, said(made)
    answer = json.loads(cli("verify", out, "--json").out)
    assert (answer["holds"], answer["certificate"]["matches"]) == (True, True), answer


# --- warnings -----------------------------------------------------------------------------------------------------


def warnings(cli, path: Path, *asked: str) -> str:
    answer = cli("verify", path, *asked, "--json")
    return " ".join(json.loads(answer.out)["warnings"])


def test_ids_users_and_the_original_order_are_warned_of(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("transaction,user,item\n1007,ann,a\n1008,bob,a\n1011,ann,a\n1015,bob,a\n")
    said = warnings(cli, path, "-k", "2")
    assert "ids" in said
    assert "user" in said
    assert "order" in said
    path.write_text("transaction,item\n1,a\n2,a\n3,a\n4,a\n")
    assert warnings(cli, path, "-k", "2") == "", "numbers from 1 say nothing"
    path.write_text("transaction,item\n7,a\n2,a\n9,a\n4,a\n")
    assert "order" not in warnings(cli, path, "-k", "2")


def test_labels_that_one_transaction_holds_are_warned_of(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("transaction,item,sensitive\n1,a,0\n1,rare,1\n2,a,0\n")
    assert "one transaction" in warnings(cli, path, "-k", "2")


def test_names_of_a_cut_that_name_single_items_are_warned_of(cli, tmp_path):
    path = tmp_path / "r.dat"
    path.write_text("apples..bananas\napples..bananas\n")
    assert "first..last" in warnings(cli, path, "-k", "2")


def test_what_reading_left_out_is_said(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("transaction,item\n1,a\n2,a\n3,\n")
    assert "left out" in warnings(cli, path, "-k", "2", "--skip-nulls")
    assert "left out" in cli("verify", path, "-k", "2", "--skip-nulls").err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.dat", "a b b\na b\n"),
        ("r.basket", "a,b,b\na,b\n"),
        ("r.csv", "transaction,item\n1,a\n1,a\n2,a\n"),
        ("r.jsonl", '{"items": ["a", "a"]}\n{"items": ["a"]}\n'),
    ],
)
def test_an_item_that_is_named_twice_breaks_the_promise(cli, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    done = cli("verify", path, "-k", "2")
    assert done.code == 3
    assert "again" in said(done)
    sets = tmp_path / f"sets-{name}"
    assert cli("convert", path, sets).code == 0
    assert cli("verify", sets, "-k", "2").code == 0


# --- parts of a file that reading leaves out ----------------------------------------------------------------------

LONG = b"transaction,item\n1,a\n2,a\n"
LEFT_OUT = {
    "lines above the header": ("r.csv", b"Ann Miller has HIV\nso has Bob\n" + LONG, "2 lines above the header"),
    "a first line that names nobody's column": ("r.dat", b"Ann-has-HIV\n1\n1\n", "the first line of r.dat"),
    "a comment": ("r.spmf", b"@CONVERTED_FROM_TEXT\n@ITEM=1=a\n1\n# Ann has HIV\n1\n", "1 comment line"),
    "another comment": ("r.spmf", b"@ITEM=1=a\n@AUTHOR Ann\n% she has HIV\n1\n1\n", "2 comment lines"),
    "a name without a transaction": ("r.spmf", b"@ITEM=1=a\n@ITEM=2=Ann has HIV\n1\n1\n", "1 item was named that no"),
}


@pytest.mark.parametrize(("name", "content", "words"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_reading_leaves_out_breaks_the_promise(cli, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    done = cli("verify", path, "-k", "2")
    assert done.code == 3, said(done)
    answer = json.loads(cli("verify", path, "-k", "2", "--json").out)
    assert words in answer["witnesses"][0]["statement"]
    assert answer["measured"]["k"] == 2


def test_a_first_line_that_is_a_name_of_a_column_is_nobodys(cli, tmp_path):
    path = tmp_path / "r.dat"
    path.write_bytes(b"item\n1\n1\n")
    assert cli("verify", path, "-k", "2").code == 0


def test_lines_that_are_left_out_on_request_break_the_promise(cli, tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(LONG + b",Ann\n")
    done = cli("verify", path, "-k", "2", "--skip-nulls")
    assert done.code == 3
    assert "1 line without a transaction or an item was left out" in said(done)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_second_sheet_breaks_the_promise_unless_one_is_named(cli, tmp_path, hidden):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    path = tmp_path / "r.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet, other = book.add_worksheet("release"), book.add_worksheet("names")
        for row, cells in enumerate([("transaction", "item"), (1, "a"), (2, "a")]):
            sheet.write_row(row, 0, cells)
        other.write_row(0, 0, ("Ann", "HIV"))
        if hidden:
            other.hide()
    done = cli("verify", path, "-k", "2")
    assert done.code == 3
    assert "others: names" in json.loads(cli("verify", path, "-k", "2", "--json").out)["witnesses"][0]["statement"]
    assert cli("verify", path, "-k", "2", "--sheet", "release").code == 0


def test_a_second_table_breaks_the_promise_unless_one_is_named(cli, tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database, database:
        database.execute("CREATE TABLE sales AS SELECT '1' AS \"transaction\", 'a' AS item UNION ALL SELECT '2', 'a'")
        database.execute("CREATE TABLE people AS SELECT 'Ann' AS name, 'HIV' AS disease")
    done = cli("verify", tmp_path / "shop.db", "-k", "2")
    assert done.code == 3
    assert "people" in said(done)
    assert cli("verify", tmp_path / "shop.db" / "sales", "-k", "2").code == 0


def test_files_of_a_folder_that_are_passed_over_break_the_promise(cli, tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "part-1.csv").write_bytes(LONG)
    assert cli("verify", tmp_path / "r", "-k", "2").code == 0
    (tmp_path / "r" / "names.pdf").write_bytes(b"Ann has HIV")
    done = cli("verify", tmp_path / "r", "-k", "2")
    assert done.code == 3
    assert "1 file of the folder was passed over" in said(done)


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("kind", PACKED)
def test_nothing_stands_unseen_behind_a_compressed_file(cli, tmp_path, kind):
    pack = PACKED[kind]
    path = tmp_path / f"r.csv.{kind}"
    path.write_bytes(pack(LONG) + pack(b"3,Ann\n"))
    assert cli("verify", path, "-k", "2").code == 3
    path.write_bytes(pack(LONG) + b"Ann has HIV")
    assert cli("verify", path, "-k", "2").code == 2
    path.write_bytes(pack(LONG)[:-3])
    assert cli("verify", path, "-k", "2").code == 2
    path.write_bytes(pack(LONG) + (b"\0\0\0\0" if kind == "xz" else b""))  # the form allows that padding
    assert cli("verify", path, "-k", "2").code == 0
