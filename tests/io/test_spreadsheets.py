"""Spreadsheets in and out, and exports as they come from one."""

import io
from datetime import date

import pytest

import anonset
from anonset import InputError, ParameterError, read
from anonset.io import save
from anonset.io.containers import xlsx
from tests.fuzz.workbooks import ODS, archive, ods, xls

xlsxwriter = pytest.importorskip("xlsxwriter", reason="the extra 'excel' is not installed")
pytest.importorskip("fastexcel", reason="the extra 'excel' is not installed")

ROWS = [("0012", "bread", date(2024, 3, 1)), ("0012", "wine", date(2024, 3, 1)), (13, "bread", date(2024, 12, 31))]
TITLES = ["Sales, all branches", None, "as of 2024-03-01"]


def book(path, sheets):
    with xlsxwriter.Workbook(path) as file:
        day = file.add_format({"num_format": "dd.mm.yyyy"})
        for name, rows in sheets.items():
            sheet = file.add_worksheet(name)
            for at, row in enumerate(rows):
                for place, cell in enumerate(row):
                    if isinstance(cell, date):
                        sheet.write_datetime(at, place, cell, day)
                    elif cell is not None:
                        sheet.write(at, place, cell)
    return path


def export(path, titles=(), names=("Receipt", "Product", "Day")):
    return book(path, {"Export": [*([title] for title in titles), names, *ROWS]})


def test_a_sheet_opens_without_an_option_and_ids_keep_their_zeros(tmp_path):
    data = read(export(tmp_path / "sales.xlsx"))
    assert data.ids.to_pylist() == ["0012", "13"]
    assert data.to_lists() == [["bread", "wine"], ["bread"]]
    assert data.unread == ("Day",)


def test_rows_above_the_header_are_left_out_and_said(tmp_path):
    data = read(export(tmp_path / "sales.xlsx", TITLES))
    assert data.to_lists() == [["bread", "wine"], ["bread"]]
    aside = "1 column was left aside, with no part to play: Day"
    assert data.notes == ("3 rows above the header were left out", aside)


def test_days_are_days(tmp_path):
    data = read(export(tmp_path / "sales.xlsx"), transaction="Day", item="Product")
    assert data.ids.to_pylist() == ["2024-03-01", "2024-12-31"]


def test_the_first_sheet_with_data_is_read_and_others_are_named(tmp_path):
    rows = [("receipt", "product"), (1, "a")]
    path = book(tmp_path / "b.xlsx", {"Cover": [], "North": rows, "South": [*rows, (2, "b")]})
    assert len(read(path)) == 1
    assert read(path).notes == ("The sheet North was read. There are others: South",)
    assert len(read(path, sheet="South")) == 2
    with pytest.raises(ParameterError, match=r"Got 'Sout'\. Did you mean South\?"):
        read(path, sheet="Sout")


def test_a_spreadsheet_is_known_by_its_content_and_a_broken_one_is_said(tmp_path):
    export(tmp_path / "sales.xlsx").rename(tmp_path / "sales")
    assert len(read(tmp_path / "sales")) == 2
    (tmp_path / "no.xlsx").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match="no spreadsheet, is damaged, or needs a password"):
        read(tmp_path / "no.xlsx")


def test_a_release_as_xlsx_is_read_back_checked_and_verified(tmp_path):
    baskets = [["bread", "=1+1"]] * 3 + [[]] * 3
    anonset.anonymize(baskets, k=3, seed=1).write(tmp_path / "out.xlsx")
    assert sorted(read(tmp_path / "out.xlsx").to_lists()) == [[]] * 3 + [["=1+1", "bread"]] * 3
    assert anonset.verify(tmp_path / "out.xlsx", k=3).holds


def test_the_same_release_gives_the_same_bytes(tmp_path):
    data = read([["a", "b"], ["c"]])
    first, second = io.BytesIO(), io.BytesIO()
    save(data, first, "long.xlsx")
    save(data, second, "long.xlsx")
    assert first.getvalue() == second.getvalue()


def test_what_does_not_fit_a_sheet_is_refused(tmp_path):
    data = read([["a"]] * 1_048_576)
    with pytest.raises(InputError, match="A sheet holds 1,048,576 rows"):
        save(data, tmp_path / "big.xlsx")
    with pytest.raises(InputError, match=r"lists\.xlsx"):
        save(read([["a"]]), tmp_path / "x.xlsx", "lists.xlsx")


# --- delimited exports -----------------------------------------------------------------------------------------

EXPORT = "Umsatz, Filiale Köln;;\r\nStand 1.3.2024\r\n\r\ntransaction;item;price\r\n0012;Müsli;1,50\r\n0012;Brot;2\r\n"


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_an_export_with_title_lines_opens_in_every_encoding_of_excel(tmp_path, encoding):
    (tmp_path / "export.csv").write_bytes(EXPORT.encode(encoding))
    data = read(tmp_path / "export.csv")
    assert data.to_lists() == [["Brot", "Müsli"]]
    assert data.ids.to_pylist() == ["0012"]
    assert "3 lines above the header were left out" in data.notes
    assert ("export.csv is not UTF-8 and was read as Windows-1252" in data.notes) == (encoding == "cp1252")


def test_a_damaged_utf8_text_is_not_taken_for_windows(tmp_path):
    (tmp_path / "bad.csv").write_bytes("transaction,item\n1,Müsli\n".encode() + b"2,K\xe4se\n")
    with pytest.raises(InputError, match="line 3: The text is not valid UTF-8"):
        read(tmp_path / "bad.csv")


def test_the_line_of_an_error_counts_what_stands_above_the_header(tmp_path):
    (tmp_path / "holes.csv").write_text("Report\n\ntransaction;item;price\n1;a;3\n2;;4\n")
    with pytest.raises(InputError, match="line 5: The line has no item"):
        read(tmp_path / "holes.csv")
    (tmp_path / "broken.csv").write_text("Report\n\ntransaction;item;price\n1;a;3\n2;b\n")
    with pytest.raises(InputError, match="line 5: The line has 2 fields"):
        read(tmp_path / "broken.csv")


def test_baskets_of_different_lengths_have_no_title(tmp_path):
    (tmp_path / "b.basket").write_text("item\nbread,wine\nbread,wine,item\nbread\n")
    assert len(read(tmp_path / "b.basket")) == 4


def test_a_cell_far_from_all_others_is_a_sentence(tmp_path):
    """The library makes room for all cells between: 17 billion."""
    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(path) as file:
        sheet = file.add_worksheet()
        sheet.write(0, 0, "id")
        sheet.write(1_048_575, 16_383, "a")
    with pytest.raises(InputError, match="needs too much memory or time: a cell stands far from all others"):
        read(path)


def test_a_table_of_sectors_without_end_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "_BYTES", 1 << 30)
    content = bytearray(xls([("id", "item"), ("1", "a")]))
    assert read_bytes(tmp_path, content).to_lists() == [["a"]]
    content[512 + 4 : 512 + 8] = (1).to_bytes(4, "little")  # the folder's sector is followed by itself
    with pytest.raises(InputError, match="needs too much memory or time"):
        read_bytes(tmp_path, content)


def test_a_sheet_over_which_the_library_never_ends_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "_SECONDS", 1)
    text = ods([("id", "item"), ("1", "a")])
    assert read_bytes(tmp_path, archive({**ODS, "content.xml": text})).to_lists() == [["a"]]
    start = text.replace("<table:table-row>", "<table:row>", 1)[: text.index("item")]
    torn = archive({**ODS, "content.xml": f"{start}</text:p></torn></office:body></office:document-content>"})
    with pytest.raises(InputError, match="needs too much memory or time"):
        read_bytes(tmp_path, torn)


def read_bytes(folder, content):
    (folder / "book").write_bytes(content)
    return read(folder / "book")


def test_a_sheet_is_refused_where_there_are_none(saved):
    for source in (saved("receipt,item\n1,a\n", "a.csv"), "postgresql://db/shop/sales", [["a"]]):
        with pytest.raises(ParameterError, match="'sheet' must come with a spreadsheet"):
            read(source, sheet="June")
