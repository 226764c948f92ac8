"""The options of reading, said once: the command line and the app derive theirs from here.

This module imports nothing heavy, so that `anonset --help` stays fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def _option(help: str, default: Any = None) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read where its content and name do not say enough; every field has a help text.

    Examples
    --------
    >>> ReadOptions(item="product").item
    'product'
    """

    format: str | None = _option(
        "The format: fimi, spmf, basket, long, lists or wide, perhaps with a container (long.csv). "
        "Default: detected from the name and the content."
    )
    separator: str | None = _option("The character between fields of a CSV or basket file. Default: detected.")
    header: bool | None = _option("Whether the first line is a header. Default: detected.")
    transaction: str | None = _option(
        "The column that says which transaction an item belongs to, or several of them: date,customer."
    )
    item: str | None = _option("The column of items, or of lists of items.")
    user: str | None = _option("The column that says whose transaction it is.")
    no_user: bool = _option("Ignore the column that says whose transaction it is.", False)
    blank_users: str | None = _option(
        "Whose a transaction without a user is: unknown (it supports nobody's k; default), or distinct (each is "
        "another person's)."
    )
    one_per_user: bool = _option("Merge all transactions of a user into one, the user's history.", False)
    sensitivity: str | None = _option("The column of sensitivity degrees between 0 and 1.")
    sensitive_column: str | None = _option("The column that marks sensitive items with true or false.")
    item_attribute: str | None = _option("The column that says which attribute, or kind, an item belongs to.")
    count: str | None = _option("The column that says how often an item occurs in its transaction.")
    count_as: str | None = _option(
        "How these counts are published with the items: keep (as they are, or * where they cannot be; default where "
        "--count names them), bins (2..3, 4..7, …) or drop."
    )
    attribute: str | None = _option(
        "Columns beside the items to publish with them, generalised as needed, separated by commas: store,date."
    )
    attribute_sensitive: str | None = _option(
        "Columns beside the items whose values are sensitive: published as they are, where the promise allows that."
    )
    attribute_hierarchy: str | None = _option(
        "What is more general than the values of such a column: store=stores.csv,area=areas.csv. Dates and numbers "
        "need none."
    )
    users: str | None = _option("A second table, joined by user: its columns stand beside the items as well.")
    drop: str | None = _option("Columns to leave aside on purpose, separated by commas: price,store.")
    sensitive: str | Iterable[str] | None = _option("The sensitive items, separated by commas.")
    sensitive_file: str | None = _option("A file that names the sensitive items, one per line.")
    with_degrees: bool = _option("Items of line formats end in a colon and their sensitivity degree: milk:0.3.", False)
    degrees_file: str | None = _option(
        "A table of sensitivity degrees for data without: columns sensitivity and item, user or both."
    )
    skip_nulls: bool = _option("Leave out lines without a transaction or an item instead of stopping.", False)
    query: str | None = _option("An SQL query over files whose result is read as a table.")
    encoding: str | None = _option("The character encoding of text files. Default: UTF-8, UTF-16 or Windows-1252.")
    sheet: str | None = _option("The sheet of a spreadsheet. Default: the first one with data.")
    table: str | None = _option("The table of a database. Default: the only one that can hold transactions.")

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {
            name: getattr(self, name)
            for name, spec in self.__dataclass_fields__.items()
            if getattr(self, name) != spec.default
        }


def reading_only(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of reading among the given ones, and the others.

    Examples
    --------
    >>> reading_only({"item": "product", "k": 5})
    ({'item': 'product'}, {'k': 5})
    """
    names = {one.name for one in fields(ReadOptions)}
    reading = {name: value for name, value in options.items() if name in names and value is not None}
    return reading, {name: value for name, value in options.items() if name not in names}
