"""Columns beside the items: what a table says of a whole transaction, such as its store, its date, somebody's age.

An attribute is an item with a hierarchy: the value `Mitte` of the column `store` is the item `store=Mitte`, and what is
more general than it (`store=Berlin`) lies above it. A transaction holds at most one of them; where none is left, `*` is
published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

NOTHING = "*"
"""What is published where no value is left, and read as no value."""
OF = "="
"""Stands between a column's name and a value in the name of an item."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """A column beside the items.

    `kind` is the type of its values in the source (None: text). `tree` says what is more general than each value: a
    `Hierarchy` of the items `name=value`, which is private; None where nothing is but `*`.
    """

    name: str
    kind: pa.DataType | None = None
    tree: Any = None
    sensitive: bool = False

    @property
    def mark(self) -> str:
        """How the items of this column begin."""
        return self.name + OF

    def public(self) -> Attribute:
        """The same without what only the owner knows."""
        return replace(self, tree=None)


@dataclass(frozen=True, eq=False)
class Columns:
    """The attributes of transactions, and how the source calls its columns.

    `order` are the columns of the source that play a part: each one's part (`transaction`, `item`, …; `attribute` for
    these) and its name.
    """

    attributes: tuple[Attribute, ...]
    order: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    def public(self) -> Columns:
        """The same without what only the owner knows."""
        return replace(self, attributes=tuple(attribute.public() for attribute in self.attributes))

    def called(self, part: str) -> str:
        """What the source calls the column that plays a part; the part's own name where it says nothing."""
        return next((name for role, name in self.order if role == part), part)

    def of_items(self, labels: pa.StringArray) -> npt.NDArray[np.int32]:
        """For each item the place of its attribute; −1 for items that are none.

        Examples
        --------
        >>> Columns((Attribute("store"),)).of_items(pa.array(["milk", "store=Mitte"])).tolist()
        [-1, 0]
        """
        found = np.full(len(labels), -1, dtype=np.int32)
        for place, attribute in enumerate(self.attributes):
            found[np.asarray(pc.starts_with(labels, attribute.mark), dtype=np.bool_)] = place
        return found

    def as_options(self, parts: Sequence[str]) -> dict[str, str]:
        """The options that read a table of these columns again, in which columns play these parts."""
        said = {part: name for part, name in self.order if part in parts}
        for part, secret in (("attribute", False), ("attribute_sensitive", True)):
            names = [one.name for one in self.attributes if one.sensitive == secret]
            said |= {part: ",".join(names)} if names else {}
        return said


def of_items(columns: Columns | None, labels: Sequence[str] | pa.StringArray) -> npt.NDArray[np.int32]:
    """For each item the place of its attribute; −1 for items that are none."""
    return np.full(len(labels), -1, dtype=np.int32) if columns is None else columns.of_items(labels)
