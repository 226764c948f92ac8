"""Who stands in a group that does not suit: what shares that are kept give away of secrets, in a release in rows.

A method that keeps the share of a secret below a limit puts a holder elsewhere where its group is full. Somebody who
knows everybody's ordinary items sees who is farther from the own group than from another one. Where that one is full of
the secret, a holder had to stay out of it, and anybody else could have come in; where it is not, the person was put
elsewhere for another reason. So of the members of a group the likeliest holder of a secret is the one with the largest

    (d(own) − least d of the other groups that are full) − max(0, d(own) − least d of the other groups with room)

with d the Hamming distance between a person's ordinary items and what a group publishes (of counts, the sum of the
differences). A group is full where one more holder in exchange for somebody else would exceed the limit.

Where groups are formed without a look at secrets, nobody stands anywhere because of one, and nothing is learnt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from anonset.assess.align import published_nodes
from anonset.assess.risk.attackers.homogeneity import marked
from anonset.assess.risk.distinct import distinct_sets
from anonset.assess.risk.spec import Case
from anonset.data.arrays import distinct
from anonset.data.errors import InputError
from anonset.data.transactions import Floats, Ints, Longs, Transactions

MEMBERS = 200
"""Members of a group that are compared; of larger groups so many are drawn."""
CELLS = 4_000_000
"""Distances that are held at once: where there are many groups, fewer members are compared with all of them."""
FAR = 2.0**40


@dataclass(frozen=True, eq=False)
class Placed:
    """Persons and the groups in which they stand, as far as ordinary items go, and how many of each hold a secret.

    `known` are the persons' items, `shown` what the groups publish, both in unary code; `of` is each person's group.
    Line i says that `held[i]` members of `group[i]` hold `secret[i]`; `holders` are these pairs (person, secret).
    """

    known: Any
    shown: Any
    of: Longs
    sizes: Longs
    group: Longs
    secret: Longs
    held: Longs
    holders: tuple[Longs, Longs]

    def full(self, secret: int, limit: float) -> Any:
        """Which groups may not have one more holder instead of somebody else."""
        held = np.zeros(len(self.sizes), dtype=np.int64)
        mine = self.secret == secret
        held[self.group[mine]] = self.held[mine]
        return held + 1 > limit * self.sizes + 1e-9

    def scores(self, line: int, members: Longs, limit: float) -> Floats:
        """How likely each of these members holds the secret of a line: the highest score is the likeliest."""
        group, full = int(self.group[line]), self.full(int(self.secret[line]), limit)
        known, shown = self.known[members], self.shown
        apart = known.sum(axis=1)[:, None] + shown.sum(axis=1)[None, :] - 2.0 * (known @ shown.T).toarray()
        own = apart[:, group].copy()
        apart[:, group] = FAR
        to_full = own - np.where(full, apart, FAR).min(axis=1)
        to_others = own - np.where(full, FAR, apart).min(axis=1)
        return np.asarray(to_full - np.maximum(to_others, 0.0))

    def right(self, line: int, limit: float, random: np.random.Generator) -> float:
        """The chance that a member with the highest score is a holder."""
        members = np.flatnonzero(self.of == self.group[line])
        most = max(2, min(MEMBERS, CELLS // len(self.sizes)))
        if len(members) > most:
            members = np.sort(random.choice(members, most, replace=False))
        scores = self.scores(line, members, limit)
        persons, secrets = self.holders
        best = members[scores == scores.max()]
        return float(np.isin(best, persons[secrets == self.secret[line]]).mean())


def placed(case: Case) -> Placed:
    """The groups of a release in rows, seen by somebody who knows everybody's ordinary items."""
    assert case.row_origin is not None
    published = marked(case).transactions
    quasi = published.quasi()
    first, of, _ = distinct_sets(quasi)
    people = np.flatnonzero(case.row_origin >= 0)
    known, shown = (_counts if quasi.counts is not None else _sets)(case, quasi.take(first))
    secret = published.sensitive_part()
    kinds = secret.labels if secret.attributes is None else secret.attributes
    codes = pc.dictionary_encode(kinds).indices.to_numpy(zero_copy_only=False).astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    held = distinct(secret.rows * width + codes[secret.items])
    held = held[case.row_origin[held // width] >= 0]
    lines, number = np.unique(of[held // width] * width + held % width, return_counts=True)
    return Placed(
        known=known[case.row_origin[people]],
        shown=shown,
        of=of[people],
        sizes=np.bincount(of[people], minlength=len(first)),
        group=lines // width,
        secret=lines % width,
        held=number,
        holders=(np.searchsorted(people, held // width), held % width),
    )


def _sets(case: Case, shown: Transactions) -> tuple[Any, Any]:
    """Known and published items in the vocabulary of the original, generalized as the release is."""
    known = case.pair.original
    place = pc.index_in(shown.labels, value_set=known.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    there = place[shown.items] >= 0  # categories that are said beside items are left aside
    rows, items = shown.rows[there], place[shown.items[there]]
    return _matrix(known.rows, known.items, len(known), known.n_items), _matrix(rows, items, len(shown), known.n_items)


def _counts(case: Case, shown: Transactions) -> tuple[Any, Any]:
    """Known and published counts of attributes, "at least one", "at least two" and so on being items."""
    data, degrees = case.data, case.data.sensitivity
    if case.hierarchy is None or degrees is None:
        raise InputError("Counts of attributes cannot be compared without the hierarchy and the degrees of the data.")
    secret = degrees >= case.params.get("threshold", np.inf)
    if data.sensitive is not None:
        secret = secret | data.sensitive[data.items]
    leaf = case.hierarchy.nodes_of(data.labels)
    node = np.where(leaf >= 0, published_nodes(np.maximum(leaf, 0), shown.labels, case.hierarchy), -1)
    names = case.hierarchy.names.take(np.maximum(node, 0))
    place = pc.index_in(names, value_set=shown.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    place = np.where(node >= 0, place, -1)[data.items]
    keep = ~secret & (place >= 0)
    pairs, many = np.unique(data.rows[keep] * shown.n_items + place[keep], return_counts=True)
    most = np.zeros(shown.n_items, dtype=np.int64)
    np.maximum.at(most, pairs % shown.n_items, many)
    assert shown.counts is not None
    np.maximum.at(most, shown.items, shown.counts)
    start = np.concatenate(([0], np.cumsum(most)))
    sides = (
        (pairs // shown.n_items, pairs % shown.n_items, many, len(data)),
        (shown.rows, shown.items, shown.counts, len(shown)),
    )
    one, other = (_unary(rows, codes, counts, start, size) for rows, codes, counts, size in sides)
    return one, other


def _unary(rows: Longs, codes: Longs | Ints, counts: Longs | Ints, start: Longs, size: int) -> Any:
    """A count of c as the items start, …, start + c − 1."""
    before: Longs = np.cumsum(counts, dtype=np.int64) - counts
    turn = np.arange(int(counts.sum())) - np.repeat(before, counts)
    return _matrix(np.repeat(rows, counts), np.repeat(start[codes], counts) + turn, size, int(start[-1]))


def _matrix(rows: Longs, items: Longs | Ints, size: int, width: int) -> Any:
    from scipy.sparse import csr_array  # slow to load

    return csr_array((np.ones(len(rows)), (rows, items)), shape=(size, max(1, width)))
