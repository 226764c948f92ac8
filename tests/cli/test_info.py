"""`anonset info`."""

import json

import pytest


def test_counts_lengths_items_and_k_are_shown(cli, baskets):
    done = cli("info", baskets)
    text = " ".join(done.out.split())
    assert done.code == 0
    assert "transactions 6 " in text
    assert "duplicates 2 (" in text
    assert "length 1 to 3, mean 2.00, median 2" in text
    assert "Current k: 1. 2 transactions (33.3%) share their items with no other one." in text
    assert "2 5 83.3%" in text


def test_json_is_one_object_and_nothing_else(cli, baskets):
    done = cli("info", baskets, "--json")
    answer = json.loads(done.out)
    assert done.err == ""
    assert (answer["transactions"], answer["items"], answer["occurrences"]) == (6, 4, 12)
    assert answer["lengths"] == {"min": 1, "mean": 2.0, "median": 2.0, "max": 3}
    assert answer["frequent"][0] == {"item": "2", "transactions": 5}
    assert (answer["k"], answer["unique"], answer["duplicates"]) == (1, 2, 2)


def test_sensitive_items_do_not_count_for_k(cli, tmp_path):
    path = tmp_path / "data.dat"
    path.write_text("a b\na c\na\n")
    assert json.loads(cli("info", path, "--json").out)["k"] == 1
    answer = json.loads(cli("info", path, "--sensitive", "b,c", "--json").out)
    assert (answer["k"], answer["sensitive_items"], answer["sensitive_transactions"]) == (3, 2, 2)


def test_users_and_degrees_are_named(cli, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("transaction,user,item,sensitivity\n1,x,a,0.5\n1,x,b,0\n2,x,a,1\n3,y,a,0\n")
    text = " ".join(cli("info", path).out.split())
    assert "users 2, transactions each: 1 to 2" in text
    assert "sensitivity degree" in text


def test_notes_of_reading_are_said(cli, tmp_path):
    path = tmp_path / "data.dat"
    path.write_text("1 1 2\n2\n")
    assert "repeated" in cli("info", path).out
    assert json.loads(cli("info", path, "--json").out)["notes"]


def test_quiet_prints_nothing(cli, baskets):
    done = cli("info", baskets, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_top_limits_the_items(cli, baskets):
    assert len(json.loads(cli("info", baskets, "--top", "2", "--json").out)["frequent"]) == 2


def test_a_query_says_what_to_read(cli, tmp_path):
    (tmp_path / "sales.csv").write_text("basket,product,year\n1,a,2024\n1,b,2025\n2,b,2025\n")
    query = f"SELECT basket AS transaction, product AS item FROM '{tmp_path}/sales.csv' WHERE year = 2025"
    answer = json.loads(cli("info", "--query", query, "--json").out)
    assert (answer["transactions"], answer["items"], answer["k"]) == (2, 1, 2)


def test_standard_input(process):
    done = process("info", "-", "--json", "--input-format", "fimi", input="1 2\n1 2\n")
    assert json.loads(done.stdout)["k"] == 2


def test_a_label_cannot_command_the_terminal(cli, tmp_path):
    path = tmp_path / "data.dat"
    path.write_text("\x1b[31mred [bold]x[/bold] 2\n")
    done = cli("info", path)
    assert "\x1b" not in done.out
    assert r"\x1b[31mred" in done.out
    assert "[bold]x[/bold]" in done.out


def test_a_closed_pipe_is_quiet(process, baskets):
    import subprocess
    import sys

    from cli.conftest import ENVIRONMENT

    command = f'"{sys.executable}" -m anonset info "{baskets}" | true'
    done = subprocess.run(["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["basket.dat", "baskets.csv"])
def test_a_misspelt_file_suggests_the_nearest(cli, baskets, name):
    done = cli("info", baskets.with_name(name))
    assert done.code == 2
    assert name in done.err
    assert "Did you mean baskets.dat?" in done.err
    assert done.err.count("\n") == 1


def test_a_missing_folder_is_named(cli, tmp_path):
    done = cli("info", tmp_path / "data" / "baskets.dat")
    assert done.code == 2
    assert f"folder {tmp_path / 'data'} does not exist" in done.err


def test_a_file_without_permission_is_one_sentence(cli, baskets, monkeypatch):
    import os

    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    baskets.chmod(0)
    done = cli("info", baskets)
    assert done.code in (1, 2)
    assert done.err.count("\n") == 1


def test_blank_users_count_as_unknown_and_both_units_are_stated(cli, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("transaction,user,item\n1,x,a\n2,,a\n3,x,a\n4,y,b\n5,z,b\n6,,b\n")
    answer = json.loads(cli("info", path, "--json").out)
    assert (answer["users"], answer["blank"], answer["k"], answer["k_users"], answer["unique_users"]) == (3, 2, 3, 1, 1)
    text = " ".join(cli("info", path).out.split())
    assert "unknown users 2 transactions name none (see --blank-users)" in text
    assert "In persons: 1. Users with a transaction whose items no other known user shares: 1 (33.3%)." in text
    distinct = json.loads(cli("info", path, "--blank-users", "distinct", "--json").out)
    assert (distinct["users"], distinct["blank"], distinct["k_users"]) == (5, 0, 2)
    ignored = json.loads(cli("info", path, "--no-user", "--json").out)
    assert ignored["users"] is None
    assert [(one["role"], one["why"]) for one in ignored["columns"] if one["name"] == "user"] == [("drop", "as asked")]
    merged = json.loads(cli("info", path, "--one-per-user", "--json").out)
    assert (merged["transactions"], merged["users"]) == (5, 3)
