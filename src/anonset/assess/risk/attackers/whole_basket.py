"""Whole basket: an attacker who knows all quasi-identifier items of a person looks for exactly that set.

The candidates are the transactions that hold these items (or the nodes that stand for them) and no other. The chance is
1 / candidates where the person's own is among them. Everybody is attacked, nothing is drawn.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.align import Pair
from anonset.assess.risk.distinct import keys_of
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.transactions import Floats, Longs, Mask, Transactions


def run(case: Case) -> tuple[Finding, ...]:
    """Everybody's chance, before and after."""
    if not len(case.data):
        return ()
    known, original, published = set_codes(case)
    before: Floats = 1 / np.bincount(known)[known]
    chances = Chances(exact_chance(case.facts, original, published), before)
    return (finding(SPEC, case, chances, upper_bound=case.row_origin is None),)


def set_codes(case: Case) -> tuple[Longs, Longs, Longs]:
    """A number for each set, of the original as it was, seen as published, and of the release; found once."""
    return case.once("set codes", lambda: pair_codes(case.facts))  # type: ignore[no-any-return]


def pair_codes(pair: Pair) -> tuple[Longs, Longs, Longs]:
    """The same for any pair."""
    original, published = codes(pair.original, pair.published)
    return original if pair.seen_as is None else codes(pair.known)[0], original, published


def exact_chance(pair: Pair, person: Longs, published: Longs) -> Floats:
    """For each original transaction 1 / published ones with exactly its set, where its own is one of them."""
    copies = np.bincount(published, minlength=int(person.max(initial=0)) + 1)[person]
    found = copies > 0
    if pair.row_origin is not None:
        own = pair.published_of()
        found &= (own >= 0) & (published[np.maximum(own, 0)] == person if len(published) else False)
    chance: Floats = np.where(found, 1 / np.maximum(copies, 1), 0.0)
    return chance


def among(pair: Pair, people: Longs, candidates: Mask) -> Chances:
    """The chance of each of these persons, who look all the same, to be picked from the published candidates."""
    many = int(candidates.sum())
    after = np.full(len(people), 1 / many if many else 0.0)
    if pair.row_origin is not None and many:
        own = pair.published_of()[people]
        after[(own < 0) | ~candidates[np.maximum(own, 0)]] = 0.0
    return Chances(after, np.full(len(people), 1 / len(people)))


def codes(*sides: Transactions) -> list[Longs]:
    """A number for each set, the same for equal sets on all sides, which share their items' codes."""
    import pyarrow as pa

    keys = pa.chunked_array([keys_of(side) for side in sides], type=pa.large_binary())
    numbers = keys.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.split(numbers, np.cumsum([len(side) for side in sides])[:-1])


SPEC = AttackSpec(
    name="whole-basket",
    part="singling out",
    title="whole basket",
    knows="all ordinary items of a person's transaction",
    run=run,
    reference="L. Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002",
)
