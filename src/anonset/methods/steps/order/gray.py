"""Gray order: transactions sorted by the rank of their bitmap, read as a Gray code word.

Neighbouring Gray code words differ in one bit, so neighbours in this order tend to share their items.
F. Gray, US patent 2,632,058, 1953; for transactions: Ghinita et al., 2008, and Lin et al., "PTA", section 4.1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.job import Job
from anonset.data.spec import Param
from anonset.data.transactions import Ints, Longs, Transactions, natural_order

ItemOrder = Literal["frequency", "given", "label"]

ITEM_ORDER = Param(
    "item_order",
    "choice",
    "Which items decide first where a transaction is sorted: the most frequent; those that the data name first (in a "
    "wide table, the columns); or by label.",
    default="frequency",
    choices=("frequency", "given", "label"),
    example="frequency",
)


def item_ranks(data: Transactions, item_order: ItemOrder = "frequency", threads: int = 1) -> Ints:
    """The position of each item, the most significant first; equally frequent items stay in code order.

    Examples
    --------
    >>> data = Transactions.from_lists(["ca", "b", "b"])
    >>> [item_ranks(data, order).tolist() for order in ("frequency", "given", "label")]
    [[1, 0, 2], [1, 2, 0], [0, 1, 2]]
    """
    ranks = np.arange(data.n_items, dtype=np.int32)
    if item_order == "given":
        return ranks if data.appearance is None else data.appearance
    if item_order == "label":
        order = natural_order(data.labels)
    else:
        order = np.argsort(-_native.item_counts(data.items, data.n_items, threads), kind="stable")
    ranks[order] = np.arange(data.n_items, dtype=np.int32)
    return ranks


def gray_order(data: Transactions, job: Job, item_order: ItemOrder = "frequency") -> Longs:
    """The transactions in Gray order; equal ones keep their order.

    Examples
    --------
    >>> data = Transactions.from_lists(["CD", "D", "", "BC", "C"], labels=list("ABCD"))
    >>> [data[i] for i in gray_order(data, Job(), "given")]
    [(), ('D',), ('C', 'D'), ('C',), ('B', 'C')]
    """
    ranks = item_ranks(data, item_order, job.threads)
    with job.stage("sort", total=len(data)) as monitor:
        return _native.gray_order(data.offsets, data.items, ranks, job.threads, monitor)


def gray_sorted(data: Transactions, job: Job, item_order: ItemOrder = "frequency") -> tuple[Longs, Transactions]:
    """The Gray order, and the transactions' sets put in it.

    Neighbours then also lie side by side in memory, which makes whatever walks along the order faster.

    Examples
    --------
    >>> data = Transactions.from_lists(["CD", "D", "", "BC", "C"], labels=list("ABCD"))
    >>> order, lined_up = gray_sorted(data, Job(), "given")
    >>> order.tolist(), list(lined_up)
    ([2, 1, 0, 4, 3], [(), ('D',), ('C', 'D'), ('C',), ('B', 'C')])
    """
    order = gray_order(data, job, item_order)
    with job.stage("sort", total=len(data)):
        return order, lined_up(data, order, job)


def lined_up(data: Transactions, order: Longs, job: Job) -> Transactions:
    """The transactions' sets in this order."""
    rows = _native.take_rows(data.offsets, data.items, order, job.threads)
    return Transactions.from_codes([0], [], data.labels).with_rows(*rows)


def gray_keys(data: Transactions, item_order: ItemOrder = "frequency") -> pa.LargeBinaryArray:
    """The same order as byte strings: a stable sort of these bytes is the Gray order.

    Examples
    --------
    >>> data = Transactions.from_lists(["CD", "D", "", "BC", "C"], labels=list("ABCD"))
    >>> [key.hex() for key in gray_keys(data, "given").to_pylist()]
    ['0204', '0105', '', '0303', '0205']
    """
    return keys_by(data, item_ranks(data, item_order))


def keys_by(data: Transactions, ranks: Ints) -> pa.LargeBinaryArray:
    """The same for given positions of the items, so that parts of data get the keys that they have in the whole."""
    offsets, content = _native.gray_keys(data.offsets, data.items, ranks)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(data), buffers)
