"""CAHD, balanced: as CAHD on Gray order, with more candidates, and later groups make up for what earlier ones lack.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    T ← transactions in Gray order of their quasi-identifier items; D[s, q] ← 0
               for each sensitive t in T, front to back, that is in no group yet:
                   CL ← the αp nearest to t on each side in T, and in the list of each of its 8 rarest items
                   G ← t; p − 1 times: add the x of CL (if none is left, the nearest in T) that conflicts with nobody
                       in G and has the least Σ over q in x and s in G of (D + ½) / (p C + D + ½), plus a tenth of
                       its distance to t; where C[s, q] counts the transactions with both (C = 0: the term is 1)
                       and D[s, q] is p times what the groups with s show of q beyond C, G included
                   take G out of T iff no sensitive item then occurs in more than |T| / p of what remains
               those left form the last group
Postcondition  every group taken holds each sensitive item at most once among p members; the last group has degree p,
               because a group is taken only if what remains has. So no sensitive item occurs in more than |G| / p
               members of its group G: privacy degree p. It always ends, with at most one search per transaction.

The project's own method; ordering and group formation after G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of
Sensitive Transactional Data", IEEE TKDE 23(2), 2011.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.balanced import balanced_groups
from anonset.methods.steps.group.cahd import ALPHA
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.order.gray import ITEM_ORDER, ItemOrder, gray_order


def run(
    data: Transactions, job: Job, *, p: int, alpha: int, item_order: ItemOrder, unit: Unit = "transaction"
) -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    ordered = problem.in_order(gray_order(problem.quasi, job, item_order), job.threads)
    return ordered.draft(ordered.for_persons(balanced_groups(ordered, alpha, job), unit, job))


SPEC = MethodSpec(
    name="cahd-balanced",
    title="CAHD, balanced",
    model="privacy-degree",
    summary="As CAHD on Gray order, but each group also makes up for what earlier groups lacked.",
    params=(ALPHA, ITEM_ORDER),
    run=run,
    paper="anonset's own, after G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, "
    "TKDE 23(2), 2011",
    needs=("sensitive",),
    units=("user", "transaction"),
)
