"""k-anonymity: every published set of quasi-identifier items is shared by at least k transactions.

Precondition   a release in rows; the quasi-identifier is every item that is not marked sensitive.
Check          read the published sets as byte strings (with the items' counts, where these are published), count equal
               ones, take the smallest count.
Postcondition  `holds` iff the smallest count is at least k (an empty release holds); `measured["k"]` is that count.
               Somebody who knows all quasi-identifier items of a person is left with at least k transactions.
Option         `diversity=p` promises privacy degree p of the same release, too: among the transactions that share a
               set, every sensitive item occurs in at most one of p. Both models check; both must hold.
Option         `protect="sensitive-only"` counts only sets that stand beside a sensitive item in some transaction
               ("sensitive k-anonymity"): a weaker promise, and its statement says so.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; for sets: Lin et al., "PTA", Definition 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.advice import Situation, Suggestion
from anonset.data.errors import ParameterError
from anonset.data.params import DIVERSITY, PROTECT, K
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec
from anonset.data.transactions import Longs, Mask, Transactions
from anonset.models import privacy_degree

MOST_WITNESSES = 5
DENSE = 0.05  # of all items in a transaction on average: data are called dense from there on


def check(release: Release, k: int, protect: str = "all", diversity: int | None = None) -> Verdict:
    """Whether every published quasi-identifier set (that is to be protected) is shared by at least k transactions.

    With `diversity`, privacy degree must hold, too.
    """
    verdict = _check(release, k, protect)
    if diversity is None:
        return verdict
    other = privacy_degree.check(release, diversity)
    params = {**verdict.params, "diversity": diversity}
    measured = {name: other.measured[name] for name in ("p", "degree", "groups_below_p")}
    return replace(
        verdict,
        params=params,
        promise=SPEC.promise(params),
        holds=verdict.holds and other.holds,
        measured={**verdict.measured, **measured},
        witnesses=(*verdict.witnesses, *other.witnesses),
    )


def _check(release: Release, k: int, protect: str) -> Verdict:
    sets = release.transactions.quasi()
    examples, sizes = equal_sets(sets)
    if protect != "all":
        beside = _beside_a_secret(release.transactions, sets, examples)
        examples, sizes = examples[beside], sizes[beside]
    smallest = int(sizes.min()) if len(sizes) else len(sets)
    holds = len(sizes) == 0 or smallest >= k
    params = SPEC.promised({"k": k, "protect": protect})
    return Verdict(
        model="k-anonymity",
        params=params,
        promise=SPEC.promise(params),
        holds=holds,
        measured={"k": smallest, "groups": len(sizes), "below_k": int(sizes[sizes < k].sum())},
        witnesses=() if holds else _witnesses(sets, examples, sizes, k),
    )


def equal_sets(sets: Transactions) -> tuple[Longs, Longs]:
    """For each distinct set the first transaction that holds it, and how many do; counts, where given, must agree."""
    if not len(sets):
        empty = np.empty(0, dtype=np.int64)
        return empty, empty
    _, first, sizes = np.unique(_codes(sets), return_index=True, return_counts=True)
    return first.astype(np.int64), sizes.astype(np.int64)


def _codes(sets: Transactions) -> Longs:
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
    codes = _codes(sets)
    marked = np.zeros(len(sets), dtype=np.bool_)
    marked[codes[np.diff(data.sensitive_part().offsets) > 0]] = True
    return marked[codes[examples]]


def _wording(params: Mapping[str, Any]) -> str:
    said = SPEC.statement
    if params.get("protect", "all") != "all":
        said = (
            "every published set of quasi-identifier items that stands beside a sensitive item is shared by at least "
            "{k} transactions; other transactions are not protected"
        )
    if params.get("diversity") is None:
        return said
    return f"{said}, and among those that share a set every sensitive item occurs in at most one of {{diversity}}"


def _witnesses(sets: Transactions, examples: Longs, sizes: Longs, k: int) -> tuple[Witness, ...]:
    worst = np.argsort(sizes, kind="stable")[:MOST_WITNESSES]
    return tuple(
        Witness(
            f"{int(sizes[i]):,} transaction{'s' if sizes[i] != 1 else ''} with this published set; {k:,} are needed",
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
    reasons = (
        "No item is more secret than another, and there is no hierarchy: every transaction hides among equals.",
        f"k = {situation.k} candidates is the usual choice for {len(data):,} transactions. The data are {shape}.",
    )
    return Suggestion("crowd", {"k": situation.k}, reasons)


SPEC = ModelSpec(
    name="k-anonymity",
    title="k-anonymity",
    statement="every published set of quasi-identifier items is shared by at least {k} transactions",
    params=(K,),
    check=check,
    paper="L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002",
    default_method="crowd",
    options=(PROTECT, DIVERSITY),
    wording=_wording,
    meaning="somebody who knows everything ordinary about a person still has at least {measured[k]:,} transactions to "
    "choose from, all looking the same",
    stops=("singling out",),
    group_size="k",
    weakest=lambda release: {"k": 2} if release.form == "rows" else None,
    advice=_advice,
    bound_at=lambda params: params["k"] if params.get("protect", "all") == "all" else None,
)
