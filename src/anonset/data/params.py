"""Parameters that a model and the methods which reach it share: one definition, and no more than that.

The check and the methods must have nothing else in common, so everything here is trivial to see through.
"""

from __future__ import annotations

import math
from fractions import Fraction

from anonset.data.spec import Param

FINEST = 1_000_000

K = Param(
    "k",
    "int",
    "How many transactions must share each published set: an attacker is left with at least k candidates.",
    required=True,
    minimum=2,
    short="-k",
    example=2,
)

PROTECT = Param(
    "protect",
    "choice",
    "Whom to protect: everybody, or only those who share their set with a sensitive item (weaker; others stay exact).",
    default="all",
    choices=("all", "sensitive-only"),
    example="all",
)
DIVERSITY = Param(
    "diversity",
    "int",
    "Among transactions (or users) that share a set, at most one of so many may hold the same sensitive item; off: no "
    "limit. Default: 2 where sensitive items are named.",
    minimum=2,
    example=2,
    off=True,
    with_sensitive=2,
)


def fraction(p: float) -> Fraction:
    """The fraction that a decimal number stands for; where it stands for none, the next one below it.

    Examples
    --------
    >>> fraction(0.29), fraction(1 / 3), fraction(4e-7)
    (Fraction(29, 100), Fraction(1, 3), Fraction(0, 1))
    """
    written = Fraction(str(p))
    near = written.limit_denominator(FINEST)
    if near <= written or float(near) == p:
        return near
    return Fraction(math.floor(written * FINEST), FINEST)  # never rounded up: that would promise less
