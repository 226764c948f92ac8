"""PermMondrian: divide on one item after the other as long as both halves keep the degree.

Precondition   some items are sensitive, and none of them occurs in more than n / p of the n transactions.
Pseudo-code    G ← all transactions
               while G holds a sensitive item and some item splits it into two parts of degree ≥ p each:
                   split on the item nearest to half and half (ties: the sensitive items most evenly shared out)
                   and go on with both parts
Postcondition  all transactions have degree p, and a split keeps it in both parts: so has every group. A split
               makes both parts smaller, so it ends.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", IEEE TKDE 23(2), 2011,
section 6.2, after K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional k-Anonymity", 2006.
"""

from __future__ import annotations

from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.group.degree import degree_problem
from anonset.methods.steps.group.mondrian import mondrian_groups


def run(data: Transactions, job: Job, *, p: int, unit: Unit = "transaction") -> Draft:
    """Group `data` so that in every group each sensitive item occurs in at most one of p transactions."""
    problem = degree_problem(data, p, job.threads)
    return problem.draft(problem.for_persons(mondrian_groups(problem, job), unit, job))


SPEC = MethodSpec(
    name="perm-mondrian",
    title="PermMondrian",
    model="privacy-degree",
    summary="Divides on one item after the other, as evenly as both halves keep the degree.",
    params=(),
    run=run,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    needs=("sensitive",),
    units=("user", "transaction"),
)
