"""What attackers know: for each transaction some of its items, and maybe some items that it does not hold.

A *query* is m item codes known to be in one transaction. The number of transactions that hold them all is the
attacker's candidate set.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from anonset.data.transactions import Ints, Longs, Mask, Transactions

ATTACKERS = {
    "random": "knows m items of a transaction, any of them with equal chance",
    "rarest": "knows the m items of a transaction that are rarest in the data",
    "frequent": "knows the m items of a transaction that are most frequent in the data",
    "given": "knows the first m of the items given that a transaction holds",
}

MOST_ABSENT = 64
Words = npt.NDArray[np.uint64]


def preferred(data: Transactions, rows: Longs, m: int, attacker: str, given: Longs) -> Ints:
    """One query for each of these transactions: the m items that this attacker learns first."""
    if attacker == "given":
        rank = np.empty(data.n_items, dtype=np.int64)
        rank[given] = np.arange(len(given))
    else:
        rank = np.argsort(np.argsort(data.item_counts, kind="stable"))
        rank = rank if attacker == "rarest" else -rank
    order = np.lexsort((rank[data.items], data.rows))
    places = data.offsets[rows][:, None] + np.arange(m)
    return np.asarray(data.items[order][places], dtype=np.int32)


def drawn(data: Transactions, rows: Longs, m: int, random: np.random.Generator) -> Ints:
    """One query for each of these transactions: m of its items, every m-subset with equal chance (Floyd, 1987)."""
    lengths = data.lengths[rows]
    places = np.empty((len(rows), m), dtype=np.int64)
    for j in range(m):
        top = lengths - m + j
        place = random.integers(0, top + 1)
        taken = (places[:, :j] == place[:, None]).any(axis=1)
        places[:, j] = np.where(taken, top, place)
    return np.asarray(data.items[data.offsets[rows][:, None] + places], dtype=np.int32)


def all_subsets(data: Transactions, rows: Longs, m: int) -> tuple[Ints, Longs]:
    """Every m-subset of these transactions as a query, and the transaction it comes from."""
    queries, owners = [np.empty((0, m), dtype=np.int32)], [np.empty(0, dtype=np.int64)]
    lengths = data.lengths[rows]
    for length in np.unique(lengths):
        places = np.array(list(combinations(range(int(length)), m)), dtype=np.int64)
        same = rows[lengths == length]
        codes = data.items[data.offsets[same][:, None, None] + places]
        queries.append(codes.reshape(-1, m).astype(np.int32))
        owners.append(np.repeat(same, len(places)))
    return np.concatenate(queries), np.concatenate(owners)


def absence(data: Transactions, count: int) -> tuple[Words, Words]:
    """Which of the most frequent items each transaction holds, and which `count` of them are known to be absent.

    To know that somebody lacks a rare item says next to nothing, so this attacker knows the most frequent items that
    the transaction does not hold (among the 64 most frequent of all).
    """
    top = most_frequent(data)
    held = held_of(data, top)
    return held, lacking(held, len(top), count)


def most_frequent(data: Transactions, among: Mask | None = None) -> Longs:
    """The codes of the most frequent items (among these), at most as many as a word has bits."""
    order = np.argsort(-data.item_counts, kind="stable")
    return (order if among is None else order[among[order]])[:MOST_ABSENT]


def held_of(data: Transactions, top: Longs) -> Words:
    """Which of these items each transaction holds, one bit for each."""
    bit = np.zeros(data.n_items, dtype=np.uint64)
    bit[top] = np.uint64(1) << np.arange(len(top), dtype=np.uint64)
    held = np.zeros(len(data), dtype=np.uint64)
    some = data.lengths > 0
    if some.any():
        held[some] = np.bitwise_or.reduceat(bit[data.items], data.offsets[:-1][some])
    return held


def lacking(held: Words, size: int, count: int) -> Words:
    """For each transaction the first `count` of the items that it does not hold."""
    absent = np.zeros(len(held), dtype=np.uint64)
    taken = held.copy()
    everything = np.bitwise_or.reduce(np.uint64(1) << np.arange(size, dtype=np.uint64)) if size else np.uint64(0)
    for _ in range(count):
        lowest = ~taken & (taken + np.uint64(1)) & everything
        absent |= lowest
        taken |= lowest
    return absent
