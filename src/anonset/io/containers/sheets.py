"""What a spreadsheet holds, told by a process of its own: `python -P sheets.py MEMORY SECONDS ROWS [SHEET SKIP]`.

The library that opens spreadsheets makes room for every cell up to the farthest one, and a damaged file can ask for any
room at all: where there is not so much, the library ends its process. Over some damaged files it never ends. So this is
run as a program, which imports nothing of anonset: the bytes of the file come in, a table goes out.

Precondition   the bytes of a file at standard input.
Postcondition  at standard output, without a sheet the names of all sheets and their first ROWS rows as JSON, else the
               cells of that sheet below the first SKIP rows as an Arrow stream; or an exit code that is not 0. It
               takes no more than MEMORY bytes and SECONDS of a processor, where the system keeps such limits.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any


def main(memory: str, seconds: str, rows: str, sheet: str = "", skip: str = "") -> None:
    """Answer once."""
    _limit(resource.RLIMIT_AS, int(memory))
    _limit(resource.RLIMIT_CPU, int(seconds))
    import fastexcel

    book = fastexcel.read_excel(sys.stdin.buffer.read())
    if skip:
        _send(_batch(book, sheet, header_row=int(skip)))
    else:
        sys.stdout.write(json.dumps({name: _first(book, name, int(rows)) for name in book.sheet_names}))


def _limit(kind: int, wanted: int) -> None:
    most = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (wanted if most < 0 else min(wanted, most), most))


def _first(book: Any, sheet: str, rows: int) -> list[tuple[str | None, ...]]:
    columns = _batch(book, sheet, header_row=None, n_rows=rows).columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def _batch(book: Any, sheet: str, **which: Any) -> Any:
    return book.load_sheet(sheet, dtypes="string", **which).to_arrow()


def _send(batch: Any) -> None:
    import pyarrow as pa

    with pa.ipc.new_stream(sys.stdout.buffer, batch.schema) as stream:
        stream.write_batch(batch)


if __name__ == "__main__":
    main(*sys.argv[1:])
