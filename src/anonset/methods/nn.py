"""Exact nearest neighbours: group each sensitive transaction with the p − 1 most similar ones there are.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    for each sensitive t, in the order of the data, that is in no group yet:
                   G ← t; p − 1 times: add the transaction nearest to t that conflicts with nobody in G
                   take G out iff no sensitive item then occurs in more than 1 / p of what remains
               those left form the last group
Postcondition  every group taken holds each sensitive item at most once among p members; the last group has degree p,
               because a group is taken only if what remains has. So no sensitive item occurs in more than |G| / p
               members of its group G: privacy degree p. It always ends, with at most one search per transaction.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", IEEE TKDE 23(2), 2011,
section 4.1.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.group.nearest import nearest_groups


def run(data: Transactions, job: Job, *, p: int, unit: Unit = "transaction") -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    return problem.draft(problem.for_persons(nearest_groups(problem, job), unit, job))


SPEC = MethodSpec(
    name="nn",
    title="Nearest neighbours",
    model="privacy-degree",
    summary="Groups each sensitive transaction with its exact nearest neighbours.",
    params=(),
    run=run,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    needs=("sensitive",),
    units=("user", "transaction"),
)
