"""`anonset convert DATA OUT`: transactions from one format into another."""

from __future__ import annotations

from typing import Annotated

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, warn
from anonset.cli.base.groups import (
    KEEP_FORMULAS,
    WRITING,
    SourceOrQuery,
    as_read_options,
    output_format,
    read_options,
    replace_options,
    require_source,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import InputError
from anonset.data.spec import Param

app = Application()

Target = Annotated[
    str | None,
    typer.Argument(
        help="Where to write, or - for standard output. The name says the format: out.dat, out.csv.gz, out.parquet, …",
        metavar="OUT",
        show_default=False,
    ),
]

DROP = Param("drop", "text", "Parts to leave out on purpose (users, ids, sensitive, sensitivity, counts), or columns.")


def write_options() -> list[Choice]:
    """How the output is written."""
    formulas = Choice(KEEP_FORMULAS, WRITING, switch=True)
    return [output_format(), Choice(DROP, WRITING, metavar="PARTS"), *replace_options(), formulas]


@app.command(epilog="Example: anonset convert sales.csv sales.parquet")
@takes(writing=write_options(), reading=read_options("drop"), running=run_options())
def convert(writing: Given, reading: Given, running: Given, data: SourceOrQuery = None, out: Target = None) -> None:
    """Turn transactions from one format into another. Nothing is anonymized: OUT is as private as DATA.

    What the new format cannot hold (users in FIMI, say) is an error that names a format that can, unless --drop
    leaves it out on purpose.
    """
    from anonset.data.balance import in_a_line, published_account, read_account
    from anonset.data.job import Job
    from anonset.io.publish.converting import read_and_written as rewrite

    if out is None and "query" in reading:
        data, out = None, data
    require_source(data, reading)
    if out is None:
        raise InputError("OUT is missing. Name the file to write, or - for standard output.")
    if "drop" in writing:
        writing["drop"] = [part.strip() for part in writing["drop"].split(",")]
    options = as_read_options(reading)
    source_format = options.pop("format", None)
    with Display(quiet="quiet" in running or "json" in running) as display, Job(progress=display).stage("convert"):
        found, written = rewrite(data, out, source_format=source_format, **writing, **options)
    answer = {"source": data, "out": out, "transactions": len(written), "items": written.n_items}
    account = read_account(found)
    if "json" in running and out != "-":
        both = {"read": account, "written": published_account(written, 0)}
        return show_json({**answer, "occurrences": written.nnz, "notes": written.notes, "account": both})
    warn(written.notes)
    if "quiet" not in running and out != "-":
        rows = [("written", out), ("transactions", len(written)), ("items", written.n_items)]
        show(facts([("read", in_a_line(account)), *rows]))
    return None
