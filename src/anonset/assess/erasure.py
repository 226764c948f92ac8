"""A request for erasure: whose published transactions are these, and is the release still good without them?

Precondition   a release, the owner's private link of it, and names of users or of original transactions. For a
               release in groups also the original, which tells whose sensitive items the counts hold.
Steps          find their published transactions · leave them out, and in groups take what they hold from the counts ·
               let the model check what is left, in transactions and, where the promise counts them, in persons.
Postcondition  `verdict` is the model's on exactly what would be left. The release itself is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.errors import InputError, ParameterError, setting
from anonset.data.release import GroupCounts, Release, Verdict
from anonset.data.spec import Model
from anonset.data.transactions import Longs, Mask, Transactions, as_text

if TYPE_CHECKING:
    from anonset.io.publish.private_link import PrivateLink


@dataclass(frozen=True, eq=False)
class Erasure:
    """The published transactions of somebody, and what the release is without them. Private.

    `places` are those of the transactions in the release, from 0; `ids` and `users` the names that the original gives
    them, where it does. `left` is the release without them, `verdict` the model's verdict on it.
    """

    places: Longs
    ids: tuple[str, ...]
    users: tuple[str, ...]
    left: Release
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Whether the release keeps its promise without them."""
        return self.verdict.holds

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON; transactions are numbered from 1."""
        verdict = self.verdict
        return {
            "published": (self.places + 1).tolist(),
            "transactions": list(self.ids),
            "users": list(self.users),
            "left": len(self.left),
            "promise": verdict.promise,
            "holds": verdict.holds,
            "measured": dict(verdict.measured),
            "persons": None if verdict.persons is None else dict(verdict.persons.measured),
            "witnesses": [vars(witness) for witness in verdict.witnesses],
        }


def forget(
    release: Release,
    link: PrivateLink,
    target: Model,
    *,
    users: Iterable[str] = (),
    transactions: Iterable[str] = (),
    original: Transactions | None = None,
) -> Erasure:
    """The published transactions of these users, or of these original transactions, and the release without them.

    Examples
    --------
    >>> import anonset
    >>> from anonset.io.publish.private_link import PrivateLink
    >>> data = anonset.Transactions.from_lists(["ab", "ab", "ab"], users=["Ann", "Bo", "Cy"])
    >>> link = PrivateLink.of(data, np.arange(3), "")
    >>> done = forget(anonset.Release(data), link, anonset.model("k-anonymity", k=2), users=["Bo"])
    >>> done.places.tolist(), done.holds
    ([1], True)
    """
    if len(link) != len(release):
        raise InputError(f"The link speaks of {len(link):,} transactions, and the release has {len(release):,}.")
    who, which = (list(dict.fromkeys(map(str, names))) for names in (users, transactions))
    if not (who or which):
        raise ParameterError("who", "name a user, or an original transaction (id)", "nothing", "Say whom to forget.")
    asked = _named(link.users, who, "who", len(link)) | _named(link.ids, which, "id", len(link))
    places = np.flatnonzero(asked)
    left = _without(release, asked, link, original)
    codes = link.user_codes()
    verdict = target.check(left, None if codes is None else codes[~asked])
    return Erasure(places, _texts(link.ids, places), _texts(link.users, places), left, verdict)


def _named(names: pa.StringArray | None, wanted: list[str], option: str, size: int) -> Mask:
    """Which published transactions bear one of these names; every name must occur."""
    if not wanted:
        return np.zeros(size, dtype=np.bool_)
    if names is None:
        what = "users" if option == "who" else "transactions"
        raise ParameterError(option, f"be left out where the original names no {what}", "names", "The link has none.")
    for name in wanted:
        if not name or pc.index(names, name).as_py() < 0:
            advice = "No published transaction is theirs."
            raise ParameterError(option, "be a name of the original", repr(name), advice)
    return np.asarray(pc.is_in(names, value_set=as_text(wanted)).to_numpy(zero_copy_only=False))


def _texts(names: pa.StringArray | None, places: Longs) -> tuple[str, ...]:
    return () if names is None else tuple(names.take(pa.array(places)).to_pylist())


def _without(release: Release, gone: Mask, link: PrivateLink, original: Transactions | None) -> Release:
    """What is left of the release."""
    rest = np.flatnonzero(~gone)
    data = release.transactions.take(rest)
    if release.groups is None or release.counts is None:
        return Release(data)
    if original is None:
        advice = f"It says which of the counted sensitive items were theirs: {setting('original')}."
        raise ParameterError("original", "be given for a release in groups", "nothing", advice)
    return Release(data, release.groups[rest], _counts_without(release, np.flatnonzero(gone), link, original))


def _counts_without(release: Release, gone: Longs, link: PrivateLink, original: Transactions) -> GroupCounts:
    """The counts of the groups, less what these transactions hold."""
    assert release.groups is not None
    assert release.counts is not None
    counts, labels = release.counts, release.transactions.labels
    place = link.row_origin(original)[gone]
    held = original.take(place[place >= 0]).sensitive_part()
    item = pc.index_in(held.labels, value_set=labels).fill_null(-1).to_numpy(zero_copy_only=False)[held.items]
    group = release.groups[gone][place >= 0][held.rows]
    width = len(labels) + 1
    key = counts.group.astype(np.int64) * width + counts.item
    lines = {int(one): at for at, one in enumerate(key)}
    less = counts.count.copy()
    for one in (group.astype(np.int64) * width + item).tolist():
        if one not in lines or less[lines[one]] < 1:
            raise InputError("The original does not fit the release: its sensitive items are not those counted there.")
        less[lines[one]] -= 1
    return GroupCounts(counts.group[less > 0], counts.item[less > 0], less[less > 0])
