"""What came in and what went out: every row, column and value that does not reach the release is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonset.data.account import BLANKS, KEPT_APART, NULLS, REPEATS, Arrived, total
from anonset.data.transactions import Transactions


def read_account(data: Transactions) -> dict[str, Any]:
    """What was read, in figures.

    Examples
    --------
    >>> from anonset.data.transactions import Transactions
    >>> read_account(Transactions.from_lists([["a", "a"], ["b"]]))["repeats"]
    1
    """
    arrived = data.arrived or Arrived(len(data))
    columns = [{"name": name, "role": ", ".join(roles)} for name, roles in arrived.roles().items()]
    return {
        "rows": arrived.rows,
        "transactions": len(data),
        "items": data.n_items,
        "occurrences": data.nnz,
        "columns": [*columns, *({"name": name, "role": None} for name in data.unread)],
        NULLS: total(data.notes, NULLS),
        REPEATS: total(data.notes, REPEATS),
        BLANKS: total(data.notes, BLANKS),
        KEPT_APART: total(data.notes, KEPT_APART),
        "counts": None if data.counts is None else int(data.counts.sum()),
        "users": None if data.users is None or data.user_labels is None else len(data.user_labels),
    }


def published_account(release: Transactions, left_out: int) -> dict[str, Any]:
    """What is published, in figures; `left_out` original transactions are not."""
    return {
        "rows": len(release),
        "transactions": len(release),
        "items": release.n_items if release.nnz else 0,
        "occurrences": release.nnz,
        "left_out": left_out,
        "users": None if release.user_labels is None else len(release.user_labels),
    }


def in_a_line(account: Mapping[str, Any]) -> str:
    """What was read, in one line.

    Examples
    --------
    >>> from anonset.data.transactions import Transactions
    >>> in_a_line(read_account(Transactions.from_lists([["a"], ["a", "b"]])))
    '2 rows: 2 transactions, 2 items, 3 occurrences'
    """
    played = [column for column in account["columns"] if column["role"]]
    of = f" ({len(played)} of {len(account['columns'])} columns)" if account["columns"] else ""
    line = f"{account['rows']:,} rows{of}: {account['transactions']:,} transactions, {account['items']:,} items, "
    line += f"{account['occurrences']:,} occurrences"
    lost = [f"{account[kind]:,} {word}" for kind, word in _WORDS.items() if account[kind]]
    users = [] if account["users"] is None else [f"{account['users']:,} users"]
    return ", ".join([line, *users, *lost])


def roles_in_a_line(data: Transactions) -> str:
    """Which column was taken for what, in one line; empty where every column is called by its part.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from anonset.data.transactions import Transactions
    >>> columns = (("transaction", "day"), ("transaction 2", "customer"), ("user", "customer"), ("item", "item"))
    >>> roles_in_a_line(replace(Transactions.from_lists([["a"]]), arrived=Arrived(1, columns)))
    'Columns: day (transaction), customer (transaction, user), item (item)'
    """
    played = {} if data.arrived is None else data.arrived.roles()
    if all(roles == [name] for name, roles in played.items()):
        return ""
    return "Columns: " + ", ".join(f"{name} ({', '.join(roles)})" for name, roles in played.items())


_WORDS = {
    NULLS: "nulls left out",
    REPEATS: "repeats merged",
    BLANKS: "blanks trimmed",
    KEPT_APART: "names kept apart by blanks",
}
