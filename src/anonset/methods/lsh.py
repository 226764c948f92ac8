"""Approximate nearest neighbours by locality-sensitive hashing.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    B tables, each filing every transaction under its bits at w sampled items
               as exact nearest neighbours (nn.py), but among those that share a bucket with t in some table;
               (interrupted: of these only the first 2 B met, and no bucket of those that hold none of the w items);
               where they do not fill the group, among all
Postcondition  every group taken holds each sensitive item at most once among p members; the last group has degree p,
               because a group is taken only if what remains has. So no sensitive item occurs in more than |G| / p
               members of its group G: privacy degree p. It always ends, with at most one search per transaction.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", IEEE TKDE 23(2), 2011,
section 4.2. Eq. 6 with the paper's own values needs B = 66 tables, not 32.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.group.lsh import INTERRUPT, TABLES, WIDTH, lsh_groups


def run(
    data: Transactions, job: Job, *, p: int, width: int, tables: int | None, interrupt: bool, unit: Unit = "transaction"
) -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    groups, exact = lsh_groups(problem, width, tables, interrupt, job)
    return problem.draft(problem.for_persons(groups, unit, job), exact_searches=exact)


SPEC = MethodSpec(
    name="lsh",
    title="Hashed neighbours",
    model="privacy-degree",
    summary="Groups each sensitive transaction with near neighbours found by locality-sensitive hashing.",
    params=(WIDTH, TABLES, INTERRUPT),
    run=run,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    seeded=True,
    needs=("sensitive",),
    units=("user", "transaction"),
)
