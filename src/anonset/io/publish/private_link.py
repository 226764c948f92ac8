"""The owner's private link: which original transaction, and whose, is behind each published one.

::

    # anonset link, PRIVATE: 155,848 original transactions; sha256 of the release: 3f2a…
    published,original,transaction,user
    1,90211,r-90211,Ann
    2,,,                                     (invented by the method: nobody's)

With it the owner checks a promise in persons again, answers a request for erasure, and measures later. It undoes the
whole release: mode 0600, PRIVATE in its name, staged and published together with the release.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from anonset.data.address import Address
from anonset.data.boundary import reads_input
from anonset.data.errors import DataError, InputError, ParameterError, argument
from anonset.data.release import Release
from anonset.data.transactions import Ints, Longs, Transactions, as_text, encode
from anonset.io.formats.columns import user_names
from anonset.io.publish.certificate import sha256
from anonset.io.publish.group_reading import TRANSACTIONS
from anonset.io.publish.tables import digest as table_digest

PRIVATE = "PRIVATE"
_HEAD = re.compile(r"# anonset link, PRIVATE: ([\d,]+) original transactions; sha256 of the release: ([0-9a-f]{64})")
_COLUMNS = ("published", "original", "transaction", "user")


@dataclass(frozen=True, eq=False, repr=False)
class PrivateLink:
    """For each published transaction, in the order of the release, where it comes from. Private.

    `original` is the place in the original (−1: the method invented it), of which there were `transactions`. `ids` and
    `users` are the names that the original gives transactions and their users, empty where it gives none; None where
    it has no such names at all. `sha256` is that of the release.
    """

    original: Longs
    transactions: int
    ids: pa.StringArray | None
    users: pa.StringArray | None
    sha256: str

    def __len__(self) -> int:
        return len(self.original)

    def __repr__(self) -> str:
        return f"PrivateLink({len(self):,} published of {self.transactions:,} original transactions)"

    @classmethod
    def of(cls, source: Transactions, row_origin: Longs, digest: str) -> PrivateLink:
        """The link of a release made of `source`."""
        known = row_origin >= 0
        rows = np.where(known, row_origin, 0)

        def named(names: pa.Array) -> pa.StringArray:
            return pc.if_else(pa.array(known), as_text(names).take(pa.array(rows)), "") if len(source) else names

        ids = None if source.ids is None else named(source.ids)
        users = None if source.users is None else named(user_names(source))
        return cls(row_origin, len(source), ids, users, digest)

    def user_codes(self) -> Ints | None:
        """The user of each published transaction as a code, −1 where unknown; None where the original names none."""
        if self.users is None:
            return None
        codes, labels = encode(self.users)
        blank = pc.index(labels, "").as_py()
        known: Ints = np.where(codes == blank, -1, codes - (codes > blank) * (blank >= 0)).astype(np.int32)
        return codes if blank < 0 else known

    def require_users(self) -> Ints:
        """The user of each published transaction as a code; an `InputError` where the original names none."""
        codes = self.user_codes()
        if codes is None:
            raise InputError("The link names no users, so that nothing can be checked in persons. Leave it out.")
        return codes

    def row_origin(self, data: Transactions) -> Longs:
        """The place of each published transaction in these data, by the names of transactions where there are any.

        An `InputError` says how the data differ from those that the release was made from.
        """
        if self.ids is not None and data.ids is not None:
            found = pc.index_in(self.ids, value_set=data.ids).fill_null(-1).to_numpy(zero_copy_only=False)
            place: Longs = np.where(self.original < 0, -1, found).astype(np.int64)
            lost = int(((place < 0) & (self.original >= 0)).sum())
            if lost:
                raise _misfit(f"{lost:,} of its transactions are not in the data")
        elif self.transactions != len(data):
            raise _misfit(f"it was made of {self.transactions:,} transactions, and the data have {len(data):,}")
        else:
            place = self.original
        self._require_same_users(data, place)
        return place

    def _require_same_users(self, data: Transactions, place: Longs) -> None:
        if self.users is None or data.users is None or not len(data):
            return
        here = pc.if_else(pa.array(place >= 0), as_text(user_names(data)).take(pa.array(np.maximum(place, 0))), "")
        other = len(self) - (pc.sum(pc.equal(here, self.users)).as_py() or 0)
        if other:
            raise _misfit(f"{other:,} of its transactions have another user in the data")

    def require_release(self, place: str | os.PathLike[str], release: Release) -> None:
        """An `InputError` unless this link belongs to the release that was read from this path or table."""
        path = release_file(Path(place))
        if Address.of(place) is not None:
            digest = table_digest(release.transactions)
        else:
            digest = sha256(path) if path.is_file() else ""
        if len(release) != len(self) or digest != self.sha256:
            raise InputError(
                "The link does not fit the release: it belongs to another one (its sha256 differs). "
                "Give the link that was written with this release."
            )

    def write(self, path: Path) -> None:
        """Write as CSV, for the owner's eyes only."""
        origin = pa.array(self.original + 1, mask=self.original < 0)
        columns = {"published": np.arange(1, len(self) + 1), "original": origin}
        named = {"transaction": self.ids, "user": self.users}
        columns |= {name: names for name, names in named.items() if names is not None}
        head = f"# anonset link, PRIVATE: {self.transactions:,} original transactions; sha256 of the release: "
        with path.open("wb") as file:
            file.write(f"{head}{self.sha256}\n".encode())
            csv.write_csv(pa.table(columns), file, csv.WriteOptions(quoting_style="needed"))


def link_path(path: str | os.PathLike[str]) -> Path:
    """Where the link will be: its name says that it is private.

    Examples
    --------
    >>> link_path("link.csv").name
    'link.PRIVATE.csv'
    """
    target = Path(path)
    if target.suffix != ".csv":
        raise ParameterError("link", "end in .csv", target.name, "Try link.csv.")
    return target if PRIVATE in target.stem else target.with_name(f"{target.stem}.{PRIVATE}{target.suffix}")


def release_file(release: Path) -> Path:
    """The file that holds the transactions of a release: itself, or the one in the folder of a release in groups."""
    if not release.is_dir():
        return release
    return next((one for one in sorted(release.iterdir()) if one.name.split(".")[0] == TRANSACTIONS), release)


@reads_input
def read_link(path: str | os.PathLike[str]) -> PrivateLink:
    """A link that was written with a release (`--link`)."""
    place = Path(path)
    if not place.is_file() and (private := link_path(place)).is_file():
        place = private  # as it was named when it was written
    try:
        with place.open("rb") as file:
            head = _HEAD.fullmatch(file.readline(1000).decode(errors="replace").rstrip("\r\n"))
    except OSError as error:
        raise InputError(f"The link {place} cannot be read: {error.strerror}.") from error
    if head is None:
        raise DataError(f"this is no link of anonset. Give the file that {argument('link')} wrote.", source=str(place))
    return _parsed(place, int(head[1].replace(",", "")), head[2])


def linked(link: str | os.PathLike[str], path: str | os.PathLike[str], release: Release, data: Transactions) -> Longs:
    """The place in the data of each transaction of the release at this path, as the link says that fits both."""
    found = read_link(link)
    found.require_release(path, release)
    return found.row_origin(data)


def _parsed(place: Path, transactions: int, digest: str) -> PrivateLink:
    texts = csv.ConvertOptions(column_types=dict.fromkeys(("transaction", "user"), pa.string()))
    table = csv.read_csv(place, csv.ReadOptions(skip_rows=1), csv.ParseOptions(newlines_in_values=True), texts)
    torn = DataError("this link is damaged. Give the file as it was written.", source=str(place))
    if not {"published", "original"} <= set(table.column_names) <= set(_COLUMNS):
        raise torn
    numbers = table["published"].to_numpy()
    original = pc.fill_null(table["original"].cast(pa.int64()), 0).to_numpy().astype(np.int64) - 1
    if not np.array_equal(numbers, np.arange(1, len(table) + 1)) or original.max(initial=-1) >= transactions:
        raise torn
    ids, users = (as_text(table[name]) if name in table.column_names else None for name in ("transaction", "user"))
    return PrivateLink(original, transactions, ids, users, digest)


def _misfit(why: str) -> InputError:
    return InputError(
        f"The link does not fit the data: {why}. Give the data that the release was made from, read in the same way."
    )
