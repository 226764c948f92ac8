"""k-anonymity of combinations of patterns: somebody who knows up to M habits of a user is left with at least k users.

Words (Hsu and Tsai, Definitions 1 to 7). A *pattern* is a set of quasi-identifier items that at least σ of the
published transactions hold, of any users. A user *contains* a pattern if one of the user's own transactions
holds all of its items. A pattern is one of the user's *maximal* patterns if the user contains it and contains no larger
pattern that includes it. The *anonymity degree* of a combination of patterns is the number of users who contain every
one of them, in one transaction or in several.

Precondition   a release in rows whose transactions say which user they belong to.
Check          mine the published transactions for all patterns; note for each which users contain it and for whom it
               is maximal; count the anonymity degree of every set of 1 to M patterns that are all maximal for one user.
Postcondition  `holds` iff every such degree is at least k (a release without patterns holds). `measured["k"]` is the
               smallest degree, or the number of users where there is no pattern at all. A release that holds at σ
               holds at every σ′ ≥ σ, but not at σ − 1: what one transaction less would make a pattern is not looked at.

The mining is the check's own (`models/patterns/`), in NumPy: nothing here is shared with the methods. A witness names a
combination of patterns and its degree, never a user.

C.-H. Hsu, H.-P. Tsai, "KAMP: Preserving k-anonymity for Combinations of Patterns", IEEE MDM, 2013.
"""

from __future__ import annotations

import math

from anonset.data.advice import Situation, Suggestion
from anonset.data.arrays import distinct
from anonset.data.errors import ParameterError
from anonset.data.release import Release, Verdict, Witness
from anonset.data.spec import ModelSpec, Param, as_count
from anonset.data.transactions import Transactions
from anonset.models.patterns.combinations import Tally, all_combinations
from anonset.models.patterns.table import PatternTable, pattern_table

USUAL_SUPPORT = 0.01

K = Param(
    "k",
    "int",
    "How many users must share every combination of patterns: an attacker is left with at least k of them.",
    required=True,
    minimum=2,
    short="-k",
    example=2,
)
COMBINATIONS = Param(
    "combinations",
    "int",
    "How many patterns of one user an attacker may know (M).",
    default=2,
    minimum=1,
    maximum=20,
    example=2,
)
SUPPORT = Param(
    "support",
    "count",
    "How many transactions must hold an itemset to make it a pattern (σ): a count, or a fraction of the original "
    "transactions, which becomes a count before the work.",
    required=True,
    example=0.1,
)


def check(release: Release, k: int, combinations: int, support: float) -> Verdict:
    """Whether every combination of up to M maximal patterns of a user is shared by at least k users.

    A support below 1 is a fraction of the *published* transactions, which need not be as many as the original ones
    were; promise and `measured["support"]` say which number that is.
    """
    data = release.transactions.quasi()
    least = _least(support, len(data))
    table = pattern_table(data, least)
    tally = Tally(k, combinations)
    for size, sets, degrees in all_combinations(table, combinations):
        tally.add(size, sets, degrees)
    params = {"k": k, "combinations": combinations, "support": support}
    return Verdict(
        model="multi-pattern",
        params=params,
        promise=SPEC.promise({**params, "support": _words(support, least)}),
        holds=not any(tally.below),
        measured={
            "k": table.users if tally.lowest is None else tally.lowest,
            "users": table.users,
            "support": least,
            "patterns": len(table.patterns),
            "combinations": sum(tally.count),
            "below_k": sum(tally.below),
            "combinations_by_size": tally.count,
            "below_k_by_size": tally.below,
        },
        witnesses=tuple(_witness(data, table, degree, members, k) for degree, members in tally.worst),
    )


def _least(support: float, transactions: int) -> int:
    """The support as a number of transactions."""
    if 0 < transactions < support:
        most = f"be at most the number of transactions ({transactions:,})"
        raise ParameterError("support", most, int(support), "Nothing can be a pattern with a larger one.")
    return as_count(support, transactions)


def _words(support: float, least: int) -> str:
    return f"{least:,}, which is {support:g} of the published transactions" if support < 1 else f"{least:,}"


def _witness(data: Transactions, table: PatternTable, degree: int, members: tuple[int, ...], k: int) -> Witness:
    names = tuple(" + ".join(data.labels[item].as_py() for item in table.patterns[member]) for member in members)
    who = f"{degree:,} user{'s' if degree != 1 else ''}"
    what = "this pattern" if len(names) == 1 else f"these {len(names)} patterns together"
    return Witness(f"{who} with {what}; {k:,} are needed", names, degree)


def _weakest(release: Release) -> dict[str, int] | None:
    """Pairs of habits that one transaction of a hundred shows."""
    if release.form != "rows" or release.transactions.users is None or not len(release):
        return None
    return {"k": 2, "combinations": 2, "support": max(2, round(USUAL_SUPPORT * len(release)))}


def _advice(situation: Situation) -> Suggestion | None:
    """For data in which users come again and their history is to be protected."""
    data = situation.data
    if not situation.users or data.users is None or (data.users < 0).any():
        return None
    people = len(distinct(data.users))
    support = max(2, math.floor(USUAL_SUPPORT * len(data)))
    reasons = (
        f"{people:,} users have {len(data) / people:.1f} transactions each: what they repeat identifies them, which no "
        "model of single transactions protects.",
        f"Patterns count from {support:,} transactions (1 %) on; rarer ones are noise to mining as well.",
    )
    return Suggestion("kamp", {"k": min(situation.k, max(2, people // 2)), "support": support}, reasons)


SPEC = ModelSpec(
    name="multi-pattern",
    title="k-anonymity of combinations of patterns",
    statement="every combination of up to {combinations} patterns (support {support}) that a user has is shared by at "
    "least {k} users",
    params=(K, COMBINATIONS, SUPPORT),
    check=check,
    paper="C.-H. Hsu, H.-P. Tsai, KAMP: Preserving k-anonymity for Combinations of Patterns, IEEE MDM, 2013",
    protects_users=True,
    batches=False,
    reads=(),
    default_method="kamp",
    meaning="somebody who knows up to {combinations} habits of a person (sets of items that turn up often) finds at "
    "least {k} users who have them all. Users are published under pseudonyms",
    stops=("singling out", "linkability"),
    remedies={
        "singling-out": lambda params: (Suggestion("crowd", {"k": params["k"]}, ()),),
        "loss": lambda params: (Suggestion("crowd", {"k": params["k"]}, ()),),
    },
    weakest=_weakest,
    advice=_advice,
)
