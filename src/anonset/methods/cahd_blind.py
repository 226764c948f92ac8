"""CAHD, blind: groups of similar transactions that do not tell around whom they were formed.

Precondition   some items are sensitive; of the n transactions that hold quasi-identifier items none of them occurs in
               more than n / p. Transactions without quasi-identifier items are left out: who knows that no transaction
               is empty would know that they hold a sensitive item.
Pseudo-code    T ← transactions in Gray order (or band order) of their quasi-identifier items
               each `neighbours` · p neighbours in T: sort by length
               blocks ← the binary tree over runs of 4p to 8p in T, cut wherever both halves have degree p
               a node that cannot be cut: fold it, that is lay its halves side by side as two cells, each sorted by
                   length; cut on between shorter and longer ones; where that fails, fold again (up to 8 cells)
               for each block: shuffle it; give its holders in turn to groups of p (2p, 4p, … should a holder find no
                   place) that may take one more; fill the groups with the others, all cells in equal shares
Postcondition  a group takes a holder only while each of its items occurs in at most one of p members, and a block that
               cannot be cut so is one group of degree p: privacy degree p. It ends, because the whole has degree p.
               Which member of a group holds an item is a matter of chance (steps/group/blind.py).

The project's own; the orders and Theorem 1 are those of G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of
Sensitive Transactional Data", IEEE TKDE 23(2), 2011.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.blind import alike_in_length, blind_groups
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.order.band import band_order
from anonset.methods.steps.order.gray import gray_order

ORDER = Param(
    "order",
    "choice",
    "How similar transactions are put side by side: by Gray code, or into a band matrix (reverse Cuthill-McKee).",
    default="gray",
    choices=("gray", "rcm"),
    example="gray",
)
NEIGHBOURS = Param(
    "neighbours",
    "int",
    "How many groups' worth of neighbours are sorted by length. More: length tells less about who holds a sensitive "
    "item. Fewer: groups are more similar, so estimates are better.",
    default=256,
    minimum=1,
    maximum=1_000_000,
    example=256,
)


def run(
    data: Transactions, job: Job, *, p: int, order: Literal["gray", "rcm"], neighbours: int, unit: Unit = "transaction"
) -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    kept = np.flatnonzero(data.quasi().lengths > 0)
    problem = degree_problem(data if len(kept) == len(data) else data.take(kept), p, job.threads)
    similar = (gray_order if order == "gray" else band_order)(problem.quasi, job)
    ordered = problem.in_order(alike_in_length(similar, problem.quasi.lengths, neighbours * p), job.threads)
    removed = len(data) - len(kept)
    draft = ordered.draft(
        ordered.for_persons(blind_groups(ordered, job), unit, job), transactions_removed=removed, transactions_added=0
    )
    said = f"{removed:,} transactions without quasi-identifier items are not published." if removed else ""
    return replace(draft, row_origin=kept.astype(np.int64), notes=(said,) if said else ())


SPEC = MethodSpec(
    name="cahd-blind",
    title="CAHD, blind",
    model="privacy-degree",
    summary="Cuts similar transactions into groups by chance, so that a group does not tell around whom it was formed.",
    params=(ORDER, NEIGHBOURS),
    run=run,
    paper="this project; orders after G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional "
    "Data, TKDE 23(2), 2011",
    seeded=True,
    needs=("sensitive",),
    units=("user", "transaction"),
)
