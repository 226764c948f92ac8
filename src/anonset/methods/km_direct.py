"""Direct anonymization (DA): mend every rare set of up to m nodes in one walk through all of them.

Precondition   n = 0 or at least k transactions with items; a hierarchy that holds every item; m ≥ 1.
Pseudo-code    cut ← every item as itself
               walk through all sets of up to m nodes that occur together, none above another, in preorder of the
               paper's count-tree: most frequent nodes first; a set comes after the longer ones that begin with it
                   pass over sets with a node that is below the cut by now
                   if a set occurs fewer than k times: of all ways to raise its nodes that make it frequent enough,
                   take the one that loses least, and go on with the cut it leads to
               publish every item as its node in the cut
Postcondition  as for `km-apriori`.

The paper's text speaks of sets of m nodes, its Algorithm 3 tests every leaf of the count-tree, of any depth. That is
safe: a set that is no leaf begins a longer one that is rarer still, and mending that one mends the shorter one. Here
shorter sets are looked at as well, each after the longer ones that begin with it, which makes no other choice.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008, Alg. 3.
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
    with job.stage("generalise", total=len(found.node)) as monitor:
        arrays, persons = found.counting(unit)
        cut = _native.km_greedy(*arrays, k, m, False, job.threads, monitor, persons)
    return publish(found, found.cut(cut), m, job)


SPEC = MethodSpec(
    name="km-direct",
    title="Direct anonymization (DA)",
    model="km-anonymity",
    summary="Walks once through all sets of up to m published items and raises the items of each rare one.",
    params=(HIERARCHY,),
    run=run,
    paper=PAPER,
    cuts=True,
    columns=True,
    units=("user", "transaction"),
)
