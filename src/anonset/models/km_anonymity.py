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
               of p holds the same sensitive item. Sets that occur with it are counted among its holders, and at all.

Counting goes size by size. The sets of one size are grown from blocks of prefixes: memory stays within a block,
however many sets there are. A support of 1 ends the search, since nothing can be rarer.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", PVLDB 1(1), 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonset.data.advice import Situation, Suggestion
from anonset.data.arrays import distinct
from anonset.data.params import DIVERSITY, K
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.models.k_anonymity import count_users, equal_sets, in_persons_only, set_codes
from anonset.models.privacy_degree import with_counts

MOST_WITNESSES = 5
USUAL_K = 5
USUAL_M = 2
BLOCK = 1 << 20  # grown occurrences held at once
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
    if diversity is not None:
        verdict = _diverse(verdict, sets, release.transactions.sensitive_part(), m, diversity)
    if users is None:
        return verdict
    persons = _verdict(sets, *_by_user(sets, users), k, m, users)
    return verdict.with_persons(replace(persons, params=verdict.params))


def _diverse(verdict: Verdict, sets: Transactions, secrets: Transactions, m: int, p: int) -> Verdict:
    """The verdict together with this: beside known items, at most one of p transactions holds a sensitive item."""
    degree = float("inf")
    witnesses: list[Witness] = []
    for item in np.flatnonzero(secrets.item_counts).tolist():
        holders = np.unique(secrets.rows[secrets.items == item])
        name = str(secrets.labels[item])
        for known, inside, all_in_all in _beside_secret(sets, holders, m):
            degree = min(degree, all_in_all / inside)
            if inside * p > all_in_all and len(witnesses) < MOST_WITNESSES:
                labels = tuple(sets.labels.take(pa.array(known)).to_pylist()) if len(known) else ()
                many = f"'{name}' is beside these items in {inside:,} of {all_in_all:,} transactions"
                witnesses.append(Witness(f"{many}; at most one of {p:,} may be", labels, inside))
    params = {**verdict.params, "diversity": p}
    holds = verdict.holds and degree >= p
    measured = {**verdict.measured, "p": math.floor(min(degree, max(len(sets), 1)))}
    found = (*verdict.witnesses, *witnesses)
    return replace(
        verdict, params=params, promise=SPEC.promise(params), holds=holds, measured=measured, witnesses=found
    )


def _beside_secret(sets: Transactions, holders: Longs, m: int) -> Iterator[tuple[Ints, int, int]]:
    """For each size the set of known items beside which a secret's holders are the largest share: the set, how many
    hold it and the secret, and how many hold it at all."""
    nothing = np.empty(0, dtype=np.int32)
    yield nothing, len(holders), len(sets)
    part = sets.take(holders)
    ones = (np.ones(len(part), dtype=np.int64), np.ones(len(sets), dtype=np.int64))
    for size in range(1, min(m, int(part.lengths.max(initial=0))) + 1):
        worst: tuple[Ints, int, int] | None = None
        for itemsets, inside in _supports(part, ones[0], size, False):
            everywhere = _supports_of(sets, itemsets)
            place = int(np.argmin(everywhere / inside))
            found = (itemsets[place], int(inside[place]), int(everywhere[place]))
            worst = found if worst is None or found[2] * worst[1] < worst[2] * found[1] else worst
        if worst is not None:
            yield worst


def _supports_of(sets: Transactions, itemsets: npt.NDArray[np.int32]) -> Longs:
    """In how many transactions each of these itemsets occurs."""
    order = np.argsort(sets.items, kind="stable")
    rows = sets.rows[order]
    starts = np.searchsorted(sets.items[order], np.arange(sets.n_items + 1))
    found = np.empty(len(itemsets), dtype=np.int64)
    prefix, held = None, np.empty(0, dtype=np.int64)
    for place, itemset in enumerate(itemsets.tolist()):
        if itemset[:-1] != prefix:
            prefix = itemset[:-1]
            held = np.arange(len(sets))
            for item in prefix:
                held = np.intersect1d(held, rows[starts[item] : starts[item + 1]], assume_unique=True)
            inside = np.zeros(len(sets), dtype=np.bool_)
            inside[held] = True
            counts = np.bincount(sets.items[inside[sets.rows]], minlength=sets.n_items)
        found[place] = counts[itemset[-1]]
    return found


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
    for itemsets, support in _supports(sets, weights, size, in_persons):
        order = np.argsort(support, kind="stable")[:MOST_WITNESSES]
        few = [(int(support[i]), tuple(itemsets[i].tolist())) for i in order]
        together = sorted(found.itemsets + few)[:MOST_WITNESSES]
        found = Rare(together[0][0], together)
        if found.support == (0 if in_persons else 1):
            break
    return found


def _supports(
    sets: Transactions, weights: Longs, size: int, in_persons: bool
) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
    """All itemsets of this size with their supports, block by block."""
    occurrence = np.argsort(sets.items, kind="stable")
    first = sets.items[occurrence]
    starts = np.flatnonzero(np.concatenate(([True], first[1:] != first[:-1])))
    prefix = np.cumsum(np.concatenate(([0], first[1:] != first[:-1])))
    weight = weights[sets.rows].astype(np.float64)
    ends = np.repeat(sets.offsets[1:], sets.lengths)
    grower = _Grower(sets.items, ends, weight, sets.n_items, in_persons)
    yield from grower.grow(first[starts][:, None], prefix, occurrence, size - 1)


@dataclass(frozen=True, eq=False)
class _Grower:
    """Grows itemsets by one item at a time. An occurrence is the position of an itemset's last item in a row."""

    items: Ints
    ends: Longs  # where the row of each position ends
    weight: npt.NDArray[np.float64]  # of the row of each position; in persons: whose it is, 0 for unknown
    n_items: int
    in_persons: bool = False

    def grow(
        self, itemsets: npt.NDArray[np.int32], prefix: Longs, position: Longs, steps: int
    ) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
        """Supports of all itemsets that have `steps` items more; `prefix` is sorted and numbers `itemsets`."""
        if steps == 0:
            support = self._support(prefix, self.weight[position], len(itemsets))
            if len(support):
                yield itemsets, support
            return
        rest = self.ends[position] - position - 1
        for block in _blocks(prefix, rest):
            low = int(prefix[block.start])
            grown, key = self._longer(prefix[block] - low, position[block], rest[block])
            if steps == 1:
                yield from self._count(itemsets, low, key, self.weight[grown])
            else:
                order = np.argsort(key, kind="stable")
                key, grown = key[order], grown[order]
                fresh = np.concatenate(([True], key[1:] != key[:-1])) if len(key) else np.empty(0, dtype=np.bool_)
                longer = self._decode(itemsets, low, key[fresh])
                yield from self.grow(longer, np.cumsum(fresh) - 1, grown, steps - 1)

    def _longer(self, prefix: Longs, position: Longs, rest: Longs) -> tuple[Longs, Longs]:
        """Every later item of the row after each occurrence: its position, and a key of prefix and item."""
        begin = np.cumsum(rest) - rest
        grown = np.repeat(position + 1 - begin, rest) + np.arange(int(rest.sum()))
        return grown, np.repeat(prefix * self.n_items, rest) + self.items[grown]

    def _count(
        self, itemsets: npt.NDArray[np.int32], low: int, key: Longs, weight: npt.NDArray[np.float64]
    ) -> Iterator[tuple[npt.NDArray[np.int32], Longs]]:
        if not len(key):
            return
        if not self.in_persons and int(key.max()) < 4 * len(key) + BLOCK:  # a table of all keys is small enough
            table = np.bincount(key, weights=weight)
            present = np.flatnonzero(table)
            yield self._decode(itemsets, low, present), table[present].astype(np.int64)
        else:
            present, inverse = np.unique(key, return_inverse=True)
            yield self._decode(itemsets, low, present), self._support(inverse.reshape(-1), weight, len(present))

    def _support(self, code: Longs, weight: npt.NDArray[np.float64], count: int) -> Longs:
        """For each code the sum of its weights or, in persons, the number of different ones but 0."""
        if not self.in_persons:
            return np.bincount(code, weights=weight, minlength=count).astype(np.int64)
        whose = weight.astype(np.int64)
        width = int(whose.max(initial=0)) + 1
        pairs = distinct(code[whose > 0] * width + whose[whose > 0])
        return np.bincount(pairs // width, minlength=count).astype(np.int64)

    def _decode(self, itemsets: npt.NDArray[np.int32], low: int, key: Longs) -> npt.NDArray[np.int32]:
        last = (key % self.n_items).astype(np.int32)
        return np.column_stack((itemsets[low + key // self.n_items], last))


def _blocks(prefix: Longs, rest: Longs) -> Iterator[slice]:
    """Runs of whole prefixes that grow to about `BLOCK` occurrences each."""
    if not len(prefix):
        return
    starts = np.flatnonzero(np.concatenate(([True], prefix[1:] != prefix[:-1])))
    work = np.add.reduceat(rest, starts)
    number = np.maximum(np.cumsum(work) - 1, 0) // BLOCK
    opens = starts[np.flatnonzero(np.concatenate(([True], number[1:] != number[:-1])))]
    for begin, end in zip(opens, np.append(opens[1:], len(prefix)), strict=True):
        yield slice(int(begin), int(end))


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
    beside = "and of the transactions that hold them at most one of {diversity} holds the same sensitive item"
    return f"{said}, {beside}"


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
