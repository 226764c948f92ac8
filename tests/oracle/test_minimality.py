"""Who knows the method: what is ruled out is impossible, and scores are what looking at every transaction gives."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import Transactions
from anonset.assess.risk.attackers.minimality import RULES, nearer_outside, smaller_halves
from anonset.assess.risk.guess import Attacked, central
from anonset.assess.risk.spec import Case
from anonset.data.job import Job

ITEMS = "abcd"
rows = st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1), min_size=4, max_size=7)


def made(sets, holders, method, p=2):
    data = Transactions.from_lists(
        [[*sorted(own), *(["s"] if i in holders else [])] for i, own in enumerate(sets)],
        labels=[*ITEMS, "s"],
        sensitive=["s"],
    )
    return data, anonset.anonymize(data, method=method, p=p, seed=1)


def partition(result):
    """The groups as sets of originals, each with how many holders it publishes."""
    groups = {}
    for origin, group in zip(result.row_origin.tolist(), result.release.groups.tolist(), strict=True):
        groups.setdefault(group, set()).add(origin)
    counts = result.release.counts
    held = dict(zip(counts.group.tolist(), counts.count.tolist(), strict=True))
    return {frozenset(members): held.get(group, 0) for group, members in groups.items()}


@settings(max_examples=40)
@given(rows, st.data())
def test_whom_perm_mondrian_rules_out_is_no_holder_in_any_data_with_this_release(sets, draw):
    holders = draw.draw(st.sets(st.integers(0, len(sets) - 1), min_size=1, max_size=len(sets) // 2))
    data, result = made(sets, holders, "perm-mondrian")
    published = partition(result)
    choices = [combinations(sorted(members), count) for members, count in published.items()]
    fitting = []
    for chosen in product(*map(list, choices)):
        other = {member for group in chosen for member in group}
        if partition(made(sets, other, "perm-mondrian")[1]) == published:
            fitting.append(other)
    assert holders in fitting
    attacked = Attacked(data, result.release, result.row_origin)
    for group, item in attacked.alone(100, np.random.default_rng(1)):
        assert item == "s"
        members = attacked.members(group)
        left = smaller_halves(2, attacked, members)
        for row, possible in zip(members.tolist(), left.tolist(), strict=True):
            if left.max() and not possible:
                assert not any(int(result.row_origin[row]) in other for other in fitting)
            if int(result.row_origin[row]) in holders:
                assert possible


@given(rows, st.data())
def test_scores_equal_looking_at_every_transaction(sets, draw):
    holders = draw.draw(st.sets(st.integers(0, len(sets) - 1), min_size=1, max_size=len(sets) // 2))
    data, result = made(sets, holders, "nn")
    attacked = Attacked(data, result.release, result.row_origin)
    everybody = np.arange(len(sets))
    seen = [sets[origin] for origin in result.row_origin.tolist()]
    for group in np.unique(result.release.groups).tolist():
        members = attacked.members(group)
        own = set(members.tolist())
        for row, score, middle in zip(
            members.tolist(),
            nearer_outside(lambda row: everybody, attacked, members),
            central(attacked, members),
            strict=True,
        ):
            farthest = max(len(seen[row] ^ seen[mate]) for mate in own)
            assert -score == sum(len(seen[row] ^ seen[r]) < farthest for r in range(len(seen)) if r not in own)
            everyones = sum(len(seen[mate]) for mate in own)
            assert everyones - middle == sum(len(seen[row] ^ seen[mate]) for mate in own)


@pytest.mark.parametrize("method", sorted(RULES))
def test_every_rule_names_a_method_and_scores_all_members(method):
    assert method in anonset.METHODS
    random = np.random.default_rng(2)
    sets = [frozenset(map(str, random.choice(9, 3, replace=False))) for _ in range(80)]
    data = Transactions.from_lists(
        [[*own, *(["s"] if i % 16 == 0 else [])] for i, own in enumerate(sets)], sensitive=["s"]
    )
    result = anonset.anonymize(data, method=method, p=4, seed=1)
    case = Case(data, result.release, result.row_origin, method=method, params=result.params, job=Job(1))
    attacked = Attacked(data, result.release, result.row_origin)
    drawn = attacked.alone(10, np.random.default_rng(1))
    assert drawn
    for score in RULES[method](case, attacked):
        for group, _ in drawn:
            members = attacked.members(group)
            assert score(attacked, members).shape == (len(members),)
            assert np.isfinite(score(attacked, members)).all()
