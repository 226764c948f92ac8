"""`Transactions`: the one data type that everything passes around.

A transaction is a set of items. All of them together are two flat arrays (compressed sparse rows): the items of
transaction `i` are `items[offsets[i]:offsets[i + 1]]`, codes into `labels`, ascending, none twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import REPEATS, Arrived, Counted
from anonset.data.arrays import MAX_ITEMS, Floats, Ints, Longs, Mask, ascending, distinct, exact, merged
from anonset.data.columns import Columns
from anonset.data.display import Picture, Shown, histogram
from anonset.data.errors import InputError, ParameterError, counted, unknown
from anonset.data.labels import as_text, by_first_place, encode, natural_order, similar
from anonset.data.lists import is_list_view, one_chunk, plain_lists

__all__ = [
    "MAX_ITEMS",
    "Floats",
    "Ints",
    "Longs",
    "Mask",
    "Transactions",
    "as_text",
    "encode",
    "exact",
    "is_list_view",
    "natural_order",
    "plain_lists",
]


@dataclass(frozen=True, eq=False, repr=False)
class Transactions(Shown):
    """Sets of items, optionally with users, sensitive items, personal sensitivity degrees and counts.

    Parameters
    ----------
    offsets, items
        Compressed sparse rows: `int64[n + 1]` and `int32[nnz]`.
    labels
        The text of each item code, an Arrow string array.
    users, user_labels
        The user of each transaction as a code, and the users' names. A negative code stands for an unknown user.
    ids
        The transactions' own names in the source (an Arrow string array).
    sensitive
        A mask over the items: which ones are sensitive. The others are the quasi-identifier.
    sensitivity
        A degree in [0, 1] for each item occurrence: how sensitive its owner finds it.
    counts
        How often each item occurs in its transaction, where the source says; −1 for any (`*`), and −2, −4, −8, … for
        the ranges 2..3, 4..7, 8..15, ….
    count_as
        How counts are to be published: `keep` (as they are, any where they cannot be) or `bins`. None: not at all.
        Without `counts` the items say them themselves: `milk × 2`.
    attributes
        The attribute (a more general name) of each item, where the source says: an Arrow string array over the items.
    notes
        What reading changed or passed over, in words.
    appearance
        The place of each item in the order in which the source names items first. None: that of their codes, as where
        the source has a column for each item or numbers its items itself.
    unread
        The columns of the source that hold nothing of this and were left aside.
    arrived
        What the source had: rows, and which column plays which part.
    repeated
        How many items the source names once more in a transaction that has them already, without counting them.
    columns
        The columns beside the items, whose values are items called `column=value`.

    Examples
    --------
    >>> data = Transactions.from_lists([["wine", "bread"], ["bread"], []])
    >>> data
    Transactions(3 transactions, 2 items, mean length 1.0)
    >>> data[0]
    ('bread', 'wine')
    """

    offsets: Longs
    items: Ints
    labels: pa.StringArray
    users: Ints | None = None
    user_labels: pa.StringArray | None = None
    ids: pa.StringArray | None = None
    sensitive: Mask | None = None
    sensitivity: Floats | None = None
    counts: Ints | None = None
    notes: tuple[str, ...] = ()
    attributes: pa.StringArray | None = None
    appearance: Ints | None = None
    unread: tuple[str, ...] = ()
    repeated: int = 0
    arrived: Arrived | None = None
    columns: Columns | None = None
    count_as: str | None = None

    def __post_init__(self) -> None:
        _freeze(self, "offsets", np.int64)
        _freeze(self, "items", np.int32)
        for name, dtype in (
            ("users", np.int32),
            ("sensitive", np.bool_),
            ("sensitivity", np.float64),
            ("counts", np.int32),
            ("appearance", np.int32),
        ):
            if getattr(self, name) is not None:
                _freeze(self, name, dtype)
        for name in ("labels", "user_labels", "ids", "attributes"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_text(getattr(self, name)))
        _validate(self)

    # --- in a notebook ----------------------------------------------------------------------------------------

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: sizes, and what there is besides the items."""
        lengths = np.diff(self.offsets)
        yield from (("transactions", len(self)), ("items", self.n_items))
        if len(self):
            yield from (("mean length", float(lengths.mean())), ("longest", int(lengths.max())))
        if self.users is not None:
            yield "users", len(distinct(self.users[self.users >= 0]))
        if self.sensitive is not None:
            yield "sensitive items", int(self.sensitive.sum())

    def picture(self) -> Picture | None:
        """How long the transactions are."""
        return histogram("Transactions by number of items", np.diff(self.offsets)) if len(self) else None

    # --- size and content -------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nnz(self) -> int:
        """The number of item occurrences."""
        return len(self.items)

    @property
    def n_items(self) -> int:
        """The number of items in the vocabulary."""
        return len(self.labels)

    @property
    def lengths(self) -> Longs:
        """The number of items of each transaction."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Longs:
        """For each item occurrence, the transaction it is in."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def item_counts(self) -> Longs:
        """For each item, the number of transactions that hold it."""
        return np.bincount(self.items, minlength=self.n_items).astype(np.int64)

    def __getitem__(self, index: int) -> tuple[str, ...]:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        codes = self.items[self.offsets[index] : self.offsets[index + 1]]
        return tuple(self.labels.take(pa.array(codes)).to_pylist())

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (tuple(row) for row in self.to_lists())

    def __repr__(self) -> str:
        mean = self.nnz / len(self) if len(self) else 0.0
        return f"Transactions({len(self):,} transactions, {self.n_items:,} items, mean length {mean:.1f})"

    def same_sets(self, other: Transactions) -> bool:
        """Whether both hold the same sets of labels in the same order (codes may differ)."""
        if len(self) != len(other) or self.nnz != other.nnz or not np.array_equal(self.offsets, other.offsets):
            return False
        position = pc.index_in(other.labels, value_set=self.labels).fill_null(-1).to_numpy(zero_copy_only=False)
        mine = self.rows * (self.n_items + 1) + self.items
        theirs = other.rows * (self.n_items + 1) + position[other.items]
        return bool((position[other.items] >= 0).all()) and np.array_equal(np.sort(mine), np.sort(theirs))

    # --- making ------------------------------------------------------------------------------------------------

    @classmethod
    def from_codes(
        cls,
        offsets: npt.ArrayLike,
        items: npt.ArrayLike,
        labels: Sequence[str] | pa.Array,
        **columns: Any,
    ) -> Transactions:
        """From codes in any order inside a transaction; repeated items are merged and counted in a note."""
        starts = np.asarray(offsets, dtype=np.int64)
        codes = exact(items, np.int32, "items")
        if ascending(starts, codes):
            return cls(starts, codes, as_text(labels), **columns)
        rows = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
        order = np.lexsort((codes, rows))
        rows, codes = rows[order], codes[order]
        first = np.ones(len(codes), dtype=np.bool_)
        first[1:] = (rows[1:] != rows[:-1]) | (codes[1:] != codes[:-1])
        repeated = len(codes) - int(first.sum())
        for name in ("sensitivity", "counts"):
            if columns.get(name) is not None:
                columns[name] = merged(np.asarray(columns[name])[order], first, name)
        if repeated:
            note = Counted(f"{counted(repeated, 'repeated item')} merged", REPEATS, repeated)
            columns["notes"] = (*columns.get("notes", ()), note)
            columns["repeated"] = 0 if columns.get("counts") is not None else repeated
        sizes = np.bincount(rows[first], minlength=len(starts) - 1)
        return cls(np.concatenate(([0], np.cumsum(sizes))), codes[first], as_text(labels), **columns)

    @classmethod
    def from_lists(
        cls,
        transactions: Iterable[Iterable[Any]],
        *,
        labels: Sequence[str] | None = None,
        users: Sequence[Any] | None = None,
        sensitive: Iterable[str] | None = None,
    ) -> Transactions:
        """From plain Python sets or lists; every item is used as text.

        Items are numbered in natural order (numbers by value, then texts) unless `labels` gives the order.
        """
        # The order inside a Python set differs from run to run, and nothing may depend on it.
        rows = [sorted(row, key=str) if isinstance(row, Set) else list(row) for row in transactions]
        flat = list(chain.from_iterable(rows))
        if any(item is None for item in flat):
            raise InputError("An item is None. Leave missing items out of the transaction.")
        text = pa.array([item if isinstance(item, str) else str(item) for item in flat], type=pa.string())
        offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
        codes, vocabulary = encode(text, labels)
        user_codes, user_labels = (None, None) if users is None else encode(as_text(users))
        seen = by_first_place(codes, len(vocabulary)) if labels is None else None
        data = cls.from_codes(offsets, codes, vocabulary, users=user_codes, user_labels=user_labels, appearance=seen)
        return data if sensitive is None else data.with_sensitive(sensitive)

    @classmethod
    def from_arrow(cls, column: Any, *, labels: Sequence[str] | None = None, **columns: Any) -> Transactions:
        """From an Arrow list array (or chunked array, or anything with `__arrow_c_stream__`/`__arrow_c_array__`).

        A dictionary-encoded list array whose rows are sorted sets is taken over without copying.
        """
        lists = one_chunk(column)
        if lists.null_count:
            raise InputError(f"{lists.null_count:,} transactions are null. Replace them by empty lists or drop them.")
        offsets = lists.offsets.to_numpy().astype(np.int64, copy=False)
        values = lists.values
        if lists.offset or offsets[0]:
            values = values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
            offsets = offsets - offsets[0]
        if values.null_count:
            raise InputError(f"{values.null_count:,} items are null. Leave missing items out of the lists.")
        codes, vocabulary = encode(values, labels)
        if labels is None and not pa.types.is_dictionary(values.type):
            columns["appearance"] = by_first_place(codes, len(vocabulary))
        return cls.from_codes(offsets, codes, vocabulary, **columns)

    @classmethod
    def from_pandas(cls, series: Any, **columns: Any) -> Transactions:
        """From a pandas series of lists, or a 0/1 frame whose columns are the items."""
        if hasattr(series, "columns"):
            from scipy.sparse import csr_array

            return cls.from_scipy(csr_array(series.to_numpy().astype(bool)), [str(name) for name in series.columns])
        if pa.types.is_nested(getattr(series.dtype, "pyarrow_dtype", pa.null())):
            known = hasattr(series, "__arrow_c_stream__")  # from pandas 3 on
            return cls.from_arrow(pa.chunked_array(series) if known else series.array.__arrow_array__(), **columns)
        return cls.from_lists(series.tolist(), **columns)

    @classmethod
    def from_polars(cls, series: Any, **columns: Any) -> Transactions:
        """From a Polars series of lists."""
        return cls.from_arrow(series.to_arrow(), **columns)

    @classmethod
    def from_scipy(cls, matrix: Any, labels: Sequence[str] | None = None, **columns: Any) -> Transactions:
        """From a SciPy sparse matrix, one row per transaction; any stored non-zero is membership."""
        rows = matrix.tocsr()
        if not rows.has_canonical_format or (len(rows.data) and not np.all(rows.data)):
            rows = rows.astype(np.bool_)  # a copy in which values of opposite sign cannot cancel each other
            rows.sum_duplicates()
            rows.eliminate_zeros()
        names = labels if labels is not None else [str(i) for i in range(rows.shape[1])]
        if len(names) != rows.shape[1]:
            raise ParameterError("labels", f"name all {rows.shape[1]:,} columns", len(names))
        return cls.from_codes(rows.indptr, rows.indices, names, **columns)

    # --- giving ------------------------------------------------------------------------------------------------

    def to_lists(self) -> list[list[str]]:
        """Plain Python lists of labels."""
        names = np.array(self.labels.to_pylist(), dtype=object)[self.items].tolist() if self.nnz else []
        bounds = self.offsets.tolist()
        return [names[start:end] for start, end in pairwise(bounds)]

    def to_arrow(self) -> pa.LargeListArray:
        """An Arrow list array of dictionary-encoded labels, sharing this object's memory."""
        values = pa.DictionaryArray.from_arrays(pa.array(self.items), self.labels)
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), values)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface: a table with one column of lists, `items`."""
        return pa.table({"items": self.to_arrow()}).__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """A pandas series of lists, backed by Arrow and sharing this object's memory."""
        import pandas as pd

        lists = self.to_arrow()
        return pd.Series(pd.array(lists, dtype=pd.ArrowDtype(lists.type)), name="items")

    def to_polars(self) -> Any:
        """A Polars series of lists of categories."""
        import polars as pl

        return pl.Series("items", pl.from_arrow(self.to_arrow()))

    def to_scipy(self) -> Any:
        """A SciPy CSR array of ones, one row per transaction, sharing this object's item array."""
        from scipy.sparse import csr_array

        # SciPy copies the items unless both index arrays have the same type.
        bounds = self.offsets.astype(np.int32) if self.nnz <= MAX_ITEMS else self.offsets
        shape = (len(self), self.n_items)
        return csr_array((np.ones(self.nnz, dtype=np.int8), self.items, bounds), shape=shape)

    # --- parts -------------------------------------------------------------------------------------------------

    @property
    def quasi_mask(self) -> Mask:
        """Which items are quasi-identifiers: all that are not sensitive."""
        return np.ones(self.n_items, dtype=np.bool_) if self.sensitive is None else ~self.sensitive

    def only(self, items: Mask) -> Transactions:
        """The same transactions with no other items than these (the vocabulary stays)."""
        return self if items.all() else self._part(items[self.items], None)

    def _part(self, keep: Mask, offsets: Longs | None) -> Transactions:
        """The same transactions with the occurrences to keep; `offsets` where they are known."""
        if offsets is None:
            kept_before = np.zeros(self.nnz + 1, dtype=np.int32 if self.nnz < MAX_ITEMS else np.int64)
            np.cumsum(keep, out=kept_before[1:])
            offsets = kept_before[self.offsets].astype(np.int64)
        part = self.with_rows(offsets, self.items[keep])
        if self.sensitivity is None and self.counts is None:
            return part
        return replace(
            part,
            sensitivity=None if self.sensitivity is None else self.sensitivity[keep],
            counts=None if self.counts is None else self.counts[keep],
        )

    def quasi(self) -> Transactions:
        """The same transactions without their sensitive items."""
        return self.only(self.quasi_mask)

    def sensitive_part(self) -> Transactions:
        """The same transactions with nothing but their sensitive items."""
        return self.only(~self.quasi_mask)

    def take(self, order: npt.ArrayLike) -> Transactions:
        """The transactions at these positions, in this order."""
        order = np.asarray(order, dtype=np.int64)
        sizes = self.lengths[order]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        source = np.repeat(self.offsets[order] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return replace(
            self,
            offsets=offsets,
            items=self.items[source],
            users=None if self.users is None else self.users[order],
            ids=None if self.ids is None else self.ids.take(pa.array(order)),
            sensitivity=None if self.sensitivity is None else self.sensitivity[source],
            counts=None if self.counts is None else self.counts[source],
        )

    def with_quasi(self, offsets: Longs, items: Ints) -> Transactions:
        """These quasi-identifier items instead of the old ones; the sensitive items stay where they are.

        Degrees and counts belong to the original occurrences and are left behind.
        """
        if self.sensitive is None or not self.sensitive.any():
            return self.with_rows(offsets, items)
        bare = replace(self, sensitivity=None, counts=None)
        secret = self.sensitive_part()
        new_rows = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(offsets))
        rows = np.concatenate((new_rows, secret.rows))
        codes = np.concatenate((items, secret.items))
        order = np.lexsort((codes, rows))
        sizes = np.diff(offsets) + secret.lengths
        return replace(bare, offsets=np.concatenate(([0], np.cumsum(sizes))), items=codes[order])

    def with_rows(self, offsets: Longs, items: Ints) -> Transactions:
        """Other rows, which were made of valid ones: they are not checked again, which would cost as much.

        Degrees and counts belong to the original occurrences and are left behind.
        """
        other = copy(self)
        for name, value in (("offsets", offsets), ("items", items), ("sensitivity", None), ("counts", None)):
            object.__setattr__(other, name, value)
        _freeze(other, "offsets", np.int64)
        _freeze(other, "items", np.int32)
        return other

    def with_sensitive(self, names: Iterable[str]) -> Transactions:
        """The same data with these items marked sensitive; unknown names are an error."""
        wanted = list(dict.fromkeys(names))
        mask = np.asarray(pc.is_in(self.labels, value_set=as_text(wanted)))
        found = set(self.labels.filter(pa.array(mask)).to_pylist())
        for name in wanted:
            if name not in found:
                raise unknown("sensitive", name, similar(self.labels, name), "No item of the data has this name.")
        return replace(self, sensitive=mask)

    def sensitive_names(self) -> list[str]:
        """The names of the sensitive items, in code order."""
        if self.sensitive is None:
            return []
        return list(self.labels.filter(pa.array(self.sensitive)).to_pylist())


def _freeze(data: Transactions, name: str, dtype: npt.DTypeLike) -> None:
    array = np.ascontiguousarray(exact(getattr(data, name), dtype, name)).view()
    array.flags.writeable = False
    object.__setattr__(data, name, array)


def _validate(data: Transactions) -> None:
    offsets, items = data.offsets, data.items
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(items) or np.any(offsets[1:] < offsets[:-1]):
        raise InputError("Offsets must start at 0, never fall, and end at the number of item occurrences.")
    if len(items) and (items.min() < 0 or items.max() >= data.n_items):
        raise InputError(f"Item codes must lie between 0 and {data.n_items - 1:,}, the last label.")
    if not ascending(offsets, items):
        raise InputError("Items must be ascending and unique inside a transaction; use Transactions.from_codes.")
    if data.labels.null_count:
        raise InputError("A label is null.")
    if data.attributes is not None and data.attributes.null_count:
        raise InputError("An item has no attribute. Give every item one, or leave the attributes out.")
    for name, size in (
        ("users", len(data)),
        ("ids", len(data)),
        ("sensitive", data.n_items),
        ("sensitivity", data.nnz),
        ("counts", data.nnz),
        ("attributes", data.n_items),
        ("appearance", data.n_items),
    ):
        column = getattr(data, name)
        if column is not None and len(column) != size:
            raise InputError(f"'{name}' must have {size:,} entries. Got {len(column):,}.")
    degrees = data.sensitivity
    if degrees is not None and len(degrees) and not (degrees.min() >= 0 and degrees.max() <= 1):
        raise InputError("Sensitivity degrees must lie between 0 and 1.")
