"""What a release says together with an earlier one: for `anonset verify --previous`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anonset.cli.base.options import Choice
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.successive import Successive
    from anonset.data.spec import Model

PREVIOUS = Param(
    "previous", "text", "An earlier release of the same data: what both together say of those who are new."
)


def previous_option() -> Choice:
    """`--previous FILE`."""
    return Choice(PREVIOUS, "Privacy", metavar="FILE")


def beside_earlier(data: str, previous: str, target: Model, reading: Mapping[str, Any]) -> Successive:
    """The release in DATA compared with an earlier one, for the promise that is checked."""
    from anonset.assess.successive import successive
    from anonset.io import read_release

    if target.spec.form != "rows" or "k" not in target.params or target.spec.protects_users:
        must = "come with k-anonymity, k^m-anonymity or (k, p)-anonymity"
        raise ParameterError("previous", must, target.name, "Other promises do not say how many candidates are left.")
    new, old = (read_release(place, **reading) for place in (data, previous))
    return successive(new, old, int(target.params["k"]), target.params.get("m"))


def sentences(found: Successive) -> list[str]:
    """For people."""
    what = "published sets" if not found.size else "items" if found.size == 1 else "items and pairs of items"
    said = [""]
    if found.holds:
        said.append(f"Together with the earlier release: of {found.compared:,} {what} that both have, none says of ")
        said[-1] += f"fewer than {found.k:,} new transactions that they hold it."
    else:
        said.append(f"NOT SAFE together with the earlier release: {found.exposed:,} of {found.compared:,} {what} that ")
        said[-1] += f"both have gained fewer than {found.k:,} transactions ({found.fewest:,} at the least). "
        said[-1] += "Somebody who knows that a person is new there has no more candidates. Publish new ones as batches "
        said[-1] += "of their own (anonymize --ledger)."
    if found.rarer:
        said.append(f"{found.rarer:,} became rarer: who is in both releases is published in two ways.")
    if found.unnamed:
        said.append(f"{found.unnamed:,} names are only in one of them and were not compared.")
    return said
