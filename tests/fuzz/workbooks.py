"""Small workbooks: what stands around the cells of an `.xlsx` or `.ods`, the inside of an `.ods`, and an `.xls`."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

Rows = list[tuple[str, ...]]
FREE, END, OWN = -1, -2, -3
"""What an OLE file's table says of a sector: it is free, it is a stream's last one, it is a part of the table."""
SECTOR, SECTORS = 512, 8


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PART = "application/vnd.openxmlformats-officedocument.spreadsheetml"
XLSX = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="text/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_PART}.sheet.main+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{_OFFICE}/sharedStrings" '
    'Target="sharedStrings.xml"/></Relationships>',
}
"""What stands around the cells of a workbook with one sheet."""
_ODF = "application/vnd.oasis.opendocument.spreadsheet"
_MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
ODS = {
    "mimetype": _ODF,
    "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_MANIFEST}"><m:file-entry m:full-path="/" m:media-type="{_ODF}"/>'
    "</m:manifest>",
}


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return memory.getvalue()


def ods(rows: Rows) -> str:
    """What an OpenDocument sheet with these cells is inside."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    cells = "".join(f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>" for row in rows)
    names = ("table", "text", "office")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    body = f'<office:spreadsheet><table:table table:name="one">{cells}</table:table></office:spreadsheet>'
    return f"<office:document-content {spaces}><office:body>{body}</office:body></office:document-content>"


def xls(rows: Rows) -> bytes:
    """A workbook as Excel 97 wrote it: an OLE file of the header, its table, its folder and one stream."""
    table = struct.pack("<128i", OWN, END, *range(3, 2 + SECTORS), END, *[FREE] * (126 - SECTORS))
    folder = _entry("Root Entry", 5, 1, END, 0) + _entry("Workbook", 2, FREE, 2, SECTOR * SECTORS)
    sizes = struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    places = struct.pack("<iiiIIiiii", 0, 1, 1, 0, SECTOR * SECTORS, END, 0, END, 0)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + sizes + places
    header += struct.pack("<109i", 0, *[FREE] * 108)
    return header + table + folder + bytes(SECTOR - len(folder)) + _stream(rows).ljust(SECTOR * SECTORS, b"\0")


def _stream(rows: Rows) -> bytes:
    """The records (BIFF8) of a workbook with one sheet."""
    cells = b"".join(
        _record(0x0204, struct.pack("<HHHHB", at, place, 0, len(text), 0) + text.encode())
        for at, row in enumerate(rows)
        for place, text in enumerate(row)
    )
    begin = _record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 1997, 0, 0))
    sheet = _record(0x0809, struct.pack("<HHHHII", 0x0600, 16, 0, 1997, 0, 0)) + cells + _record(0x0A)
    name = struct.pack("<HBB", 0, 3, 0) + b"one"
    where = len(begin) + len(_record(0x85, bytes(4) + name)) + len(_record(0x0A))
    return begin + _record(0x85, struct.pack("<I", where) + name) + _record(0x0A) + sheet


def _record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    text = name.encode("utf-16-le")
    return struct.pack("<64sHBBiii36xiQ", text, len(text) + 2, kind, 1, FREE, FREE, child, start, size)
