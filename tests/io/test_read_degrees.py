"""Sensitivity degrees behind the items of a line, and from a file."""

import numpy as np
import pytest

from anonset import DataError, InputError, ParameterError
from anonset.io import read, save


def degrees(data):
    """Item → degree for each transaction."""
    bounds = data.offsets.tolist()
    return [
        dict(zip(names, data.sensitivity[a:b].tolist(), strict=True))
        for names, a, b in zip(data, bounds[:-1], bounds[1:], strict=True)
    ]


def written(tmp_path, text, name="data.dat"):
    path = tmp_path / name
    path.write_text(text)
    return path


# --- item:degree -------------------------------------------------------------------------------------------------


def test_degrees_behind_the_items_of_a_line(tmp_path):
    path = written(tmp_path, "3:0.5 1:1 2:0\n\n1:.25\n")
    assert degrees(read(path, with_degrees=True)) == [{"1": 1.0, "2": 0.0, "3": 0.5}, {}, {"1": 0.25}]


def test_nothing_is_split_that_was_not_asked_for(tmp_path):
    data = read(written(tmp_path, "3:0.5 1:1\n"))
    assert data.sensitivity is None
    assert data[0] == ("1:1", "3:0.5")


def test_names_may_hold_colons_and_blanks(tmp_path):
    path = written(tmp_path, 'ns:milk: 2 %:0.5,"a, b:1e-1"\n', "data.basket")
    assert degrees(read(path, with_degrees=True)) == [{"ns:milk: 2 %": 0.5, "a, b": 0.1}]


def test_spmf_names_its_items_and_degrees(tmp_path):
    path = written(tmp_path, "@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=wine\n1:0.5 2:0.9\n2:0.1\n", "data.spmf")
    assert degrees(read(path, with_degrees=True)) == [{"milk": 0.5, "wine": 0.9}, {"wine": 0.1}]


def test_of_a_repeated_item_the_highest_degree_stays(tmp_path):
    assert degrees(read(written(tmp_path, "1:0.5 1:0.7 1:0.1\n"), with_degrees=True)) == [{"1": 0.7}]


@pytest.mark.parametrize("bad", ["7", "7:", "7:1.01", "7:-0.1", "7:nan", "7:inf", "7:x", "7:0.5x"])
@pytest.mark.parametrize("name", ["data.dat", "data.basket", "data.spmf"])
def test_a_degree_that_is_none_is_an_error_with_its_line(tmp_path, bad, name):
    head = "@ITEM=1=milk\n" if name.endswith("spmf") else ""
    separator = "," if name.endswith("basket") else " "
    text = head + f"1:0.5\n\n1:0.1{separator}{bad}\n"
    with pytest.raises(DataError, match="degree of sensitivity between 0 and 1") as error:
        read(written(tmp_path, text, name), with_degrees=True)
    assert error.value.line == 3 + len(head.splitlines())


def test_the_line_is_right_behind_a_header_and_line_breaks_in_quotes(tmp_path):
    path = written(tmp_path, '"the\nitems"\n"a\nb:0.5"\nc\n', "data.basket")
    with pytest.raises(DataError) as error:
        read(path, with_degrees=True, header=True)
    assert error.value.line == 5


def test_several_files_together(tmp_path):
    written(tmp_path, "1:0.5\n", "a.dat")
    written(tmp_path, "2:0.25 1:0.75\n", "b.dat")
    assert degrees(read(tmp_path, with_degrees=True)) == [{"1": 0.5}, {"1": 0.75, "2": 0.25}]


def test_tables_have_a_column_instead(tmp_path):
    path = written(tmp_path, "transaction,item\n1,milk:0.5\n", "data.csv")
    with pytest.raises(ParameterError, match="'with_degrees' must be off for tables"):
        read(path, with_degrees=True)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl"])
def test_what_was_read_from_lines_survives_in_tables(tmp_path, name):
    data = read(written(tmp_path, "3:0.5 1:1 2:0\n\n1:.25\n"), with_degrees=True)
    save(data, tmp_path / name)
    assert degrees(read(tmp_path / name)) == degrees(data)


def test_line_formats_refuse_degrees_and_name_who_can_hold_them(tmp_path):
    data = read(written(tmp_path, "3:0.5\n"), with_degrees=True)
    with pytest.raises(InputError, match=r"cannot hold sensitivity degrees\. Use the format long or lists"):
        save(data, tmp_path / "out.dat")


# --- files of degrees --------------------------------------------------------------------------------------------

LONG = "transaction,user,item\n1,ann,milk\n1,ann,wine\n2,bob,wine\n3,bob,beer\n"


def from_file(tmp_path, text, data=LONG):
    return degrees(read(written(tmp_path, data, "d.csv"), degrees_file=written(tmp_path, text, "degrees.csv")))


def test_a_degree_for_each_item(tmp_path):
    found = from_file(tmp_path, "item,sensitivity\nmilk,0.1\nwine,0.9\nbeer,0.5\nnobody buys this,1\n")
    assert found == [{"milk": 0.1, "wine": 0.9}, {"wine": 0.9}, {"beer": 0.5}]


def test_a_degree_for_each_user(tmp_path):
    assert from_file(tmp_path, "user,degree\nann,0.1\nbob,0.9\n") == [
        {"milk": 0.1, "wine": 0.1},
        {"wine": 0.9},
        {"beer": 0.9},
    ]


def test_the_most_particular_line_counts_then_the_higher_one(tmp_path):
    text = "user,item,sensitivity\n,,0.05\nann,wine,0.2\n,wine,0.9\nbob,,0.4\n"
    assert from_file(tmp_path, text) == [{"milk": 0.05, "wine": 0.2}, {"wine": 0.9}, {"beer": 0.4}]


def test_items_without_a_degree_are_named(tmp_path):
    with pytest.raises(
        InputError, match=r"'degrees_file' must give every item a degree. Got none for 2 \(beer, milk\)"
    ):
        from_file(tmp_path, "item;sensitivity\nwine;0.9\n")


@pytest.mark.parametrize("bad", ["1.5", "-1", "", "high"])
def test_a_bad_degree_in_the_file_is_an_error_with_its_line(tmp_path, bad):
    with pytest.raises(DataError, match="degree of sensitivity") as error:
        from_file(tmp_path, f"item,sensitivity\nmilk,0.1\nwine,{bad}\n")
    assert error.value.line == 3


def test_a_file_without_the_columns_is_refused(tmp_path):
    with pytest.raises(DataError, match="needs a column sensitivity"):
        from_file(tmp_path, "item,value\nmilk,0.1\n")


def test_degrees_of_users_need_users(tmp_path):
    with pytest.raises(ParameterError, match="'degrees_file' must name items only"):
        from_file(tmp_path, "user,sensitivity\nann,0.1\n", "transaction,item\n1,milk\n")


def test_data_with_degrees_need_no_file(tmp_path):
    with pytest.raises(ParameterError, match="'degrees_file' must be left out"):
        from_file(tmp_path, "item,sensitivity\nmilk,0.1\n", "transaction,item,sensitivity\n1,milk,0.5\n")


def test_degrees_for_a_line_format(tmp_path):
    path = written(tmp_path, "1 2\n2\n")
    data = read(path, degrees_file=written(tmp_path, "item,sensitivity\n1,0.25\n2,0.75\n", "degrees.csv"))
    assert np.array_equal(data.sensitivity, [0.25, 0.75, 0.75])
