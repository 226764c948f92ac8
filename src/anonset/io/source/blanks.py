"""Names that nothing but blanks at their ends keep apart: people see one name where a table holds two.

They stay two, since nobody can say for all data that they are one; but it is said.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import KEPT_APART, Counted
from anonset.data.transactions import Transactions


def say_kept_apart(data: Transactions) -> Transactions:
    """The data, with a note for each kind of names among which blanks keep some apart."""
    kinds = (("item", data.labels), ("transaction", data.ids), ("user", data.user_labels))
    found = {what: kept_apart(names) for what, names in kinds if names is not None}
    notes = tuple(_note(what, count) for what, count in found.items() if count)
    return replace(data, notes=(*data.notes, *notes)) if notes else data


def kept_apart(names: pa.StringArray) -> int:
    """How many names have blanks at their ends and are those of others without.

    Examples
    --------
    >>> kept_apart(pa.array(["tea", " tea", "oil "])), kept_apart(pa.array(["tea ", " tea"]))
    (1, 2)
    """
    bare = pc.utf8_trim_whitespace(names)
    padded = np.asarray(pc.not_equal(bare, names))
    if not padded.any():
        return 0
    codes = np.asarray(bare.dictionary_encode().indices)
    return int((padded & (np.bincount(codes)[codes] > 1)).sum())


def _note(what: str, count: int) -> Counted:
    said = f"1 {what} differs" if count == 1 else f"{count:,} {what}s differ"
    what_is = "from others by nothing but blanks at the ends of a name; if they are the same, use trim() in a query"
    return Counted(f"{said} {what_is}", KEPT_APART, count)
