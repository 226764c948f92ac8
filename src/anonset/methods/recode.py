"""Apply a given cut: what `anonset recode` does. It is no method of its own, since it chooses nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

from anonset.data.errors import InfeasibleError
from anonset.data.hierarchy import Cut, read_cut
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec, Model, Unit
from anonset.data.transactions import Transactions
from anonset.methods.steps.cuts import HIERARCHY, PAPER, domain, publish


def by_cut(cut: Any, target: Model) -> MethodSpec:
    """How to publish by this cut (a `Cut`, a file, a dictionary) what keeps `target`, in the form of a method."""
    return MethodSpec(
        name="recode",
        title="Recoding by a given cut",
        model="km-anonymity",
        summary="Publishes every item as the node that a reviewed or edited cut says, and checks what comes out.",
        params=(HIERARCHY,),
        run=partial(run, cut=cut, target=target),
        paper=PAPER,
        cuts=True,
        columns=True,
        units=("user", "transaction"),
    )


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    m: int,
    hierarchy: Any,
    cut: Any,
    target: Model,
    unit: Unit = "transaction",
) -> Draft:
    """The transactions recoded by the cut; an error unless they are k^m-anonymous then."""
    found = domain(data, cut.hierarchy if isinstance(cut, Cut) and hierarchy is None else hierarchy)
    draft = publish(found, read_cut(cut, found.hierarchy), m, job)
    with job.stage("check"):
        verdict = target.counting(unit).check(draft.release, data.users)
    if not verdict.holds:
        size = len(verdict.witnesses[0].items)
        raise InfeasibleError(
            f"'cut' must keep the promise: {target.promise}. Got one that publishes {size:,} items together in "
            f"{verdict.witnesses[0].size:,} {unit}s only. Publish something more general, or leave items out."
        )
    return draft
