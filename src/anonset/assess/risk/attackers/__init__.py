"""The attackers: one file each. The registry is a plain dict, in the order of the three criteria."""

from __future__ import annotations

from anonset.assess.risk.attackers import (
    absent_items,
    empty_basket,
    history_items,
    homogeneity,
    known_items,
    longest_basket,
    longest_member,
    minimality,
    nearest_match,
    person_items,
    posterior,
    two_baskets,
    two_releases,
    whole_basket,
    whole_history,
)
from anonset.assess.risk.spec import AttackSpec
from anonset.data.errors import unknown

ATTACKS: dict[str, AttackSpec] = {
    spec.name: spec
    for spec in (
        known_items.SPEC,
        absent_items.SPEC,
        nearest_match.SPEC,
        whole_basket.SPEC,
        longest_basket.SPEC,
        empty_basket.SPEC,
        person_items.SPEC,
        history_items.SPEC,
        whole_history.SPEC,
        two_baskets.SPEC,
        two_releases.SPEC,
        homogeneity.SPEC,
        posterior.SPEC,
        longest_member.SPEC,
        minimality.SPEC,
    )
}


def attack_spec(name: str) -> AttackSpec:
    """The attack of this name."""
    if name not in ATTACKS:
        raise unknown("attack", name, ATTACKS)
    return ATTACKS[name]
