"""`read`: anything that holds transactions becomes `Transactions`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anonset.errors import InputError
from anonset.io.options import ReadOptions
from anonset.release import Release
from anonset.transactions import Transactions


def read(source: Any, **options: Any) -> Transactions:
    """Transactions from lists of items.

    Examples
    --------
    >>> read([["wine", "bread"], ["bread"]])
    Transactions(2 transactions, 2 items, mean length 1.5)
    """
    ReadOptions(**options)
    if isinstance(source, Transactions):
        return source
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        return Transactions.from_lists(source)
    raise InputError(f"Cannot read transactions from a {type(source).__name__}.")


def read_release(source: Any, **options: Any) -> Release:
    """A release in rows, read like any other transactions."""
    return source if isinstance(source, Release) else Release(read(source, **options))
