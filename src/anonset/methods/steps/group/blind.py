"""Blind formation: groups in which nothing but chance says which member holds a sensitive item.

Groups that are formed *around* holders tell who was sought: an attacker who knows the method rules out members that it
would not have brought together. Here every decision that looks at sensitive items is symmetric in the members of a
group:

1. Similar transactions are put side by side and cut into blocks; both look at quasi-identifier items alone.
2. A block that holds an item too often is joined with its sibling: blocks are the leaves of a binary tree, and a node
   is cut in two only if both halves have degree p.
3. Inside a block the transactions are shuffled, and holders are spread over its groups; that looks at sensitive items
   alone. Each group takes as many from one half of a joined block as from the other.

Any two members of a group (of one half) can be exchanged without changing the probability of what is published, so
each holds the item with probability count / size, at most 1/p, for everybody who has no other reason to suspect one of
them. A joined block tells that one of its halves holds too much, but not which one.
"""

from __future__ import annotations

import numpy as np

from anonset import _native
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Mask
from anonset.methods.steps.group.degree import DegreeProblem

BLOCK = 4  # groups in a block at least: more spread holders better, fewer keep groups more similar


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
    blocks = _blocks(problem)
    place = _shuffled(blocks, len(problem), job)
    offsets, secrets = _native.take_rows(problem.secret_offsets, problem.secrets, place, job.threads)
    with job.stage("group", total=len(problem)) as monitor:
        found = _native.blind_groups(offsets, secrets, blocks.reshape(-1), problem.p, monitor)
    groups = np.empty_like(found)
    groups[place] = found
    return groups


def _shuffled(blocks: Longs, n: int, job: Job) -> Longs:
    """All places, those of each half of a block in random order."""
    bounds = np.unique(blocks)
    half = np.searchsorted(bounds, np.arange(n), side="right")
    return np.lexsort((job.random("blind").random(n), half))


def _blocks(problem: DegreeProblem) -> Longs:
    """One row per block: where it begins, where its second half begins (its end if it is not joined), where it ends.

    From the root down: a node is cut where both halves hold every sensitive item in at most one of p transactions.
    """
    n = len(problem)
    leaves = 1 << (max(1, n // (problem.p * BLOCK)).bit_length() - 1)  # a power of two: halves are equally large
    holder = np.repeat(np.arange(n), np.diff(problem.secret_offsets))
    low, high = np.array([0]), np.array([leaves])
    done = []
    while len(low):
        middle = (low + high + 1) // 2
        bounds = np.stack((low, middle, high), axis=1) * n // leaves
        cut = (high - low > 1) & _both_good(problem, holder, bounds)
        done.append(bounds[~cut])
        low, high = np.concatenate((low[cut], middle[cut])), np.concatenate((middle[cut], high[cut]))
    blocks = np.concatenate(done)
    return np.asarray(blocks[np.argsort(blocks[:, 0], kind="stable")], dtype=np.int64)


def _both_good(problem: DegreeProblem, holder: Longs, bounds: Longs) -> Mask:
    """For each node whether no sensitive item is too frequent in either half."""
    starts = np.sort(bounds[:, :2].reshape(-1))
    ends = np.sort(bounds[:, 1:].reshape(-1))
    half = np.searchsorted(starts, holder, side="right") - 1
    inside = (half >= 0) & (holder < ends[half])
    width = max(1, problem.n_sensitive)
    pairs, count = np.unique(half[inside] * width + problem.secrets[inside], return_counts=True)
    size = ends - starts
    bad = np.unique(starts[pairs // width][count * problem.p > size[pairs // width]])
    return ~(np.isin(bounds[:, 0], bad) | np.isin(bounds[:, 1], bad))
