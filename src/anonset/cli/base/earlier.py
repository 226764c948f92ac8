"""What a release says together with an earlier one: for `anonset verify --previous`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonset.cli.base.options import Choice
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.successive import Successive
    from anonset.assess.two_cuts import TwoCuts
    from anonset.data.spec import Model

PREVIOUS = Param(
    "previous", "text", "An earlier release of the same data: what both together say of those who are new."
)


TREE = Param(
    "hierarchy",
    "text",
    "With --previous: the hierarchy of two k^m-anonymous releases by different cuts, to see what both leave together.",
)


def previous_options() -> list[Choice]:
    """`--previous FILE`, and `--hierarchy FILE` for two cuts."""
    return [Choice(PREVIOUS, "Privacy", metavar="FILE"), Choice(TREE, "Privacy", metavar="FILE")]


def beside_earlier(data: str, comparing: Mapping[str, Any], target: Model, reading: Mapping[str, Any]) -> Beside:
    """The release in DATA compared with an earlier one, for the promise that is checked."""
    from anonset.assess.successive import successive
    from anonset.assess.two_cuts import together
    from anonset.data.hierarchy import read_hierarchy
    from anonset.io import read_release

    if target.spec.form != "rows" or "k" not in target.params or target.spec.protects_users:
        must = "come with k-anonymity, k^m-anonymity or (k, p)-anonymity"
        raise ParameterError("previous", must, target.name, "Other promises do not say how many candidates are left.")
    k, m = int(target.params["k"]), target.params.get("m")
    tree = comparing.get("hierarchy")
    if tree is not None and m is None:
        raise ParameterError("hierarchy", "come with k^m-anonymity", target.name, "Only its releases are cuts.")
    new, old = (read_release(place, **reading) for place in (data, comparing["previous"]))
    cuts = None if tree is None or m is None else together(new, old, k, int(m), read_hierarchy(tree))
    return Beside(successive(new, old, k, m), cuts)


@dataclass(frozen=True)
class Beside:
    """What both releases say of those who are new, and, of two cuts, of those who are in both."""

    successive: Successive
    cuts: TwoCuts | None = None

    @property
    def holds(self) -> bool:
        """Whether both leave k candidates."""
        return self.successive.holds and (self.cuts is None or self.cuts.holds)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        cuts = {} if self.cuts is None else {"cuts": self.cuts.to_dict()}
        return {**self.successive.to_dict(), **cuts, "holds": self.holds}

    def sentences(self) -> list[str]:
        """For people."""
        return [*_of_new_ones(self.successive), *([] if self.cuts is None else _of_both(self.cuts))]


def _of_both(found: TwoCuts) -> list[str]:
    what = "single items" if found.size == 1 else "one or two items"
    if found.holds:
        return [
            f"Through the hierarchy: of {found.compared:,} cases in which {what} of somebody in both releases are "
            f"known, the two files alone leave fewer than {found.k:,} candidates in none."
        ]
    return [
        f"NOT SAFE together with the earlier release: of {found.compared:,} cases in which {what} of somebody in both "
        f"are known, fewer than {found.k:,} candidates are left in {found.exposed:,} ({found.fewest:,} in the worst). "
        "Publish by the cut of the earlier one (anonset recode --cut)."
    ]


def _of_new_ones(found: Successive) -> list[str]:
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
        said.append(f"{found.unnamed:,} names are only in one of them and were not compared here.")
    return said
