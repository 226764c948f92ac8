"""What a published file says besides its sets, and no check of a model looks at.

A column that nobody checks may name the holder of a transaction. So may a line above the header, a second sheet or a
comment. An item that is named twice may be the only one: where there is one of these, no promise holds. Ids, users,
degrees, an order and names that only one transaction holds are parts of a release that its owner may have kept on
purpose: they are worth a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from anonset.data.account import NULLS, Counted, PassedOver
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import Model, ModelSpec
from anonset.data.transactions import Ints, Transactions, natural_order

PARTS = {"counts": "count", "sensitivity": "sensitivity"}
"""Parts of transactions that a model may not know, and the columns that hold them."""


def judge(
    release: Release, target: Model, ignore_columns: str | Iterable[str] = (), users: Ints | None = None
) -> Verdict:
    """The model's verdict, which cannot hold where the file has a column that the model does not look at.

    `users` (private) are the users of the published transactions, for a promise in persons.

    Examples
    --------
    >>> from anonset import model
    >>> data = replace(Transactions.from_lists([["a"], ["a"]]), unread=("ssn",))
    >>> judge(Release(data), model("k-anonymity", k=2)).holds
    False
    >>> judge(Release(data), model("k-anonymity", k=2), "ssn").holds
    True
    """
    verdict = target.check(release, users)
    unchecked = [name for name in _unchecked(release, target.spec) if name not in _names(ignore_columns)]
    found = (*map(_witness, unchecked), *_passed_over(release), *_repetitions(release))
    return replace(verdict, holds=False, witnesses=(*found, *verdict.witnesses)) if found else verdict


def _names(given: str | Iterable[str]) -> set[str]:
    return {name.strip() for name in given.split(",")} if isinstance(given, str) else set(given)


def _unchecked(release: Release, spec: ModelSpec) -> list[str]:
    """The columns that were not read, and those of parts that this model's check does not know."""
    data = release.transactions
    unknown = [column for part, column in PARTS.items() if getattr(data, part) is not None and part not in _known(spec)]
    return [*data.unread, *unknown]


def _known(spec: ModelSpec) -> tuple[str, ...]:
    return (*spec.publishes, *spec.reads)


def _witness(column: str) -> Witness:
    return Witness(
        f"the column '{column}' is published, but no check reads it, and it may single somebody out; leave it out, or "
        "accept it (--ignore-columns)"
    )


def _passed_over(release: Release) -> list[Witness]:
    """Parts of the file that reading left out, lines that lack something among them."""
    advice = "no check has read that, and it may single somebody out; publish the file without it"
    left = filter(_leaves_out, release.transactions.notes)
    return [Witness(f"{note[0].lower()}{note[1:]}: {advice}") for note in left]


def _leaves_out(note: str) -> bool:
    return isinstance(note, PassedOver) or (isinstance(note, Counted) and note.kind == NULLS)


def _repetitions(release: Release) -> list[Witness]:
    """Models speak about sets: how often an item is named is one more thing that somebody may know."""
    many = release.transactions.repeated
    if not many:
        return []
    named = "1 item is" if many == 1 else f"{many:,} items are"
    what = f"{named} named again in the same transaction, and how often may single somebody out"
    return [Witness(f"{what}; publish sets (anonset convert merges them)", size=many)]


def warnings(release: Release, spec: ModelSpec | None = None) -> tuple[str, ...]:
    """What the owner should know although the promise may hold; `spec` is the model that was asked for."""
    data = release.transactions
    protected = spec is not None and spec.protects_users
    found = [
        ("Transaction ids are published: who knows an id has found the person.", data.ids is not None and _named(data)),
        (
            "Users are published: this promise speaks about single transactions, not about a user's history.",
            data.users is not None and not protected,
        ),
        ("Sensitivity degrees are published: a rare one points to its owner.", data.sensitivity is not None),
        ("The transactions stand in the order of their ids: that is probably the original order.", _sorted(data)),
        (_single(release), bool(_single(release))),
        (_ranges(data), bool(_ranges(data))),
        *((f"Reading changed something: {note}.", True) for note in data.notes),
    ]
    return tuple(sentence for sentence, applies in found if applies)


def _named(data: Transactions) -> bool:
    """Whether the ids say more than the numbers from 0 or 1 would."""
    assert data.ids is not None
    numbers = pc.cast(pc.if_else(pc.match_substring_regex(data.ids, r"^[0-9]{1,18}$"), data.ids, "-1"), "int64")
    values = numbers.to_numpy(zero_copy_only=False)
    return not any(np.array_equal(values, np.arange(first, first + len(data))) for first in (0, 1))


def _sorted(data: Transactions) -> bool:
    """Whether the transactions stand in the order of their ids; a few do so by chance."""
    if data.ids is None or len(data) < 4 or not _named(data):
        return False
    return bool(np.array_equal(natural_order(data.ids), np.arange(len(data))))


def _ranges(data: Transactions) -> str:
    """How many published names are ranges of items, as those of a hierarchy that was built; one transaction may hold an
    item at an end.
    """
    many = pc.sum(pc.match_substring_regex(data.labels, r"^.+\.\..+$")).as_py() or 0
    if not many:
        return ""
    named = "name is a range" if many == 1 else "names are ranges"
    return (
        f"{many:,} published {named} (first..last): that says which items there were, also where one person held them."
    )


def _single(release: Release) -> str:
    """How many published names only one transaction holds; a group may count one besides."""
    data = release.transactions
    held = data.item_counts
    if release.counts is not None:
        np.add.at(held, release.counts.item, np.clip(release.counts.count, 0, 2))
    once = int((held == 1).sum())
    if not once:
        return ""
    return f"{once:,} published item{'s are' if once > 1 else ' is'} held by only one transaction."
