"""(k, p)-anonymity: at least k transactions look alike, and few of them hold something sensitive of one attribute.

Precondition   a release in rows: counts of attributes, and beside them each transaction's own sensitive items, which
               are marked. Each sensitive item has its attribute; where the release names none, the item itself is one.
Check          transactions with the same attributes and counts are a group. Every group needs at least k members. For
               every group G and attribute a: the members with a sensitive item of a are at most p · |G|.
Postcondition  `holds` iff both are true everywhere (an empty release holds). `measured["k"]` is the size of the
               smallest group, `measured["p"]` the largest share. An attacker who finds a person's group is left with at
               least k transactions, and is right about one sensitive attribute with a probability of at most p.

In persons     with the private user of each transaction: every group needs transactions of at least k different
               known users, and at most a share p of these holds something sensitive of an attribute there. A
               transaction of an unknown user counts for nobody, but one that holds something counts as one more holder.

p is taken for the fraction that it stands for (0.6 is 3/5, 0.3333333333333333 is 1/3), never for one above it, and
compared in whole numbers.

B. Zhang, J. C.-W. Lin, Q. Liu, P. Fournier-Viger, Y. Djenouri, "A (k, p)-anonymity Framework to Sanitize Transactional
Database with Personalized Sensitivity", Journal of Internet Technology 20(3), 2019, Definition 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.advice import Situation, Suggestion
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, ParameterError
from anonset.data.params import fraction
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param, Unit
from anonset.data.transactions import Ints, Longs, Transactions
from anonset.models.k_anonymity import FINDING, in_persons_only, users_of_each

MOST_WITNESSES = 5
USUAL_THRESHOLD = 0.75
USUAL_SHARE = 0.5
NEIGHBOURS = 5
PAPER = (
    "B. Zhang et al., A (k, p)-anonymity Framework to Sanitize Transactional Database with Personalized Sensitivity, "
    "Journal of Internet Technology 20(3), 2019"
)

K = Param(
    "k",
    "int",
    "How many transactions must share each published row of attribute counts.",
    required=True,
    minimum=2,
    short="-k",
    example=2,
)
P = Param(
    "p",
    "float",
    "Which share of a group, such as 0.5, may hold something sensitive of one attribute.",
    required=True,
    above=0.0,
    maximum=1.0,
    short="-p",
    example=0.5,
)


def check(release: Release, k: int, p: float, users: Ints | None = None) -> Verdict:
    """Whether the release keeps both halves of the promise; with `users` (private), also in persons."""
    if release.form != "rows":
        raise ParameterError("model", "be one that speaks about groups, such as privacy-degree", "kp-anonymity")
    data = release.transactions
    groups = _groups(data)
    verdict = _verdict(data, groups, _shares(data, groups), k, p, "transaction")
    if users is None:
        return verdict
    persons = replace(groups, sizes=users_of_each(groups.of, users, len(groups.sizes)))
    return verdict.with_persons(_verdict(data, persons, _shares(data, persons, users), k, p, "user"))


def _verdict(data: Transactions, groups: _Groups, shares: _Shares, k: int, p: float, unit: Unit) -> Verdict:
    limit = fraction(p)
    small = np.flatnonzero(groups.sizes < k)
    crowded = np.flatnonzero(shares.holders * limit.denominator > shares.sizes * limit.numerator)
    params = {"k": k, "p": p}
    return Verdict(
        model="kp-anonymity",
        params=params,
        promise=SPEC.promise(params, unit),
        holds=not len(small) and not len(crowded),
        measured={
            "k": int(groups.sizes.min()) if len(groups.sizes) else len(data),
            "p": float((shares.holders / np.maximum(shares.sizes, 1)).max(initial=0.0)),
            "groups": len(groups.sizes),
            "groups_below_k": len(small),
            "groups_above_p": len(distinct(shares.group[crowded])),
        },
        witnesses=(*_too_small(data, groups, small, k, unit), *_too_frequent(data, groups, shares, crowded, p, unit)),
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Transactions with equal attribute counts: the group of each, and of each group its size and a first member."""

    of: Longs
    first: Longs
    sizes: Longs


@dataclass(frozen=True, eq=False)
class _Shares:
    """For each group and attribute of which something sensitive occurs there: how many members hold it, of how many."""

    group: Longs
    attribute: Longs
    holders: Longs
    sizes: Longs
    names: pa.StringArray


def _groups(data: Transactions) -> _Groups:
    """Every row of attributes and counts as one byte string; equal strings are a group."""
    if not len(data):
        none = np.empty(0, dtype=np.int64)
        return _Groups(none, none, none)
    quasi = data.quasi()
    counts = np.ones(quasi.nnz, dtype=np.int32) if quasi.counts is None else quasi.counts
    there = counts != 0  # a count of 0 says as much as no line at all
    sizes = np.bincount(quasi.rows[there], minlength=len(quasi))
    cells = np.column_stack((quasi.items[there], counts[there])).astype(np.int32)
    bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64) * cells.itemsize * 2
    buffers = [None, pa.py_buffer(bounds.tobytes()), pa.py_buffer(cells.tobytes())]
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(quasi), buffers)
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, of, members = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return _Groups(of.reshape(-1).astype(np.int64), first.astype(np.int64), members.astype(np.int64))


def _shares(data: Transactions, groups: _Groups, users: Ints | None = None) -> _Shares:
    """Of transactions, or, where users are given, of users; an unknown one is somebody else each time."""
    secret = data.sensitive_part()
    encoded = pc.dictionary_encode(data.labels if data.attributes is None else data.attributes)
    attribute = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)[secret.items]
    width = max(1, len(encoded.dictionary))
    held = distinct(secret.rows * width + attribute)  # two sensitive items of one attribute count once
    pair = groups.of[held // width] * width + held % width
    if users is not None:  # two transactions of one user in a group count once
        holder = users[held // width].astype(np.int64)
        holder = np.where(holder < 0, int(users.max(initial=0)) + 1 + held // width, holder)
        pair = np.unique(np.column_stack((pair, holder)), axis=0)[:, 0] if len(pair) else pair
    pairs, holders = np.unique(pair, return_counts=True)
    group = pairs // width
    return _Shares(group, pairs % width, holders.astype(np.int64), groups.sizes[group], encoded.dictionary)


def _too_small(data: Transactions, groups: _Groups, small: Longs, k: int, unit: Unit) -> list[Witness]:
    worst = small[np.argsort(groups.sizes[small], kind="stable")][:MOST_WITNESSES]
    return [
        Witness(
            f"{int(groups.sizes[g]):,} {unit}{'s' if groups.sizes[g] != 1 else ''} with these attribute counts; "
            f"{k:,} are needed",
            _row(data, int(groups.first[g])),
            int(groups.sizes[g]),
        )
        for g in worst
    ]


def _too_frequent(
    data: Transactions, groups: _Groups, shares: _Shares, crowded: Longs, p: float, unit: Unit
) -> list[Witness]:
    share = shares.holders[crowded] / np.maximum(shares.sizes[crowded], 1)
    worst = crowded[np.argsort(-share, kind="stable")][:MOST_WITNESSES]
    return [
        Witness(
            f"{int(shares.holders[i]):,} of {int(shares.sizes[i]):,} {unit}s with these attribute counts hold "
            f"something sensitive of '{shares.names[int(shares.attribute[i])]}'; at most a share of {p:g} may",
            _row(data, int(groups.first[shares.group[i]])),
            int(shares.holders[i]),
        )
        for i in worst
    ]


def _row(data: Transactions, row: int) -> tuple[str, ...]:
    """The attributes of a published transaction with their counts."""
    quasi = data.quasi()
    names = quasi[row]
    if quasi.counts is None:
        return names
    counts = quasi.counts[quasi.offsets[row] : quasi.offsets[row + 1]].tolist()
    return tuple(f"{name}: {count}" for name, count in zip(names, counts, strict=True))


def _weakest(release: Release) -> dict[str, float] | None:
    """Two of a kind, whatever they hold, where counts are published."""
    return {"k": 2, "p": 1.0} if release.form == "rows" and release.transactions.counts is not None else None


def _advice(situation: Situation) -> Suggestion | None:
    """For data in which everybody says how sensitive an item is."""
    data = situation.data
    if not situation.sensitive or data.sensitivity is None:
        return None
    most = largest_share(data, USUAL_THRESHOLD)
    p = max(USUAL_SHARE, math.ceil(20 * most + 1) / 20)
    if p > 1:
        raise InfeasibleError(
            "Nearly everybody holds something sensitive of one kind: it cannot be hidden among others. "
            "Raise the threshold of degrees, or leave that kind out."
        )
    reasons = (
        "Everybody says what is sensitive: what reaches the threshold is published as it is, the rest as counts of "
        "kinds.",
        f"Of one kind up to {most:.0%} of all transactions hold something sensitive. A share of p = {p:g} in each "
        "group leaves room to choose who stands beside whom. Name a hierarchy for kinds that mean something.",
    )
    return Suggestion("kp-crowd", {"k": situation.k, "p": p, "threshold": USUAL_THRESHOLD}, reasons)


def largest_share(data: Transactions, threshold: float) -> float:
    """Of all transactions, how many hold something sensitive of the kind of which most do."""
    assert data.sensitivity is not None
    secret = data.sensitivity >= threshold
    if data.sensitive is not None:
        secret = secret | data.sensitive[data.items]
    kinds = _kinds(data)
    held = distinct(data.rows[secret] * (int(kinds.max(initial=0)) + 1) + kinds[data.items[secret]])
    return float(np.bincount(held % (int(kinds.max(initial=0)) + 1)).max(initial=0)) / len(data)


def _kinds(data: Transactions) -> Longs:
    """The attribute of each item; where the data name none, neighbouring items that occur, five by five.

    This is what a method does without a hierarchy; so few items that they would be one kind are a kind each.
    """
    if data.attributes is not None:
        return np.asarray(pc.dictionary_encode(data.attributes).indices).astype(np.int64)
    used = np.flatnonzero(data.item_counts > 0)
    kinds = np.zeros(data.n_items, dtype=np.int64)
    kinds[used] = np.arange(len(used)) // (NEIGHBOURS if len(used) > NEIGHBOURS else 1)
    return kinds


SPEC = ModelSpec(
    name="kp-anonymity",
    title="(k, p)-anonymity",
    statement="every published row of attribute counts is shared by at least {k} transactions, of which at most "
    "a share of {p} holds something sensitive of one attribute",
    in_persons="every published row of attribute counts is shared by transactions of at least {k} different users, of "
    "whom at most a share of {p} holds something sensitive of one attribute",
    params=(K, P),
    check=check,
    paper=PAPER,
    publishes=("counts", "attributes", "sensitivity"),
    default_method="ant",
    meaning="ordinary items are published only as counts of their kinds. Somebody who knows these of a person still "
    "has at least {measured[k]:,} transactions to choose from, and in none of these groups does more than "
    "{measured[p]:.1%} hold something of one kind that they call sensitive",
    stops=("singling out", "inference"),
    limits={
        **dict.fromkeys(FINDING, lambda params: 1 / params["k"]),
        "person-items": in_persons_only(lambda params: 1 / params["k"]),
        "homogeneity": lambda params: params["p"],
    },
    remedies={
        "inference": lambda params: (Suggestion("", {"p": params["p"] / 2}, ()),),
        "loss": lambda params: (Suggestion("kp-crowd", {}, ()), Suggestion("kp-crowd", {"k": 2}, ())),
    },
    weakest=_weakest,
    advice=_advice,
)
