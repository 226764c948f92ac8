"""Every run accounts for what came in and what went out, in JSON, on the terminal and in the report."""

import json
from pathlib import Path

import anonset

ROWS = ["receipt,customer,product,price", "1,007,milk,1", "1,007,milk,1", "1,007,tea,2", "2,008,,1"]
ROWS += [f"{n},009,{item},3" for n in range(3, 9) for item in ("milk", "tea")]


def test_rows_columns_nulls_repeats_and_users_are_counted(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("\n".join(ROWS) + "\n")
    command = ("anonymize", "a.csv", "-k", 3, "--unit", "transaction", "--skip-nulls")
    answer = json.loads(cli(*command, "--report", "r.html", "-o", "b.csv", "--json").out)
    read, published = (answer["private"]["account"][side] for side in ("read", "published"))
    assert read == {
        "rows": 16, "transactions": 7, "items": 2, "occurrences": 14, "nulls": 1, "repeats": 1, "blanks": 0,
        "counts": None, "users": 2,
        "columns": [
            {"name": "receipt", "role": "transaction"}, {"name": "customer", "role": "user"},
            {"name": "product", "role": "item"}, {"name": "price", "role": None},
        ],
    }  # fmt: skip
    assert published["transactions"] == len(anonset.read("b.csv")) == 7
    assert published["left_out"] == 0
    page = Path("r.PRIVATE.html").read_text()
    assert "price: left aside" in page
    assert "1 nulls" in page
    shown = " ".join(cli(*command).out.split())
    assert "16 rows (3 of 4 columns): 7 transactions, 2 items, 14 occurrences, 2 users, 1 nulls left out" in shown


def test_what_is_left_out_is_counted(cli, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("receipt,product\n" + "".join(f"{n},{item}\n" for n in range(8) for item in ("a", "s")) + "9,a\n")
    command = ("anonymize", path, "--method", "cahd-blind", "-p", 2, "--sensitive", "s", "--json")
    answer = json.loads(cli(*command).out)
    if "private" in answer:  # otherwise such data cannot be published at all, and nothing is to be counted
        account = answer["private"]["account"]
        left = account["published"]["left_out"]
        assert left == account["read"]["transactions"] - account["published"]["transactions"]


def test_blanks_in_baskets_and_a_header_are_said(cli, tmp_path):
    path = tmp_path / "a.basket"
    path.write_text('milk , bread\n "a , b" ,tea\nmilk\n')
    notes = json.loads(cli("info", path, "--json").out)["notes"]
    assert any(note.startswith("4 ends of items with blanks were trimmed") for note in notes)
    words = tmp_path / "b.dat"
    words.write_text("x y\n1 2\n1 2\n")
    assert any("header" in note for note in json.loads(cli("info", words, "--json").out)["notes"])
