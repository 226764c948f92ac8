"""Blind formation: groups in which nothing but chance says which member holds a sensitive item.

Groups that are formed *around* holders tell who was sought: an attacker who knows the method rules out members that it
would not have brought together. Here every decision that looks at sensitive items is symmetric in the members of a
group:

1. Similar transactions are put side by side and cut into blocks, the leaves of a binary tree; a node is cut in two
   wherever both halves have degree p.
2. A node that cannot be cut so is folded: its halves are laid beside one another as two *cells*, in each of which
   transactions are sorted by length. From then on it is cut between shorter and longer transactions, so that those of
   a group are about equally long; where that fails, it is folded once more.
3. Inside a block the transactions are shuffled, and holders are spread over its groups; that looks at sensitive items
   alone. Each group takes equally many from every cell.

Any two members of a group can be exchanged without changing the probability of what is published, so each holds the
item with probability count / size, at most 1/p, for everybody who has no other reason to suspect one of them. A folded
node tells that one of its halves holds too much, but not which one.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs
from anonset.methods.steps.group.degree import DegreeProblem

BLOCK = 4  # groups in a block at least: more spread holders better, fewer keep groups more similar
CELLS = 8  # cells of a block at most: more keep lengths in a group alike where items come in clusters; larger groups


def alike_in_length(order: Longs, lengths: Longs, width: int) -> Longs:
    """The order, each `width` neighbours sorted by length: how long a transaction is then says less about it.

    Examples
    --------
    >>> alike_in_length(np.array([3, 0, 2, 1]), np.array([1, 5, 2, 7]), 2).tolist()
    [0, 3, 2, 1]
    """
    return np.asarray(order[np.lexsort((lengths[order], np.arange(len(order)) // width))])


def blind_groups(problem: DegreeProblem, job: Job) -> Ints:
    """The group of each transaction; the problem's transactions stand in the ordering to be used."""
    lengths = np.diff(problem.offsets).astype(np.int32)
    keys = job.random("blind").random(len(problem))
    with job.stage("group", total=len(problem)) as monitor:
        groups, _ = _native.blind_groups(
            problem.secret_offsets,
            problem.secrets,
            lengths,
            keys,
            max(1, problem.n_sensitive),
            problem.p,
            BLOCK,
            CELLS,
            monitor,
        )
    return groups
