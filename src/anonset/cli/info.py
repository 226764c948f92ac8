"""`anonset info DATA`: a first look at transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from anonset.cli.base.asking import with_questions
from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, table
from anonset.cli.base.groups import SourceOrQuery, as_read_options, read_options, require_source, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.profile import Spread, Summary
    from anonset.io.source.describe import Column

app = Application()

TOP = Param("top", "int", "How many of the most frequent items to show.", 10, minimum=0, maximum=10_000)


@app.command()
@takes(looking=[Choice(TOP, "Options")], reading=read_options(), running=run_options())
def info(looking: Given, reading: Given, running: Given, data: SourceOrQuery = None) -> None:
    """Describe transactions: counts, lengths, frequent items, duplicates, users, and how far from anonymous they are.

    The current k is the number of transactions that share the rarest set of items (sensitive items aside). With k = 1
    somebody can be singled out by all items together, and often by a few. Where the data name users, the same is said
    in persons; transactions that name no user count as unknown, for nobody.
    """
    from anonset.assess.profile import summarize
    from anonset.data.balance import in_a_line, read_account
    from anonset.data.job import Job
    from anonset.io import read
    from anonset.io.source.describe import describe

    require_source(data, reading)
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(progress=display)
        with job.stage("read"):
            transactions = with_questions(reading, running, display, lambda: read(data, **as_read_options(reading)))
            columns = describe(data, **as_read_options(reading))
        with job.stage("summarize"):
            summary = summarize(transactions, TOP.parse(looking.get("top")))
    account = read_account(transactions)
    if "json" in running:
        described = [asdict(column) for column in columns]
        show_json({"source": data, **summary.to_dict(), "columns": described, "account": {"read": account}})
    elif "quiet" not in running:
        show(facts([("read", in_a_line(account)), *_counts(summary)]), *_page(summary), *_columns(columns, account))


def _columns(columns: Sequence[Column], account: Mapping[str, Any]) -> list[Any]:
    """What becomes of each column of a table."""
    if not columns:
        played = [(one["name"], one["role"] or "left aside") for one in account["columns"]]
        return ["", table(("column", "role"), played)] if played else []
    rows = [(one.name, one.role, one.distinct, one.why) for one in columns]
    return ["", table(("column", "role", "values", "why"), rows, numbers=("values",))]


def _page(summary: Summary) -> list[Any]:
    page: list[Any] = ["", f"Current k: {summary.k:,}. {_standing(summary)}"]
    if summary.k_users is not None:
        page.append(f"In persons: {summary.k_users:,}. {_persons(summary)}")
    if summary.frequent:
        share = [(label, count, f"{count / max(summary.transactions, 1):.1%}") for label, count in summary.frequent]
        page += ["", table(("item", "transactions", "share"), share, numbers=("transactions", "share"))]
    return [*page, *(["", *(f"Note: {note}." for note in summary.notes)] if summary.notes else [])]


def _counts(summary: Summary) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = [
        ("transactions", summary.transactions),
        ("empty", summary.empty),
        ("duplicates", f"{summary.duplicates:,} (the same items as an earlier transaction)"),
        ("items", summary.items),
        ("occurrences", summary.occurrences),
        ("length", _spread(summary.lengths)),
    ]
    if summary.sensitive_items:
        inside = f"{summary.sensitive_items:,}, in {summary.sensitive_transactions:,} transactions"
        rows.append(("sensitive items", inside))
    if summary.transactions_per_user is not None:
        each = _spread(summary.transactions_per_user)
        rows.append(("users", f"{summary.users:,}, transactions each: {each}"))
    if summary.blank:
        rows.append(("unknown users", f"{summary.blank:,} transactions name none (see --blank-users)"))
    if summary.degrees:
        rows.append(("degrees", "every occurrence has a sensitivity degree"))
    return rows


def _persons(summary: Summary) -> str:
    """What the sets say about persons."""
    if not summary.k_users:
        return f"Some sets belong to unknown users only. {_alone(summary)}"
    if summary.unique_users:
        return _alone(summary)
    return f"Every set of items is shared by transactions of at least {summary.k_users:,} different users."


def _alone(summary: Summary) -> str:
    share = (summary.unique_users or 0) / max(1, summary.users or 0)
    return f"Users with a transaction whose items no other known user shares: {summary.unique_users:,} ({share:.1%})."


def _spread(spread: Spread) -> str:
    return f"{spread.min:,} to {spread.max:,}, mean {spread.mean:,.2f}, median {spread.median:,.10g}"


def _standing(summary: Summary) -> str:
    if not summary.transactions:
        return "There are no transactions."
    if summary.unique:
        share = summary.unique / summary.transactions
        return f"{summary.unique:,} transactions ({share:.1%}) share their items with no other one."
    return f"Every transaction shares its items with at least {summary.k - 1:,} others."
