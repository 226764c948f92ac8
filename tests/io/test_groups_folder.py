"""A release in groups is a folder that appears whole, reads back the same, and shows when it was touched."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset import DataError, ExistsError, GuaranteeError, InputError, ParameterError, Transactions
from anonset.io.publish.groups import same_groups
from anonset.models import model


def inside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


FORMATS = ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "csv.zst", "csv.xz", "jsonl.bz2"]
NAMES = ["bread", "wine", "a,b", 'say "so"', "two\nlines", " blank ", "Ünïcödé ☂", "10", "9", "sécret", "s,2"]


def data(size: int = 80, names: list[str] | None = None) -> Transactions:
    rng = np.random.default_rng(1)
    labels = NAMES if names is None else names
    rare = np.where(np.arange(len(labels)) < len(labels) - 2, 0.3, 0.05)
    rows = [[labels[i] for i in np.flatnonzero(rng.random(len(labels)) < rare)] for _ in range(size)]
    return Transactions.from_lists(rows, labels=labels, sensitive=labels[-2:])


@pytest.fixture
def result() -> anonset.Result:
    return anonset.anonymize(data(), method="cahd-gray", p=3, seed=1)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_reads_back_what_was_written(result, format: str, tmp_path: Path) -> None:
    certificate = anonset.write(result.release, result.verdict, tmp_path / "out", format=format, method="cahd-gray")
    assert set(certificate.files) == {f"transactions.{format}", f"sensitive.{format}"}
    found = anonset.read_release(tmp_path / "out")
    assert same_groups(result.release, found)
    assert found.transactions.sensitive_names() == ["s,2", "sécret"]
    assert anonset.verify(tmp_path / "out", "privacy-degree", p=3) == result.verdict
    assert not anonset.verify(str(tmp_path / "out"), "privacy-degree", p=40).holds


def test_the_columns_are_what_the_docs_say(result, tmp_path: Path) -> None:
    for format in ("csv", "parquet"):
        anonset.write(result.release, result.verdict, tmp_path / format, format=format)
    assert (tmp_path / "csv/transactions.csv").read_text().startswith("group,transaction,item\n")
    assert (tmp_path / "csv/sensitive.csv").read_text().startswith("group,item,count\n")
    assert pq.read_table(tmp_path / "parquet/transactions.parquet").column_names == ["group", "items"]
    assert pq.read_table(tmp_path / "parquet/sensitive.parquet").column_names == ["group", "item", "count"]


def test_anonymize_writes_it_and_the_name_may_say_the_format(tmp_path: Path) -> None:
    done = anonset.publish(
        data(), anonset.Targets(out=tmp_path / "release.parquet", accept="inference"), method="nn", p=3, seed=1
    )
    assert inside(tmp_path / "release.parquet") == [
        "certificate.json",
        "sensitive.parquet",
        "transactions.parquet",
    ]
    said = json.loads((tmp_path / "release.parquet/certificate.json").read_text())
    assert said["method"] == "nn"
    assert said["sensitive_items"] == ["s,2", "sécret"]
    assert "seed" not in json.dumps(said)
    assert done.certificate is not None
    assert said == json.loads(json.dumps(done.certificate.to_dict()))


def test_only_the_owner_may_look_and_nothing_is_left_behind(result, tmp_path: Path) -> None:
    anonset.write(result.release, result.verdict, tmp_path / "out")
    assert inside(tmp_path) == ["out"]
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


@pytest.mark.parametrize("lost", ["transactions.csv", "sensitive.csv", "certificate.json"])
def test_a_missing_file_is_an_error(result, lost: str, tmp_path: Path) -> None:
    anonset.write(result.release, result.verdict, tmp_path / "out")
    (tmp_path / "out" / lost).unlink()
    with pytest.raises(DataError, match=f"the file {lost} of this release is missing"):
        anonset.read_release(tmp_path / "out")


@pytest.mark.parametrize("edited", ["transactions.csv", "sensitive.csv"])
def test_an_edited_file_is_an_error(result, edited: str, tmp_path: Path) -> None:
    anonset.write(result.release, result.verdict, tmp_path / "out")
    path = tmp_path / "out" / edited
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DataError, match=f"{edited} was changed after it was certified"):
        anonset.verify(tmp_path / "out", "privacy-degree", p=3)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"files": 3}', '{"files": {}}', '{"files": {"transactions/../x": ""}}']
)
def test_a_damaged_certificate_is_an_error(result, content: str, tmp_path: Path) -> None:
    anonset.write(result.release, result.verdict, tmp_path / "out")
    (tmp_path / "out/certificate.json").write_text(content)
    with pytest.raises(DataError, match="certificate"):
        anonset.read_release(tmp_path / "out")


def test_an_existing_folder_needs_force_and_foreign_files_are_never_lost(result, tmp_path: Path) -> None:
    out = tmp_path / "out"
    anonset.write(result.release, result.verdict, out)
    with pytest.raises(ExistsError):
        anonset.write(result.release, result.verdict, out)
    anonset.write(result.release, result.verdict, out, force=True, format="jsonl")
    assert inside(out) == ["certificate.json", "sensitive.jsonl", "transactions.jsonl"]
    (out / "diary.txt").write_text("dear diary")
    with pytest.raises(InputError, match="holds other files"):
        anonset.write(result.release, result.verdict, out, force=True)
    assert (out / "diary.txt").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        anonset.write(result.release, result.verdict, tmp_path / "file", force=True)


def test_a_taken_place_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ExistsError):
        anonset.publish("no such file.csv", anonset.Targets(out=tmp_path / "out"), method="cahd-gray", p=2)
    with pytest.raises(ParameterError, match="'format' must be one of csv, tsv"):
        anonset.publish(
            "no such file.csv", anonset.Targets(out=tmp_path / "new", format="fimi"), method="cahd-gray", p=2
        )


def test_nothing_unverified_is_published(result, tmp_path: Path) -> None:
    broken = model("privacy-degree", p=70).check(result.release)
    with pytest.raises(GuaranteeError, match="does not keep its promise"):
        anonset.write(result.release, broken, tmp_path / "out")
    other = anonset.anonymize(data(), method="perm-mondrian", p=3, seed=1)
    with pytest.raises(GuaranteeError, match="does not fit the release"):
        anonset.write(result.release, other.verdict, tmp_path / "out")
    assert inside(tmp_path) == []


def test_names_that_a_spreadsheet_would_run_are_guarded_and_the_order_follows(tmp_path: Path) -> None:
    names = ["=SUM(A1)", "bread", "+cmd", "@x", "zeta", "alpha", "=secret", "s"]
    place = anonset.Targets(out=tmp_path / "out", accept="inference")
    done = anonset.publish(data(names=names), place, method="nn", p=3, seed=1)
    assert any("apostrophe" in note for note in done.notes)
    assert anonset.verify(tmp_path / "out", "privacy-degree", p=3).holds
    found = anonset.read_release(tmp_path / "out").transactions
    assert {"'=SUM(A1)", "'=secret", "'@x"} <= set(found.labels.to_pylist())
    anonset.write(done.release, done.verdict, tmp_path / "kept", keep_formulas=True)
    assert "=SUM(A1)" in anonset.read_release(tmp_path / "kept").transactions.labels.to_pylist()


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow"])
def test_nothing_and_hardly_anything_are_ordinary(format: str, tmp_path: Path) -> None:
    for i, rows in enumerate([[], [[]], [[], ["a"], []]]):
        few = Transactions.from_lists(rows, labels=["a", "s"], sensitive=["s"])
        anonset.publish(few, anonset.Targets(out=tmp_path / f"{i}", format=format), method="cahd-gray", p=2)
        assert len(anonset.read_release(tmp_path / f"{i}")) == len(rows)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_kept_ids_and_users_survive(format: str, tmp_path: Path) -> None:
    named = replace(data(), ids=pa.array([f"T{i}" for i in range(80)]))
    done = anonset.publish(
        named,
        anonset.Targets(out=tmp_path / "out", format=format, accept="inference"),
        method="cahd-gray",
        p=3,
        keep=anonset.Keep(ids=True),
    )
    found = anonset.read_release(tmp_path / "out").transactions
    assert found.ids is not None
    assert found.ids.equals(done.release.transactions.ids)


def test_the_command_line_verifies_a_folder(tmp_path: Path) -> None:
    place = anonset.Targets(out=tmp_path / "out", accept="inference")
    anonset.publish(data(), place, method="cahd-gray", p=3, seed=1)
    run = [sys.executable, "-m", "anonset", "verify", str(tmp_path / "out"), "--json"]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["holds"] is True
    done = subprocess.run([*run, "-p", "50"], capture_output=True, text=True)
    assert done.returncode == 3
    path = tmp_path / "out/transactions.csv"
    path.write_bytes(path.read_bytes()[:-1])
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 3
    assert "the sha256 of transactions.csv differs" in done.stderr
