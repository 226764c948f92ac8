"""`anonset convert`."""

import json

import anonset


def test_there_and_back_is_the_same(cli, baskets, tmp_path):
    table, back = tmp_path / "data.parquet", tmp_path / "back.dat"
    assert cli("convert", baskets, table).code == 0
    assert cli("convert", table, back).code == 0
    assert back.read_text() == baskets.read_text()


def test_standard_output_holds_nothing_but_the_data(process, baskets):
    done = process("convert", baskets, "-", "--format", "basket")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == ["1,2,3", "1,2"]
    assert process("convert", baskets, "-", "--format", "basket", "--json").stdout == done.stdout


def test_json_says_what_was_written(cli, baskets, tmp_path):
    answer = json.loads(cli("convert", baskets, tmp_path / "out.csv", "--json").out)
    assert (answer["transactions"], answer["items"], answer["occurrences"]) == (6, 4, 12)


def test_what_a_format_cannot_hold_is_an_error_unless_dropped(cli, tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "out.dat"
    data.write_text("transaction,user,item\n1,x,a\n1,x,b\n2,y,a\n")
    done = cli("convert", data, out)
    assert done.code == 2
    assert "users" in done.err
    assert not out.exists()
    assert cli("convert", data, out, "--drop", "users, ids").code == 0
    assert anonset.read(str(out)).to_lists() == [["a", "b"], ["a"]]


def test_an_existing_file_needs_force(cli, baskets, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    assert cli("convert", baskets, out).code == 2
    assert out.read_text() == "old\n"
    assert cli("convert", baskets, out, "--force").code == 0


def test_a_query_can_stand_for_the_data(cli, baskets, tmp_path):
    (tmp_path / "sales.csv").write_text("transaction,item\n1,a\n1,b\n2,b\n")
    out = tmp_path / "out.dat"
    query = f"SELECT * FROM '{tmp_path}/sales.csv' WHERE item = 'b'"
    assert cli("convert", "--query", query, out, "--drop", "ids").code == 0
    assert out.read_text() == "b\nb\n"


def test_both_formats_can_be_said(cli, tmp_path):
    data, out = tmp_path / "data.txt", tmp_path / "out.txt"
    data.write_text("a,b\nc\n")
    assert cli("convert", data, out, "--input-format", "basket", "--format", "fimi").code == 0
    assert out.read_text() == "a b\nc\n"
