"""Every format gives back what was written into it, whatever the labels; converting goes from each to each."""

import io
import json
import stat
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import ExistsError, InputError, Transactions, convert, read
from anonset.io.containers.container import TEXT
from anonset.io.formats.registry import LAYOUTS, format_of
from anonset.io.formats.saving import prepared, save
from anonset.io.publish.releases import same

FORMATS = [
    name if container == TEXT else f"{name}.{container}"
    for name, layout in LAYOUTS.items()
    for container in layout.containers
]
COMPLETE = [name for name in FORMATS if format_of(None, name).holds.degrees]
HOLDS_ALL_LABELS = ["lists.parquet", "lists.arrow"]
DATA = Transactions.from_lists([["10", "9", "a"], [], ["a"], ["b", "9"]])

FULL = replace(
    Transactions.from_lists(
        [["wine", "bread"], [], ["wine"], ["beer", "bread"]], users=["ann", "bob", "ann", "007"], sensitive=["wine"]
    ),
    ids=pa.array(["t1", "t2", "10", "9"]),
    sensitivity=np.array([0.25, 1.0, 0.5, 0.0, 1 / 3]),
)


def unordered(data):
    return sorted(sorted(row) for row in data.to_lists())


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_gives_back_what_was_written(tmp_path, format):
    save(DATA, tmp_path / "data", format)
    assert same(DATA, read(tmp_path / "data", format=format))


@pytest.mark.parametrize("format", COMPLETE)
def test_users_ids_marks_and_degrees_come_back(tmp_path, format):
    save(FULL, tmp_path / "data", format)
    assert same(FULL, read(tmp_path / "data", format=format))


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("name", ["a.dat", "a.spmf", "a.basket", "a.csv", "a.tsv", "a.jsonl"])
def test_compressed_text_is_known_by_its_name(tmp_path, name, compression):
    convert(DATA, tmp_path / f"{name}.{compression}")
    assert same(DATA, read(tmp_path / f"{name}.{compression}"))


@pytest.mark.parametrize("name", ["a.dat", "a.spmf", "a.basket", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.feather"])
@pytest.mark.parametrize(
    "lists", [[], [[]], [[], []], [["a"]], [["1"]], [[], ["a"]], [["a"], []]], ids=lambda lists: str(len(lists))
)
def test_tiny_databases_survive_every_ending(tmp_path, name, lists):
    data = Transactions.from_lists(lists)
    convert(data, tmp_path / name)
    assert same(data, read(tmp_path / name))


SPECIAL = ",;|\t\n\r \"'#@=+-.[]{}\\/\0\x0b\x1f\x7f\x85\u00a0\u2028\ufeff%&0159aZäß字🍞"
TREACHEROUS = [
    *("null", "NULL", "NaN", "None", "true", "False", "1e5", "0x1F", "007", "1.0", "2020-01-01", "12:30", "9" * 25),
    *("-1", "-2", "@ITEM=1=x", "@CONVERTED_FROM_TEXT", "#", "//", "a,b", '""', "[]", "{}", '["a"]'),
    *("transaction", "item", "user", "sensitive", "sensitivity", "items", "id"),
    *("BZh91AY", "PAR1", "ARROW1", "\x1f\x8b", "PK\x03\x04"),
]
LABELS = st.one_of(
    st.text(alphabet=SPECIAL, max_size=4),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(TREACHEROUS),
)
ROWS = st.lists(st.lists(LABELS, max_size=6), max_size=10)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=15)
@given(rows=ROWS, keep_formulas=st.booleans())
def test_any_labels_come_back_or_are_refused(tmp_path_factory, format, rows, keep_formulas):
    data = Transactions.from_lists(rows)
    path = tmp_path_factory.getbasetemp() / f"any.{format}"
    try:
        expected, _ = prepared(data, format_of(None, format), keep_formulas=keep_formulas)
    except InputError:
        assert format not in HOLDS_ALL_LABELS
        return
    save(data, path, format, keep_formulas=keep_formulas)
    assert same(expected, read(path, format=format))


@settings(max_examples=30)
@given(rows=ROWS, names=st.lists(LABELS, min_size=10, max_size=10), format=st.sampled_from(COMPLETE))
def test_any_users_and_ids_come_back_or_are_refused(tmp_path_factory, rows, names, format):
    ids = [f"{place}{name}" for place, name in enumerate(names)]
    users = [f"u{name}" for name in names[: len(rows)]]  # a blank one would come back as unknown
    data = replace(Transactions.from_lists(rows, users=users), ids=pa.array(ids[: len(rows)], pa.string()))
    path = tmp_path_factory.getbasetemp() / f"users.{format}"
    try:
        expected, _ = prepared(data, format_of(None, format))
    except InputError:
        return
    save(data, path, format)
    assert same(expected, read(path, format=format))


SOME = ["fimi", "spmf", "basket", "long.csv", "lists.parquet", "wide.csv"]


@pytest.mark.parametrize("source", SOME)
@pytest.mark.parametrize("target", SOME)
def test_from_each_to_each(tmp_path, source, target):
    save(DATA, tmp_path / "source", source)
    notes = convert(tmp_path / "source", tmp_path / "target", source_format=source, format=target).notes
    assert same(DATA, read(tmp_path / "target", format=target))
    assert notes == ()


def test_groceries_go_round_through_every_format(some_data, tmp_path):
    source = some_data("groceries.csv.gz")
    data = read(source)
    for format in ["spmf", "basket", "long.csv", "long.parquet", "lists.csv", "lists.jsonl", "lists.arrow", "wide.tsv"]:
        convert(source, tmp_path / format, format=format)
        found = read(tmp_path / format, format=format)
        assert unordered(found) == unordered(data), format
    with pytest.raises(InputError, match="white space"):
        convert(source, tmp_path / "groceries.dat")


def test_t10i4_goes_round_through_binary_and_text(some_data, tmp_path):
    source = some_data("T10I4D100K.dat.gz")
    convert(source, tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "b.csv.zst")
    convert(tmp_path / "b.csv.zst", tmp_path / "c.dat")
    assert same(read(source), read(tmp_path / "c.dat"))


# --- the file --------------------------------------------------------------------------------------------------


def test_the_result_is_for_its_owner_only(tmp_path):
    convert(DATA, tmp_path / "a.csv")
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_an_existing_file_needs_force_and_the_source_is_never_replaced(tmp_path):
    convert(DATA, tmp_path / "a.csv")
    with pytest.raises(ExistsError):
        convert(DATA, tmp_path / "a.csv")
    convert(Transactions.from_lists([["z"]]), tmp_path / "a.csv", force=True)
    assert read(tmp_path / "a.csv").to_lists() == [["z"]]
    with pytest.raises(InputError, match="must not replace the input"):
        convert(tmp_path / "a.csv", tmp_path / "a.csv", force=True)
    assert read(tmp_path / "a.csv").to_lists() == [["z"]]


def test_a_certificate_does_not_outlive_the_release_it_speaks_about(tmp_path):
    (tmp_path / "a.dat").write_text("1 2\n1 2\n")
    (tmp_path / "a.dat.certificate.json").write_text("{}")
    convert(DATA, tmp_path / "a.dat", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.dat"]


def test_what_is_lost_must_be_dropped_on_purpose(tmp_path):
    save(FULL, tmp_path / "full.csv")
    with pytest.raises(InputError, match=r"cannot hold users.*long or lists"):
        convert(tmp_path / "full.csv", tmp_path / "full.dat")
    assert not (tmp_path / "full.dat").exists()
    convert(tmp_path / "full.csv", tmp_path / "full.dat", drop="users,ids,sensitive,sensitivity")
    assert read(tmp_path / "full.dat").same_sets(FULL)


def test_read_options_are_passed_on_and_notes_come_back(tmp_path):
    (tmp_path / "a.csv").write_text("receipt;what\n1;=tea\n1;=tea\n2;milk\n")
    done = convert(tmp_path / "a.csv", tmp_path / "b.csv", transaction="receipt", item="what")
    assert read(tmp_path / "b.csv").to_lists() == [["'=tea"], ["milk"]]
    assert any("repeated" in note for note in done.notes)
    assert any("formula" in note for note in done.notes)


def test_to_standard_output_and_open_files(capfdbinary):
    convert(DATA, "-", format="fimi")
    file = io.BytesIO()
    convert(DATA, file, format="lists.jsonl")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"9 10 a\n\na\n9 b\n"
    assert json.loads(file.getvalue().splitlines()[0]) == {"items": ["9", "10", "a"]}
    with pytest.raises(InputError, match="format"):
        convert(DATA, "-")
