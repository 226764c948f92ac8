"""The files that people really have open without an option, or with one, and end in a verified release."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from tests.cli.test_asking import on_a_terminal

BASKETS = [("Milch", "Brot"), ("Milch", "Brot"), ("Käse", "Brot"), ("Käse", "Brot")] * 6
ROWS = [(number, item) for number, basket in enumerate(BASKETS) for item in basket]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def excel():
    """As Excel saves it in Germany: a title, an empty line, semicolons, Windows-1252, decimal commas."""
    rows = [f"{number};{item};1,50 €" for number, item in ROWS]
    text = "\r\n".join(["Umsätze im März 2024;;", ";;", "Bon-Nr.;Artikel;Preis", *rows, ""])
    Path("umsatz.csv").write_bytes(text.encode("cp1252"))
    return ["umsatz.csv"], len(BASKETS)


def excel_utf16():
    """Excel's "Unicode text": UTF-16 with tabs."""
    rows = [f"{number}\t{item}" for number, item in ROWS]
    Path("umsatz.txt").write_bytes("\r\n".join(["Bon-Nr.\tArtikel", *rows, ""]).encode("utf-16"))
    return ["umsatz.txt"], len(BASKETS)


def database():
    """A SQLite file with one table."""
    pytest.importorskip("adbc_driver_sqlite", reason="needs the extra 'db'")
    with closing(sqlite3.connect("kasse.db")) as link:
        link.execute("CREATE TABLE umsatz (bon_nr INTEGER, artikel TEXT, preis REAL)")
        link.executemany("INSERT INTO umsatz VALUES (?, ?, 1.5)", ROWS)
        link.commit()
    return ["kasse.db"], len(BASKETS)


def nine_columns():
    """Nine quoted columns, BOM, CRLF, dates with the month first, customers with leading zeros: date + customer."""
    names = ["Date", "Customer", "Store", "Product", "Qty", "Price", "Discount", "Coupon", "Week"]
    days = ["1/2/2024", "12/31/2024"]  # the second one is no day-first date, and stands far down
    rows = [[days[number > 11], f"{number % 12:05}", "001", item, "1", "1.50", "0", "", "07"] for number, item in ROWS]
    lines = [",".join(f'"{cell}"' for cell in row) for row in (names, *rows)]
    Path("export.csv").write_bytes(("\r\n".join([*lines, ""])).encode("utf-8-sig"))
    return ["export.csv"], len(BASKETS)


def nested():
    """JSON lines with a list of objects."""
    orders = [{"order": {"id": n}, "lines": [{"sku": item} for item in basket]} for n, basket in enumerate(BASKETS)]
    Path("orders.jsonl").write_text("".join(json.dumps(order) + "\n" for order in orders))
    return ["orders.jsonl"], len(BASKETS)


def folder():
    """A folder of Parquet files, as Spark leaves it."""
    Path("sales").mkdir()
    for part in range(3):
        rows = [row for row in ROWS if row[0] % 3 == part]
        table = pa.table({"receipt_id": [row[0] for row in rows], "product": [row[1] for row in rows]})
        pq.write_table(table, f"sales/part-{part:05}.parquet")
    Path("sales/_SUCCESS").touch()
    return ["sales"], len(BASKETS)


@pytest.mark.parametrize(
    "kind", [excel, excel_utf16, database, nine_columns, nested, folder], ids=lambda one: one.__name__
)
def test_real_exports_end_in_a_verified_release(cli, kind):
    source, transactions = kind()
    command = ["anonymize", *source, "-k", "6", "-o", "release.csv"]
    if kind is nine_columns:  # one question, and its answer is there already
        code, shown = on_a_terminal(".", command, "\n")
        assert code == 0, shown
        assert "Which one holds the transaction [Date,Customer]" in shown
    else:
        done = cli(*command)
        assert done.code == 0, done.err
    data = anonset.read("release.csv")
    assert len(data) == transactions
    assert set(data.labels.to_pylist()) <= {"Milch", "Brot", "Käse"}
    assert cli("verify", "release.csv", "-k", 6).code == 0


def test_ids_keep_their_leading_zeros_and_dates_stay_texts():
    source, _ = nine_columns()
    data = anonset.read(source[0], transaction="Date,Customer")
    assert data.ids.to_pylist()[0] == "1/2/2024,00000"
    assert "12/31/2024,00011" in data.ids.to_pylist()


def test_without_the_option_the_columns_and_the_option_are_named(cli):
    nine_columns()
    done = cli("info", "export.csv")
    assert done.code == 2
    assert "Date, Customer, Store, Product, Qty, Price, Discount, Coupon, Week" in done.err
    assert "Most likely: --transaction Date,Customer." in done.err


@pytest.mark.slow
def test_a_late_month_first_date_stops_nothing(cli):
    rows = [f"{'1/2/2024' if n < 176_552 else '12/31/2024'},{n // 2},{'abc'[n % 3]}" for n in range(180_000)]
    Path("late.csv").write_text("\n".join(["date,receipt,item", *rows, ""]))
    assert len(anonset.read("late.csv", transaction="date,receipt")) == 90_000
