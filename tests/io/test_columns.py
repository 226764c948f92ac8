"""Columns beside the items: read, joined, refused, published; the whole row is checked."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset.cli.base.outcome import run
from anonset.data.errors import DataError, InputError, ParameterError
from anonset.io import save
from anonset.io.source.describe import describe

ROWS = [
    (receipt, customer, store, product, price)
    for receipt, customer, store, products in (
        (1, "Ann", "Mitte", "milk wine"),
        (2, "Bo", "Mitte", "milk wine"),
        (3, "Cy", "Wedding", "beer"),
        (4, "Di", "Wedding", "beer"),
    )
    for product, price in zip(products.split(), (1.5, 2.5), strict=False)
]


@pytest.fixture
def receipts():
    return pd.DataFrame(ROWS, columns=["receipt", "customer", "store", "product", "price"])


@pytest.fixture
def file(tmp_path, receipts):
    path = tmp_path / "receipts.csv"
    receipts.to_csv(path, index=False)
    return path


def test_a_value_is_an_item_called_after_its_column(receipts):
    data = anonset.read(receipts, attribute=["store"])
    assert data.to_lists()[0] == ["milk", "wine", "store=Mitte"]
    assert data.columns.names == ("store",)
    assert "price" in data.notes[0]


def test_a_column_that_varies_inside_a_transaction_is_refused_with_its_line(file):
    with pytest.raises(DataError, match=r"line 3.*'price' has two values in one transaction.*drop"):
        anonset.read(file, attribute="price")


def test_a_value_that_is_missing_is_counted_and_published_as_a_star(tmp_path, receipts):
    receipts.loc[receipts.receipt == 4, "store"] = None
    result = anonset.anonymize(receipts, k=2, attribute="store", seed=1, keep=anonset.Keep(order=True))
    assert "1 transaction was without a value of 'store'" in " ".join(result.notes)
    result.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "4,*,beer"


def test_an_item_that_reads_like_a_value_is_refused():
    frame = pd.DataFrame({"receipt": [1], "product": ["store=x"], "store": ["x"]})
    with pytest.raises(InputError, match="begin with 'store='"):
        anonset.read(frame, attribute="store")


@pytest.mark.parametrize("name", ["out.dat", "out.spmf", "out.basket"])
def test_line_formats_refuse_columns_and_name_a_format_that_holds_them(tmp_path, receipts, name):
    data = anonset.read(receipts.drop(columns="customer"), attribute="store")
    with pytest.raises(InputError, match=r"cannot hold columns beside the items\. Use the format long or"):
        save(data, tmp_path / name, drop="ids")
    with pytest.raises(InputError, match="cannot hold columns beside the items, which this run publishes"):
        anonset.publish(receipts, anonset.Targets(out=tmp_path / name), k=2, attribute="store")
    save(data, tmp_path / "out.basket", drop=["columns", "ids"])
    assert "Mitte" not in (tmp_path / "out.basket").read_text()


def test_line_formats_have_no_columns_to_read(tmp_path):
    (tmp_path / "in.dat").write_text("1 2\n1\n")
    with pytest.raises(ParameterError, match="'attribute' must name a column of a table"):
        anonset.read(tmp_path / "in.dat", attribute="store")


def test_methods_that_know_items_only_refuse_columns(receipts):
    with pytest.raises(ParameterError, match="'attribute' must be left out for gray-tsp"):
        anonset.anonymize(receipts, method="gray-tsp", k=2, attribute="store")


def test_a_second_table_joins_by_user(receipts):
    people = pd.DataFrame({"customer": ["Ann", "Bo", "Cy", "Ed"], "age": [31, 32, 70, 5]})
    people["income"] = [None, "low", "", "x"]
    data = anonset.read(receipts, attribute="store", users=people)
    assert data.to_lists()[1] == ["milk", "wine", "store=Mitte", "age=32", "income=low"]
    assert data.to_lists()[3] == ["beer", "store=Wedding"]
    assert any("1 transaction was of users that the second table lacks" in note for note in data.notes)
    assert anonset.read(receipts, attribute="age", users=people).columns.names == ("age",)
    assert anonset.read(receipts, drop="age", users=people).columns.names == ("income",)
    with pytest.raises(ParameterError, match="drop"):
        anonset.read(receipts, drop="agge", users=people)


def test_a_second_table_comes_from_a_file_and_names_each_user_once(tmp_path, file):
    pd.DataFrame({"customer": ["Ann", "Bo"], "age": [31, 32]}).to_parquet(tmp_path / "people.parquet")
    assert anonset.read(file, users=tmp_path / "people.parquet").to_lists()[0] == ["milk", "wine", "age=31"]
    pd.DataFrame({"customer": ["Ann", "Ann"], "age": [31, 32]}).to_csv(tmp_path / "twice.csv")
    with pytest.raises(DataError, match="names a user twice"):
        anonset.read(file, users=tmp_path / "twice.csv")
    with pytest.raises(ParameterError, match="'users' must be left out where the data name no users"):
        anonset.read([["a"]], users=tmp_path / "people.parquet")


def test_a_hierarchy_must_hold_every_value(receipts):
    tree = {"item": ["Mitte"], "level1": ["Berlin"]}
    with pytest.raises(ParameterError, match="hold every value of the column 'store'"):
        anonset.read(receipts, attribute="store", attribute_hierarchy={"store": tree})
    with pytest.raises(ParameterError, match="attribute_hierarchy"):
        anonset.read(receipts, attribute="store", attribute_hierarchy="shop=shops.csv")


def test_numbers_that_only_name_something_have_no_ranges(receipts):
    frame = receipts.assign(store_id=receipts.receipt * 10, size=receipts.receipt * 10)
    trees = {one.name: one.tree for one in anonset.read(frame, attribute="store_id,size").columns.attributes}
    assert trees["store_id"].height == 1
    assert trees["size"].height > 1


def test_a_sensitive_column_passes_beside_and_counts_for_diversity(tmp_path, receipts):
    receipts["payment"] = ["cash", "cash", "card", "card", "cash", "card"]
    result = anonset.anonymize(receipts, k=2, diversity=2, attribute_sensitive="payment", seed=1)
    assert sorted(result.release.transactions.sensitive_names()) == ["payment=card", "payment=cash"]
    result.write(tmp_path / "out.csv")
    assert "cash" in (tmp_path / "out.csv").read_text()
    again = anonset.verify(tmp_path / "out.csv", k=2, diversity=2)
    assert again.holds
    assert again.measured["p"] == 2


def test_verify_looks_at_the_whole_row(tmp_path, file, capsys):
    out = tmp_path / "out.csv"
    assert run(["anonymize", str(file), "-k", "2", "--attribute", "store", "-o", str(out), "--quiet"]) == 0
    assert run(["verify", str(out)]) == 0
    assert json.loads((tmp_path / "out.csv.certificate.json").read_text())["columns"]["attribute"] == "store"
    out.write_text(out.read_text().replace("Mitte", "Altona", 2))
    assert run(["verify", str(out)]) == 3
    (tmp_path / "out.csv.certificate.json").unlink()
    assert run(["verify", str(out), "-k", "2"]) == 3
    assert run(["verify", str(out), "-k", "2", "--attribute", "store"]) == 3
    assert "1 transaction with this published set" in capsys.readouterr().out


def test_a_certificate_that_keeps_quiet_about_a_column_does_not_hide_it(tmp_path, file):
    out = tmp_path / "out.csv"
    assert run(["anonymize", str(file), "-k", "2", "--attribute", "store", "-o", str(out), "--quiet"]) == 0
    path = tmp_path / "out.csv.certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "columns": {}}))
    assert run(["verify", str(out)]) == 3


def test_types_stay_where_nothing_is_generalised(tmp_path):
    days = pd.to_datetime(["2017-01-02"] * 2 + ["2017-01-03"] * 2)
    frame = pd.DataFrame({"receipt": [1, 2, 3, 4], "product": list("aabb"), "size": [5, 5, 7, 7], "day": days})
    anonset.anonymize(frame, k=2, attribute=["size", "day"], seed=1).write(tmp_path / "out.parquet", format="long")
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.column_names == ["receipt", "product", "size", "day"]
    assert pa.types.is_integer(written.schema.field("size").type)
    assert pa.types.is_timestamp(written.schema.field("day").type)
    mixed = frame.assign(size=[5, 6, 7, 7])
    anonset.anonymize(mixed, k=2, attribute=["size"], seed=1, add="none").write(tmp_path / "mixed.csv")
    assert "*" in (tmp_path / "mixed.csv").read_text()


def test_formulas_in_columns_are_guarded(tmp_path):
    frame = pd.DataFrame({"receipt": [1, 2], "product": ["a", "a"], "shop": ["=1+1", "=1+1"]})
    anonset.anonymize(frame, k=2, attribute="shop", seed=1).write(tmp_path / "out.csv")
    assert "'=1+1" in (tmp_path / "out.csv").read_text()


def test_info_says_the_part_of_each_column_and_why(file, capsys):
    assert run(["info", str(file), "--attribute", "store", "--json"]) == 0
    found = {one["name"]: (one["role"], one["why"]) for one in json.loads(capsys.readouterr().out)["columns"]}
    assert found["receipt"] == ("transaction", "by its name")
    assert found["store"] == ("attribute", "as asked")
    assert found["price"][0] == "left aside"
    assert "varies inside a transaction" in found["price"][1]
    assert "attribute=store" in describe(file)[2].why
    assert describe([["a"]]) == ()


def test_the_same_seed_gives_the_same_release(tmp_path, receipts):
    for name in ("one.csv", "two.csv"):
        anonset.anonymize(receipts, k=2, attribute="store", seed=7).write(tmp_path / name)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_nothing_private_is_left_in_the_release(receipts):
    release = anonset.anonymize(receipts, k=2, attribute="store", seed=7).release
    assert all(one.tree is None for one in release.transactions.columns.attributes)
    assert not np.any(release.transactions.item_counts == 0)
