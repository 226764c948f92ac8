"""How often an item occurs in its transaction: `milk × 2` is an item, and what is more general than it is `milk`.

A count is a code: a whole number from 0 for itself, −1 for any (`*`), and −2, −4, −8, … for 2..3, 4..7, 8..15, ….
A method works on *items with quantities*: `milk × 2`, `milk × 2..3`, and `milk × *` where no quantity is left. A file
has them apart, in a column of items and one of counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import Ints, Mask
from anonset.data.columns import of_items
from anonset.data.transactions import Transactions

TIMES = " × "
"""Stands between an item and its quantity."""
ANY = -1
ANY_TEXT = "*"
KEEP, BINS, DROP = "keep", "bins", "drop"
COUNT_AS = (KEEP, DROP, BINS)
_ITEM = r"(?s)^(?P<item>.*) × (?P<quantity>\*|\d+(?:\.\.\d+)?)$"


def quantity_texts(counts: npt.ArrayLike) -> list[str]:
    """Counts as people read them.

    Examples
    --------
    >>> quantity_texts([0, 2, -1, -2, -4])
    ['0', '2', '*', '2..3', '4..7']
    """
    return [
        str(count) if count >= 0 else ANY_TEXT if count == ANY else f"{-count}..{-2 * count - 1}"
        for count in np.asarray(counts).tolist()
    ]


def quantity_code(text: str) -> int | None:
    """The count that a text stands for; None where it is none.

    Examples
    --------
    >>> [quantity_code(text) for text in ("2", "2.0", "*", "4..7", "4..6", "-1", "many")]
    [2, 2, -1, -4, None, None, None]
    """
    low, _, high = text.strip().partition("..")
    if text.strip() == ANY_TEXT:
        return ANY
    try:
        number = float(low)
    except ValueError:
        return None
    if not (0 <= number < 2**31 and number == int(number)):
        return None
    first = int(number)
    if not high:
        return first
    return -first if first >= 2 and first & (first - 1) == 0 and high == str(2 * first - 1) else None


def binned(counts: Ints) -> Ints:
    """Counts from 2 as the range from one power of two to the next that they lie in."""
    power = 1 << np.floor(np.log2(np.maximum(counts, 1))).astype(np.int64)
    return np.where(counts >= 2, -power, counts).astype(np.int32)


def with_quantities(data: Transactions) -> Transactions:
    """Every item with its count, where counts are to be published; the transactions as they are where not.

    Items of columns beside them and sensitive items stay as they are: of the latter no quantity is published, since it
    would tell apart those who hold one.

    Examples
    --------
    >>> data = Transactions.from_codes([0, 2, 3], [0, 1, 0], ["milk", "wine"], counts=[2, 1, 3], count_as="bins")
    >>> with_quantities(data).to_lists()
    [['milk × 2..3', 'wine × 1'], ['milk × 2..3']]
    """
    if data.counts is None or data.count_as not in (KEEP, BINS):
        return data
    counts = binned(data.counts) if data.count_as == BINS else data.counts
    bare = ~data.quasi_mask | (of_items(data.columns, data.labels) >= 0)
    counts = np.where(bare[data.items], ANY, counts)
    keys, items = np.unique(
        (data.items.astype(np.int64) << 32) + (counts.astype(np.int64) + 2**31), return_inverse=True
    )
    old, count = (keys >> 32).astype(np.int32), ((keys & (2**32 - 1)) - 2**31).astype(np.int32)
    names = data.labels.take(pa.array(old))
    shown = pc.binary_join_element_wise(names, pa.array(quantity_texts(count), pa.string()), TIMES)
    return replace(
        data,
        items=items.reshape(-1).astype(np.int32),
        labels=pc.if_else(pa.array(bare[old]), names, shown),
        sensitive=None if data.sensitive is None else data.sensitive[old],
        attributes=None if data.attributes is None else data.attributes.take(pa.array(old)),
        appearance=None,
        counts=None,
    )


def has_quantities(data: Transactions) -> bool:
    """Whether the items are items with quantities."""
    return data.counts is None and data.count_as in (KEEP, BINS)


def side_by_side(data: Transactions, published: Transactions) -> tuple[Transactions, Transactions]:
    """The original and its release, both as items with quantities if the release has any; else both without.

    Counts of attributes, the kinds of items that (k, p)-anonymity publishes, are no quantities.

    Examples
    --------
    >>> original = Transactions.from_codes([0, 1], [0], ["milk"], counts=[3])
    >>> [side.to_lists() for side in side_by_side(original, replace(original, counts=[-2]))]
    [[['milk × 2..3']], [['milk × 2..3']]]
    """
    if published.counts is not None and published.attributes is None:
        published = _categories_bare(with_quantities(replace(published, count_as=KEEP)), data)
    if not has_quantities(published):
        return without_quantities(data), published
    if data.counts is not None:
        ranges = (split_quantities(published.labels)[1] < ANY).any()
        data = with_quantities(replace(data, count_as=BINS if ranges else KEEP))
    return data, published


def _categories_bare(published: Transactions, data: Transactions) -> Transactions:
    """The release, in which only items of the data have quantities: a category has none."""
    names, counts, said = split_quantities(published.labels)
    known = split_quantities(data.labels)[0] if has_quantities(data) else data.labels
    category = said & (counts == ANY) & ~np.asarray(pc.is_in(names, value_set=known), dtype=np.bool_)
    return replace(published, labels=pc.if_else(pa.array(category), names, published.labels))


def split_quantities(labels: pa.StringArray) -> tuple[pa.StringArray, Ints, Mask]:
    """Items with quantities apart: the items, the codes of their counts (−1 where none is said), and which say one.

    Examples
    --------
    >>> names, counts, said = split_quantities(pa.array(["milk × 2", "some:dairy", "box × 6 × *"]))
    >>> names.to_pylist(), counts.tolist(), said.tolist()
    (['milk', 'some:dairy', 'box × 6'], [2, -1, -1], [True, False, True])
    """
    found = pc.extract_regex(pc.cast(labels, pa.string()), _ITEM)
    said = np.asarray(pc.is_valid(found), dtype=np.bool_)
    names = pc.if_else(pa.array(said), pc.struct_field(found, "item"), labels)
    texts = pc.fill_null(pc.struct_field(found, "quantity"), ANY_TEXT).to_pylist()
    codes = [quantity_code(text) for text in texts]
    return names, np.array([ANY if code is None else code for code in codes], dtype=np.int32), said


def item_names(data: Transactions, items: Mask) -> pa.StringArray:
    """The names of these items, each once, without their quantities."""
    names = data.labels.filter(pa.array(items))
    return pc.unique(split_quantities(names)[0]) if has_quantities(data) else names


def apart(data: Transactions) -> Transactions:
    """Items with quantities as items and their counts, as a file has them.

    Examples
    --------
    >>> rows = Transactions.from_lists([["milk × 2", "wine × *"]])
    >>> found = apart(replace(rows, count_as="keep"))
    >>> found.to_lists(), found.counts.tolist()
    ([['milk', 'wine']], [2, -1])
    """
    if not has_quantities(data):
        return data
    names, counts, _ = split_quantities(data.labels)
    beside = of_items(data.columns, data.labels) >= 0
    counts = np.where(beside, 1, counts)[data.items]
    return _renamed(data, names, counts.astype(np.int32))


def without_quantities(data: Transactions) -> Transactions:
    """The same transactions without the quantities that are to be published."""
    if has_quantities(data):
        data = _renamed(data, split_quantities(data.labels)[0], None)
    return data if data.count_as is None else replace(data, counts=None, count_as=None)


def _renamed(data: Transactions, names: pa.StringArray, counts: Ints | None) -> Transactions:
    """The transactions with these names of their items, equal ones merged."""
    encoded = pc.dictionary_encode(names)
    place = encoded.indices.to_numpy(zero_copy_only=False)
    first = np.unique(place, return_index=True)[1]
    return Transactions.from_codes(
        data.offsets,
        place[data.items],
        encoded.dictionary,
        users=data.users,
        user_labels=data.user_labels,
        ids=data.ids,
        sensitive=None if data.sensitive is None else data.sensitive[first],
        sensitivity=data.sensitivity,
        counts=counts,
        notes=data.notes,
        attributes=None if data.attributes is None else data.attributes.take(pa.array(first)),
        unread=data.unread,
        repeated=data.repeated,
        arrived=data.arrived,
        columns=data.columns,
        count_as=data.count_as,
    )
