"""The unit of protection: whether a promise counts transactions, or the different users (persons) behind them.

Users are not published, so a promise in persons is checked with the owner's private link: the user of each published
transaction. A negative code stands for an unknown user, who never counts as somebody else.
"""

from __future__ import annotations

import numpy as np

from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError, setting
from anonset.data.spec import ModelSpec, Unit
from anonset.data.transactions import Ints, Longs, Transactions

UNKNOWN = -1


def known_users(data: Transactions) -> int:
    """How many different users are known.

    Examples
    --------
    >>> known_users(Transactions.from_lists([["a"], ["b"], ["c"]], users=["Ann", "Ann", "Bo"]))
    2
    """
    return 0 if data.users is None else len(distinct(data.users[data.users >= 0]))


def unknown_transactions(data: Transactions) -> int:
    """How many transactions belong to an unknown user."""
    return 0 if data.users is None else int((data.users < 0).sum())


def users_repeat(data: Transactions) -> bool:
    """Whether some known user has several transactions, or may have, as it is not known whose each one is.

    Examples
    --------
    >>> from dataclasses import replace
    >>> data = Transactions.from_lists([["a"], ["b"]], users=["Ann", "Bo"])
    >>> users_repeat(data), users_repeat(replace(data, users=[0, UNKNOWN]))
    (False, True)
    """
    return 0 < known_users(data) < len(data)


def once_each(data: Transactions) -> bool:
    """Whether every transaction has a user of its own: then both units say the same."""
    return known_users(data) == len(data)


def chosen_unit(asked: Unit | None, data: Transactions, model: ModelSpec) -> tuple[Unit, tuple[str, ...]]:
    """The unit of a promise about these data, and a sentence where it was not asked for but chosen."""
    if model.protects_users:
        if asked == "transaction":
            raise ParameterError("unit", f"be user for {model.name}", asked, "Leave it out: the model counts users.")
        return "user", ()
    if asked == "user" and data.users is None:
        advice = "Name the column that holds them (user), or count transactions."
        raise ParameterError("unit", "be transaction where the data name no users", asked, advice)
    if asked is not None or not users_repeat(data):
        return asked or "transaction", ()
    blank = unknown_transactions(data)
    have = f"{known_users(data):,} users have {len(data) - blank:,}"
    other = f", {blank:,} name none" if blank else ""
    if model.usual_unit == "transaction":
        return "transaction", (
            f"The promise counts transactions, although {have} of them{other}. "
            "unit=user (--unit user) would count persons, which asks for much more here.",
        )
    return "user", (
        f"The promise counts persons: {have} transactions{other}. "
        "unit=transaction (--unit transaction) would count transactions.",
    )


def require_users(data: Transactions, k: int, name: str = "k") -> None:
    """Refuse a promise of more users than there are."""
    users = known_users(data)
    if len(data) and users < k:
        blank = unknown_transactions(data)
        lost = f"; {blank:,} transactions name none" if blank else ""
        raise InfeasibleError(
            f"'{name}' must be at most the number of different users ({users:,}{lost}). Got {k:,}. "
            f"Choose a smaller one, add data, or count transactions: {setting('unit', 'transaction')}."
        )


def require_known(data: Transactions) -> None:
    """Refuse transactions of unknown users: together they are nobody's habits."""
    blank = unknown_transactions(data)
    if blank:
        advice = f"Leave these out, or say that each is another person's: {setting('blank_users', 'distinct')}."
        raise ParameterError("user", "be known for every transaction", f"{blank:,} without one", advice)


def users_behind(data: Transactions, row_origin: Longs) -> Ints | None:
    """The user of each published transaction; invented ones have none. None where the data name no users."""
    if data.users is None:
        return None
    if not len(data):
        return np.full(len(row_origin), UNKNOWN, dtype=np.int32)
    behind: Ints = np.where(row_origin >= 0, data.users[np.maximum(row_origin, 0)], UNKNOWN).astype(np.int32)
    return behind
