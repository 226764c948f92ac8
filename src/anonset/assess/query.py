"""Counting on a release: how many transactions hold these items, and how sure is that?

A release in rows is counted. In a release in groups the quasi-identifier items are counted exactly; of the members that
match them (b of |G|), a group with a occurrences of a sensitive item is expected to hold a · b / |G| with it, because
every way of handing out the occurrences is equally likely (Ghinita, Kalnis and Tao, Eq. 4). Several sensitive items are
taken as independent inside a group. What is certain is given as well: no way of handing them out leaves the interval.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from anonset.data.errors import ParameterError, unknown
from anonset.data.release import Release
from anonset.data.transactions import Floats, Longs, Mask, Transactions

MOST_CELLS = 10

_SELECT = re.compile(r"^\s*select\s+count\s*\(\s*\*\s*\)\s*(from\s+\S+\s*)?(where\b|(?=group\s+by\b)|$)", re.IGNORECASE)
_WORD = re.compile(
    r"\s*(?:'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|(\bAND\b|\bNOT\b|\bGROUP\s+BY\b|[,()=])|([^\s,()='\"]+))", re.I
)
_TRUE, _FALSE = {"1", "true", "yes"}, {"0", "false", "no"}


@dataclass(frozen=True)
class Answer:
    """A count: the expected value, and the least and the most that is possible.

    `cell` says, for a question with groups, which of its items are present (`True`) and absent.
    """

    count: float
    low: int
    high: int
    cell: tuple[tuple[str, bool], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether only one count is possible."""
        return self.low == self.high


@dataclass(frozen=True)
class Question:
    """Items that must be present (`True`) or absent, and items whose combinations are counted one by one."""

    conditions: tuple[tuple[str, bool], ...] = ()
    group_by: tuple[str, ...] = ()


def query(
    release: Any,
    where: str | Sequence[str] = "",
    *,
    without: Sequence[str] = (),
    group_by: Sequence[str] = (),
) -> Answer | list[Answer]:
    """How many transactions hold these items, counted or estimated on what is published.

    Parameters
    ----------
    release
        A `Release`, or anything that `anonset.read_release` takes.
    where
        Items that must be present, as a list, or as text: `"cream AND NOT meat"`, also with `SELECT COUNT(*) WHERE` in
        front and `GROUP BY` behind. Names with special characters stand in quotes; `meat = 0` means `NOT meat`.
    without, group_by
        Items that must be absent, and items whose combinations are counted one by one (an answer for each).

    Examples
    --------
    >>> import anonset
    >>> baskets = [["cream", "test"], ["cream"], ["meat"], ["meat"]]
    >>> data = anonset.Transactions.from_lists(baskets, sensitive=["test"])
    >>> release = anonset.anonymize(data, method="nn", p=2, seed=1).release
    >>> query(release, "test AND cream")
    Answer(count=1.0, low=1, high=1, cell=())
    >>> query(release, "SELECT COUNT(*) WHERE NOT test AND cream").count
    1.0
    """
    asked = parse(where) if isinstance(where, str) else Question(tuple((name, True) for name in where))
    conditions = (*asked.conditions, *((name, False) for name in without))
    cells = (*asked.group_by, *group_by)
    answers = _answers(_as_release(release), conditions, cells)
    return answers if cells else answers[0]


def parse(text: str) -> Question:
    """What a question in words asks for.

    Examples
    --------
    >>> parse("'pregnancy test' AND cream AND meat = 0 GROUP BY wine")
    Question(conditions=(('pregnancy test', True), ('cream', True), ('meat', False)), group_by=('wine',))
    """
    words = _words(_SELECT.sub("", text, count=1))
    split = next((i for i, word in enumerate(words) if _is(word, "GROUP BY")), len(words))
    conditions = tuple(_condition(part, text) for part in _parts(words[:split], "AND") if part or split)
    cells = tuple(_name(part, text) for part in _parts(words[split + 1 :], ",")) if split < len(words) else ()
    return Question(conditions, cells)


Word = tuple[str, bool]  # the text, and whether it stood in quotes or is an item's name in any case


def _words(text: str) -> list[Word]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _WORD.match(text, at)
        if match is None:
            raise ParameterError("where", "be readable", repr(text[at:].strip()), "Close the quotes.")
        single, double, sign, plain = match.groups()
        if sign is not None:
            if sign not in "()":
                found.append((" ".join(sign.upper().split()), False))
        else:
            quoted = single.replace("''", "'") if single is not None else None
            quoted = double.replace('""', '"') if double is not None else quoted
            found.append((plain if quoted is None else quoted, True))
        at = match.end()
    return found


def _is(word: Word, sign: str) -> bool:
    return word == (sign, False)


def _parts(words: list[Word], sign: str) -> list[list[Word]]:
    parts: list[list[Word]] = [[]]
    for word in words:
        if _is(word, sign):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _condition(words: list[Word], text: str) -> tuple[str, bool]:
    present = True
    while words and _is(words[0], "NOT"):
        present, words = not present, words[1:]
    if len(words) >= 3 and _is(words[-2], "="):
        value = words[-1][0].lower()
        if value not in _TRUE | _FALSE:
            raise ParameterError("where", "compare an item with 1 or 0", repr(words[-1][0]))
        return _name(words[:-2], text), present == (value in _TRUE)
    return _name(words, text), present


def _name(words: list[Word], text: str) -> str:
    """A name is one word, or several plain ones with blanks between them."""
    if not words or not all(is_name for _, is_name in words):
        raise ParameterError("where", "be items joined by AND, each perhaps after NOT", repr(text))
    return " ".join(word for word, _ in words)


def _as_release(release: Any) -> Release:
    if isinstance(release, Release):
        return release
    from anonset.io import read_release

    return read_release(os.fspath(release) if isinstance(release, os.PathLike) else release)


def _answers(release: Release, conditions: Sequence[tuple[str, bool]], cells: tuple[str, ...]) -> list[Answer]:
    data = release.transactions
    codes = {label: code for code, label in enumerate(data.labels.to_pylist())}
    for name in (*(name for name, _ in conditions), *cells):
        if name not in codes:
            raise unknown("where", name, codes, "No item of the release has this name.")
    _require_sensible(dict(conditions), conditions, cells, _secrets(release))
    secret = [(codes[name], present) for name, present in conditions if name in _secrets(release)]
    open_items = [(codes[name], present) for name, present in conditions if name not in _secrets(release)]
    group, size = _groups(release)
    matched = np.ones(len(data), dtype=np.bool_)
    for code, present in open_items:
        matched &= _holds(data, code) == present
    found = []
    for values in product((True, False), repeat=len(cells)):
        here = matched.copy()
        for name, present in zip(cells, values, strict=True):
            here &= _holds(data, codes[name]) == present
        members = np.bincount(group[here], minlength=len(size))
        cell = tuple(zip(cells, values, strict=True))
        found.append(_answer(members, size, [_occurrences(release, group, size, *one) for one in secret], cell))
    return found


def _require_sensible(
    once: dict[str, bool], conditions: Sequence[tuple[str, bool]], cells: tuple[str, ...], secret: set[str]
) -> None:
    for name, present in conditions:
        if once[name] != present:
            raise ParameterError("where", "ask for an item either to be present or to be absent", f"both for '{name}'")
    for name in cells:
        if name in secret:
            raise ParameterError("group_by", "name quasi-identifier items only", f"'{name}', which is sensitive")
    if len(cells) > MOST_CELLS:
        raise ParameterError("group_by", f"name at most {MOST_CELLS} items", len(cells))


def _secrets(release: Release) -> set[str]:
    """The items of which only counts per group are published; in a release in rows there are none."""
    if release.counts is None:
        return set()
    return {release.transactions.labels[int(code)].as_py() for code in np.unique(release.counts.item)}


def _groups(release: Release) -> tuple[Longs, Longs]:
    if release.groups is None:
        return np.zeros(len(release), dtype=np.int64), np.array([len(release)], dtype=np.int64)
    _, group, size = np.unique(release.groups, return_inverse=True, return_counts=True)
    return group.reshape(-1).astype(np.int64), size.astype(np.int64)


def _holds(data: Transactions, code: int) -> Mask:
    mask = np.zeros(len(data), dtype=np.bool_)
    mask[data.rows[data.items == code]] = True
    return mask


def _occurrences(release: Release, group: Longs, size: Longs, code: int, present: bool) -> Longs:
    """In how many members of each group the sensitive item is present, or absent."""
    assert release.counts is not None
    assert release.groups is not None
    mine = release.counts.item == code
    place = np.searchsorted(np.unique(release.groups), release.counts.group[mine])
    counts = np.bincount(place, weights=release.counts.count[mine], minlength=len(size)).astype(np.int64)
    return counts if present else size - counts


def _answer(members: Longs, size: Longs, secret: list[Longs], cell: tuple[tuple[str, bool], ...]) -> Answer:
    share: Floats = members.astype(np.float64)
    low, high = members.astype(np.int64), members.astype(np.int64)
    for counts in secret:
        share = share * counts / np.maximum(size, 1)
        low = np.maximum(0, low + counts - size)
        high = np.minimum(high, counts)
    return Answer(float(share.sum()), int(low.sum()), int(high.sum()), cell)
