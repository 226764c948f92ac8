"""A release in groups for tools that read plain transactions or a matrix: expected shares, or one possible world.

A group of |G| members in which a sensitive item occurs a times says of each member that it holds the item with
probability a / |G|, because every way of handing out the occurrences is equally likely (Ghinita, Kalnis and Tao,
Eq. 4). *Expected* writes that share beside the quasi-identifier items, which are published exactly; the sum over any
transactions is then the expected count, and distances for clustering (their Fig. 17) use all that the release says.
*Sampled* hands the occurrences out at random, each item independently of the others: plain transactions with the
counts of the release. Neither knows more than the release does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from anonset.data.errors import InputError
from anonset.data.release import Release
from anonset.data.transactions import MAX_ITEMS, Longs, Transactions


def expected(release: Any) -> Any:
    """A SciPy CSR array, one row per transaction and one column per label: 1, or the share of a sensitive item.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["cream", "test"], ["cream"], ["meat"], ["meat"]]
    >>> data = anonset.Transactions.from_lists(baskets, sensitive=["test"])
    >>> release = anonset.anonymize(data, method="nn", p=2, seed=1).release
    >>> release.transactions.labels.to_pylist(), sorted(expected(release).toarray().tolist())
    (['cream', 'meat', 'test'], [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [1.0, 0.0, 0.5]])
    """
    from scipy.sparse import csr_array

    release = _in_groups(release)
    assert release.counts is not None
    counts = release.counts
    numbers, member, size = _members(release)
    group = np.searchsorted(numbers, counts.group)
    shape = (len(size), release.transactions.n_items)
    share = csr_array((counts.count / size[group], (group, counts.item)), shape)
    matrix = csr_array(release.transactions.to_scipy().astype(np.float64) + share[member])
    if matrix.nnz <= MAX_ITEMS:  # scikit-learn takes 32-bit indices only
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def sampled(release: Any, seed: int | None = None) -> Transactions:
    """Transactions in which each group's occurrences of a sensitive item went to members drawn at random.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["cream", "test"], ["cream"], ["meat"], ["meat"]]
    >>> data = anonset.Transactions.from_lists(baskets, sensitive=["test"])
    >>> release = anonset.anonymize(data, method="nn", p=2, seed=1).release
    >>> sorted(sampled(release, seed=1))
    [('cream',), ('cream', 'test'), ('meat',), ('meat',)]
    """
    release = _in_groups(release)
    assert release.counts is not None
    data, counts = release.transactions, release.counts
    numbers, member, size = _members(release)
    order = np.argsort(member, kind="stable")
    start = np.concatenate(([0], np.cumsum(size)))
    random = np.random.default_rng(seed)
    drawn: list[Longs] = []
    for group, count in zip(np.searchsorted(numbers, counts.group), counts.count, strict=True):
        drawn.append(order[start[group] : start[group + 1]][random.permutation(size[group])[:count]])
    return _with_occurrences(data, drawn, np.repeat(counts.item, [len(rows) for rows in drawn]))


def _with_occurrences(data: Transactions, rows: Sequence[Longs], items: Any) -> Transactions:
    """The transactions with more items: the i-th of `items` in the i-th of all `rows`."""
    more = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    both = np.concatenate((data.rows, more))
    order = np.argsort(both, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(both, minlength=len(data)))))
    return Transactions.from_codes(
        offsets,
        np.concatenate((data.items, items))[order],
        data.labels,
        sensitive=data.sensitive,
        users=data.users,
        user_labels=data.user_labels,
        ids=data.ids,
    )


def _members(release: Release) -> tuple[Longs, Longs, Longs]:
    """The group numbers, for each transaction the place of its group among them, and the groups' sizes."""
    assert release.groups is not None
    numbers, member, size = np.unique(release.groups, return_inverse=True, return_counts=True)
    return numbers.astype(np.int64), member.reshape(-1), size


def _in_groups(release: Any) -> Release:
    if not isinstance(release, Release):
        from anonset.io import read_release

        return _in_groups(read_release(os.fspath(release) if isinstance(release, os.PathLike) else release))
    if release.form != "groups":
        raise InputError("'release' must be one in groups. Got one in rows. Any tool reads that as it is.")
    return release
