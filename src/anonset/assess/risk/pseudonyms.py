"""What published pseudonyms give away: the finding behind `keep_users`, loudly."""

from __future__ import annotations

from anonset.assess.risk.find import find
from anonset.assess.risk.spec import Case
from anonset.assess.risk.words import share

LOUD = "Published pseudonyms give histories away"


def pseudonym_warning(case: Case) -> str:
    """A sentence on how many users are found by their whole history; empty where no users are published.

    Examples
    --------
    >>> import numpy as np
    >>> from anonset import Release, Transactions
    >>> data = Transactions.from_lists([["a"], ["b"], ["a"]], users=["Ann", "Ann", "Bo"])
    >>> pseudonym_warning(Case(data, Release(data), np.arange(3)))[:40]
    'Published pseudonyms give histories away'
    """
    if "published users" not in case.has:
        return ""
    found = find(case, ["whole-history"]).attacks
    if not found:
        return ""
    one = found[0]
    sure = f", and finds {one.certain:,} of {one.attacked:,} for certain" if one.certain else ""
    return (
        f"{LOUD}: somebody who knows all transactions of a person picks the right pseudonym in {share(one.after)} of "
        f"cases{sure}. Every transaction under it is then known to be that person's. Leave the pseudonyms out "
        "(keep_users), or use multi-pattern, the model that speaks about histories."
    )
