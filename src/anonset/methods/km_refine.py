"""km-refine, the project's own: from the root down, as specific as it gets, leaving out a few items if that pays.

Precondition   n = 0 or at least k transactions with items; a hierarchy that holds every item; m ≥ 1.
Pseudo-code    cut ← everything as the root, which is safe
               take the node of the cut whose children would save most NCP, and count them:
                   if each child is frequent with up to m − 1 other nodes: put the children in the node's place
                   else find in which transactions a child would be part of a rare set. Leaving it out there costs 1 per
                   item: if that is within the budget and less than the children save, do so
                   else the node stays, and is not tried again: it would fail for every finer cut too
               where it costs little, do the same in other orders (the most saved for a transaction first, the most
               general first), and take what loses least
               on a very small domain: if a short exact search finds a cheaper safe cut, go on from that one
               publish every item as its node in the cut, but for those left out
Postcondition  every set of at most m published nodes that occurs at all occurs at least k times: a replacement
               touches only sets with one of the new nodes, and all of these are counted before it is made. With no
               items left out, no node of the cut can be replaced by its children.

Against `km-apriori`: minimal by construction, so never a node more general than the others force it to be; and a
handful of odd transactions does not decide how general a whole branch must be.

In persons     supports count different known users. Where bitmaps of all nodes take more than half a gigabyte, the cut
               of transactions is raised instead, which loses more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.params import DIVERSITY
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Ints, Mask, Transactions
from anonset.methods.steps.beside_cut import diverse
from anonset.methods.steps.cuts import HIERARCHY, PAPER, Domain, domain, largest_set, publish, require_feasible

BEST_FORM = 0  # the kernel chooses how it keeps the rows

SUPPRESS = Param(
    "suppress",
    "float",
    "The share of all items that may be left out where that saves more than it costs; 0 leaves out nothing.",
    default=0.01,
    minimum=0.0,
    maximum=1.0,
    example=0.01,
)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    m: int,
    hierarchy: Any,
    suppress: float,
    diversity: int | None = None,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that any m items that occur together do so in at least k transactions."""
    require_feasible(data.quasi(), k, unit)
    m = largest_set(data, m)
    with job.stage("extend"):
        found = domain(data, hierarchy)
    cut, kept = _refined(found, k, m, int(suppress * found.data.nnz), unit, job)
    refined = replace(found, data=without(found.data, kept))
    chosen = found.cut(cut)
    if diversity is not None:
        with job.stage("diversify"):
            chosen = diverse(refined, chosen, m, diversity, unit)
    return publish(refined, chosen, m, job, found.data)


def _refined(found: Domain, k: int, m: int, budget: int, unit: Unit, job: Job) -> tuple[Ints, Mask]:
    """The cut, and which item occurrences are kept."""
    arrays, persons = found.counting(unit)
    with job.stage("specialise", total=len(found.node)) as monitor:
        cut, kept = _native.km_refine(*arrays, k, m, budget, BEST_FORM, job.threads, monitor, persons)
        if persons is not None and not len(cut):
            cut, kept = _native.km_refine(*found.arrays, k, m, budget, BEST_FORM, job.threads, monitor)
            return _raised(found, cut, kept.astype(np.bool_), k, m, job)
    return cut, kept.astype(np.bool_) if persons is None else _as_in_data(found.data, kept)


def _as_in_data(data: Transactions, kept: Any) -> Mask:
    """What was said of the occurrences of transactions in order of their users, in the order of the data."""
    assert data.users is not None
    order = np.argsort(data.users, kind="stable")
    sizes = data.lengths[order]
    begin = np.cumsum(sizes) - sizes
    out = np.empty(data.nnz, dtype=np.bool_)
    out[np.repeat(data.offsets[order] - begin, sizes) + np.arange(data.nnz)] = kept
    return out


def _raised(found: Domain, cut: Ints, kept: Mask, k: int, m: int, job: Job) -> tuple[Ints, Mask]:
    """A cut that counts transactions, raised where too few persons hold some of its nodes together, as km-apriori does.

    For data of which the bitmaps that count persons would take too much memory.
    """
    rest = replace(found, data=without(found.data, kept))
    require_feasible(rest.data, k, "user")
    raised = replace(rest, leaf=np.where(rest.leaf >= 0, cut[np.maximum(rest.leaf, 0)], -1).astype(np.int32))
    arrays, persons = raised.counting("user")
    with job.stage("generalise", total=len(found.node) * m) as monitor:
        above = _native.km_greedy(*arrays, k, m, True, job.threads, monitor, persons)
    return np.where(cut >= 0, above[np.maximum(cut, 0)], -1).astype(np.int32), kept


def without(data: Transactions, kept: Mask) -> Transactions:
    """The transactions with only these item occurrences."""
    if kept.all():
        return data
    before = np.concatenate(([0], np.cumsum(kept)))  # how many are kept before each occurrence
    return replace(
        data,
        offsets=before[data.offsets],
        items=data.items[kept],
        sensitivity=None,
        counts=None,
    )


SPEC = MethodSpec(
    name="km-refine",
    title="Refinement from the root",
    model="km-anonymity",
    summary="Starts with one node for everything, splits nodes while that is safe, and leaves out a few odd items.",
    params=(HIERARCHY, SUPPRESS, DIVERSITY),
    run=run,
    paper=f"this project; the model is that of {PAPER}",
    cuts=True,
    columns=True,
    units=("user", "transaction"),
)
