"""Minimality: an attacker who knows the method and its parameters rules out holders whom it would not have grouped so.

What each method gives away, for a group that publishes one occurrence of one sensitive item:

- `nn`, `lsh`, `cahd-balanced` take a holder and the transactions nearest to it; a member that has nearer ones outside
  the group than its farthest mate inside is an unlikely holder. `cahd-gray` and `cahd-rcm` do the same among the
  neighbours in an order that anybody can compute from what is published.
- `perm-mondrian` splits a group wherever both halves keep the degree. A group that was not split on an item has its
  holder in a half of fewer than p members, for every item: members in larger halves are ruled out for certain.
- `cahd-blind` looks at no sensitive item before its groups are cut: nobody is ruled out.

In a release in rows, groups are the transactions that publish the same; for a group and a sensitive item that some of
its members hold:

- `crowd` with diversity, `ant`, `ant-minus` and `kp-crowd` put a holder elsewhere where its group is full (see
  `displaced.py`).
- All others form their groups by ordinary items alone. Whatever the secrets are, the groups are the same; so they say
  nothing beyond the share of a group, and nobody is attacked in this way.

The attacker points at one of those that are left, or that are least unlikely; the owner knows how often that is right.
For groups formed around a holder there are two such guesses, the fewest nearer transactions outside and the most
central member; the better one counts, with an interval that holds for both. A method that is not named here is not
attacked in this way.

R. Wong et al., "Minimality attack in privacy preserving data publishing", VLDB 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from anonset import _native
from anonset.assess.risk.displaced import placed
from anonset.assess.risk.guess import Attacked, Scores, central
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.arrays import distinct
from anonset.data.findings import Finding
from anonset.data.transactions import Floats, Longs, Transactions, natural_order

GROUPS = 150
"""Groups that are attacked; they are drawn at random."""
OUTSIDE = 5_000
"""Transactions outside a group that are compared with its members, where all are candidates."""

Score = Callable[[Attacked, Longs], Scores]
Rule = Callable[[Case, Attacked], Iterable[Score]]
"""Ways to score the members of a group, the most likely holders highest."""


def run(case: Case) -> tuple[Finding, ...]:
    """How often the best guess is right in (a random sample of) the groups with a holder to guess."""
    assert case.row_origin is not None
    if case.release.form == "rows":
        return _in_rows(case)
    if case.method not in RULES:
        return ()
    attacked = Attacked(case.data, case.release, case.row_origin)
    drawn = attacked.alone(GROUPS, case.random("minimality"))
    if not drawn:
        return ()
    guesses = [np.array([attacked.right(one, score) for one in drawn]) for score in RULES[case.method](case, attacked)]
    best: Floats = max(guesses, key=lambda right: float(right.mean()))
    chance = np.array([1 / len(attacked.members(group)) for group, _ in drawn])
    return (finding(SPEC, case, Chances(best, chance, drawn=True, guesses=len(guesses)), each=False),)


def _in_rows(case: Case) -> tuple[Finding, ...]:
    """Groups of which some but not all members hold a secret, where the method looks at secrets at all."""
    limit = LIMITS[case.method](case.params) if case.method in LIMITS else None
    if limit is None:
        return ()
    seen = placed(case)
    open_lines = np.flatnonzero((seen.held > 0) & (seen.held < seen.sizes[seen.group]))
    if not len(open_lines):
        return ()
    lines = case.some(open_lines, GROUPS, "minimality")
    random = case.random("minimality members")
    right = np.array([seen.right(line, limit, random) for line in lines.tolist()])
    chance: Floats = seen.held[lines] / seen.sizes[seen.group[lines]]
    chances = Chances(right, chance, drawn=True, attacked=len(open_lines))
    return (finding(SPEC, case, chances, knows=IN_ROWS, each=False),)


def _around_a_holder(case: Case, attacked: Attacked) -> Iterable[Score]:
    """Every transaction outside could have been nearer."""
    size = len(case.release)
    outside = case.some(np.arange(size, dtype=np.int64), OUTSIDE, "minimality outside")
    return (partial(nearer_outside, lambda row: outside), central)


def _in_an_order(case: Case, attacked: Attacked) -> Iterable[Score]:
    """The neighbours in the order in which the method looks for them could have been nearer."""
    sets = case.release.transactions.quasi()
    order = _band(sets, case) if case.method == "cahd-rcm" else _gray(sets, case)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    reach = int(case.params.get("alpha", 1)) * int(case.params["p"])

    def neighbours(row: int) -> Longs:
        return order[max(0, place[row] - reach) : place[row] + reach + 1]

    return (partial(nearer_outside, neighbours), central)


def _gray(sets: Transactions, case: Case) -> Longs:
    """The published sets in Gray order, of the item order that the method says."""
    ranks = np.arange(sets.n_items, dtype=np.int32)
    asked = case.params.get("item_order", "frequency")
    by = natural_order(sets.labels) if asked == "label" else np.argsort(-sets.item_counts, kind="stable")
    if asked != "given":
        ranks[by] = np.arange(sets.n_items, dtype=np.int32)
    return _native.gray_order(sets.offsets, sets.items, ranks, case.job.threads, case.job.monitor)


def _band(sets: Transactions, case: Case) -> Longs:
    return _native.band_order(sets.offsets, sets.items, sets.n_items, case.job.threads, case.job.monitor)


def nearer_outside(candidates: Callable[[int], Longs], attacked: Attacked, rows: Longs) -> Scores:
    """How many candidates outside the group are nearer to each member than its farthest mate: the fewer, the better."""
    matrix, lengths = attacked.matrix, attacked.lengths
    inside = matrix[rows]
    mates = lengths[rows][:, None] + lengths[rows][None, :] - 2 * (inside @ inside.T).toarray()
    own = [candidates(row) for row in rows.tolist()]
    others = own[0] if all(one is own[0] for one in own) else distinct(np.concatenate(own))
    others = others[~np.isin(others, rows)]
    nearer = lengths[rows][:, None] + lengths[others][None, :] - 2 * (inside @ matrix[others].T).toarray()
    nearer = nearer < mates.max(axis=1)[:, None]
    if own[0] is not own[-1]:
        nearer &= np.array([np.isin(others, one) for one in own])
    return np.asarray(-nearer.sum(axis=1), dtype=np.float64)


def _split_on_items(case: Case, attacked: Attacked) -> Iterable[Score]:
    """A holder is in the smaller half of every item that the group was not split on."""
    return (partial(smaller_halves, int(case.params["p"])),)


def smaller_halves(p: int, attacked: Attacked, rows: Longs) -> Scores:
    """Zero for members who are in a half of p or more for some item that divides the group, one for the others."""
    held = attacked.matrix[rows]
    many = np.asarray(held.sum(axis=0)).reshape(-1)
    dividing = np.flatnonzero((many > 0) & (many < len(rows)))
    inside = held[:, dividing].toarray() > 0
    half = np.where(inside, many[dividing], len(rows) - many[dividing])
    return np.asarray(~(half >= p).any(axis=1), dtype=np.float64)


def _nobody_ruled_out(case: Case, attacked: Attacked) -> Iterable[Score]:
    return (lambda attacked, rows: np.zeros(len(rows)),)


RULES: dict[str, Rule] = {
    "nn": _around_a_holder,
    "lsh": _around_a_holder,
    "cahd-balanced": _around_a_holder,
    "cahd-gray": _in_an_order,
    "cahd-rcm": _in_an_order,
    "perm-mondrian": _split_on_items,
    "cahd-blind": _nobody_ruled_out,
}

LIMITS: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
    "crowd": lambda params: 1 / params["diversity"] if params.get("diversity") else None,
    **dict.fromkeys(("ant", "ant-minus", "kp-crowd"), lambda params: float(params["p"])),
}
"""The share of a group that may hold a secret, of methods for rows that look at secrets when they form groups."""

IN_ROWS = "everybody's ordinary items, in which group a person is, and how the method makes groups"

SPEC = AttackSpec(
    name="minimality",
    part="inference",
    title="knows the method",
    knows="in which group a person is, and how the method makes groups",
    run=run,
    needs=("sensitive", "origin", "method"),
    reference="R. Wong et al., Minimality attack in privacy preserving data publishing, VLDB 2007",
)
