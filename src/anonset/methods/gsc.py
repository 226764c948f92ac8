"""GSC, a reconstruction: Gray order, runs of k, majority centers.

Precondition   transactions with quasi-identifier items Q (all that are not sensitive); n = 0 or n ≥ k ≥ 2.
Pseudo-code    order ← Gray order of the transactions' Q
               cut the order into runs of k; what is left over at the end belongs to the last run
               publish every transaction with its Q replaced by the majority center of its run
               (protect = sensitive-only: a run without any sensitive item stays as it is)
Postcondition  every transaction is in one run, and every run has at least k members. protect = all: the members of a
               run publish the same Q, so each published Q is shared by at least k transactions: k-anonymity.
               protect = sensitive-only: a transaction with a sensitive item is in a run whose center is published, so
               its Q is shared by at least k transactions. Transactions of other runs are published as they are, and
               nothing is promised about them: the model takes the same option and says so.

The method is known to us only through the account that J. C.-W. Lin et al., "PTA", 2016, give of it where they compare.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonset.data.errors import ParameterError, setting
from anonset.data.job import Job
from anonset.data.params import PROTECT
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.data.unit import require_users
from anonset.methods.steps.closure import CATEGORIES, with_categories
from anonset.methods.steps.group.centers import in_source_order, publish_centers, require_enough
from anonset.methods.steps.group.persons import groups_of_persons
from anonset.methods.steps.order.gray import ITEM_ORDER, ItemOrder, gray_sorted


def run(
    data: Transactions, job: Job, *, k: int, item_order: ItemOrder, protect: str, unit: Unit = "transaction"
) -> Draft:
    """Anonymize `data` so that every published quasi-identifier set is shared by at least k transactions."""
    require_enough(len(data), k)
    if unit == "user":
        require_users(data, k)
    exposed = None if protect == "all" else _secret_holders(data)
    ordering, quasi = gray_sorted(data.quasi(), job, item_order)
    groups = runs_of(len(data), k)
    if unit == "user" and data.users is not None:
        groups = groups_of_persons(quasi, data.users[ordering], groups, k, job, rounds=0)
    published = publish_centers(data, quasi, groups, None, job, ordering)
    figures = {"groups": int(groups.max(initial=-1)) + 1}
    belongs = in_source_order(groups, ordering)
    if exposed is None:
        return replace(Draft.of_rows(published, figures), groups=belongs)
    alike = np.zeros(figures["groups"], dtype=np.bool_)
    alike[belongs[exposed]] = True
    figures["groups_published_alike"] = int(alike.sum())
    return replace(Draft.of_rows(_where(alike[belongs], published, data), figures), groups=belongs)


def runs_of(n: int, k: int) -> Ints:
    """The run of each place in the order: k to a run, the last one takes what is left.

    Examples
    --------
    >>> runs_of(8, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(n) // k, max(n // k - 1, 0)).astype(np.int32)


def _secret_holders(data: Transactions) -> Mask:
    """Which transactions hold a sensitive item."""
    holders = data.sensitive_part().lengths > 0
    if not holders.any():
        advice = f"Say which items are the secret: {setting('sensitive')}, or choose {setting('protect', 'all')}."
        raise ParameterError(
            "sensitive", f"name an item of the data for {setting('protect', 'sensitive-only')}", "none", advice
        )
    return holders


def _where(chosen: Mask, those: Transactions, others: Transactions) -> Transactions:
    """The quasi-identifier items of `those` where chosen, and elsewhere of `others`; sensitive items stay."""
    both = (those.quasi(), others.quasi())
    lengths: Longs = np.where(chosen, *(one.lengths for one in both))
    rows = np.concatenate([one.rows for one in both])
    kept = np.concatenate([chosen[both[0].rows], ~chosen[both[1].rows]])
    items = np.concatenate([one.items for one in both])
    place = np.argsort(rows[kept], kind="stable")
    return others.with_quasi(np.concatenate(([0], np.cumsum(lengths))), items[kept][place])


SPEC = MethodSpec(
    name="gsc",
    title="GSC (reconstruction)",
    model="k-anonymity",
    summary="Gray order cut into runs of k that publish their majority: the simplest baseline, and the fastest.",
    params=(ITEM_ORDER, PROTECT, *CATEGORIES),
    run=with_categories(run),
    columns=True,
    paper="reconstructed from J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong, PTA: An Efficient System for "
    "Anonymizing Transaction Databases, IEEE Access 4, 2016, which compares with it",
    units=("user", "transaction"),
)
