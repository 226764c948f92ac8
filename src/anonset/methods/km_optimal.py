"""Optimal anonymization (OA): the cut that loses least of all safe ones, exactly, on small domains.

Precondition   n = 0 or at least k transactions with items; a hierarchy that holds every item; m ≥ 1; few items.
Pseudo-code    rare ← all sets of up to m nodes (none above another) that occur together, but fewer than k times
               queue ← the cut of all items, by loss
               repeat: take the cheapest cut from the queue
                   if it holds no rare set: publish every item as its node in this cut
                   for each node of one rare set that it holds: queue the cut in which that node's parent replaces
                   everything below it, unless it was queued before or costs more than the cut of `km-apriori`
Postcondition  the cut is safe, as for `km-apriori`, and no safe cut has a lower NCP: every safe cut above one that
               holds a rare set raises one of that set's nodes, and raising never lowers the loss.

The paper goes through the cuts level by level and passes over all that lie above a safe one (it must mark *all* of
them, not only the next level, and remember those it has seen). Going by loss and only where a rare set forces it
gives the same optimum with fewer cuts to look at; their number still grows exponentially with the items.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008, Alg. 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset import _native
from anonset.data.errors import InputError
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec
from anonset.data.transactions import Ints, Transactions
from anonset.methods.steps.cuts import HIERARCHY, PAPER, Domain, domain, publish, require_feasible

MOST_CUTS = 300_000
MOST_RARE = 2_000_000


def run(data: Transactions, job: Job, *, k: int, m: int, hierarchy: Any) -> Draft:
    """Anonymize `data` so that any m items that occur together do so in at least k transactions, losing least."""
    require_feasible(data, k)
    with job.stage("extend"):
        found = domain(data, hierarchy)
    with job.stage("bound", total=len(found.node) * m) as monitor:
        greedy = _native.km_greedy(*found.arrays, k, m, True, job.threads, monitor)
    with job.stage("search") as monitor:
        bound = loss(found, greedy)
        done, cut, examined, rare = _native.km_optimal(*found.arrays, k, m, bound, MOST_CUTS, MOST_RARE, monitor)
    if not done:
        raise InputError(_too_large(found, examined))
    better = bool((cut >= 0).any())
    chosen = found.cut(cut if better else greedy)
    return publish(found, chosen, m, job, cuts_examined=examined, rare_itemsets=rare)


def loss(found: Domain, published: Ints) -> int:
    """What a kernel's answer loses, in whole numbers: items of the node times occurrences."""
    stands_for = found.size[published[np.maximum(found.leaf, 0)]]
    return int(np.where((found.leaf >= 0) & (stands_for > 1), found.data.item_counts * stands_for, 0).sum())


def number_of_cuts(parent: Ints) -> float:
    """How many cuts a hierarchy has: of each inner node, itself or any combination of its children's.

    Examples
    --------
    >>> round(number_of_cuts(np.array([-1, 0, 1, 1, 0, 4, 4])))
    5
    """
    inner = np.bincount(parent[1:], minlength=len(parent)) > 0
    ways = np.zeros(len(parent))  # logarithms: the numbers soon leave every range
    for node in range(len(parent) - 1, -1, -1):
        if inner[node]:
            ways[node] = np.logaddexp(0.0, ways[node])
        if node:
            ways[parent[node]] += ways[node]
    return float(np.exp(min(ways[0], 700.0)))


def _too_large(found: Domain, examined: int) -> str:
    items = int((found.leaf >= 0).sum())
    return (
        f"'method' must be one that can finish. km-optimal stopped after {examined:,} of about "
        f"{number_of_cuts(found.parent):.1e} cuts of {items:,} items. Use km-refine or km-apriori, or fewer items."
    )


SPEC = MethodSpec(
    name="km-optimal",
    title="Optimal anonymization (OA)",
    model="km-anonymity",
    summary="Finds the hierarchy cut that loses least of all that keep the promise; for domains of some dozen items.",
    params=(HIERARCHY,),
    run=run,
    paper=PAPER,
    cuts=True,
)
