"""A release can be published in every format, and its receiver can check it with the certificate alone."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import anonset
from anonset import InputError, Transactions, read, verify, write
from anonset.data.release import Release
from anonset.io.containers.container import TEXT
from anonset.io.formats.registry import LAYOUTS
from anonset.io.formats.saving import save

FORMATS = [
    name if container == TEXT else f"{name}.{container}"
    for name, layout in LAYOUTS.items()
    for container in layout.containers
]
ROWS = [["bread", "wine"], ["bread"], ["beer"], ["beer"], [], []]
RELEASE = Release(Transactions.from_lists(ROWS, sensitive=["wine"]))


def certified(path):
    return json.loads(path.with_name(path.name + ".certificate.json").read_text())


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_can_be_published_and_checked_by_its_receiver(tmp_path, format):
    path = tmp_path / "out"
    write(RELEASE, verify(RELEASE, k=2), path, format=format)
    paper = certified(path)
    holds_marks = format.split(".")[0] in ("long", "lists")
    options = {} if holds_marks else {"sensitive": paper["sensitive_items"]}
    again = verify(path, paper["model"], **paper["parameters"], format=format, **options)
    assert again.holds
    assert dict(again.measured) == paper["measured"]
    assert paper["sensitive_items"] == ["wine"]
    assert read(path, format=format, **options).sensitive_names() == ["wine"]


def test_without_its_sensitive_items_the_same_file_would_promise_less(tmp_path):
    write(RELEASE, verify(RELEASE, k=2), tmp_path / "out.dat")
    assert not verify(tmp_path / "out.dat", k=2).holds


def test_guarded_names_are_what_the_certificate_speaks_about(tmp_path):
    release = Release(Transactions.from_lists([["=tea", "a"], ["a"]], sensitive=["=tea"]))
    certificate = write(release, verify(release, k=2), tmp_path / "out.csv")
    assert certificate.sensitive_items == ("'=tea",)
    assert certificate.notes == ("1 name that a spreadsheet would run as a formula got an apostrophe in front.",)
    assert read(tmp_path / "out.csv").to_lists() == [["'=tea", "a"], ["a"]]
    kept = write(release, verify(release, k=2), tmp_path / "kept.csv", keep_formulas=True)
    assert kept.sensitive_items == ("=tea",)
    assert kept.notes == ()


def test_kept_pseudonyms_and_ids_are_published_where_there_is_room(tmp_path):
    data = replace(Transactions.from_lists(ROWS, users=["u1", "u2", "u1", "u3", "u2", "u2"]), ids=pa.array("abcdef"))
    data = data.with_sensitive(["wine"])
    release = Release(data)
    write(release, verify(release, k=2), tmp_path / "out.parquet")
    found = read(tmp_path / "out.parquet")
    assert found.ids.to_pylist() == list("abcdef")
    assert found.user_labels.take(pa.array(found.users)).to_pylist() == ["u1", "u2", "u1", "u3", "u2", "u2"]
    with pytest.raises(InputError, match="cannot hold users"):
        write(release, verify(release, k=2), tmp_path / "out.dat")


def test_the_order_of_the_vocabulary_says_nothing(tmp_path):
    one = Release(Transactions.from_lists([["b", "a"], ["a", "b"]], labels=["b", "a"]))
    other = Release(Transactions.from_lists([["b", "a"], ["a", "b"]], labels=["a", "b"]))
    for release, name in ((one, "one"), (other, "other")):
        write(release, verify(release, k=2), tmp_path / f"{name}.arrow")
    assert (tmp_path / "one.arrow").read_bytes() == (tmp_path / "other.arrow").read_bytes()


def test_an_empty_release_is_an_ordinary_value(tmp_path):
    release = Release(Transactions.from_lists([]))
    for name in ("out.dat", "out.csv", "out.jsonl", "out.parquet"):
        assert write(release, verify(release, k=2), tmp_path / name).transactions == 0
        assert len(read(tmp_path / name)) == 0


def test_data_of_some_size_go_all_the_way(some_data, tmp_path):
    result = anonset.publish(some_data("mushroom.dat.gz"), anonset.Targets(out=tmp_path / "out.csv.gz"), k=10, seed=3)
    assert verify(tmp_path / "out.csv.gz", k=10).measured == result.verdict.measured
    assert read(tmp_path / "out.csv.gz").same_sets(result.release.transactions)
    assert not np.array_equal(result.row_origin, np.arange(len(result.row_origin)))


def test_saving_by_itself_promises_nothing(tmp_path):
    save(RELEASE.transactions, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
