"""Transactions from a table or a query of a database.

Precondition   an address; a table or a query, or a database with one table that can hold transactions.
Steps          read the names of the columns · choose those that play a part, by names or by the first rows · stream
               them, texts as codes · put transactions into the order of their ids: rows of a table have none.
Postcondition  the same transactions whatever order the server delivers rows in; nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from anonset.data.account import PassedOver
from anonset.data.address import Address
from anonset.data.errors import InputError, ParameterError, setting, unknown
from anonset.data.labels import natural_order
from anonset.data.transactions import Transactions
from anonset.io.database.connections import connected
from anonset.io.database.session import Session
from anonset.io.formats.registry import parse_format
from anonset.io.source.columns import columns_there, in_order_of, left_aside, whole_transaction
from anonset.io.source.frames import needed, table_layout
from anonset.io.source.guessing import MOST_ROWS
from anonset.io.source.options import ReadOptions
from anonset.io.source.origin import Origin, Part
from anonset.io.source.roles import find_roles
from anonset.io.source.tables import valid


def read_database(address: Address, options: ReadOptions) -> Transactions:
    """The transactions of a table, or of what a query of the database gives."""
    layout = None if options.format is None else parse_format(options.format, "input_format")[0]
    with connected(address) as session:
        source, said = chosen(session, options)
        schema = _once(session, source)
        fields, unread = _fields(session, source, schema, options, layout)
        table = valid(collected(session.batches(source, fields), pa.schema(fields)), str(address))
    if not len(table):
        return replace(Transactions.from_lists([]), notes=said)
    rest = replace(options, drop=columns_there(options.drop, table.column_names))
    found = table_layout(table, layout, rest, str(address))
    order = found.order(table, rest, str(address))
    table, others = found.by_role(table, rest, str(address))
    origin = Origin((Part(str(address), len(table)),))
    data = in_order_of(found.read(whole_transaction(table), rest, origin), order, len(table))
    unread = tuple(dict.fromkeys((*unread, *others, *data.unread)))
    data = replace(data, unread=unread, notes=(*said, *left_aside(unread, options), *data.notes))
    return by_id(data)


def require_database(address: Address, options: ReadOptions) -> None:
    """An error where the database, the table or the query is not there, or its columns are unclear."""
    layout = None if options.format is None else parse_format(options.format, "input_format")[0]
    with connected(address) as session:
        source, _ = chosen(session, options)
        _fields(session, source, _once(session, source), options, layout)


def about_rows(address: Address, options: ReadOptions) -> int:
    """About how many rows will be read."""
    with connected(address) as session, session.plain():
        return session.about_rows(chosen(session, options)[0])


def chosen(session: Session, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    """What stands behind FROM, and what to say of it."""
    named = options.table or session.address.table
    if options.query is not None:
        if named is not None:
            raise ParameterError("table", "be left out beside a query", repr(named), "The query says what to read.")
        session.require_query(query := options.query.strip().rstrip(";"))
        return f"(\n{query}\n)", ()
    with session.plain():
        tables = session.sources()
        if named is not None:
            return session.named(_known(session, named, tables)), ()
        fitting = [name for name in tables if _holds_transactions(session, name, options)] if tables[1:] else tables
    if len(fitting) == 1:
        others = [name for name in tables if name != fitting[0]]
        note = PassedOver(f"the table {fitting[0]} was read, not {', '.join(others)}")
        return session.named(fitting[0]), (note,) if others else ()
    if not tables:
        raise InputError(f"{session.address} holds no table that can be read.")
    asked = f"Name it: {setting('table', (fitting or tables)[0])}, or give a query."
    raise InputError(f"{session.address} holds several tables: {', '.join((fitting or tables)[:12])}. {asked}")


def _known(session: Session, name: str, tables: Sequence[str]) -> str:
    """The table of this name; its own tables can be read by name, too."""
    if name in tables or session.there(name):
        return name
    same = [one for one in tables if one.lower() == name.lower()]
    if len(same) != 1:
        raise unknown("table", name, tables)
    return same[0]


def _holds_transactions(session: Session, name: str, options: ReadOptions) -> bool:
    try:
        roles = find_roles(session.schema(session.named(name)).names, options)
    except ParameterError:  # an option names a column that this table has not
        return False
    return roles.item is not None and roles.transaction is not None


def _once(session: Session, source: str) -> pa.Schema:
    """The columns of a source; an error where two have one name."""
    with session.plain():
        schema = session.schema(source)
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise InputError(f"Two columns are called {twice[0]}. Name them apart in a query.")
    return schema


def _fields(
    session: Session, source: str, schema: pa.Schema, options: ReadOptions, layout: str | None
) -> tuple[list[pa.Field], tuple[str, ...]]:
    """The columns to read, and the names of those that play no part; the first rows decide where names do not tell."""
    places = needed(schema.names, layout, options)
    if places is None:
        fields = list(schema)
        sample = collected(session.batches(source, fields, MOST_ROWS), schema)
        if len(sample):
            _, unread = table_layout(sample, layout, options, str(session.address)).by_role(
                sample, options, str(session.address)
            )
            places = [place for place, name in enumerate(schema.names) if name not in unread]
    chosen_fields = list(schema) if places is None else [schema.field(place) for place in places]
    kept = {field.name for field in chosen_fields}
    return chosen_fields, tuple(name for name in schema.names if name not in kept)


def collected(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """One table of all parts, in which texts are codes: the same few names come again and again."""
    parts = [_encoded(batch) for batch in batches]
    if not parts:
        return pa.table({name: pa.array([], pa.string()) for name in schema.names})
    table = pa.Table.from_batches(parts).unify_dictionaries()
    del parts
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(place, table.column_names[place], _in_natural_order(column))
    pa.default_memory_pool().release_unused()
    return table


def _encoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Names as codes, all else as a copy: one column that is kept as it came keeps the whole part in memory."""
    every = pa.array(np.arange(len(batch), dtype=np.int32))
    columns = []
    for column in batch.columns:
        column = column.storage if isinstance(column, pa.ExtensionArray) else column
        kind = column.type
        named = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)
        columns.append(column.cast(pa.string()).dictionary_encode() if named else column.take(every))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _in_natural_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same column with its names in natural order: that in which they were met says nothing."""
    names = column.chunk(0).dictionary
    order = natural_order(names)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    codes = pa.chunked_array([part.indices for part in column.chunks]).combine_chunks()
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(place).take(codes), names.take(pa.array(order)))])


def by_id(data: Transactions) -> Transactions:
    """The transactions in the natural order of their ids."""
    if data.ids is None:
        return data
    order = natural_order(data.ids)
    return data if bool((order[1:] > order[:-1]).all()) else data.take(order)
