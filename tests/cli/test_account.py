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
        "kept_apart_by_blanks": 0, "counts": None, "users": 2,
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
    rows = [(n, item) for n in range(40) for item in ("ab"[n % 2], "s" if n % 8 == 0 else "c")]
    path.write_text("receipt,product\n" + "".join(f"{n},{item}\n" for n, item in rows) + "99,s\n")
    command = ("anonymize", path, "--method", "cahd-blind", "-p", 2, "--sensitive", "s", "--json")
    account = json.loads(cli(*command).out)["private"]["account"]
    assert (account["read"]["transactions"], account["published"]["transactions"]) == (41, 40)
    assert account["published"]["left_out"] == 1


def test_info_and_convert_account_for_the_same(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("\n".join(ROWS) + "\n")
    for command in (("info", "a.csv"), ("convert", "a.csv", "b.csv")):
        done = cli(*command, "--skip-nulls", "--json", *(("--drop", "users") if command[0] == "convert" else ()))
        read = json.loads(done.out)["account"]["read"]
        assert (read["rows"], read["transactions"], read["occurrences"], read["users"]) == (16, 7, 14, 2)
        assert (read["nulls"], read["repeats"]) == (1, 1)
        assert {one["name"]: one["role"] for one in read["columns"]}["price"] is None
    assert json.loads(done.out)["account"]["written"]["users"] is None
    for command in (("info", "a.csv"), ("convert", "a.csv", "c.csv")):
        shown = " ".join(cli(*command, "--skip-nulls").out.split())
        assert "read 16 rows (3 of 4 columns): 7 transactions, 2 items, 14 occurrences, 2 users, 1 nulls" in shown


def test_names_that_blanks_keep_apart_are_counted_and_said(cli, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("receipt,product\n1,milk\n1,tea \n2, milk\n2,tea\n3,oil \n")
    answer = json.loads(cli("info", path, "--json").out)
    assert answer["account"]["read"]["kept_apart_by_blanks"] == 2
    assert any(note.startswith("2 items differ from others by nothing but blanks") for note in answer["notes"])
    assert "2 names kept apart by blanks" in " ".join(cli("anonymize", path, "-k", 2).out.split())
    query = "SELECT receipt, trim(product) AS product FROM data"
    answer = json.loads(cli("info", path, "--query", query, "--json").out)
    assert (answer["items"], answer["account"]["read"]["kept_apart_by_blanks"]) == (3, 0)


def test_which_column_is_taken_for_what_is_said_before_the_work(cli, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("day,customer,product\n" + "".join(f"1/2/2024,{n},tea\n1/3/2024,{n},tea\n" for n in range(8)))
    done = cli("anonymize", path, "-k", 4, "--transaction", "day,customer")
    assert done.err.startswith("Note: Columns: day (transaction), customer (transaction, user), product (item)\n")
    path.write_text("transaction,item\n" + "".join(f"{n},tea\n" for n in range(8)))
    assert "Columns" not in cli("anonymize", path, "-k", 4).err  # they are called what they are


def test_blanks_in_baskets_and_a_header_are_said(cli, tmp_path):
    path = tmp_path / "a.basket"
    path.write_text('milk , bread\n "a , b" ,tea\nmilk\n')
    notes = json.loads(cli("info", path, "--json").out)["notes"]
    assert any(note.startswith("4 ends of items with blanks were trimmed") for note in notes)
    words = tmp_path / "b.dat"
    words.write_text("x y\n1 2\n1 2\n")
    assert any("header" in note for note in json.loads(cli("info", words, "--json").out)["notes"])
