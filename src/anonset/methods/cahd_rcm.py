"""CAHD on band order: reverse Cuthill-McKee, then group each sensitive transaction with similar neighbours.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    T ← transactions in reverse Cuthill-McKee order of the graph "shares an item"
               then as CAHD on Gray order (cahd_gray.py)
Postcondition  every group taken holds each sensitive item at most once among p members; the last group has degree p,
               because a group is taken only if what remains has. So no sensitive item occurs in more than |G| / p
               members of its group G: privacy degree p. It always ends, with at most one search per transaction.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", IEEE TKDE 23(2), 2011,
sections 5.1 and 5.3.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.cahd import ALPHA, cahd_groups
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.order.band import band_order


def run(data: Transactions, job: Job, *, p: int, alpha: int, unit: Unit = "transaction") -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    ordered = problem.in_order(band_order(problem.quasi, job), job.threads)
    return ordered.draft(ordered.for_persons(cahd_groups(ordered, alpha, job), unit, job))


SPEC = MethodSpec(
    name="cahd-rcm",
    title="CAHD on band order",
    model="privacy-degree",
    summary="Sorts into a band matrix (reverse Cuthill-McKee) and groups each sensitive transaction with neighbours.",
    params=(ALPHA,),
    run=run,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    needs=("sensitive",),
    units=("user", "transaction"),
)
