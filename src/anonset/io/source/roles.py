"""Which column of a table plays which part, by its name or because an option says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonset.data.errors import DataError, setting, unknown
from anonset.io.source.options import ReadOptions

# Lower case, letters and digits only; the first name that a table has is taken.
_WORDS = {
    "transaction": """
        transaction transactionid transactionno transactionnumber tid trans transid order orderid orderno ordernumber
        invoice invoiceid invoiceno invoicenumber basket basketid cart cartid receipt receiptid ticket ticketid bill
        billid billno session sessionid visit visitid encounter encounterid admission admissionid event eventid id""",
    "item": """
        item items itemid itemname itemdescription product products productid productname sku stockcode article
        articleid page pageid url code diagnosis diagnoses icd drug description""",
    "user": """
        user userid username customer customerid customerno household householdid patient patientid person personid
        client clientid member memberid membernumber visitor visitorid subject subjectid account accountid""",
    "sensitivity": "sensitivity sensitivities degree degrees",
    "sensitive": "sensitive issensitive sensitiveitems",
    "attribute": "attribute attributes",
    "count": "count counts",
}
NAMES = {role: words.split() for role, words in _WORDS.items()}
_OPTIONS = {"sensitive": "sensitive_column"}
_ROW_NAMES = ("", "__index_level_0__")  # how row names arrive from a spreadsheet or R, and from pandas
OF_ITEMS: dict[str, Any] = dict.fromkeys(("item", "sensitivity", "sensitive_column", "attribute", "count"))
"""The options that name columns of single items, all of them off."""
_OWNERS = frozenset(("transaction", "transactionid", "user", "userid"))


@dataclass(frozen=True)
class Roles:
    """The position of the column for each part, None where a table has none."""

    transaction: int | None = None
    item: int | None = None
    user: int | None = None
    sensitivity: int | None = None
    sensitive: int | None = None
    attribute: int | None = None
    count: int | None = None

    @property
    def places(self) -> dict[str, int]:
        """The parts that columns play, and the positions of these columns."""
        return {role: place for role, place in vars(self).items() if place is not None}

    def others(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that play no part."""
        return tuple(name for place, name in enumerate(names) if place not in self.places.values())


NO_ROLES = Roles()


def plain(name: str) -> str:
    """A column name for comparing: lower case, letters and digits only."""
    return re.sub(r"[^0-9a-z]", "", name.lower())


def find_roles(names: Sequence[str], options: ReadOptions) -> Roles:
    """The roles that options and names give to columns; an option must name a column that is there."""
    roles: dict[str, int] = {}
    for role in NAMES:
        given = getattr(options, _OPTIONS.get(role, role))
        if given is not None:
            roles[role] = _position(names, given, _OPTIONS.get(role, role))
    plain_names = [plain(name) for name in names]
    for role, known in NAMES.items():
        if role in roles:
            continue
        for name in known:
            place = plain_names.index(name) if name in plain_names else None
            if place is not None and place not in roles.values():
                roles[role] = place
                break
    return Roles(**roles)


def _position(names: Sequence[str], given: str, option: str) -> int:
    if given in names:
        return list(names).index(given)
    same = [place for place, name in enumerate(names) if plain(name) == plain(given)]
    if len(same) == 1:
        return same[0]
    raise unknown(option, given, names)


def wide_roles(names: Sequence[str], options: ReadOptions, is_flag: Callable[[int], bool]) -> Roles:
    """The columns of a wide table that say whose transaction it is; all others are items.

    A column of 0 and 1 is an item even if it is called `order` or `page`, unless its name leaves no doubt.
    """
    roles = find_roles(names, replace(options, **OF_ITEMS))
    owners: dict[str, int] = {}
    for role in ("transaction", "user"):
        place = getattr(roles, role)
        if place is None:
            continue
        if getattr(options, role) is not None or plain(names[place]) in _OWNERS or not is_flag(place):
            owners[role] = place
    for place, name in enumerate(names):
        if name in _ROW_NAMES and "transaction" not in owners:
            owners["transaction"] = place
    return Roles(**owners)


def missing_role(roles: Roles, names: Sequence[str], source: str | None) -> DataError:
    """The error for a table where it is not clear which column holds what."""
    missing = [role for role in ("transaction", "item") if getattr(roles, role) is None]
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return DataError(
        f"It is not clear which column holds the {' and which the '.join(missing)}. The columns are: {shown}. "
        f"Name them: {' and '.join(map(setting, missing))}; or the format if this is no long table.",
        source=source,
    )
