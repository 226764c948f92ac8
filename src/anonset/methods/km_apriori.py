"""Apriori anonymization (AA): mend rare single items, then rare pairs of what is left, and so on up to m.

Precondition   n = 0 or at least k transactions with items; a hierarchy that holds every item; m ≥ 1.
Pseudo-code    cut ← every item as itself
               for size = 1 … m:
                   walk through all sets of `size` nodes at or above the cut that occur together, none above another,
                   most frequent nodes first, as a preorder walk of the paper's count-tree would:
                       if a set occurs fewer than k times: of all ways to raise its nodes that make it frequent
                       enough, take the one that loses least, and go on with the cut it leads to
               publish every item as its node in the cut
Postcondition  every set of at most m nodes of the cut that occurs at all occurs at least k times, because each was
               either frequent when the walk passed it (supports never change) or holds a node that was raised.
               The root alone occurs in every transaction with items, so the walk always finds a way.

The paper's pseudo-code counts in a tree of all itemsets. Here the walk projects the transactions on its first node,
then on its second, …: the same itemsets in the same order, with no tree in memory.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008, Alg. 4.
"""

from __future__ import annotations

from typing import Any

from anonset import _native
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.cuts import HIERARCHY, PAPER, domain, largest_set, publish, require_feasible


def run(data: Transactions, job: Job, *, k: int, m: int, hierarchy: Any, unit: Unit = "transaction") -> Draft:
    """Anonymize `data` so that any m items that occur together do so in at least k transactions."""
    require_feasible(data.quasi(), k, unit)
    m = largest_set(data, m)
    with job.stage("extend"):
        found = domain(data, hierarchy)
    with job.stage("generalise", total=len(found.node) * m) as monitor:
        arrays, persons = found.counting(unit)
        cut = _native.km_greedy(*arrays, k, m, True, job.threads, monitor, persons)
    return publish(found, found.cut(cut), m, job)


SPEC = MethodSpec(
    name="km-apriori",
    title="Apriori anonymization (AA)",
    model="km-anonymity",
    summary="Raises items in their hierarchy until every pair, triple, … of published items is frequent enough.",
    params=(HIERARCHY,),
    run=run,
    paper=PAPER,
    cuts=True,
    columns=True,
    units=("user", "transaction"),
)
