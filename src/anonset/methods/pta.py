"""PTA: order, segments, a short tour through each segment, windows of k on the tour, majority centers.

Precondition   transactions with quasi-identifier items Q (all that are not sensitive); n = 0 or n ≥ k ≥ 2.
Pseudo-code    order ← Gray order of the transactions' Q
               segments ← segment_bounds(order), each with at least k transactions
               for each segment: loop ← PrimTSP(segment)
                   groups ← disjoint windows of exactly k on the loop, by ascending information loss
                   every other transaction joins the group with the nearest center
               publish every transaction with its Q replaced by the center of its group
Postcondition  every transaction is in one group (a segment holds at least one window, so a leftover always finds a
               group), every group has at least k members, and the members of a group publish the same Q.
               So each published Q is shared by at least k transactions: k-anonymity.

J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong, "PTA: An Efficient System for Anonymizing Transaction
Databases", IEEE Access 4, 2016.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.release import Draft, Tours
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Longs, Transactions
from anonset.data.unit import require_users
from anonset.methods.steps.closure import CATEGORIES, with_categories
from anonset.methods.steps.group.centers import in_source_order, publish_centers, require_enough
from anonset.methods.steps.group.persons import groups_of_persons
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import ITEM_ORDER, ItemOrder, gray_sorted
from anonset.methods.steps.order.tour import prim_tours

SEGMENT_SIZE = 100
MOST_BYTES = 4 * 2**30

SEGMENTS = Param(
    "segments",
    "int",
    "Into how many parts the sorted data is cut; more are faster. By default about 100 transactions each, or k > 50.",
    minimum=1,
    example=1,
)
REVOTE = Param(
    "revote",
    "bool",
    "Whether transactions that join a group late also vote for what it publishes (less loss); off as in the paper.",
    default=True,
    example=True,
)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    segments: int | None,
    item_order: ItemOrder,
    revote: bool,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that every published quasi-identifier set is shared by at least k transactions."""
    bounds = segment_bounds(len(data), k, segments)
    if unit == "user":
        require_users(data, k)
    ordering, quasi = gray_sorted(data.quasi(), job, item_order)
    loops, lengths = prim_tours(quasi, np.arange(len(data)), bounds, job)
    groups, voters = window_groups(quasi, loops, bounds, k, job)
    if unit == "user" and data.users is not None:
        groups = groups_of_persons(quasi, data.users[ordering], groups, k, job, rounds=0)
        revote = True  # who was in a window once may be elsewhere now
    published = publish_centers(data, quasi, groups, None if revote else voters, job, ordering)
    figures = {"segments": len(lengths), "loop_length": int(lengths.sum()), "groups": int(groups.max(initial=-1)) + 1}
    return replace(
        Draft.of_rows(published, figures),
        notes=fewer_segments("PTA", len(lengths), segments, k),
        groups=in_source_order(groups, ordering),
        tours=Tours(ordering[loops], bounds),
    )


def segment_bounds(n: int, k: int, segments: int | None = None) -> Longs:
    """The bounds of the segments: sizes differ by at most one, and every segment holds at least k transactions.

    Examples
    --------
    >>> segment_bounds(13, 3, 2).tolist()
    [0, 7, 13]
    """
    require_enough(n, k)
    # Where two groups do not fit into a segment, whatever it holds beyond k is only a larger group and more loss.
    usual = SEGMENT_SIZE if 2 * k <= SEGMENT_SIZE else k
    wanted = max(1, round(n / usual)) if segments is None else segments
    parts = min(wanted, n // k)
    if parts:
        _require_memory(n, parts)
    sizes = np.full(parts, n // max(parts, 1), dtype=np.int64)
    sizes[: n % max(parts, 1)] += 1
    return np.concatenate(([0], np.cumsum(sizes)))


def fewer_segments(who: str, made: int, wanted: int | None, k: int) -> tuple[str, ...]:
    """A note where fewer segments were made than asked for."""
    if wanted is None or not 0 < made < wanted:
        return ()
    return (f"{who} made {made:,} segments instead of {wanted:,}, so that each holds at least k = {k:,} transactions.",)


def _require_memory(n: int, parts: int) -> None:
    """Refuse segments so large that the distances between their transactions would not fit."""
    need = 4 * (-(-n // parts)) ** 2
    if need > MOST_BYTES:
        fewest = int(np.ceil(n / int((MOST_BYTES / 4) ** 0.5)))
        raise ParameterError(
            "segments",
            f"be at least {fewest:,} for {n:,} transactions",
            parts,
            f"The distances inside a segment would need {need / 2**30:,.0f} GB.",
        )


SPEC = MethodSpec(
    name="pta",
    title="PTA",
    model="k-anonymity",
    summary="Gray order, a short tour through each segment, and windows of k neighbours that publish their majority.",
    params=(SEGMENTS, ITEM_ORDER, REVOTE, *CATEGORIES),
    run=with_categories(run),
    columns=True,
    paper="J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong, PTA: An Efficient System for Anonymizing "
    "Transaction Databases, IEEE Access 4, 2016",
    units=("user", "transaction"),
)
