"""k^m-anonymity: any m or fewer items that somebody may know match at least k published transactions, or none.

Precondition   a release in rows. Every published item counts that is not marked sensitive: any of them may be known.
               Where counts of items are published, an item with another count is another item.
Check          count the support of every set of 1, 2, … m of these items that occurs in a transaction; a transaction
               with fewer than m items counts with all of its subsets. Take the smallest support.
Postcondition  `holds` iff the smallest support is at least k. `measured["k"]` is that support; `measured["m"]` is the
               largest number of known items found to be safe with k. Sizes beyond m are tried as long as that is
               quick; if a transaction of the greatest length is reached, larger m promise nothing more.

In persons     with the private user of each transaction: the support of a set is the number of different known users
               who have a transaction that holds all of it.

Option         `diversity=p`: of the transactions that hold a set of at most m known items (also of none), at most one
               of p holds the same sensitive item; in persons, of the users who have one (km_diversity.py).

A support of 1 ends the search for the rarest sets, since nothing can be rarer (itemset_supports.py).

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.advice import Situation, Suggestion
from anonset.data.params import DIVERSITY, K
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.models.itemset_supports import supports
from anonset.models.k_anonymity import count_users, equal_sets, in_persons_only, set_codes
from anonset.models.km_diversity import Beside, beside_known
from anonset.models.privacy_degree import with_counts

MOST_WITNESSES = 5
USUAL_K = 5
USUAL_M = 2
QUICK = 2_000_000  # occurrences that are counted for an m larger than asked for

M = Param(
    "m",
    "int",
    "How many items of a person's transaction an attacker may know.",
    default=2,
    minimum=1,
    short="-m",
    example=2,
)


@dataclass(frozen=True, eq=False)
class Rare:
    """The smallest support among the itemsets of one size, and a few of those itemsets."""

    support: int
    itemsets: list[tuple[int, tuple[int, ...]]]  # (support, items), rarest first


def check(release: Release, k: int, m: int, diversity: int | None = None, users: Ints | None = None) -> Verdict:
    """Whether every set of at most m published quasi-identifier items that occurs does so in at least k transactions.

    With `diversity`, also whether every sensitive item is rare enough beside it. With `users` (private), also whether
    it occurs in transactions of at least k different users.
    """
    sets = with_counts(release.transactions.quasi())
    examples, weights = equal_sets(sets)
    verdict = _verdict(sets, sets.take(examples), weights, k, m, None)
    persons = None if users is None else _verdict(sets, *_by_user(sets, users), k, m, users)
    if diversity is not None:
        secrets = release.transactions.sensitive_part()
        verdict = _both(verdict, beside_known(sets, secrets, m, diversity), diversity, "transaction")
        if persons is not None:
            persons = _both(persons, beside_known(sets, secrets, m, diversity, users), diversity, "user")
    return verdict if persons is None else verdict.with_persons(persons)


def _both(verdict: Verdict, beside: Beside, p: int, unit: Unit) -> Verdict:
    """k^m-anonymity together with diversity beside what is known."""
    params = {**verdict.params, "diversity": p}
    return replace(
        verdict,
        params=params,
        promise=SPEC.promise(params, unit),
        holds=verdict.holds and beside.holds,
        measured={**verdict.measured, "p": beside.p},
        witnesses=(*verdict.witnesses, *beside.witnesses),
    )


def _by_user(sets: Transactions, users: Ints) -> tuple[Transactions, Longs]:
    """One of the equal transactions of each user, and whose it is, from 1 on; 0 for all unknown ones."""
    _, code = np.unique(np.maximum(users, -1), return_inverse=True)
    code = code.reshape(-1) + (0 if (users < 0).any() else 1)
    _, inverse = np.unique(set_codes(sets), return_inverse=True) if len(sets) else (None, np.empty(0, dtype=np.int64))
    _, first = np.unique(inverse.reshape(-1) * (int(code.max(initial=0)) + 1) + code, return_index=True)
    return sets.take(first), code[first].astype(np.int64)


def _verdict(sets: Transactions, distinct: Transactions, weights: Longs, k: int, m: int, users: Ints | None) -> Verdict:
    """`weights` says how many transactions each distinct one stands for or, in persons, whose it is."""
    longest = int(distinct.lengths.max(initial=0))
    lowest, safe, witnesses = len(sets) if users is None else count_users(users), 0, []
    for size in range(1, longest + 1):
        if size > m and (lowest < k or _occurrences(distinct, size) > QUICK):
            break
        rare = rarest(distinct, weights, size, in_persons=users is not None)
        if size > m and rare.support < k:
            break
        safe = size if min(lowest, rare.support) >= k else safe
        if size <= m:
            lowest = min(lowest, rare.support)
            witnesses += rare.itemsets
        if lowest < 1 or (lowest == 1 and users is None):
            break
    holds = len(sets) == 0 or lowest >= k or longest == 0
    params = {"k": k, "m": m}
    unit: Unit = "transaction" if users is None else "user"
    return Verdict(
        model="km-anonymity",
        params=params,
        promise=SPEC.promise(params, unit),
        holds=holds,
        measured={"k": lowest, "m": max(safe, m) if holds else safe},
        witnesses=() if holds else _witnesses(sets, witnesses, k, unit),
    )


def rarest(sets: Transactions, weights: Longs, size: int, *, in_persons: bool = False) -> Rare:
    """The rarest itemsets of exactly this size; `weights` says how many transactions each set stands for, or whose it
    is (0: unknown).
    """
    found = Rare(int(weights.sum()) + 1, [])
    for itemsets, support in supports(sets, weights, size, in_persons):
        order = np.argsort(support, kind="stable")[:MOST_WITNESSES]
        few = [(int(support[i]), tuple(itemsets[i].tolist())) for i in order]
        together = sorted(found.itemsets + few)[:MOST_WITNESSES]
        found = Rare(together[0][0], together)
        if found.support == (0 if in_persons else 1):
            break
    return found


def _occurrences(sets: Transactions, size: int) -> float:
    """How many itemsets of this size the transactions hold, with repetition."""
    lengths = sets.lengths.astype(np.float64)
    ways = np.ones(len(lengths))
    for step in range(size):
        ways *= np.maximum(lengths - step, 0) / (step + 1)
    return float(ways.sum())


def _witnesses(
    sets: Transactions, itemsets: list[tuple[int, tuple[int, ...]]], k: int, unit: Unit
) -> tuple[Witness, ...]:
    worst = sorted((entry for entry in itemsets if entry[0] < k), key=lambda entry: (entry[0], len(entry[1]), entry[1]))
    return tuple(
        Witness(
            f"{support:,} {unit}{'s' if support != 1 else ''} with these published items together; {k:,} are needed",
            tuple(sets.labels.take(pa.array(items, type=pa.int32())).to_pylist()),
            support,
        )
        for support, items in worst[:MOST_WITNESSES]
    )


def _weakest(release: Release) -> dict[str, int] | None:
    """One known item, with the usual k unless sets that are rarer anyway allow less."""
    if release.form != "rows":
        return None
    _, sizes = equal_sets(release.transactions.quasi())
    smallest = int(sizes.min()) if len(sizes) else len(release)
    return {"k": max(2, min(USUAL_K, smallest)), "m": 1}


def _advice(situation: Situation) -> Suggestion | None:
    """For data with a hierarchy."""
    if not situation.hierarchy:
        return None
    reasons = (
        "With a hierarchy items can be published as their kind: nothing false is published, only less precise things.",
        f"m = {USUAL_M} known items is what somebody sees in a trolley at a glance; a larger m costs much more detail.",
    )
    return Suggestion("km-refine", {"k": situation.k, "m": USUAL_M}, reasons)


def _up_to_m(params: Mapping[str, Any]) -> float | None:
    """Up to m known items match at least k published transactions or none; of absent items nothing is promised."""
    return 1 / params["k"] if (params.get("known") or 0) <= params["m"] else None


def _wording(params: Mapping[str, Any]) -> str:
    said = SPEC.in_persons if params.get("unit") == "user" else SPEC.statement
    if params.get("diversity") is None:
        return said
    those = "users who have such a transaction" if params.get("unit") == "user" else "transactions that hold them"
    return f"{said}, and of the {those} at most one of {{diversity}} holds the same sensitive item"


SPEC = ModelSpec(
    name="km-anonymity",
    title="k^m-anonymity",
    statement="any {m} or fewer published quasi-identifier items that occur together do so in at least {k} "
    "transactions",
    in_persons="any {m} or fewer published quasi-identifier items that occur together do so in transactions of at "
    "least {k} different users",
    params=(K, M),
    options=(DIVERSITY,),
    wording=_wording,
    check=check,
    paper="M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, "
    "PVLDB 1(1), 2008",
    default_method="km-refine",
    meaning="somebody who knows a few items of a person (up to {m}) finds at least {k} transactions that fit, or none",
    stops=("singling out",),
    limits={"known-items": _up_to_m, "person-items": in_persons_only(_up_to_m)},
    remedies={
        "inference": lambda params: (Suggestion("crowd", {"diversity": 2}, ()),),
        "loss": lambda params: (
            Suggestion("km-refine", {}, ()),
            Suggestion("km-refine", {"m": 1}, ()),
            Suggestion("crowd", {}, ()),
        ),
    },
    weakest=_weakest,
    advice=_advice,
)
