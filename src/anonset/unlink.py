"""Cut every thread that leads from a published transaction back to its origin.

Precondition   a draft: published transactions, still in the order of the source.
Steps          drop ids · drop users or give them fresh pseudonyms · withhold degrees, and counts and attributes unless
               they are what the model publishes · forget items that are no longer published · shuffle the transactions,
               or, in groups, number the groups at random and put the members of each in canonical order (by their
               items), which anybody can check.
Postcondition  order, ids, user names and vocabulary of the release say nothing that its sets do not say; nor is there
               a word left on which item the source named first.
               `source` (kept by the owner) is the only link left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.release import Draft, GroupCounts, Release
from anonset.data.spec import ModelSpec
from anonset.data.transactions import Ints, Longs, Transactions, natural_order

_WITHHELD = {"sensitivity": "Sensitivity degrees", "counts": "Item counts", "attributes": "Attributes of items"}


@dataclass(frozen=True)
class Keep:
    """What the owner explicitly wants to keep although it weakens the release; each one warns.

    Examples
    --------
    >>> Keep(order=True).warnings()
    ('The original order is kept: who knows it can find a person by position.',)
    """

    order: bool = False
    ids: bool = False
    users: bool = False
    degrees: bool = False

    def warnings(self) -> tuple[str, ...]:
        """A sentence for each thing kept that should not be."""
        sentences = {
            "order": "The original order is kept: who knows it can find a person by position.",
            "ids": "Transaction ids are kept: who knows an id has found the person.",
            "users": "Pseudonyms link a user's transactions; this model does not protect against that.",
            "degrees": "Sensitivity degrees are published: they are personal data, and a rare one points to its owner.",
        }
        return tuple(text for name, text in sentences.items() if getattr(self, name))


def unlink(draft: Draft, model: ModelSpec, job: Job, keep: Keep) -> tuple[Release, Longs, tuple[str, ...]]:
    """The release to publish, the private link to the original, and what was left out, in words."""
    data, notes = _bare(draft.release.transactions, model, keep)
    if data.users is not None:
        data = _pseudonyms(data, job)
    groups, counts = _renumber(draft.release, job, keep)
    order = _shuffled(len(data), job, keep)
    if groups is not None:
        order = order[canonical_order(data.take(order), groups[order])]
        groups = groups[order]
    return compact(Release(data.take(order), groups, counts)), draft.row_origin[order], notes


def _shuffled(size: int, job: Job, keep: Keep) -> Longs:
    return np.arange(size, dtype=np.int64) if keep.order else job.random("shuffle").permutation(size)


def canonical_order(data: Transactions, groups: Ints) -> Longs:
    """By group, then by items in natural order: nothing about a member but its own set decides where it stands."""
    rank = np.empty(data.n_items, dtype=np.int32)
    rank[natural_order(data.labels)] = np.arange(data.n_items, dtype=np.int32)
    sets = Transactions.from_codes(data.offsets, rank[data.items], data.labels)
    item_bytes = pa.py_buffer(sets.items.astype(">i4").tobytes())
    bounds = pa.py_buffer((sets.offsets * sets.items.itemsize).tobytes())
    keys = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sets), [None, bounds, item_bytes])
    table = pa.table({"group": pa.array(groups), "items": keys})
    return np.asarray(pc.sort_indices(table, [("group", "ascending"), ("items", "ascending")])).astype(np.int64)


def _bare(data: Transactions, model: ModelSpec, keep: Keep) -> tuple[Transactions, tuple[str, ...]]:
    notes: tuple[str, ...] = ()
    if data.users is not None and not (model.protects_users or keep.users):
        notes = (f"Users are left out: {model.title} speaks about single transactions, not about a user's history.",)
        data = replace(data, users=None, user_labels=None)
    if keep.degrees and "sensitivity" not in model.publishes:
        advice = "Leave it out: this model publishes no degrees."
        raise ParameterError("keep_degrees", "be off here", "on", advice)
    withheld: dict[str, Any] = {}
    for name, said in _WITHHELD.items():
        published = name in model.publishes and (name != "sensitivity" or keep.degrees)
        if getattr(data, name) is not None and not published:
            withheld[name] = None
            notes += (f"{said} are withheld.",)
    withheld["columns"] = None if data.columns is None else data.columns.public()
    bare = replace(
        data, ids=data.ids if keep.ids else None, notes=(), unread=(), repeated=0, appearance=None, **withheld
    )
    return bare, notes


def _pseudonyms(data: Transactions, job: Job) -> Transactions:
    """A fresh name for every known user; who is unknown has none, so that nothing links what nobody links now."""
    assert data.users is not None
    known = data.users >= 0
    present, codes = np.unique(data.users[known], return_inverse=True)
    fresh = job.random("pseudonyms").permutation(len(present)).astype(np.int32)
    names = pa.array([f"u{i + 1}" for i in range(len(present))], type=pa.string())
    users = np.full(len(data), -1, dtype=np.int32)
    users[known] = fresh[codes.reshape(-1)]
    return replace(data, users=users, user_labels=names)


def _renumber(draft: Release, job: Job, keep: Keep) -> tuple[Ints | None, GroupCounts | None]:
    """Groups under fresh random numbers; their counts sorted, so that no order is left to read."""
    if draft.groups is None or draft.counts is None:
        return None, None
    if keep.order:
        advice = "Leave it out: the order inside a group could tell who holds a sensitive item."
        raise ParameterError("keep_order", "be off where groups are published", "on", advice)
    count = int(draft.groups.max()) + 1 if len(draft.groups) else 0
    fresh: Ints = job.random("groups").permutation(count).astype(np.int32)
    group = fresh[draft.counts.group]
    tidy = np.lexsort((draft.counts.item, group))
    counts = GroupCounts(group[tidy], draft.counts.item[tidy], draft.counts.count[tidy])
    return fresh[draft.groups], counts


def compact(release: Release) -> Release:
    """The same release with a vocabulary of nothing but what it publishes."""
    data = release.transactions
    used = np.zeros(data.n_items, dtype=np.bool_)
    used[data.items] = True
    if release.counts is not None:
        used[release.counts.item] = True
    place = np.cumsum(used, dtype=np.int32) - 1
    small = replace(
        data,
        items=place[data.items],
        labels=data.labels.filter(pa.array(used)),
        sensitive=None if data.sensitive is None else data.sensitive[used],
        attributes=None if data.attributes is None else data.attributes.filter(pa.array(used)),
        appearance=None,
    )
    counts = release.counts
    if counts is not None:
        counts = GroupCounts(counts.group, place[counts.item].astype(np.int32), counts.count)
    return Release(small, release.groups, counts)
