"""k-anonymity: every published set of quasi-identifier items is shared by at least k transactions.

Precondition   a release in rows; the quasi-identifier is every item that is not marked sensitive.
Check          read the published sets as byte strings (with the items' counts, where these are published), count equal
               ones, take the smallest count.
Postcondition  `holds` iff the smallest count is at least k (an empty release holds); `measured["k"]` is that count.
               Somebody who knows all quasi-identifier items of a person is left with at least k transactions.
In persons     with the private user of each transaction: count the different known users whose transactions share a
               set. `persons.measured["k"]` is the smallest such number; unknown users count for nobody.
Option         `diversity=p` promises privacy degree p of the same release, too: among the transactions that share a
               set, every sensitive item occurs in at most one of p. Both models check; both must hold. In persons:
               of the different known users behind a set at most one of p holds the same sensitive item.
Option         `protect="sensitive-only"` counts only sets that stand beside a sensitive item in some transaction
               ("sensitive k-anonymity"): a weaker promise, and its statement says so.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; for sets: Lin et al., "PTA", Definition 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.advice import Situation, Suggestion
from anonset.data.arrays import distinct
from anonset.data.errors import ParameterError
from anonset.data.params import DIVERSITY, PROTECT, K
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Unit
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.models import privacy_degree

MOST_WITNESSES = 5
DENSE = 0.05  # of all items in a transaction on average: data are called dense from there on


def check(
    release: Release, k: int, protect: str = "all", diversity: int | None = None, users: Ints | None = None
) -> Verdict:
    """Whether every published quasi-identifier set (that is to be protected) is shared by at least k transactions.

    With `diversity`, privacy degree must hold, too. With `users` (private), it must be so many different users as well.
    """
    verdict = _check(release, k, protect, None)
    persons = None if users is None else _check(release, k, protect, users)
    if diversity is not None:
        verdict = _both(verdict, privacy_degree.in_transactions(release, diversity), "transaction")
        if persons is not None and users is not None:
            persons = _both(persons, _diverse_persons(release, diversity, users), "user")
    return verdict if persons is None else verdict.with_persons(persons)


def _both(verdict: Verdict, other: Verdict, unit: Unit) -> Verdict:
    """k-anonymity together with privacy degree."""
    params = {**verdict.params, "diversity": other.params["p"]}
    figures = ("p", "degree", "groups_below_p", "users_below_p")
    measured = {name: other.measured[name] for name in figures if name in other.measured}
    return replace(
        verdict,
        params=params,
        promise=SPEC.promise(params, unit),
        holds=verdict.holds and other.holds,
        measured={**verdict.measured, **measured},
        witnesses=(*verdict.witnesses, *other.witnesses),
    )


def _diverse_persons(release: Release, p: int, users: Ints) -> Verdict:
    """Whether of the different known users behind each set at most one of p holds the same sensitive item.

    Whoever holds one and is unknown counts as a holder of its own, and as none of those users.
    """
    data = release.transactions
    codes = set_codes(data.quasi())
    number = int(codes.max(initial=-1)) + 1
    behind = users_of_each(codes, users, number)
    secret = data.sensitive_part()
    whose = users[secret.rows].astype(np.int64)
    whose = np.where(whose < 0, int(users.max(initial=0)) + 1 + secret.rows, whose)
    pairs, pair = np.unique(codes[secret.rows] * data.n_items + secret.items, return_inverse=True)
    holders = users_of_each(pair.reshape(-1).astype(np.int64), whose, len(pairs))
    places = pairs // max(1, data.n_items)
    room = behind[places]
    broken = np.flatnonzero(holders * p > room)
    names = data.labels.take(pa.array(pairs[broken[:MOST_WITNESSES]] % max(1, data.n_items))).to_pylist()
    return Verdict(
        model="k-anonymity",
        params={"p": p},
        promise="",
        holds=not len(broken),
        measured={
            "p": int((room // np.maximum(holders, 1)).min()) if len(pairs) else count_users(users),
            "groups_below_p": len(distinct(places[broken])),
        },
        witnesses=tuple(
            Witness(f"{holders[i]:,} of {room[i]:,} users with a published set hold '{name}'; 1 of {p:,} may", (name,))
            for i, name in zip(broken[:MOST_WITNESSES], names, strict=True)
        ),
    )


def _check(release: Release, k: int, protect: str, users: Ints | None) -> Verdict:
    sets = release.transactions.quasi()
    examples, sizes = equal_sets(sets) if users is None else shared_by(sets, users)
    if protect != "all":
        beside = _beside_a_secret(release.transactions, sets, examples)
        examples, sizes = examples[beside], sizes[beside]
    everybody = len(sets) if users is None else count_users(users)
    smallest = int(sizes.min()) if len(sizes) else everybody
    holds = len(sizes) == 0 or smallest >= k
    params = SPEC.promised({"k": k, "protect": protect})
    below = {"below_k": int(sizes[sizes < k].sum())} if users is None else {"groups_below_k": int((sizes < k).sum())}
    return Verdict(
        model="k-anonymity",
        params=params,
        promise=SPEC.promise(params, "transaction" if users is None else "user"),
        holds=holds,
        measured={"k": smallest, "groups": len(sizes), **below},
        witnesses=() if holds else _witnesses(sets, examples, sizes, k, "transaction" if users is None else "user"),
    )


def equal_sets(sets: Transactions) -> tuple[Longs, Longs]:
    """For each distinct set the first transaction that holds it, and how many do; counts, where given, must agree."""
    if not len(sets):
        empty = np.empty(0, dtype=np.int64)
        return empty, empty
    _, first, sizes = np.unique(set_codes(sets), return_index=True, return_counts=True)
    return first.astype(np.int64), sizes.astype(np.int64)


def shared_by(sets: Transactions, users: Ints) -> tuple[Longs, Longs]:
    """For each distinct set the first transaction that holds it, and how many different known users do."""
    if not len(sets):
        return equal_sets(sets)
    _, first, codes = np.unique(set_codes(sets), return_index=True, return_inverse=True)
    return first.astype(np.int64), users_of_each(codes.reshape(-1), users, len(first))


def users_of_each(codes: Longs, users: Ints | Longs, count: int) -> Longs:
    """For each of `count` codes the number of different users beside it; a negative user is nobody.

    Examples
    --------
    >>> users_of_each(np.array([0, 0, 0, 1]), np.array([7, 7, 8, -1], dtype=np.int32), 2).tolist()
    [2, 0]
    """
    known = users >= 0
    width = int(users.max(initial=0)) + 1
    pairs = distinct(codes[known].astype(np.int64) * width + users[known])
    return np.bincount(pairs // width, minlength=count).astype(np.int64)


def count_users(users: Ints) -> int:
    """How many different known users there are."""
    return len(distinct(users[users >= 0]))


def set_codes(sets: Transactions) -> Longs:
    """A number for each transaction, the same for equal sets."""
    content = sets.items if sets.counts is None else np.column_stack((sets.items, sets.counts))
    item_bytes = pa.py_buffer(content.tobytes())
    bounds = pa.py_buffer((sets.offsets * (content.nbytes // max(1, sets.nnz))).tobytes())
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sets), [None, bounds, item_bytes])
    codes: Longs = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _beside_a_secret(data: Transactions, sets: Transactions, examples: Longs) -> Mask:
    """Which of the distinct sets some transaction publishes together with a sensitive item."""
    if data.sensitive is None or not data.sensitive.any():
        raise ParameterError("sensitive", "name the sensitive items", "none", "Without them nobody is protected.")
    codes = set_codes(sets)
    marked = np.zeros(len(sets), dtype=np.bool_)
    marked[codes[np.diff(data.sensitive_part().offsets) > 0]] = True
    return marked[codes[examples]]


def _wording(params: Mapping[str, Any]) -> str:
    persons = params.get("unit") == "user"
    said = SPEC.in_persons if persons else SPEC.statement
    if params.get("protect", "all") != "all":
        those = "transactions of at least {k} different users" if persons else "at least {k} transactions"
        said = (
            "every published set of quasi-identifier items that stands beside a sensitive item is shared by "
            f"{those}; other transactions are not protected"
        )
    if params.get("diversity") is None:
        return said
    if persons:
        return f"{said}, of whom at most one of {{diversity}} holds the same sensitive item"
    return f"{said}, and among those that share a set every sensitive item occurs in at most one of {{diversity}}"


def _witnesses(sets: Transactions, examples: Longs, sizes: Longs, k: int, unit: Unit) -> tuple[Witness, ...]:
    worst = np.argsort(sizes, kind="stable")[:MOST_WITNESSES]
    return tuple(
        Witness(
            f"{int(sizes[i]):,} {unit}{'s' if sizes[i] != 1 else ''} with this published set; {k:,} are needed",
            sets[int(examples[i])],
            int(sizes[i]),
        )
        for i in worst
        if sizes[i] < k
    )


def _advice(situation: Situation) -> Suggestion:
    """For data of which nothing else is known: every transaction hides among equals."""
    data = situation.data
    dense = data.nnz / len(data) > data.n_items * DENSE
    shape = "dense, so that little has to change" if dense else "sparse: expect to lose rare items"
    alike = "Whatever is secret about it," if situation.sensitive else "No item is more secret than another:"
    beside = "; categories stand beside the items that are left" if situation.hierarchy else ""
    reasons = (
        f"{alike} every transaction hides among equals{beside}.",
        f"k = {situation.k} candidates is the usual choice for {len(data):,} transactions. The data are {shape}.",
    )
    return Suggestion("crowd", {"k": situation.k}, reasons)


def _one_in_k(params: Mapping[str, Any]) -> float | None:
    """Whatever somebody knows of a transaction's quasi-identifier items, at least k published ones look like it."""
    return 1 / params["k"] if params.get("protect", "all") == "all" else None


def in_persons_only(limit: Callable[[Mapping[str, Any]], float | None]) -> Callable[[Mapping[str, Any]], float | None]:
    """A limit that is promised where different users are counted."""
    return lambda params: limit(params) if params.get("unit") == "user" else None


def _one_in_diversity(params: Mapping[str, Any]) -> float | None:
    """Among the transactions that share a set, an item is in at most one of so many."""
    return None if params.get("diversity") is None else 1 / params["diversity"]


def _less(params: Mapping[str, Any]) -> tuple[Suggestion, ...]:
    """Other groups, and a smaller k."""
    smaller = dict.fromkeys((max(2, params["k"] // 2), 2))
    return (Suggestion("crowd", {}, ()), *(Suggestion("crowd", {"k": k}, ()) for k in smaller))


FINDING = ("known-items", "absent-items", "nearest-match", "whole-basket", "longest-basket", "empty-basket")

SPEC = ModelSpec(
    name="k-anonymity",
    title="k-anonymity",
    statement="every published set of quasi-identifier items is shared by at least {k} transactions",
    in_persons="every published set of quasi-identifier items is shared by transactions of at least {k} different "
    "users",
    params=(K,),
    check=check,
    paper="L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002",
    default_method="crowd",
    options=(PROTECT, DIVERSITY),
    wording=_wording,
    meaning="somebody who knows everything ordinary about a person still has at least {measured[k]:,} transactions to "
    "choose from, all looking the same",
    stops=("singling out",),
    limits={
        **dict.fromkeys(FINDING, _one_in_k),
        "person-items": in_persons_only(_one_in_k),
        "homogeneity": _one_in_diversity,
    },
    remedies={
        "singling-out": lambda params: (Suggestion("", {"protect": "all"}, ()),),
        "inference": lambda params: (Suggestion("", {"diversity": 2}, ()), Suggestion("crowd", {"diversity": 2}, ())),
        "loss": _less,
    },
    group_size="k",
    weakest=lambda release: {"k": 2} if release.form == "rows" else None,
    advice=_advice,
    bound_at=lambda params: params["k"] if params.get("protect", "all") == "all" else None,
)
