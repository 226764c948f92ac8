"""`read`: anything that holds transactions becomes `Transactions`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from anonset.data.address import Address
from anonset.data.boundary import reads_input
from anonset.data.errors import InputError, ParameterError
from anonset.data.release import Release
from anonset.data.transactions import Transactions
from anonset.io.source.attributes import give_columns
from anonset.io.source.blanks import say_kept_apart
from anonset.io.source.counts import settle_counts
from anonset.io.source.degrees import give_degrees
from anonset.io.source.files import asked_layout, no_spreadsheet, read_files, read_query
from anonset.io.source.frames import from_table
from anonset.io.source.guessing import UnclearColumns
from anonset.io.source.options import ReadOptions
from anonset.io.source.roles import find_roles
from anonset.io.source.sensitive import mark_sensitive
from anonset.io.source.tables import as_table, counts_as_sets, index_of, is_cross_table, is_frame
from anonset.io.source.users import require_sense, settle_users


@reads_input
def read(
    source: Any,
    *,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    transaction: str | Iterable[str] | None = None,
    item: str | None = None,
    user: str | None = None,
    no_user: bool = False,
    blank_users: str | None = None,
    one_per_user: bool = False,
    sensitivity: str | None = None,
    sensitive_column: str | None = None,
    item_attribute: str | None = None,
    count: str | None = None,
    count_as: str | None = None,
    attribute: str | Iterable[str] | None = None,
    attribute_sensitive: str | Iterable[str] | None = None,
    attribute_hierarchy: str | Mapping[str, Any] | None = None,
    users: Any = None,
    drop: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    sensitive_file: str | os.PathLike[str] | None = None,
    with_degrees: bool = False,
    degrees_file: str | os.PathLike[str] | None = None,
    skip_nulls: bool = False,
    query: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
) -> Transactions:
    """Transactions from a file, a folder, a glob, standard input (`-`), a data frame, a matrix or plain lists.

    What a file is follows from its name and content; every option overrides that. Whatever was dropped or merged
    is counted in the result's `notes`.

    Parameters
    ----------
    source
        A path, or several; `-`; a pandas, Polars or Arrow frame or column; a SciPy sparse matrix; lists of items.
    format
        `fimi`, `spmf`, `basket`, `long`, `lists` or `wide`, perhaps with a container: `long.csv`.
    separator, header, encoding
        Of text files; detected where not given.
    transaction, item, user, sensitivity, sensitive_column, item_attribute, count
        The columns of a table; recognised by name, in several languages, or by content where not given. Several
        columns can make a transaction together: `["date", "customer"]`.
    no_user, blank_users, one_per_user
        Ignore users; whose a transaction without a user is (`unknown`, or `distinct` persons); merge all transactions
        of a user into one.
    count_as
        How counts are published with the items: `keep` (as they are, or `*` where they cannot be; the default where
        `count` names them), `bins` (2..3, 4..7, …) or `drop`.
    attribute, attribute_sensitive
        Columns beside the items, which say something of a whole transaction: `["store", "date"]`.
    attribute_hierarchy
        What is more general than their values: `{"store": "stores.csv"}`. Dates and numbers need none.
    users
        A second table (a path, a frame), joined by user; its columns stand beside the items as well.
    drop
        Columns to leave aside on purpose. All columns that play no part are left aside, and said in the notes.
    sensitive, sensitive_file
        The sensitive items: names separated by commas or in a list; a file with one name per line.
    with_degrees
        Items of line formats end in a colon and a sensitivity degree: `milk:0.3`.
    degrees_file
        A table of degrees for data that have none: `sensitivity` for each `item`, for each `user`, or for both.
    skip_nulls
        Leave out what lacks a transaction or an item instead of stopping.
    query
        An SQL query over files whose result is read as a table; `source`, if any, is its table `data`.
    sheet, table
        Which sheet of a spreadsheet, which table of a database.

    Examples
    --------
    >>> read([["wine", "bread"], ["bread"]])
    Transactions(2 transactions, 2 items, mean length 1.5)
    """
    given = {name: value for name, value in locals().items() if name != "source"}
    for name in ("sensitive_file", "degrees_file"):
        if given[name] is not None:
            given[name] = os.fspath(given[name])
    for name in ("transaction", "drop", "attribute", "attribute_sensitive"):
        if given[name] is not None and not isinstance(given[name], str):
            given[name] = ",".join(given[name])
    options = ReadOptions(**given)
    require_sense(options)
    data = give_columns(say_kept_apart(_read_by_content(source, options)), options)
    data = settle_users(mark_sensitive(give_degrees(data, options), options), options)
    return settle_counts(data, options)


@reads_input
def read_release(source: Any, **options: Any) -> Release:
    """A release: a folder of groups that `anonset.write` made, or anything else as rows of transactions.

    Examples
    --------
    >>> read_release([["wine", "bread"], ["bread"]])
    Release(rows, Transactions(2 transactions, 2 items, mean length 1.5))
    """
    from anonset.io.publish.certificate import columns_said
    from anonset.io.publish.group_reading import is_group_folder, read_groups

    if isinstance(source, Release):
        return source
    if is_group_folder(source):
        return read_groups(source)
    if not options.keys() & {"attribute", "attribute_sensitive"}:  # whoever made the file says what its columns are
        options = {**columns_said(source), **options}
    return Release(read(source, **options))


def _read_by_content(source: Any, options: ReadOptions) -> Transactions:
    """What `_read` gives; where names leave one column open and content leaves no other, with that one, and a note."""
    try:
        return _read(source, options)
    except UnclearColumns as error:
        if not error.sure or (isinstance(source, str) and source == "-"):
            raise
        known: dict[str, Any] = dict(error.guess)
        data = _read(source, replace(options, **known))
        said = (f"column {name} is taken for the {role}, by its content" for role, name in error.guess.items())
        return replace(data, notes=(*said, *data.notes))


def _is_path(source: Any) -> bool:
    """Whether files are meant, one or several."""
    several = source if isinstance(source, (list, tuple)) else [source]
    return bool(several) and all(isinstance(one, (str, os.PathLike)) for one in several)


def _read(source: Any, options: ReadOptions) -> Transactions:
    place = Address.of(source)
    if options.sheet is not None and options.query is None and (place is not None or not _is_path(source)):
        raise no_spreadsheet("a database" if place is not None else "another source")
    if place is not None:
        from anonset.io.database.reading import read_database

        return read_database(place, options)
    if options.table is not None:
        raise ParameterError("table", "come with a database", "another source", "Leave it out.")
    if options.query is not None:
        return read_query(source, options)
    if isinstance(source, Transactions):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_files([source], options)
    if isinstance(source, (list, tuple)) and _is_path(source):
        return read_files(source, options)
    if hasattr(source, "sparse") and len(getattr(source, "columns", ())):  # a pandas frame of sparse columns
        return Transactions.from_scipy(source.sparse.to_coo(), [str(name) for name in source.columns])
    if is_frame(source):
        return _from_frame(source, options)
    if hasattr(source, "tocsr"):
        return Transactions.from_scipy(source)
    if getattr(source, "ndim", None) == 2:
        from scipy.sparse import csr_array

        return Transactions.from_scipy(csr_array(source))
    if isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)):
        return _from_lists(list(source))
    raise InputError(
        f"Transactions cannot be read from an object of type {type(source).__name__}. "
        "Pass a path, a data frame, a sparse matrix or a list of lists of items."
    )


def _from_frame(source: Any, options: ReadOptions) -> Transactions:
    index = index_of(source)
    source, notes = counts_as_sets(source)
    if is_cross_table(source) and index and options.transaction is None and find_roles(index, options).user is None:
        options = replace(options, transaction=index[0])  # what its rows are is no item
    data = from_table(as_table(source), options, asked_layout(options), index)
    return replace(data, notes=(*notes, *data.notes))


def _from_lists(transactions: list[Any]) -> Transactions:
    for transaction in transactions:
        if isinstance(transaction, (str, bytes)) or not isinstance(transaction, Iterable):
            kind = type(transaction).__name__
            raise InputError(f"Every transaction must be a list or set of items. Got one of type {kind}.")
    return Transactions.from_lists(transactions)
