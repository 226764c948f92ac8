"""CAHD on Gray order: sort by Gray code, then group each sensitive transaction with similar neighbours.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    T ← transactions in Gray order of their quasi-identifier items
               for each sensitive t in T, front to back, that is in no group yet:
                   CL ← the αp nearest before and the αp nearest behind t that conflict neither with t nor each other
                   G ← t and the p − 1 of CL nearest to t; fewer: skip t
                   take G out of T iff no sensitive item then occurs in more than |T| / p of what remains
               those left form the last group
Postcondition  every group taken holds each sensitive item at most once among p members; the last group has degree p,
               because a group is taken only if what remains has. So no sensitive item occurs in more than |G| / p
               members of its group G: privacy degree p. It always ends, with at most one search per transaction.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", IEEE TKDE 23(2), 2011,
sections 5.2 and 5.3.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.cahd import ALPHA, cahd_groups
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.order.gray import ITEM_ORDER, ItemOrder, gray_order


def run(
    data: Transactions, job: Job, *, p: int, alpha: int, item_order: ItemOrder, unit: Unit = "transaction"
) -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    ordered = problem.in_order(gray_order(problem.quasi, job, item_order), job.threads)
    return ordered.draft(ordered.for_persons(cahd_groups(ordered, alpha, job), unit, job))


SPEC = MethodSpec(
    name="cahd-gray",
    title="CAHD on Gray order",
    model="privacy-degree",
    summary="Sorts by Gray code and groups each sensitive transaction with the most similar of its neighbours.",
    params=(ALPHA, ITEM_ORDER),
    run=run,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    needs=("sensitive",),
    units=("user", "transaction"),
)
