"""Privacy degree p: no transaction can be tied to a sensitive item with a probability above 1/p.

Precondition   a release in groups: exact quasi-identifier items per transaction, and per group how often each
               sensitive item occurs. (A release in rows is read as groups of equal quasi-identifier sets, with the
               items' counts where these are published: an attacker who knows all of a person's quasi-identifier items
               can tell no more than that.)
Check          for every group G and sensitive item s with f occurrences: the degree is |G| / f; take the smallest.
               Besides, nothing else that is published may tie an item to a member of its group:
               no counted item occurs inside a transaction, no count is left without a group, and the members of a
               group stand in canonical order (by their items), so that their order repeats what their sets say.
Postcondition  `holds` iff f · p ≤ |G| everywhere and the form is sound; `measured["p"]` is the largest p that holds.
In persons     with the private user of each transaction: somebody who knows which transactions are a user's adds up
               what each of their groups says. For every known user u and sensitive item s, the sum of f(s, G) / |G|
               over the groups G of u's transactions, one term for each transaction, must be at most 1/p; |G| counts
               only transactions of known users. That bounds the probability that u holds s at all, and implies that
               of the users of a group at most one of p holds s. With one transaction per user it says the same as
               above.

G. Ghinita, P. Kalnis, Y. Tao, "Anonymous Publication of Sensitive Transactional Data", Definition 3, Eqs. 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.advice import Situation, Suggestion
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError
from anonset.data.quantities import quantity_texts
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param
from anonset.data.transactions import Ints, Longs, Mask, Transactions, natural_order

MOST_WITNESSES = 5
MOST_COUNTED = 2**31
"""A larger count of one line counts as this one: more than any release has transactions, and no sum overflows."""
USUAL_P = 10
TIGHT = 1e-9
"""Sums of fractions this close to the limit are compared exactly."""

P = Param(
    "p",
    "int",
    "A sensitive item may occur in at most one of p members of a group: who knows the group alone can tie nobody to it "
    "with a probability above 1/p. Who knows the method may do better, but for cahd-blind.",
    required=True,
    minimum=2,
    short="-p",
    example=2,
)


def check(release: Release, p: int, users: Ints | None = None) -> Verdict:
    """Whether every sensitive item is shared out among at least p transactions per occurrence, in every group.

    With `users` (private), also whether a user's transactions together say no more than that.
    """
    verdict = in_transactions(release, p)
    return verdict if users is None else verdict.with_persons(in_persons(release, p, users))


def in_transactions(release: Release, p: int) -> Verdict:
    """What anybody can check."""
    tally = _tally(release)
    allowed = tally.size // min(p, len(release) + 1)  # f · p ≤ |G|, without a product that could overflow
    shape = _form_witnesses(release) if release.form == "groups" else []
    worst = _worst(tally)
    broken = tally.count > allowed
    holds = not shape and not broken.any()
    params = {"p": p}
    return Verdict(
        model="privacy-degree",
        params=params,
        promise=SPEC.promise(params),
        holds=holds,
        measured={
            "p": int((tally.size // tally.count).min()) if len(worst) else len(release),
            "degree": float(tally.size[worst[0]] / tally.count[worst[0]]) if len(worst) else float(len(release)),
            "groups": tally.groups,
            "groups_below_p": len(distinct(tally.group[broken])),
        },
        witnesses=() if holds else (*shape, *_degree_witnesses(release, tally, worst, p))[:MOST_WITNESSES],
    )


def in_persons(release: Release, p: int, users: Ints) -> Verdict:
    """What the owner can check, who knows the user of each transaction."""
    members, group, item, count = _published_counts(release)
    shares = _shares(members, group, item, count, users, max(1, release.transactions.n_items))
    broken = shares.above(p)
    worst = np.argsort(-shares.total, kind="stable")[:MOST_WITNESSES]
    most = float(shares.total.max(initial=0.0))
    labels = release.transactions.labels
    params = {"p": p}
    return Verdict(
        model="privacy-degree",
        params=params,
        promise=SPEC.promise(params, "user"),
        holds=not broken.any(),
        measured={
            "p": int(1 / most + TIGHT) if most else len(distinct(users[users >= 0])),
            "users_below_p": len(distinct(shares.user[broken])),
        },
        witnesses=tuple(
            Witness(
                f"the groups of one user's transactions together give '{labels[int(shares.item[i])]}' a probability of "
                f"up to {shares.total[i]:.3g}; at most 1/{p:,} is allowed",
                (labels[int(shares.item[i])].as_py(),),
            )
            for i in worst
            if broken[i]
        ),
    )


@dataclass(frozen=True, eq=False)
class _Shares:
    """One entry per user and sensitive item of their groups: what the groups of all their transactions add up to."""

    user: Longs
    item: Longs
    total: npt.NDArray[np.float64]
    entry: Longs  # of each term: the entry it belongs to
    terms: tuple[Longs, Longs]  # holders and members of its group

    def above(self, p: int) -> Mask:
        """Which entries are above 1/p; those that are close to it are added up in whole numbers."""
        above: Mask = self.total > 1 / p
        holders, members = self.terms
        for i in np.flatnonzero(np.abs(self.total - 1 / p) < TIGHT):
            here = self.entry == i
            pairs = zip(holders[here].tolist(), members[here].tolist(), strict=True)
            above[i] = sum(Fraction(f, size) for f, size in pairs) > Fraction(1, p)
        return above


def _shares(members: Longs, group: Longs, item: Longs, count: Longs, users: Ints, width: int) -> _Shares:
    """For each transaction of a known user and each sensitive item of its group one term, added up by user and item."""
    groups, code = np.unique(np.concatenate((members, group)), return_inverse=True)
    of, where = code[: len(members)], code[len(members) :]
    known = users >= 0
    sizes = np.bincount(of[known], minlength=len(groups))
    pairs, line = np.unique(where * width + item, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, line.reshape(-1), np.clip(count, -MOST_COUNTED, MOST_COUNTED))
    pairs, total = pairs[total > 0], total[total > 0]
    held = pairs // width  # ascending: the entries of one group lie side by side
    first, last = np.searchsorted(held, of[known]), np.searchsorted(held, of[known], side="right")
    many = last - first
    term = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
    user = np.repeat(users[known].astype(np.int64), many)
    entries, entry = np.unique(user * width + pairs[term] % width, return_inverse=True)
    terms = total[term], sizes[held[term]]
    sums = np.bincount(entry.reshape(-1), weights=terms[0] / terms[1], minlength=len(entries)).astype(np.float64)
    return _Shares(entries // width, entries % width, sums, entry.reshape(-1), terms)


@dataclass(frozen=True)
class _Tally:
    """One entry per (group, sensitive item) that occurs: its occurrences and the size of its group."""

    group: Longs
    item: Longs
    count: Longs
    size: Longs
    groups: int


def _tally(release: Release) -> _Tally:
    members, group, item, count = _published_counts(release)
    groups, code = np.unique(np.concatenate((members, group)), return_inverse=True)
    sizes = np.bincount(code[: len(members)], minlength=len(groups))
    # An attacker adds up repeated lines, so the check does too.
    width = max(1, release.transactions.n_items)
    pairs, line = np.unique(code[len(members) :] * width + item, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, line.reshape(-1), np.clip(count, -MOST_COUNTED, MOST_COUNTED))
    pairs, total = pairs[total > 0], total[total > 0]
    where = pairs // width
    return _Tally(groups[where], pairs % width, total, sizes[where], int((sizes > 0).sum()))


def _published_counts(release: Release) -> tuple[Longs, Longs, Longs, Longs]:
    """The group of each transaction, and (group, item, count) of what is sensitive in it."""
    if release.groups is not None and release.counts is not None:
        counts = release.counts
        return (
            release.groups.astype(np.int64),
            counts.group.astype(np.int64),
            counts.item.astype(np.int64),
            counts.count.astype(np.int64),
        )
    data = release.transactions
    if data.sensitive is None or not data.sensitive.any():
        raise ParameterError("sensitive", "name the sensitive items", "none", "Without them there is nothing to check.")
    keys = _as_bytes(with_counts(data.quasi()))
    classes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    secret = data.sensitive_part()
    return classes, classes[secret.rows], secret.items.astype(np.int64), np.ones(secret.nnz, dtype=np.int64)


def with_counts(sets: Transactions) -> Transactions:
    """The same sets; where counts are published, an item with another count is another item."""
    if sets.counts is None:
        return sets
    pairs, codes = np.unique(sets.items * np.int64(2**32) + sets.counts + 2**31, return_inverse=True)
    names = sets.labels.take(pa.array(pairs // 2**32)).to_pylist()
    counts = quantity_texts(pairs % 2**32 - 2**31)
    labels = [f"{name} × {count}" for name, count in zip(names, counts, strict=True)]
    return Transactions.from_codes(sets.offsets, codes.reshape(-1), labels)


def _worst(tally: _Tally) -> Longs:
    """The entries from the smallest degree upwards."""
    return np.argsort(tally.size / tally.count, kind="stable").astype(np.int64)


def _degree_witnesses(release: Release, tally: _Tally, worst: Longs, p: int) -> list[Witness]:
    labels = release.transactions.labels
    found = []
    for i in worst[:MOST_WITNESSES]:
        count, size = int(tally.count[i]), int(tally.size[i])
        if count * p <= size:
            break
        name = labels[int(tally.item[i])].as_py()
        many = f"{count:,} time{'s' if count != 1 else ''} in group {int(tally.group[i]):,}"
        found.append(
            Witness(f"'{name}' occurs {many}, which needs {count * p:,} transactions and has {size:,}", (name,), size)
        )
    return found


def _form_witnesses(release: Release) -> list[Witness]:
    """What besides the counts would tie a sensitive item to a transaction."""
    assert release.groups is not None
    assert release.counts is not None
    data, counts = release.transactions, release.counts
    found = []
    exposed = _exposed_items(data, counts.item)
    if len(exposed):
        names = tuple(data.labels.take(pa.array(exposed[:MOST_WITNESSES])).to_pylist())
        found.append(
            Witness(f"{len(exposed):,} sensitive items stand inside published transactions", names, len(exposed))
        )
    if (counts.count < 0).any():
        wrong = int((counts.count < 0).sum())
        found.append(Witness(f"{wrong:,} counts of sensitive items are negative", size=wrong))
    lost = np.setdiff1d(counts.group[counts.count > 0], release.groups)
    if len(lost):
        found.append(Witness(f"{len(lost):,} groups have sensitive items but no transactions", size=len(lost)))
    unsorted = _groups_out_of_order(data, release.groups)
    if len(unsorted):
        found.append(
            Witness(
                f"the transactions of {len(unsorted):,} groups, such as group {int(unsorted[0]):,}, do not stand in "
                "the order of their items, so their order may tell who holds a sensitive item",
                size=len(unsorted),
            )
        )
    return found


def _exposed_items(data: Transactions, counted: Ints) -> Longs:
    secret = np.zeros(data.n_items, dtype=np.bool_) if data.sensitive is None else data.sensitive.copy()
    secret[counted] = True
    return distinct(data.items[secret[data.items]]).astype(np.int64)


def _groups_out_of_order(data: Transactions, groups: Ints) -> Longs:
    """The groups whose members, as they stand, are not sorted by their items."""
    order = np.argsort(groups, kind="stable")
    keys = _as_bytes(_in_natural_codes(data)).take(pa.array(order))
    same: Mask = groups[order][1:] == groups[order][:-1]
    rising = pc.less_equal(keys[:-1], keys[1:]).to_numpy(zero_copy_only=False) if len(keys) > 1 else same
    return distinct(groups[order][1:][same & ~rising]).astype(np.int64)


def _in_natural_codes(data: Transactions) -> Transactions:
    """The same sets under codes that follow the natural order of the labels."""
    rank = np.empty(data.n_items, dtype=np.int32)
    rank[natural_order(data.labels)] = np.arange(data.n_items, dtype=np.int32)
    return Transactions.from_codes(data.offsets, rank[data.items], data.labels)


def _as_bytes(sets: Transactions) -> pa.LargeBinaryArray:
    """Each set as one byte string that sorts as its items do."""
    values = pa.py_buffer(sets.items.astype(">i4").tobytes())
    bounds = pa.py_buffer((sets.offsets * 4).tobytes())
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sets), [None, bounds, values])


def _advice(situation: Situation) -> Suggestion | None:
    """For data with sensitive items, of which the most frequent one says how much can be promised."""
    data = situation.data
    if not situation.sensitive or data.sensitive is None or not data.sensitive.any():
        return None
    most = int(data.item_counts[data.sensitive].max(initial=0))
    possible = len(data) // max(1, most)
    if possible < 2:
        raise InfeasibleError(
            "A sensitive item is in more than half of the transactions: it cannot be hidden among others. "
            "Leave it out, or do not call it sensitive."
        )
    p = min(USUAL_P, possible)
    limit = "" if p == USUAL_P else f" More than {possible} is not possible: the most frequent one is that frequent."
    reasons = (
        f"{int(data.sensitive.sum()):,} items are sensitive. The others can then be published exactly, which keeps the "
        "data worth mining; the sensitive ones are published per group.",
        f"With p = {p} the counts of a group alone make nobody more than {1 / p:.0%} sure of a sensitive item.{limit}",
        "Groups are formed by chance among similar transactions, so that they do not tell around whom.",
    )
    return Suggestion("cahd-blind", {"p": p}, reasons)


SPEC = ModelSpec(
    name="privacy-degree",
    title="privacy degree",
    statement="in every published group a sensitive item occurs in at most one of {p} transactions",
    in_persons="the published groups of all transactions of a user together tie the user to no sensitive item with a "
    "probability above 1 in {p}",
    params=(P,),
    check=check,
    paper="G. Ghinita, P. Kalnis, Y. Tao, Anonymous Publication of Sensitive Transactional Data, TKDE 23(2), 2011",
    form="groups",
    usual_unit="transaction",  # what a user's transactions say together can seldom be bounded by groups
    default_method="cahd-blind",
    headline="p",
    meaning="even somebody who finds a person's group can be at most 1 in {p} sure of any sensitive item, from the "
    "group alone",
    stops=("inference",),
    limits=dict.fromkeys(("homogeneity", "posterior", "minimality"), lambda params: 1 / params["p"]),
    remedies={"inference": lambda params: (Suggestion("cahd-blind", {}, ()),)},
    weakest=lambda release: {"p": 2} if release.counts is not None or release.transactions.sensitive_names() else None,
    advice=_advice,
)
