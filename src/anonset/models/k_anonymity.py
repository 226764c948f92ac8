"""k-anonymity: every published set of quasi-identifier items is shared by at least k transactions.

Precondition   a release in rows; the quasi-identifier is every item that is not marked sensitive.
Check          read the published sets as byte strings, count equal ones, take the smallest count.
Postcondition  `holds` iff the smallest count is at least k (an empty release holds); `measured["k"]` is that count.
               Whoever knows all quasi-identifier items of a person is left with at least k transactions.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; for sets: Lin et al., "PTA", Definition 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anonset.release import Release, Verdict, Witness
from anonset.spec import ModelSpec, Param
from anonset.transactions import Longs, Transactions

MOST_WITNESSES = 5

K = Param(
    "k",
    "int",
    "How many transactions must share each published set: an attacker is left with at least k candidates.",
    required=True,
    minimum=2,
    short="-k",
    example=2,
)


def check(release: Release, k: int) -> Verdict:
    """Whether every published quasi-identifier set is shared by at least k transactions."""
    sets = release.transactions.quasi()
    examples, sizes = equal_sets(sets)
    smallest = int(sizes.min()) if len(sizes) else len(sets)
    holds = len(sets) == 0 or smallest >= k
    params = {"k": k}
    return Verdict(
        model="k-anonymity",
        params=params,
        promise=SPEC.promise(params),
        holds=holds,
        measured={"k": smallest, "groups": len(sizes), "below_k": int(sizes[sizes < k].sum())},
        witnesses=() if holds else _witnesses(sets, examples, sizes, k),
    )


def equal_sets(sets: Transactions) -> tuple[Longs, Longs]:
    """For each distinct set the first transaction that holds it, and how many do."""
    if not len(sets):
        empty = np.empty(0, dtype=np.int64)
        return empty, empty
    item_bytes = pa.py_buffer(sets.items.tobytes())
    bounds = pa.py_buffer((sets.offsets * sets.items.itemsize).tobytes())
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sets), [None, bounds, item_bytes])
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    return first.astype(np.int64), sizes.astype(np.int64)


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


SPEC = ModelSpec(
    name="k-anonymity",
    title="k-anonymity",
    statement="every published set of quasi-identifier items is shared by at least {k} transactions",
    params=(K,),
    check=check,
    paper="L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002",
    default_method="pta",
)
