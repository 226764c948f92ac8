"""Releases made by the project's methods from random data, and what somebody may do to them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import anonset
from anonset import AnonsetError, Transactions
from anonset.data.release import GroupCounts, Release
from tests.oracle.checkers import Published, Row

ITEMS = [f"i{number}" for number in range(7)]
SECRETS = ["s1", "s2"]
METHODS = {
    "k-anonymity": ("pta", "crowd"),
    "km-anonymity": ("km-apriori", "km-direct"),
    "privacy-degree": ("cahd-gray", "nn"),
    "kp-anonymity": ("ant", "ant-minus"),
    "multi-pattern": ("kamp",),
}


def params(model: str, random: Random) -> dict[str, Any]:
    """A promise that small data can keep."""
    k = random.choice([2, 2, 3])
    return {
        "k-anonymity": {"k": k},
        "km-anonymity": {"k": k, "m": random.choice([1, 2])},
        "privacy-degree": {"p": k},
        "kp-anonymity": {"k": k, "p": random.choice([0.5, 0.75, 0.4])},
        "multi-pattern": {"k": k, "combinations": random.choice([1, 2]), "support": random.choice([2, 3])},
    }[model]


def valid(model: str, random: Random) -> tuple[Published, dict[str, Any]] | None:
    """A release that a method made and the model passed, with its promise; None where there is none for these data."""
    promised = params(model, random)
    try:
        done = anonset.anonymize(
            _data(model, random),
            method=random.choice(METHODS[model]),
            seed=random.randrange(2**31),
            threads=1,
            **promised,
        )
    except AnonsetError:
        return None
    return plain(done.release), promised


def _data(model: str, random: Random) -> Transactions:
    size = random.randrange(6, 14)
    rows = [random.sample(ITEMS, random.randrange(1, 4)) for _ in range(size)]
    secret = [[random.choice(SECRETS)] if random.random() < 0.15 else [] for _ in rows]
    users = [f"u{random.randrange(6)}" for _ in rows] if model == "multi-pattern" else None
    labels = [*ITEMS, *SECRETS]
    both = [open_items + own for open_items, own in zip(rows, secret, strict=True)]
    if model in ("km-anonymity", "multi-pattern"):
        return Transactions.from_lists(rows, labels=labels, users=users)
    if model != "kp-anonymity":
        return Transactions.from_lists(both, labels=labels, sensitive=SECRETS)
    data = Transactions.from_lists(rows, labels=labels)
    attributes = pa.array([f"A{place % 3}" for place in range(len(labels))])
    degrees = np.array([random.choice([0.1, 0.1, 0.9]) for _ in range(data.nnz)])
    return replace(data, sensitivity=degrees, attributes=attributes)


def plain(release: Release) -> Published:
    """The release in Python's own types."""
    data = release.transactions
    names = data.labels.to_pylist()
    marks = [False] * len(names) if data.sensitive is None else data.sensitive.tolist()
    rows = []
    for place in range(len(data)):
        span = range(int(data.offsets[place]), int(data.offsets[place + 1]))
        codes = [int(data.items[at]) for at in span]
        counts = [1 if data.counts is None else int(data.counts[at]) for at in span]
        rows.append(
            Row(
                {names[code]: count for code, count in zip(codes, counts, strict=True) if not marks[code]},
                frozenset(names[code] for code in codes if marks[code]),
                "" if data.users is None else f"u{data.users[place]}",
                0 if release.groups is None else int(release.groups[place]),
            )
        )
    of = {} if data.attributes is None else dict(zip(names, data.attributes.to_pylist(), strict=True))
    lines = None
    if release.counts is not None:
        columns = (release.counts.group.tolist(), release.counts.item.tolist(), release.counts.count.tolist())
        lines = [(group, names[item], count) for group, item, count in zip(*columns, strict=True)]
    return Published(rows, lines, of)


def packed(release: Published, model: str) -> Release:
    """The release as `models/` takes it."""
    names = {item for row in release.rows for item in (*row.items, *row.secret)}
    names |= {item for _, item, _ in release.counts or ()}
    labels = sorted(names)
    code = {name: place for place, name in enumerate(labels)}
    secret = {item for row in release.rows for item in row.secret} | {item for _, item, _ in release.counts or ()}
    counted = model == "kp-anonymity" or any(count != 1 for row in release.rows for count in row.items.values())
    entries = [
        sorted([(code[item], count) for item, count in row.items.items()] + [(code[item], 1) for item in row.secret])
        for row in release.rows
    ]
    users = sorted({row.user for row in release.rows})
    data = Transactions(
        np.cumsum([0, *map(len, entries)]),
        np.array([item for row in entries for item, _ in row], dtype=np.int32),
        pa.array(labels, pa.string()),
        sensitive=np.array([name in secret for name in labels], dtype=bool) if model != "km-anonymity" else None,
        counts=np.array([count for row in entries for _, count in row], dtype=np.int32) if counted else None,
        users=np.array([users.index(row.user) for row in release.rows]) if model == "multi-pattern" else None,
        user_labels=pa.array(users, pa.string()) if model == "multi-pattern" else None,
        attributes=pa.array([release.attribute_of.get(name, name) for name in labels], pa.string())
        if release.attribute_of
        else None,
    )
    if release.counts is None:
        return Release(data)
    lines = release.counts
    counts = GroupCounts(
        np.array([group for group, _, _ in lines], dtype=np.int64),
        np.array([code[item] for _, item, _ in lines], dtype=np.int64),
        np.array([count for _, _, count in lines], dtype=np.int64),
    )
    return Release(data, np.array([row.group for row in release.rows], dtype=np.int64), counts)


# --- what somebody may do -----------------------------------------------------------------------------------------


def drop_member(release: Published, random: Random) -> Published:
    """One transaction less."""
    rows = list(release.rows)
    rows.pop(random.randrange(len(rows)))
    return replace(release, rows=rows)


def change_item(release: Published, random: Random) -> Published:
    """One item more, less, or another one; an item is sensitive everywhere or nowhere, else a file is refused."""
    place = random.randrange(len(release.rows))
    items = dict(release.rows[place].items)
    if items and random.random() < 0.6:
        items.pop(random.choice(sorted(items)))
    if random.random() < 0.7:
        marked = {item for row in release.rows for item in row.secret}
        items[random.choice([item for item in (*ITEMS, "new") if item not in marked])] = 1
    return _with_row(release, place, items=items)


def change_secret(release: Published, random: Random) -> Published:
    """A sensitive item more or less, or, in groups, inside a transaction."""
    place = random.randrange(len(release.rows))
    own = release.rows[place].secret ^ {random.choice(SECRETS)}
    if release.counts is not None:
        return _with_row(release, place, items={**release.rows[place].items, random.choice(SECRETS): 1})
    return _with_row(release, place, secret=own)


def swap_counts(release: Published, random: Random) -> Published:
    """Counts that change places, or one that grows, shrinks or overflows."""
    if release.counts:
        lines = list(release.counts)
        place = random.randrange(len(lines))
        group, item, count = lines[place]
        changed = random.choice([count + 1, count - 1, -1, 2**62, 2**63 - 1, count * 7])
        lines[place] = (group, item, min(changed, 2**63 - 1))  # a file with a larger one cannot be read
        if random.random() < 0.5 and len(lines) > 1:
            other = random.randrange(len(lines))
            (a, b, c), (d, e, f) = lines[place], lines[other]
            lines[place], lines[other] = (a, b, f), (d, e, c)
        return replace(release, counts=lines)
    place = random.randrange(len(release.rows))
    items = {item: count + random.choice([0, 1, 5]) for item, count in release.rows[place].items.items()}
    return _with_row(release, place, items=items)


def move_group(release: Published, random: Random) -> Published:
    """A transaction in another group, for another user, or at another place."""
    place = random.randrange(len(release.rows))
    other = random.choice(release.rows)
    moved = _with_row(release, place, group=random.choice([other.group, 99]), user=random.choice([other.user, "u99"]))
    if random.random() < 0.5:
        rows = list(moved.rows)
        random.shuffle(rows)
        moved = replace(moved, rows=rows)
    return moved


def repeat_line(release: Published, random: Random) -> Published:
    """A line twice."""
    if release.counts:
        return replace(release, counts=[*release.counts, random.choice(release.counts)])
    return replace(release, rows=[*release.rows, random.choice(release.rows)])


def _with_row(release: Published, place: int, **changes: Any) -> Published:
    rows = list(release.rows)
    rows[place] = replace(rows[place], **changes)
    return replace(release, rows=rows)


SABOTAGE: dict[str, Callable[[Published, Random], Published]] = {
    "drop a member": drop_member,
    "change an item": change_item,
    "change a sensitive item": change_secret,
    "swap counts": swap_counts,
    "move between groups": move_group,
    "repeat a line": repeat_line,
}
