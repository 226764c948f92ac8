"""Counts of items: read, kept, binned, dropped with a line, published in a column, and checked there."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import anonset
from anonset.cli.base.outcome import run
from anonset.data.errors import DataError, InputError, ParameterError

ROWS = [(r, i, q) for r, own in enumerate(["milk 2 wine 1", "milk 2 wine 1", "milk 3", "milk 5", "beer 6", "beer 6"])
        for i, q in zip(own.split()[::2], map(int, own.split()[1::2]), strict=True)]  # fmt: skip
ALL = "singling-out,linkability,inference,loss"


@pytest.fixture
def receipts():
    return pd.DataFrame(ROWS, columns=["receipt", "product", "quantity"])


@pytest.fixture
def file(tmp_path, receipts):
    receipts.to_csv(tmp_path / "receipts.csv", index=False)
    return tmp_path / "receipts.csv"


@pytest.mark.parametrize("format", ["long.csv", "long.jsonl", "long.parquet", "long.arrow", "long.tsv", "long.xlsx"])
def test_a_release_has_a_column_of_counts_in_every_container_and_is_checked_with_it(tmp_path, receipts, format):
    out = tmp_path / f"out.{format.partition('.')[2]}"
    result = anonset.anonymize(receipts, k=2, count="quantity", seed=1, keep=anonset.Keep(order=True))
    result.write(out, format=format, accept=ALL)
    found = anonset.read_release(out).transactions
    assert [
        (row, found.counts[a:b].tolist())
        for row, a, b in zip(found, found.offsets[:-1], found.offsets[1:], strict=True)
    ] == [
        (("milk", "wine"), [2, 1]),
        (("milk", "wine"), [2, 1]),
        (("milk",), [-1]),
        (("milk",), [-1]),
        (("beer",), [6]),
        (("beer",), [6]),
    ]
    assert anonset.verify(out, k=2).measured["k"] == 2
    assert not anonset.verify(out, k=3).holds


def test_verify_looks_at_counts_in_anybodys_file(tmp_path):
    (tmp_path / "out.csv").write_text("transaction,item,count\n1,milk,2\n2,milk,*\n3,milk,4..7\n4,milk,4..7\n")
    verdict = anonset.verify(tmp_path / "out.csv", k=2)
    assert verdict.measured == {"k": 1, "groups": 3, "below_k": 2}
    assert not anonset.verify(tmp_path / "out.csv", "km-anonymity", k=2, m=1).holds


def test_counts_are_numbers_where_all_are_kept(tmp_path, receipts):
    twice = pd.concat([receipts, receipts.assign(receipt=receipts.receipt + 10)])
    anonset.anonymize(twice, k=2, count="quantity", seed=1).write(tmp_path / "out.parquet", format="long", accept=ALL)
    assert str(pq.read_schema(tmp_path / "out.parquet").field("count").type) == "int32"


def test_the_column_keeps_its_name_and_place_beside_others(tmp_path):
    rows = [(n, store, many, "milk") for n, store in enumerate("aabb") for many in [1 + n % 2]]
    frame = pd.DataFrame(rows, columns=["receipt", "store", "quantity", "product"])
    result = anonset.anonymize(frame, k=2, count="quantity", attribute="store", seed=1)
    result.write(tmp_path / "out.csv", accept=ALL)
    assert (tmp_path / "out.csv").read_text().startswith("receipt,store,quantity,product\n")
    said = json.loads((tmp_path / "out.csv.certificate.json").read_text())["columns"]
    assert said == {"transaction": "receipt", "item": "product", "count": "quantity", "attribute": "store"}
    assert anonset.verify(tmp_path / "out.csv", k=2).holds


def test_bins_publish_ranges(tmp_path, receipts):
    result = anonset.anonymize(receipts, k=2, count="quantity", count_as="bins", seed=1, keep=anonset.Keep(order=True))
    result.write(tmp_path / "out.csv", accept=ALL)
    assert (tmp_path / "out.csv").read_text().splitlines()[1:3] == ["1,milk,2..3", "1,wine,1"]
    assert anonset.verify(tmp_path / "out.csv", k=2).holds


def test_counts_that_are_dropped_are_said(receipts):
    dropped = anonset.anonymize(receipts, k=2, count="quantity", count_as="drop", seed=1)
    assert "item counts are left out, as asked" in dropped.notes
    assert dropped.release.transactions.counts is None
    unasked = anonset.anonymize(receipts.rename(columns={"quantity": "count"}), k=2, seed=1)
    assert "Item counts are left out. count_as=keep (--count-as keep) publishes them." in unasked.notes


@pytest.mark.parametrize(
    ("method", "more"),
    [("gray-tsp", {"k": 2}), ("cahd-gray", {"p": 2, "sensitive": ["wine"]}), ("kamp", {"k": 2, "support": 2})],
)
def test_methods_that_know_no_quantities_say_so(receipts, method, more):
    if method == "kamp":
        receipts = receipts.assign(user=receipts.receipt)
    result = anonset.anonymize(receipts, method=method, count="quantity", seed=1, **more)
    assert f"Item counts are left out: {method} knows no quantities." in result.notes
    with pytest.raises(ParameterError, match=f"'count_as' must be drop for {method}"):
        anonset.anonymize(receipts, method=method, count="quantity", count_as="keep", seed=1, **more)


def test_of_sensitive_items_no_quantity_is_published(receipts):
    result = anonset.anonymize(receipts, k=2, count="quantity", sensitive=["beer"], diversity=None, seed=1)
    assert any("Of sensitive items no quantity" in note for note in result.notes)
    assert "beer" in result.release.transactions.labels.to_pylist()


@pytest.mark.parametrize("name", ["out.dat", "out.spmf", "out.basket", "out.jsonl"])
def test_formats_without_counts_refuse_them_before_the_work_and_name_one_that_has_them(tmp_path, file, name, capsys):
    assert run(["anonymize", str(file), "-k", "2", "--count", "quantity", "-o", str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert "cannot hold item counts, which this run publishes. Use the format long" in said
    with pytest.raises(InputError, match="cannot hold item counts"):
        anonset.anonymize(file, k=2, count="quantity", seed=1).write(tmp_path / name, accept=ALL)


@pytest.mark.parametrize("cell", ["-1", "1.5", "2..4", "many", "1..1"])
def test_a_count_that_is_none_is_refused_with_its_line(tmp_path, cell):
    (tmp_path / "in.csv").write_text(f"transaction,item,count\n1,milk,2\n2,milk,{cell}\n")
    with pytest.raises(DataError, match=r"line 3.*whole number from 0"):
        anonset.read(tmp_path / "in.csv")


def test_repeated_items_add_up_and_are_any_where_one_is_unclear(tmp_path):
    (tmp_path / "in.csv").write_text("transaction,item,count\n1,a,2\n1,a,3\n2,a,2\n2,a,*\n3,a,2..3\n")
    assert anonset.read(tmp_path / "in.csv").counts.tolist() == [5, -1, -2]


def test_count_as_must_be_known_and_needs_counts(receipts):
    with pytest.raises(ParameterError, match="'count_as' must be a known name"):
        anonset.read(receipts, count="quantity", count_as="ranges")
    with pytest.raises(ParameterError, match="'count_as' must come with a column of counts"):
        anonset.read(receipts.drop(columns="quantity"), count_as="keep")


def test_risk_and_measure_look_at_quantities_on_the_command_line(tmp_path, file, capsys):
    out, link = tmp_path / "out.csv", tmp_path / "link.csv"
    asked = ["--count", "quantity"]
    publish = ["anonymize", str(file), "-k", "2", *asked, "-o", str(out), "--link", str(link), "--seed", "1"]
    assert run([*publish, "--accept", ALL]) == 0
    assert "quantities" in capsys.readouterr().out
    private = str(tmp_path / "link.PRIVATE.csv")
    assert run(["measure", str(file), str(out), *asked, "--link", private, "--json"]) == 0
    figures = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["figures"]}
    assert figures["quantities_exact"] == pytest.approx(6 / 8)
    assert run(["risk", str(file), str(out), *asked, "--link", private, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]["attacks"]
    assert any("with quantities" in one["knows"] for one in found)
    assert run(["risk", str(file), *asked, "--json", "-m", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["risk"][0]["share"] == pytest.approx(1 / 3)


def test_frames_come_back_with_their_columns_in_their_order():
    rows = [
        (n, store, many, item, 9) for n, store in enumerate("aabb") for many, item in [(2, "milk"), (1 + n, "wine")]
    ]
    frame = pd.DataFrame(rows, columns=["receipt", "store", "quantity", "product", "price"])
    result = anonset.anonymize(frame, k=2, count="quantity", attribute="store", drop="price", seed=1)
    out = result.to_pandas()
    assert out.columns.tolist() == ["receipt", "store", "quantity", "product"]
    assert sorted(map(tuple, out.drop(columns="receipt").to_numpy().tolist())) == sorted(
        [(store, *own) for store in "aabb" for own in (("2", "milk"), ("*", "wine"))]
    )
    assert anonset.verify(out, k=2, count="quantity", attribute="store").measured["k"] == 2
    kept = anonset.anonymize(frame.assign(quantity=1), k=2, count="quantity", attribute="store", seed=1).to_pandas()
    assert kept.dtypes[["store", "quantity", "product"]].equals(frame.dtypes[["store", "quantity", "product"]])
