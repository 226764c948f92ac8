"""Whose transactions they are, after reading: users ignored, blank ones, and a user's transactions as one.

A transaction that names no user belongs to an unknown one (code −1), who is never counted as somebody else's
companion: it may be anybody's, also that of a known user.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import ParameterError, unknown
from anonset.data.histories import histories
from anonset.data.transactions import Transactions
from anonset.io.source.options import ReadOptions

BLANK_USERS = ("unknown", "distinct")


def settle_users(data: Transactions, options: ReadOptions) -> Transactions:
    """The transactions with users as the options want them, and a note on what that changed."""
    if options.no_user:
        return data if data.users is None else replace(data, users=None, user_labels=None)
    if data.users is None:
        if options.one_per_user:
            advice = "Name the column that holds them, or leave it out."
            raise ParameterError("one_per_user", "come with data that name users", "none", advice)
        return data
    data = _blank(data, distinct=options.blank_users == "distinct")
    return _merged(data) if options.one_per_user else data


def require_sense(options: ReadOptions) -> None:
    """Refuse what contradicts itself before anything is read."""
    if options.blank_users not in (None, *BLANK_USERS):
        raise unknown("blank_users", options.blank_users, BLANK_USERS)
    for name in ("user", "one_per_user", "blank_users"):
        if options.no_user and getattr(options, name):
            raise ParameterError("no_user", f"be left out beside '{name}'", "both", "It ignores users altogether.")


def _blank(data: Transactions, *, distinct: bool) -> Transactions:
    """Blank users as unknown ones, or each as a person of its own where the owner says so."""
    assert data.users is not None
    blank = np.flatnonzero(data.users < 0)
    if not len(blank):
        return data
    count = f"{len(blank):,} transaction{'s' if len(blank) > 1 else ''}"
    if not distinct:
        note = f"{count} without a user: where persons are counted, they support nobody's k"
        return replace(data, notes=(*data.notes, note))
    known = pa.array([], pa.string()) if data.user_labels is None else data.user_labels
    names = _fresh_names(len(blank), known)
    users = data.users.copy()
    users[blank] = len(known) + np.arange(len(blank), dtype=np.int32)
    note = f"{count} without a user counted as as many different persons, as asked"
    labels = pa.concat_arrays([known, names])
    return replace(data, users=users, user_labels=labels, notes=(*data.notes, note))


def _fresh_names(count: int, known: pa.StringArray) -> pa.StringArray:
    """Names for blank users that no known one has."""
    names = pc.binary_join_element_wise("blank", pa.array(np.arange(1, count + 1)).cast(pa.string()), " ")
    while pc.any(pc.is_in(names, value_set=known)).as_py():
        names = pc.binary_join_element_wise("blank", names, " ")
    return names


def _merged(data: Transactions) -> Transactions:
    whole = histories(data)
    if len(whole) == len(data):
        return data
    note = f"{len(data):,} transactions merged into {len(whole):,}: all of a user's are one, the user's history"
    return replace(whole, notes=(*whole.notes, note))
