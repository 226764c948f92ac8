"""Hierarchies: read one, or make one for the items of data that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from anonset.api.options import Reading
from anonset.data.hierarchy import Hierarchy, balanced, by_cooccurrence, by_frequency, by_prefix, read_hierarchy
from anonset.io import read


def hierarchy(
    source: Any,
    *,
    by: Literal["order", "frequency", "prefix", "cooccurrence"] | None = None,
    fanout: int = 5,
    lengths: Sequence[int] | None = None,
    prefix_separator: str | None = None,
    **reading: Unpack[Reading],
) -> Hierarchy:
    """The hierarchy in a file, a frame or a dictionary; with `by` one that is made for the items of transactions.

    Parameters
    ----------
    source
        A table (`item,level1,…`), a parent/child list, an ARX or an Amnesia file; with `by` transactions, which
        `reading` says how to read.
    by
        What puts items together: their order, how frequent they are, the beginning of their codes, or occurring
        together. By frequency and by cooccurrence the hierarchy says something about the data: treat it like the data.
        Groups that mean nothing have numbers for names.
    fanout
        How many items or nodes share a node, by order, frequency and cooccurrence.
    lengths, prefix_separator
        By prefix: the lengths that make a level, or the text at which levels end.

    Examples
    --------
    >>> import anonset
    >>> anonset.hierarchy({"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]}).height
    2
    >>> anonset.hierarchy([["A01", "A02"], ["B01"]], by="prefix", lengths=[1]).height
    2
    """
    if by is None:
        return read_hierarchy(source)
    data = read(source, **reading)
    if by == "order":
        return balanced(data.labels, fanout)
    if by == "frequency":
        return by_frequency(data, fanout)
    if by == "cooccurrence":
        return by_cooccurrence(data, fanout)
    return by_prefix(data.labels, None if lengths is None else list(lengths), prefix_separator)
