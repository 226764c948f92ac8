"""Who can check what of a promise: a sentence for verdicts, certificates and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonset.data.release import Verdict
from anonset.models import MODELS

PUBLISHING = "by the owner at publishing"


def who_checks(verdict: Verdict, checked: str = PUBLISHING) -> str:
    """What anybody can check of a verdict, and what only the owner could; empty where nothing counts persons.

    Examples
    --------
    >>> import anonset
    >>> data = anonset.Transactions.from_lists(["ab", "ab", "ab"], users=["Ann", "Ann", "Bo"])
    >>> target = anonset.model("k-anonymity", k=2, unit="user")
    >>> who_checks(target.check(anonset.Release(data), data.users))
    'k = 3 transactions: anybody can check; 2 persons: checked by the owner at publishing'
    """
    if verdict.persons is None:
        return ""
    name = MODELS[verdict.model].headline if verdict.model in MODELS else "k"
    here, there = (_figure(one.measured, name) for one in (verdict, verdict.persons))
    persons = "person" if there == "1" else "persons"
    return f"{name} = {here} transactions: anybody can check; {there} {persons}: checked {checked}"


def _figure(measured: Mapping[str, Any], name: str) -> str:
    value = measured.get(name)
    return f"{value:,}" if isinstance(value, int) else f"{value}"
