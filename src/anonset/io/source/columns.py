"""What becomes of the columns of a table: several that make one transaction, and those that are left aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import Arrived
from anonset.data.errors import counted
from anonset.data.transactions import Transactions, as_text
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import PART, columns_in
from anonset.io.source.words import NAMES, plain


def whole_transaction(table: pa.Table) -> pa.Table:
    """The table with one column `transaction` where several make it together; one that is null makes it null.

    Values are joined by commas; a comma inside one is escaped, so that different values never read the same.

    Examples
    --------
    >>> table = pa.table({"transaction": ["1", "1"], "item": ["a", "b"], "transaction 2": ["x", "y,z"]})
    >>> whole_transaction(table)["transaction"].to_pylist()
    ['1,x', '1,y\\\\,z']
    """
    parts = [name for name in table.column_names if name == "transaction" or name.startswith(PART)]
    if len(parts) < 2:
        return table
    texts = [_escaped(as_text(table[name])) for name in parts]
    place = table.column_names.index("transaction")
    joined = pc.binary_join_element_wise(*texts, ",", null_handling="emit_null")
    return table.set_column(place, "transaction", joined).drop_columns(parts[1:])


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    return pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), ",", "\\,")


def in_order_of(data: Transactions, order: tuple[tuple[str, str], ...], rows: int) -> Transactions:
    """The data, which know how many rows the source had, and how it calls its columns."""
    columns = None if data.columns is None else replace(data.columns, order=order)
    return replace(data, columns=columns, arrived=Arrived(rows, order))


def columns_there(given: str | None, names: Sequence[str]) -> str | None:
    """Those of the columns that an option names which were read; None where it names none of them.

    Examples
    --------
    >>> columns_there("price,week", ["week", "item"]), columns_there("price", ["item"])
    ('week', None)
    """
    known = {plain(name) for name in names}
    return ",".join(name for name in columns_in(given, names) if plain(name) in known) or None


def left_aside(unread: Sequence[str], options: ReadOptions) -> tuple[str, ...]:
    """What to say of the columns that play no part: those dropped on purpose, and those that nobody spoke of."""
    wanted = {plain(name) for name in columns_in(options.drop, unread)}
    wanted |= set(NAMES["user"]) if options.no_user else set()
    dropped = [name for name in unread if plain(name) in wanted]
    others = [name for name in unread if plain(name) not in wanted]
    said = ((dropped, "dropped as asked"), (others, "left aside, with no part to play"))
    return tuple(f"{counted(len(names), 'column')} {what}: {_listed(names)}" for names, what in said if names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name or "one without a name" for name in names)
