"""Who knows the method, against releases in rows: all data that give a release, and every distance, by hand."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import anonset
from anonset import Transactions
from anonset.assess.risk.attackers.minimality import LIMITS
from anonset.assess.risk.displaced import placed
from anonset.assess.risk.find import case_of
from anonset.data.job import Job

ITEMS = "abcd"
KINDS = {"item": [*ITEMS, "s"], "kind": ["A", "A", "C", "C", "S"]}
KIND_OF = dict(zip(KINDS["item"], KINDS["kind"], strict=True))
rows = st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1), min_size=6, max_size=8)
BLIND = {
    "pta": {},
    "gsc": {},
    "gray-tsp": {},
    "partition": {"hierarchy": {"item": list(ITEMS), "kind": ["A", "A", "C", "C"]}},
    "crowd": {"diversity": "off"},
}
BY_DEGREES = {"p": 0.5, "hierarchy": KINDS, "unit": "transaction"}
LOOKING = {"crowd": {"diversity": 2}, **dict.fromkeys(("ant", "ant-minus", "kp-crowd"), BY_DEGREES)}


def made(sets, holders, method, params):
    """The release of these transactions, some of which hold the secret."""
    lists = [[*sorted(own), *(["s"] if i in holders else [])] for i, own in enumerate(sets)]
    data = Transactions.from_lists(lists, labels=[*ITEMS, "s"])
    if params is BY_DEGREES:
        data = replace(data, sensitivity=np.where(data.items == len(ITEMS), 0.9, 0.1))
    else:
        data = data.with_sensitive(["s"])
    return anonset.anonymize(data, method=method, k=2, seed=1, **params)


def feasible(sets, holders, method):
    """The same for a method that looks at the secret, where it can keep its promise."""
    try:
        return made(sets, holders, method, LOOKING[method])
    except anonset.InfeasibleError:
        reject()


def view(result):
    """What somebody sees who can tell everybody's group: who is in it, and how many of them hold the secret."""
    data = result.release.transactions
    counts = np.ones(data.nnz, dtype=int) if data.counts is None else data.counts
    groups, held = {}, Counter()
    for row, origin in enumerate(result.row_origin.tolist()):
        names = zip(data[row], counts[data.offsets[row] : data.offsets[row + 1]].tolist(), strict=True)
        shown = frozenset((name, count) for name, count in names if name != "s")
        groups.setdefault(shown, set()).add(origin)
        held[shown] += "s" in data[row]
    return {frozenset(members): held[shown] for shown, members in groups.items()}


def everything(sets, holders, method, params):
    """For every choice of so many holders what is published."""
    choices = [set(chosen) for chosen in combinations(range(len(sets)), len(holders))]
    found = []
    for chosen in choices:
        try:
            found.append((chosen, view(made(sets, chosen, method, params))))
        except anonset.InfeasibleError:
            continue
    return found


def guesses(result, limit):
    """For each group with somebody to guess the originals with the highest score."""
    seen = placed(case_of(result, Job(1)))
    found = {}
    for line in np.flatnonzero(seen.held < seen.sizes[seen.group]).tolist():
        members = np.flatnonzero(seen.of == seen.group[line])
        scores = seen.scores(line, members, limit)
        origins = result.row_origin[members]
        found[frozenset(origins.tolist())] = set(origins[scores == scores.max()].tolist())
    return found


@pytest.mark.parametrize("method", BLIND)
@settings(max_examples=5)
@given(rows, st.data())
def test_groups_formed_by_ordinary_items_say_nothing_beyond_shares(method, sets, draw):
    """Whoever holds the secret, the groups are the same: all holders that fit the counts are equally likely."""
    holders = draw.draw(st.sets(st.integers(0, len(sets) - 1), min_size=1, max_size=2))
    outcomes = everything(sets, holders, method, BLIND[method])
    assert len(outcomes) == len(list(combinations(sets, len(holders))))
    assert len({frozenset(seen) for _, seen in outcomes}) == 1
    result = made(sets, holders, method, BLIND[method])
    assert not [found for found in result.findings if found.name == "minimality"]


@pytest.mark.parametrize("method", LOOKING)
@settings(max_examples=5)
@given(rows, st.data())
def test_a_guess_uses_what_is_published_and_beats_no_exact_posterior(method, sets, draw):
    """All data with the same release give the same guess; over them it is right no more often than the best one can."""
    holders = draw.draw(st.sets(st.integers(0, len(sets) - 1), min_size=1, max_size=2))
    result = feasible(sets, holders, method)
    limit = LIMITS[method](result.params)
    published, mine = view(result), guesses(result, limit)
    fitting = [chosen for chosen, seen in everything(sets, holders, method, LOOKING[method]) if seen == published]
    assert holders in fitting
    for other in fitting:
        assert guesses(feasible(sets, other, method), limit) == mine
    for group, guessed in mine.items():
        exact = {member: np.mean([member in other for other in fitting]) for member in group}
        assert np.mean([exact[member] for member in guessed]) <= max(exact.values()) + 1e-12
        assert sum(exact.values()) == pytest.approx(published[group])


@pytest.mark.parametrize("method", LOOKING)
@settings(max_examples=20)
@given(rows, st.data())
def test_scores_equal_comparing_with_every_group(method, sets, draw):
    holders = draw.draw(st.sets(st.integers(0, len(sets) - 1), min_size=1, max_size=3))
    result = feasible(sets, holders, method)
    limit = LIMITS[method](result.params)
    seen = placed(case_of(result, Job(1)))
    data = result.release.transactions
    counts = np.ones(data.nnz, dtype=int) if data.counts is None else data.counts
    shown, persons = {}, [sets[origin] for origin in result.row_origin.tolist()]
    for row in range(len(data)):
        inside = slice(data.offsets[row], data.offsets[row + 1])
        names = Counter(dict(zip(data[row], counts[inside].tolist(), strict=True)))
        del names["s"]
        shown.setdefault(tuple(sorted(names.items())), []).append(row)

    names_there = set(data.labels.to_pylist())  # kinds that no group publishes are as far from all of them

    def apart(own, published):
        kinds = (KIND_OF[i] for i in own)
        known = Counter(own) if data.counts is None else Counter(kind for kind in kinds if kind in names_there)
        return sum(abs(known[name] - published[name]) for name in known | published)

    groups = [(Counter(dict(names)), members) for names, members in shown.items()]
    held = [sum("s" in data[row] for row in members) for _, members in groups]
    full = [count + 1 > limit * len(members) for count, (_, members) in zip(held, groups, strict=True)]
    for line in range(len(seen.group)):
        here = np.flatnonzero(seen.of == seen.group[line])
        own = next(i for i, (_, members) in enumerate(groups) if members == here.tolist())
        assert seen.held[line] == held[own]
        distances = [[apart(persons[row], names) for names, _ in groups] for row in here.tolist()]
        for score, apart_from in zip(seen.scores(line, here, limit), distances, strict=True):
            others = [i for i in range(len(groups)) if i != own]
            to_full = apart_from[own] - min((apart_from[i] for i in others if full[i]), default=2.0**40)
            to_others = apart_from[own] - min((apart_from[i] for i in others if not full[i]), default=2.0**40)
            assert score == to_full - max(0, to_others)


def test_diversity_that_moves_holders_tells_who_they_are():
    """Two groups of equal baskets; the one with too many holders sends one to the other, where it does not belong."""
    sets = [frozenset("ab")] * 4 + [frozenset("cd")] * 4
    result = made(sets, {0, 1, 2}, "crowd", {"diversity": 2})
    found = next(one for one in result.findings if one.name == "minimality")
    assert found.after > found.before
    assert not found.certain  # a guess, however often it is right


def test_of_a_large_group_some_members_are_compared(monkeypatch):
    """One group of 60, a third of whom hold the secret: any two members drawn are equally likely to be right."""
    from anonset.assess.risk import displaced

    monkeypatch.setattr(displaced, "CELLS", 1)
    sets = [frozenset("ab")] * 60
    result = made(sets, set(range(20)), "crowd", {"diversity": 2})
    seen = placed(case_of(result, Job(1)))
    random = np.random.default_rng(1)
    right = [seen.right(0, 0.5, random) for _ in range(300)]
    assert set(right) <= {0.0, 0.5, 1.0}
    assert np.mean(right) == pytest.approx(1 / 3, abs=0.08)
