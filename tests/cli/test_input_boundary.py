"""Whatever is read, a command ends with 2 and one sentence; labels come out as they went in, and are shown safely."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset import InputError, Transactions
from tests.cli.conftest import ENVIRONMENT

BAD = pa.py_buffer(b"\xff\xfec")
DEEP = "[" * 30_000 + "]" * 30_000


def refused(done, *words: str) -> None:
    assert done.code == 2, done.err
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert "defect" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", DEEP),
        ("a.jsonl", f'{{"items": {DEEP}}}'),
        ("a.json", DEEP),
        ("a.csv", f'transaction,items\n1,"{DEEP}"\n'),
    ],
)
def test_brackets_without_end_are_refused(cli, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    done = cli("info", path)
    assert done.code in (0, 2), done.err  # where it is no JSON, it may be a word
    assert "defect" not in done.err
    beside = tmp_path / "b.dat"
    beside.write_text("a\na\n")
    beside.with_name("b.dat.certificate.json").write_text(text)
    refused(cli("verify", beside), "certificate")


@pytest.mark.parametrize("encoding", ["hex", "rot13", "base64", "zip", "undefined", "no such", "idna", "utf-16", "\0"])
def test_an_encoding_that_is_none_is_refused(cli, tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(b"transaction,item\n1,\xc3\xa4\n")
    refused(cli("info", path, "--encoding", encoding))


@pytest.mark.parametrize(
    "args",
    [
        ["--method", "km-apriori", "-k", "2", "-m", "2147483648"],
        ["--method", "cahd-gray", "-p", "2", "--alpha", "1e30", "--sensitive", "1"],
        ["--method", "cahd-gray", "-p", "9223372036854775808", "--sensitive", "1"],
        ["--method", "cahd-gray", "-p", "9" * 400, "--sensitive", "1"],
        ["--method", "ant", "-k", "2", "-p", "nan"],
        ["--method", "ant", "-k", "2", "-p", "inf"],
        ["-k", "1e400"],
        ["-k", "2", "--seed", "9223372036854775808"],
        ["-k", "2", "--threads", "99999999999999999999"],
        ["--method", "kamp", "-k", "2", "--support", "1e300"],
        ["--method", "kamp", "-k", "2", "--support", "inf"],
    ],
)
def test_a_number_that_fits_nowhere_is_refused(cli, baskets, tmp_path, args):
    refused(cli("anonymize", baskets, *args, "-o", tmp_path / "out.csv"), "must")


def test_every_whole_number_of_every_method_and_model_has_a_largest_value():
    from anonset.methods import METHODS
    from anonset.models import MODELS

    for spec in (*METHODS.values(), *MODELS.values()):
        for param in spec.params:
            if param.type in ("int", "count"):
                with pytest.raises(InputError):
                    param.parse(2**63)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_duplicate_columns_break_a_promise_or_are_refused(cli, tmp_path, ending):
    table = pa.table([["1", "2"], ["a", "a"], ["x", "y"]], names=["transaction", "item", "item"])
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_text("transaction,item,item\n1,a,x\n2,a,y\n")
    done = cli("verify", path, "-k", "2")
    assert done.code in (2, 3)
    assert "defect" not in done.err


def test_closed_standard_input_is_refused(tmp_path):
    command = f"{sys.executable} -m anonset info - <&-"
    done = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "Error: standard input: It is closed. Connect it, or name a file.\n"


def test_bytes_in_the_name_of_a_file_are_shown_escaped(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\x1b[31m.dat"
    Path(os.fsdecode(name)).write_text("a\na\n")
    for args in ([b"verify", name, b"-k", b"2", b"--json"], [b"verify", name + b"x", b"-k", b"2"]):
        done = subprocess.run(
            [sys.executable, "-m", "anonset", *args], env=ENVIRONMENT, capture_output=True, check=False
        )
        assert done.returncode == (0 if args[-1] == b"--json" else 2), done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr


def test_a_table_whose_name_is_no_text_is_read(cli, tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    path.write_text("transaction,item\n1,a\n2,a\n")
    assert cli("info", path).code == 0
    assert cli("verify", path, "-k", "2").code == 0


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_bytes_that_are_no_text_are_refused(cli, tmp_path, ending):
    wrong = pa.Array.from_buffers(pa.string(), 2, [*pa.array(["ab", "c"]).buffers()[:2], BAD])
    table = pa.table({"transaction": pa.array(["1", "2"]), "item": wrong})
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    refused(cli("convert", path, tmp_path / "out.csv"), "file")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory work on Linux")
@pytest.mark.parametrize("room", [600, 900, 1200])
def test_too_little_memory_ends_in_a_sentence(tmp_path, room):
    path = tmp_path / "a.dat"
    path.write_text("1 2 3 4 5 6 7 8 9\n" * 1_000_000)
    limit = room * 2**20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [sys.executable, "-m", "anonset", "verify", str(path), "-k", "2"]
    environment = {**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limited, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Traceback" not in done.stderr


# --- labels -------------------------------------------------------------------------------------------------------

STRANGE = [
    "a\u202eb",
    "zero\u200bwidth",
    "\u2066x\u2069",
    "\ufeffmark",
    "soft\u00adhyphen",
    "tab\tin",
    "\x1b[31mred",
    "é",
    "é",
]


@pytest.mark.parametrize("format", ["long.csv", "lists.csv", "lists.jsonl", "lists.parquet", "long.arrow", "basket"])
def test_strange_characters_are_kept_exactly(tmp_path, format):
    data = Transactions.from_lists([[label] for label in STRANGE])
    ending = format.split(".")[-1] if "." in format else "basket"
    path = tmp_path / f"a.{ending}"
    anonset.convert(data, path, format=format)
    assert [row[0] for row in anonset.read(path, format=format).to_lists()] == STRANGE


def test_half_a_character_is_refused():
    with pytest.raises(InputError):
        anonset.read([["a\ud800"]])


def test_half_a_character_in_json_is_refused_with_its_line(cli, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"items": ["a", "\\ud83d\\ude00"]}\n{"items": ["b\\ud800"]}\n')
    refused(cli("info", path), "a.jsonl, line 2", "half of a character")


@pytest.mark.parametrize("ending", ["csv", "arrow"])
@pytest.mark.parametrize("names", [["transaction", "item", "item"], ["transaction", "transaction", "item"]])
def test_a_column_that_is_there_twice_is_refused_where_it_is_needed(cli, tmp_path, ending, names):
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        path.write_text(f"{','.join(names)}\n1,a,b\n2,a,b\n")
    else:
        table = pa.Table.from_arrays([pa.array(["1", "2"])] * 3, names=names)
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    refused(cli("info", path), "twice")


@pytest.mark.parametrize("ending", ["dat", "basket"])
def test_a_nul_in_lines_is_refused_with_its_line(cli, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"a b\nc\nb\0c\n")
    refused(cli("info", path), "line 3")


@pytest.mark.parametrize(("ending", "text"), [("csv", b"tid,item\n1,b\0c\n"), ("jsonl", b'{"items": ["b\\u0000c"]}\n')])
def test_a_nul_in_a_table_is_kept_exactly(tmp_path, ending, text):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(text)
    assert anonset.read(path).to_lists() == [["b\0c"]]


@pytest.mark.parametrize("label", ["a\u202eb", "z\u200bw", "\x1b[31mred", "c\x00d", "\u2066x"])
def test_labels_are_shown_safely_everywhere(cli, tmp_path, label):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"items": [label, "b"]}) + "\n" + json.dumps({"items": ["b"]}) + "\n")
    tree = tmp_path / "tree.csv"
    tree.write_text(f"item,level1\n{label.replace(chr(0), '')},x\nb,x\n")
    page = tmp_path / "page.html"
    runs = [
        cli("verify", path, "-k", "2"),
        cli("verify", path, "-k", "2", "--json"),
        cli("verify", path, "-k", "2", "--sensitive", f"{label}x"),
        cli("hierarchy", "show", tree),
        cli("anonymize", path, "-k", "2", "-o", tmp_path / "out.dat", "--sensitive", label.replace("\0", "")),
        cli("report", path, path, "-o", page, "-k", "2"),
    ]
    for done in runs:
        assert label not in done.out + done.err
        assert all(char.isprintable() or char == "\n" for char in done.out + done.err)
    [made] = tmp_path.glob("*page*.html")
    assert label not in made.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not say how much is in use")
@pytest.mark.parametrize("megabytes", [400, 1000, 1350, 1500])
def test_a_limit_on_memory_ends_in_a_sentence(tmp_path, megabytes):
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    path.write_text("transaction,item\n" + "".join(f"{row // 4},i{row % 7}\n" for row in range(2000)))
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2);"
        f"from anonset.cli.base.outcome import run; "
        f"raise SystemExit(run(['anonymize', {str(path)!r}, '-k', '2', '--method', 'gsc', '-o', {str(out)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "memory" in done.stderr or "address space" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not say how much is in use")
def test_where_duckdb_starts_it_reads_again_with_little_left(tmp_path):
    """Its threads have what they need from its first start on: later, a lack of memory is an error, never a crash."""
    small, path = tmp_path / "small.csv", tmp_path / "a.csv"
    small.write_text("transaction,item\n1,a\n")
    path.write_text("transaction,item\n" + "".join(f"{row // 4},i{row % 7}\n" for row in range(300_000)))
    code = f"""
import resource, anonset
from anonset.io.containers import room
resource.setrlimit(resource.RLIMIT_AS, (room._taken() + (3 << 30), resource.RLIM_INFINITY))
anonset.read({str(small)!r})
for left in (0, 4, 8, 16, 32, 64):
    resource.setrlimit(resource.RLIMIT_AS, (room._taken() + (left << 20), resource.RLIM_INFINITY))
    try:
        anonset.read({str(path)!r})
    except (anonset.InputError, MemoryError):
        print(left, "refused")
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 refused" in done.stdout
    assert done.stdout.endswith("done\n")
