"""`anonset ledger FILE`: which batches were released."""

from __future__ import annotations

from typing import Annotated

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, table, warn
from anonset.cli.base.groups import RUNNING, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.data.spec import Param

app = Application()

SETTLE = Param(
    "settle",
    "choice",
    "What became of a batch whose run ended early, where its files do not tell.",
    choices=("released", "discarded"),
    example="released",
)
File = Annotated[str, typer.Argument(help="The ledger.", metavar="FILE", show_default=False)]


@app.command(epilog="Example: anonset ledger sales.ledger")
@takes(settling=[Choice(SETTLE, RUNNING, metavar="NAME")], running=run_options())
def ledger(file: File, settling: Given, running: Given) -> None:
    """Show the batches of a ledger: when, where, how many transactions. It is private, and knows no ids."""
    from anonset.nightly.ledger import opened

    with opened(file, make=False) as book:
        notes = book.settle(settling.get("settle"))
        batches = book.batches()
    total = sum(batch.transactions for batch in batches)
    if "json" in running:
        return show_json({"batches": [vars(batch) for batch in batches], "transactions": total, "notes": notes})
    warn(notes)
    if "quiet" not in running:
        rows = [(batch.number, batch.day, batch.transactions, batch.target) for batch in batches]
        numbers = ("batch", "transactions")
        show(table(("batch", "when", "transactions", "release"), rows, numbers=numbers), "", f"{total:,} in all.")
    return None
