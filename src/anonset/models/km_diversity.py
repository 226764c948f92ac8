"""Diversity beside known items: of those who hold up to m of them, few hold the same sensitive item.

Precondition   published sets with their sensitive items; in persons also the private user of each transaction.
Check          for every sensitive item s and every set K of at most m items (also none) that occurs beside s: the
               transactions that hold K, by those that hold K and s; take the smallest ratio.
In persons     the different known users who have a transaction with K, by the different users who have one with K and
               s. An unknown user who holds s counts as a holder of its own, and as none of the others.
Postcondition  the smallest ratio is at least p iff at most one of p holds the same sensitive item, whatever is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anonset.data.release import Witness
from anonset.data.spec import Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.models.itemset_supports import supports, supports_of
from anonset.models.k_anonymity import count_users

MOST_WITNESSES = 5


@dataclass(frozen=True)
class Beside:
    """Whether p holds, the largest p that does, and where it does not."""

    holds: bool
    p: int
    witnesses: tuple[Witness, ...]


def beside_known(sets: Transactions, secrets: Transactions, m: int, p: int, users: Ints | None = None) -> Beside:
    """Whether at most one of p transactions, or users, holds a sensitive item beside up to m known items."""
    degree = float("inf")
    witnesses: list[Witness] = []
    unit: Unit = "transaction" if users is None else "user"
    for item in np.flatnonzero(secrets.item_counts).tolist():
        holders = np.unique(secrets.rows[secrets.items == item])
        name = str(secrets.labels[item])
        for known, inside, all_in_all in _largest_shares(sets, holders, m, users):
            degree = min(degree, all_in_all / inside)
            if inside * p > all_in_all and len(witnesses) < MOST_WITNESSES:
                labels = tuple(sets.labels.take(pa.array(known)).to_pylist()) if len(known) else ()
                many = f"'{name}' is beside these items in {inside:,} of {all_in_all:,} transactions"
                if unit == "user":
                    many = f"{inside:,} of {all_in_all:,} users with these items hold '{name}' beside them"
                witnesses.append(Witness(f"{many}; at most one of {p:,} may", labels, inside))
    everybody = len(sets) if users is None else count_users(users)
    return Beside(degree >= p, math.floor(min(degree, max(everybody, 1))), tuple(witnesses))


def _largest_shares(sets: Transactions, holders: Longs, m: int, users: Ints | None) -> Iterator[tuple[Ints, int, int]]:
    """For each size the known items beside which a secret's holders are the largest share: the items, how many hold
    them and the secret, and how many hold them at all."""
    who = _numbered(holders, users)
    nothing = np.empty(0, dtype=np.int32)
    if users is None:
        yield nothing, len(holders), len(sets)
    else:
        yield nothing, len(np.unique(who)), count_users(users)
    part = sets.take(holders)
    for size in range(1, min(m, int(part.lengths.max(initial=0))) + 1):
        worst: tuple[Ints, int, int] | None = None
        for itemsets, inside in supports(part, who, size, users is not None):
            everywhere = supports_of(sets, itemsets, users)
            place = int(np.argmin(everywhere / inside))
            found = (itemsets[place], int(inside[place]), int(everywhere[place]))
            worst = found if worst is None or found[2] * worst[1] < worst[2] * found[1] else worst
        if worst is not None:
            yield worst


def _numbered(holders: Longs, users: Ints | None) -> Longs:
    """The user of each holder, from 1 on, unknown ones as somebody else each time; for transactions ones to add up."""
    if users is None:
        return np.ones(len(holders), dtype=np.int64)
    whose = users[holders].astype(np.int64)
    return np.where(whose < 0, int(users.max(initial=0)) + 1 + np.arange(len(holders)), whose) + 1
