"""Texts and their codes: how items, users and ids get their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import Ints, Longs
from anonset.data.errors import InputError


def as_text(values: Any) -> pa.StringArray:
    """`values` (a sequence or an Arrow array of any type) as one Arrow string array."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return values if pa.types.is_string(values.type) else pc.cast(values, pa.string())
    return pa.array([value if isinstance(value, str) else str(value) for value in values], type=pa.string())


def encode(values: pa.Array, labels: Sequence[str] | pa.Array | None = None) -> tuple[Ints, pa.StringArray]:
    """Codes and vocabulary of `values`, in natural label order, or in the order of `labels` where given.

    A dictionary-encoded array brings its own order: its dictionary.
    """
    if pa.types.is_dictionary(values.type) and labels is None:
        codes = values.indices.to_numpy(zero_copy_only=False)
        codes = codes.view(np.int32) if codes.dtype == np.uint32 else codes.astype(np.int32, copy=False)
        return _distinct(codes, as_text(values.dictionary))
    text = as_text(values)
    if labels is not None:
        vocabulary = as_text(labels)
        found = pc.index_in(text, value_set=vocabulary)
        if found.null_count:
            raise InputError("An item is not among the labels given. Add it to the labels.")
        return found.to_numpy(zero_copy_only=False).astype(np.int32), vocabulary
    encoded = pc.dictionary_encode(text)
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    order = natural_order(encoded.dictionary)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[codes], encoded.dictionary.take(pa.array(order))


def by_first_place(codes: Ints, count: int) -> Ints:
    """The place of each of `count` codes in the order in which they occur first; codes that do not occur come last.

    Examples
    --------
    >>> by_first_place(np.array([2, 0, 2, 1], dtype=np.int32), 4).tolist()
    [1, 2, 0, 3]
    """
    first = np.full(count, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    place = np.empty(count, dtype=np.int32)
    place[np.argsort(first, kind="stable")] = np.arange(count, dtype=np.int32)
    return place


def _distinct(codes: Ints, labels: pa.StringArray) -> tuple[Ints, pa.StringArray]:
    """A dictionary may name a value twice; labels must not."""
    unique = pc.dictionary_encode(labels)
    if len(unique.dictionary) == len(labels):
        return codes, labels
    return np.asarray(unique.indices.fill_null(-1)).astype(np.int32)[codes], unique.dictionary


def natural_order(labels: pa.StringArray) -> Longs:
    """The order a person expects: whole numbers by value, then everything else by code point."""
    number = pc.match_substring_regex(labels, r"^(0|-?[1-9][0-9]{0,17})$")
    value = pc.if_else(number, labels, pa.scalar("0")).cast(pa.int64())
    table = pa.table({"text": pc.invert(number), "value": value, "label": labels})
    keys = [("text", "ascending"), ("value", "ascending"), ("label", "ascending")]
    return np.asarray(pc.sort_indices(table, sort_keys=keys)).astype(np.int64)


def similar(labels: pa.StringArray, name: str) -> list[str]:
    """The labels worth comparing with a name that is none of them: all, or the few that share most parts of it."""
    few = 500
    if len(labels) <= few:
        return list(labels.to_pylist())
    text, sought = pc.utf8_lower(labels), name.lower()[:64]
    score = np.zeros(len(labels), dtype=np.int32)
    # Pairs of letters alone tie too often: thousands of numbers share all pairs of 77777.
    parts = {sought[place : place + size] for size in range(2, 6) for place in range(max(1, len(sought) - size + 1))}
    for part in parts:
        score += 64 * np.asarray(pc.match_substring(text, part))
    # Of equally good ones those of about the same length: a name that merely contains this one is hardly meant.
    score -= np.minimum(np.abs(np.asarray(pc.utf8_length(labels)) - len(name)), 63)
    best = np.argsort(-score, kind="stable")[:few]
    return list(labels.take(pa.array(np.sort(best))).to_pylist())
