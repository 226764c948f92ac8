"""How data are read, as the type of the keywords that every function on data takes beside its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict


class Reading(TypedDict, total=False):
    """The options of `anonset.read`, which says what each of them means."""

    format: str | None
    separator: str | None
    header: bool | None
    transaction: str | Iterable[str] | None
    item: str | None
    user: str | None
    no_user: bool
    blank_users: str | None
    one_per_user: bool
    sensitivity: str | None
    sensitive_column: str | None
    item_attribute: str | None
    count: str | None
    count_as: str | None
    attribute: str | Iterable[str] | None
    attribute_sensitive: str | Iterable[str] | None
    attribute_hierarchy: str | Mapping[str, Any] | None
    users: Any
    drop: str | Iterable[str] | None
    sensitive: str | Iterable[str] | None
    sensitive_file: str | os.PathLike[str] | None
    with_degrees: bool
    degrees_file: str | os.PathLike[str] | None
    skip_nulls: bool
    query: str | None
    encoding: str | None
    sheet: str | None
    table: str | None
