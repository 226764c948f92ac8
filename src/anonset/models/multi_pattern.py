"""k-anonymity of combinations of patterns: somebody who knows up to M habits of a user is left with at least k users.

Words (Hsu and Tsai, Definitions 1 to 7). A *pattern* is a set of quasi-identifier items that at least σ of the
published transactions hold, of any users. A user *contains* a pattern if one of the user's own transactions
holds all of its items. A pattern is one of the user's *maximal* patterns if the user contains it and contains no larger
pattern that includes it. The *anonymity degree* of a combination of patterns is the number of users who contain every
one of them, in one transaction or in several.

Precondition   a release in rows whose transactions say which user they belong to.
Check          mine the published transactions for all patterns; note for each which users contain it and for whom it
               is maximal; count the anonymity degree of every set of 1 to M patterns that are all maximal for one user.
Postcondition  `holds` iff every such degree is at least k (a release without patterns holds). `measured["k"]` is the
               smallest degree, or the number of users where there is no pattern at all. A release that holds at σ
               holds at every σ′ ≥ σ, but not at σ − 1: what one transaction less would make a pattern is not looked at.

The mining is this file's own, in NumPy: nothing here is shared with the methods. A witness names a combination of
patterns and its degree, never a user.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonset.data.advice import Situation, Suggestion
from anonset.data.errors import ParameterError
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param, as_count
from anonset.data.transactions import Ints, Longs, Transactions

Bits = npt.NDArray[np.uint64]

MOST_WITNESSES = 5
USUAL_SUPPORT = 0.01
MOST_PATTERNS = 200_000
MOST_COMBINATIONS = 100_000_000
BLOCK = 1 << 26  # bytes of bitmaps that one step of the walk over combinations may hold

K = Param(
    "k",
    "int",
    "How many users must share every combination of patterns: an attacker is left with at least k of them.",
    required=True,
    minimum=2,
    short="-k",
    example=2,
)
COMBINATIONS = Param(
    "combinations",
    "int",
    "How many patterns of one user an attacker may know (M).",
    default=2,
    minimum=1,
    maximum=20,
    example=2,
)
SUPPORT = Param(
    "support",
    "count",
    "How many transactions must hold an itemset to make it a pattern (σ): a count, or a fraction of the original "
    "transactions, which becomes a count before the work.",
    required=True,
    example=0.1,
)


def check(release: Release, k: int, combinations: int, support: float) -> Verdict:
    """Whether every combination of up to M maximal patterns of a user is shared by at least k users.

    A support below 1 is a fraction of the *published* transactions, which need not be as many as the original ones
    were; promise and `measured["support"]` say which number that is.
    """
    data = release.transactions.quasi()
    least = _least(support, len(data))
    table = _pattern_table(data, least)
    tally = _Tally(k, combinations)
    for size, sets, degrees in _combinations(table, combinations):
        tally.add(size, sets, degrees)
    params = {"k": k, "combinations": combinations, "support": support}
    return Verdict(
        model="multi-pattern",
        params=params,
        promise=SPEC.promise({**params, "support": _words(support, least)}),
        holds=not any(tally.below),
        measured={
            "k": table.users if tally.lowest is None else tally.lowest,
            "users": table.users,
            "support": least,
            "patterns": len(table.patterns),
            "combinations": sum(tally.count),
            "below_k": sum(tally.below),
            "combinations_by_size": tally.count,
            "below_k_by_size": tally.below,
        },
        witnesses=tuple(_witness(data, table, degree, members, k) for degree, members in tally.worst),
    )


def _least(support: float, transactions: int) -> int:
    """The support as a number of transactions."""
    if 0 < transactions < support:
        most = f"be at most the number of transactions ({transactions:,})"
        raise ParameterError("support", most, int(support), "Nothing can be a pattern with a larger one.")
    return as_count(support, transactions)


def _words(support: float, least: int) -> str:
    return f"{least:,}, which is {support:g} of the published transactions" if support < 1 else f"{least:,}"


# --- which patterns there are, and who contains them ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Table:
    """The patterns (item codes), and as bitmaps over the users who contains each and for whom it is maximal."""

    patterns: list[tuple[int, ...]]
    held: Bits
    maximal: Bits
    users: int


def _pattern_table(data: Transactions, least: int) -> _Table:
    if data.users is None:
        advice = "Name the column that holds them; combinations of patterns are about users."
        raise ParameterError("users", "say whom each transaction belongs to", "none", advice)
    present, user = np.unique(data.users, return_inverse=True)
    patterns: list[tuple[int, ...]] = []
    bitmaps: list[Bits] = []
    for pattern, members in _mine(data, least):
        if len(patterns) == MOST_PATTERNS:
            most = f"leave at most {MOST_PATTERNS:,} patterns"
            raise ParameterError("support", most, f"more of them at {least:,}", "Choose a larger support.")
        mask = np.zeros(len(present), dtype=np.bool_)
        mask[user[members]] = True
        patterns.append(pattern)
        bitmaps.append(_packed(mask[None, :])[0])
    held = np.stack(bitmaps) if bitmaps else np.zeros((0, 1), dtype=np.uint64)
    return _Table(patterns, held, held & ~_covered(patterns, held), len(present))


def _mine(data: Transactions, least: int) -> Iterator[tuple[tuple[int, ...], Longs]]:
    """Every pattern with the transactions that hold it, depth first."""
    counts = data.item_counts
    rarest = np.argsort(counts, kind="stable")
    rarest = rarest[counts[rarest] >= least]
    rank = np.full(data.n_items, -1, dtype=np.int64)
    rank[rarest] = np.arange(len(rarest))
    known = rank[data.items] >= 0
    codes, rows = rank[data.items[known]], data.rows[known]
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(data)))))
    by_item = np.argsort(codes, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(rarest)))))
    for first in range(len(rarest)):
        members = rows[by_item[bounds[first] : bounds[first + 1]]]
        later, bits = _projected(codes, starts, members, first, least)
        for ranks, chosen in _deepen(first, later, bits, len(members), least):
            yield tuple(sorted(rarest[list(ranks)].tolist())), members[chosen]


def _projected(codes: Longs, starts: Longs, members: Longs, first: int, least: int) -> tuple[Longs, Bits]:
    """The items after `first` that are frequent among these transactions, and a bitmap over them for each."""
    sizes = starts[members + 1] - starts[members]
    ends = np.cumsum(sizes)
    place = np.repeat(starts[members] - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
    local = np.repeat(np.arange(len(members)), sizes)
    counts = np.bincount(codes[place], minlength=first + 1)
    counts[: first + 1] = 0
    later = np.flatnonzero(counts >= least)
    position = np.full(len(counts), -1)
    position[later] = np.arange(len(later))
    line = position[codes[place]]
    matrix = np.zeros((len(later), len(members)), dtype=np.bool_)
    matrix[line[line >= 0], local[line >= 0]] = True
    return later, _packed(matrix)


def _deepen(
    first: int, later: Longs, bits: Bits, size: int, least: int
) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.bool_]]]:
    """All patterns that begin with `first`, each with a mask over its transactions; a stack instead of recursion."""
    yield (first,), np.ones(size, dtype=np.bool_)
    stack: list[tuple[tuple[int, ...], Longs, Bits, int]] = [((first,), later, bits, 0)]
    while stack:
        prefix, items, sets, at = stack.pop()
        if at == len(items):
            continue
        stack.append((prefix, items, sets, at + 1))
        pattern = (*prefix, int(items[at]))
        yield pattern, _unpacked(sets[at], size)
        both = sets[at + 1 :] & sets[at]
        frequent = _ones(both) >= least
        stack.append((pattern, items[at + 1 :][frequent], both[frequent], 0))


def _covered(patterns: list[tuple[int, ...]], held: Bits) -> Bits:
    """For each pattern the users who contain one that is larger by one item."""
    index = {pattern: i for i, pattern in enumerate(patterns)}
    pairs = [
        (index[pattern[:i] + pattern[i + 1 :]], child)
        for pattern, child in index.items()
        if len(pattern) > 1
        for i in range(len(pattern))
    ]
    out = np.zeros_like(held)
    if pairs:
        smaller, larger = np.array(sorted(pairs), dtype=np.int64).T
        parents, first = np.unique(smaller, return_index=True)
        out[parents] = np.bitwise_or.reduceat(held[larger], first, axis=0)
    return out


# --- combinations ---------------------------------------------------------------------------------------------------


def _combinations(table: _Table, most: int) -> Iterator[tuple[int, Ints, Longs]]:
    """All sets of 1 to `most` patterns that are maximal for one user, block by block, with their degrees."""
    live = np.flatnonzero(table.maximal.any(axis=1))
    held, maximal = table.held[live], table.maximal[live]
    _require_countable(table, maximal, most)
    singles = np.arange(len(live), dtype=np.int32)[:, None]
    if not len(live):
        return
    yield 1, live[singles].astype(np.int32), _ones(held)
    stack = [_grown(singles, held, maximal, held, maximal)] if most > 1 else []
    while stack:  # depth first, so that no more than one block per size is held
        block = next(stack[-1], None)
        if block is None:
            stack.pop()
            continue
        sets, users, owners = block
        yield len(stack) + 1, live[sets].astype(np.int32), _ones(users)
        if len(stack) + 1 < most:
            stack.append(_grown(sets, users, owners, held, maximal))


def _grown(
    sets: Ints, users: Bits, owners: Bits, held: Bits, maximal: Bits
) -> Iterator[tuple[Ints, Bits, Bits]]:  # fmt: skip
    """The sets with one more, later pattern; sets are in the order of their last pattern, and stay so."""
    room = max(1, BLOCK // (16 * held.shape[1]))
    parts: list[tuple[Ints, Bits, Bits]] = []
    waiting = 0
    for pattern in range(len(held)):
        before = int(np.searchsorted(sets[:, -1], pattern))
        own = owners[:before] & maximal[pattern]
        alive = np.flatnonzero(own.any(axis=1))
        if not len(alive):
            continue
        last = np.full((len(alive), 1), pattern, dtype=np.int32)
        parts.append((np.hstack((sets[alive], last)), users[alive] & held[pattern], own[alive]))
        waiting += len(alive)
        if waiting >= room:
            yield _joined(parts)
            parts, waiting = [], 0
    if parts:
        yield _joined(parts)


def _joined(parts: list[tuple[Ints, Bits, Bits]]) -> tuple[Ints, Bits, Bits]:
    sets, users, owners = zip(*parts, strict=True)
    return np.concatenate(sets), np.concatenate(users), np.concatenate(owners)


def _require_countable(table: _Table, maximal: Bits, most: int) -> None:
    """Refuse a number of combinations that nobody wants to wait for."""
    each = np.zeros(table.users, dtype=np.int64)
    for line in maximal:
        each += _unpacked(line, table.users)
    sizes, users = np.unique(each, return_counts=True)
    total = sum(
        int(count) * _choices(int(size), most) for size, count in zip(sizes, users, strict=True)
    )  # shared ones counted more than once
    total = min(total, _choices(len(maximal), most))
    if total > MOST_COMBINATIONS:
        raise ParameterError(
            "combinations",
            f"leave at most {MOST_COMBINATIONS:,} combinations of patterns",
            f"{most} with up to {total:.1e} of them",
            "Choose a smaller number or a larger support.",
        )


def _choices(patterns: int, most: int) -> int:
    return sum(math.comb(patterns, size) for size in range(1, most + 1))


class _Tally:
    """What is remembered of all combinations: how many of each size, how many fail, the lowest degree, the worst."""

    def __init__(self, k: int, most: int) -> None:
        self.k = k
        self.count = [0] * most
        self.below = [0] * most
        self.lowest: int | None = None
        self.worst: list[tuple[int, tuple[int, ...]]] = []

    def add(self, size: int, sets: Ints, degrees: Longs) -> None:
        failing = np.flatnonzero(degrees < self.k)
        smallest = int(degrees.min())
        self.count[size - 1] += len(degrees)
        self.below[size - 1] += len(failing)
        self.lowest = smallest if self.lowest is None else min(self.lowest, smallest)
        few = failing[np.argsort(degrees[failing], kind="stable")[:MOST_WITNESSES]]
        self.worst += [(int(degrees[i]), tuple(sets[i].tolist())) for i in few]
        self.worst = sorted(self.worst, key=lambda found: (found[0], len(found[1]), found[1]))[:MOST_WITNESSES]


def _witness(data: Transactions, table: _Table, degree: int, members: tuple[int, ...], k: int) -> Witness:
    names = tuple(" + ".join(data.labels[item].as_py() for item in table.patterns[member]) for member in members)
    who = f"{degree:,} user{'s' if degree != 1 else ''}"
    what = "this pattern" if len(names) == 1 else f"these {len(names)} patterns together"
    return Witness(f"{who} with {what}; {k:,} are needed", names, degree)


# --- bitmaps --------------------------------------------------------------------------------------------------------


def _packed(matrix: npt.NDArray[np.bool_]) -> Bits:
    """Each line of a table of booleans as 64-bit words."""
    lines, columns = matrix.shape
    padded = np.zeros((lines, max(8, -(-columns // 64) * 8)), dtype=np.uint8)
    small = np.packbits(matrix, axis=1)
    padded[:, : small.shape[1]] = small
    return padded.view(np.uint64)


def _unpacked(line: Bits, size: int) -> npt.NDArray[np.bool_]:
    return np.unpackbits(line.view(np.uint8), count=size).view(np.bool_)


_ONES_IN_TWO_BYTES = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8)).reshape(-1, 16).sum(axis=1)


def _ones(bits: Bits) -> Longs:
    """The number of ones in each line."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
    return np.asarray(_ONES_IN_TWO_BYTES[np.ascontiguousarray(bits).view(np.uint16)].sum(axis=1, dtype=np.int64))


def _weakest(release: Release) -> dict[str, int] | None:
    """Pairs of habits that one transaction of a hundred shows."""
    if release.form != "rows" or release.transactions.users is None or not len(release):
        return None
    return {"k": 2, "combinations": 2, "support": max(2, round(USUAL_SUPPORT * len(release)))}


def _advice(situation: Situation) -> Suggestion | None:
    """For data in which users come again and their history is to be protected."""
    data = situation.data
    if not situation.users or data.users is None:
        return None
    people = len(np.unique(data.users))
    support = max(2, math.floor(USUAL_SUPPORT * len(data)))
    reasons = (
        f"{people:,} users have {len(data) / people:.1f} transactions each: what they repeat identifies them, which no "
        "model of single transactions protects.",
        f"Patterns count from {support:,} transactions (1 %) on; rarer ones are noise to mining as well.",
    )
    return Suggestion("kamp", {"k": min(situation.k, max(2, people // 2)), "support": support}, reasons)


SPEC = ModelSpec(
    name="multi-pattern",
    title="k-anonymity of combinations of patterns",
    statement="every combination of up to {combinations} patterns (support {support}) that a user has is shared by at "
    "least {k} users",
    params=(K, COMBINATIONS, SUPPORT),
    check=check,
    paper="C.-H. Hsu, H.-P. Tsai, KAMP: Preserving k-anonymity for Combinations of Patterns, IEEE MDM, 2013",
    protects_users=True,
    reads=(),
    default_method="kamp",
    meaning="somebody who knows up to {combinations} habits of a person (sets of items that turn up often) finds at "
    "least {k} users who have them all. Users are published under pseudonyms",
    stops=("singling out", "linking"),
    weakest=_weakest,
    advice=_advice,
)
