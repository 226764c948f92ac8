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

search = breadth-first is the paper's Algorithm 2: cuts level by level; the immediate ancestors of a cut that is not
safe are queued, those of a safe one are marked and passed over. (Marking all ancestors would prune more and find the
same optimum.) Going by loss and only where a rare set forces it looks at far fewer cuts; their number still grows
exponentially with the items.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008, Alg. 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonset import _native
from anonset.data.errors import InputError
from anonset.data.hierarchy import Cut
from anonset.data.hierarchy.cut import ncp
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Ints, Transactions
from anonset.methods.steps.cuts import HIERARCHY, PAPER, Domain, domain, largest_set, publish, require_feasible

MOST_RARE = 2_000_000
MOST_BYTES = 2**30
ANY_LOSS = 2**63 - 1
FINISHED = 0

MAX_CUTS = Param(
    "max_cuts",
    "int",
    "How many cuts to look at before giving up.",
    default=500_000,
    minimum=1,
    maximum=10**12,
    example=1000,
)
SEARCH = Param(
    "search",
    "choice",
    "Cheapest cut first and only where a rare set forces it, or level by level through all cuts as in the paper.",
    default="best-first",
    choices=("best-first", "breadth-first"),
    example="best-first",
)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    m: int,
    hierarchy: Any,
    search: str = SEARCH.default,
    max_cuts: int = MAX_CUTS.default,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that any m items that occur together do so in at least k transactions, losing least."""
    require_feasible(data.quasi(), k, unit)
    m = largest_set(data, m)
    with job.stage("extend"):
        found = domain(data, hierarchy)
    arrays, persons = found.counting(unit)
    literal = search == "breadth-first"
    greedy = None if literal else _greedy(found, k, m, unit, job)
    with job.stage("search") as monitor:
        bound = ANY_LOSS if greedy is None else loss(found, greedy)
        stopped, cut, examined, rare = _native.km_optimal(
            *arrays, k, m, literal, bound, max_cuts, MOST_RARE, MOST_BYTES, monitor, persons
        )
    _require_finished(stopped, found, examined)
    chosen = greedy if greedy is not None and not (cut >= 0).any() else cut
    return publish(found, found.cut(chosen), m, job, cuts_examined=examined, rare_itemsets=rare)


def _greedy(found: Domain, k: int, m: int, unit: Unit, job: Job) -> Ints:
    """The cut of km-apriori: whatever costs as much need not be looked at."""
    with job.stage("bound", total=len(found.node) * m) as monitor:
        arrays, persons = found.counting(unit)
        return _native.km_greedy(*arrays, k, m, True, job.threads, monitor, persons)


def minimal_cuts(
    data: Transactions,
    *,
    k: int,
    m: int,
    hierarchy: Any = None,
    max_cuts: int = MAX_CUTS.default,
    job: Job | None = None,
) -> list[tuple[Cut, float]]:
    """All safe cuts of which no node can be replaced by its children, each with its NCP; the cheapest first.

    Examples
    --------
    >>> rows = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
    >>> tree = {"item": ["a1", "a2", "b1", "b2"], "level1": ["A", "A", "B", "B"]}
    >>> [(cut.mapping(), round(lost * 11, 1)) for cut, lost in minimal_cuts(
    ...     Transactions.from_lists(rows), k=2, m=2, hierarchy=tree)]
    [({'a1': 'A', 'a2': 'A', 'b1': 'b1', 'b2': 'b2'}, 2.5)]
    """
    require_feasible(data.quasi(), k)
    job = job or Job()
    found = domain(data, hierarchy)
    with job.stage("search") as monitor:
        stopped, cuts, examined = _native.km_minimal(
            *found.arrays, k, largest_set(data, m), max_cuts, MOST_RARE, MOST_BYTES, monitor
        )
    _require_finished(stopped, found, examined)
    chosen = [found.cut(cut) for cut in cuts.reshape(-1, len(found.node))]
    return [(cut, ncp(data, cut)) for cut in chosen]


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


def _require_finished(stopped: int, found: Domain, examined: int) -> None:
    """Say which limit ended a search that is not complete."""
    if stopped == FINISHED:
        return
    items = int((found.leaf >= 0).sum())
    size = f"{number_of_cuts(found.parent):.1e} cuts of {items:,} items"
    param, change, why = {
        1: ("max_cuts", "larger", f"after {examined:,} of about {size}"),
        2: ("m", "smaller", f"at {MOST_RARE:,} rare sets of nodes of {items:,} items"),
        3: ("m", "smaller", f"when {MOST_BYTES / 2**30:.0f} GB were full, after {examined:,} of about {size}"),
    }[stopped]
    raise InputError(
        f"'{param}' must be {change} for km-optimal to finish. It stopped {why}. Or use km-refine or km-apriori."
    )


SPEC = MethodSpec(
    name="km-optimal",
    title="Optimal anonymization (OA)",
    model="km-anonymity",
    summary="Finds the hierarchy cut that loses least of all that keep the promise; for domains of some dozen items.",
    params=(HIERARCHY, SEARCH, MAX_CUTS),
    run=run,
    paper=PAPER,
    cuts=True,
    columns=True,
    units=("user", "transaction"),
)
