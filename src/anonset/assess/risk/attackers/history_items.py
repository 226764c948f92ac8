"""History, known items: an attacker who knows m items from all transactions of a person, in whichever they stand.

The candidates are the persons whose published transactions together hold them all. Where the release publishes no
users, nobody can tell which transactions belong together, and the chance is one that no attacker exceeds.
"""

from __future__ import annotations

from anonset.assess.risk.attackers.known_items import all_chances, known_words
from anonset.assess.risk.persons import histories_of
from anonset.assess.risk.spec import AttackSpec, Case, finding
from anonset.data.findings import Finding


def run(case: Case) -> tuple[Finding, ...]:
    """One finding for each number of known items that some history has."""
    found, bound = [], "published users" not in case.has or case.facts.ways is not None
    for (m, _), chances in all_chances(case, histories_of(case), "history items", (0,)).items():
        items = known_words(case, m)
        knows, title = f"{items} from all transactions of a person", f"{items.partition(',')[0]} of all baskets"
        found.append(finding(SPEC, case, chances, known=m, knows=knows, title=title, upper_bound=bound))
    return tuple(found)


SPEC = AttackSpec(
    name="history-items",
    part="linkability",
    title="items of all baskets",
    knows="some items from all transactions of a person",
    run=run,
    forms=("rows",),
    needs=("users", "origin"),
)
