"""Attackers who look for persons, compared with one who looks at all persons by hand, on tiny data."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anonset
from anonset import Release, Transactions
from anonset.assess.risk.attackers.person_items import chance_of
from anonset.assess.risk.find import find
from anonset.assess.risk.persons import Persons, histories_of
from anonset.assess.risk.spec import Case

ITEMS = "abcde"
sets = st.frozensets(st.sampled_from(ITEMS), max_size=4)


@st.composite
def releases(draw):
    """Transactions and their users (−1: unknown), what became of each; some are left out, some invented."""
    rows = draw(st.lists(st.tuples(sets, st.integers(-1, 3)), min_size=1, max_size=8))
    originals, users = [row for row, _ in rows], [user for _, user in rows]
    assume(max(users) >= 0)
    kept = draw(st.permutations(range(len(rows))))[draw(st.integers(0, 1)) :]
    assume(kept)
    changed = [originals[i] if draw(st.booleans()) else draw(sets) for i in kept]
    invented = draw(st.lists(sets, max_size=1))
    return originals, users, [*changed, *invented], [*kept, *[-1] * len(invented)]


def case_of(originals, users, published, origin, **more):
    from dataclasses import replace

    data = Transactions.from_lists(map(sorted, originals), labels=list(ITEMS))
    data = replace(data, users=users, user_labels=[f"u{i}" for i in range(4)])
    release = Release(Transactions.from_lists(map(sorted, published), labels=list(ITEMS)))
    return Case(data, release, np.array(origin, dtype=np.int64), **more)


def behind(release):
    """The user of each published transaction."""
    _, users, _, origin = release
    return [users[place] if place >= 0 else -1 for place in origin]


def fitting(rows, users, known):
    """The known users with a transaction that holds all of it."""
    return {user for row, user in zip(rows, users, strict=True) if user >= 0 and set(known) <= row}


def history(rows, users, who):
    return frozenset().union(*(row for row, user in zip(rows, users, strict=True) if user == who))


@given(releases(), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_items_of_one_basket_are_looked_for_among_persons(release, m):
    originals, users, published, _ = release
    case = case_of(*release)
    persons, known = Persons.of(case), sorted(set(users) - {-1})
    queries = [(u, q) for row, u in zip(originals, users, strict=True) if u >= 0 for q in combinations(sorted(row), m)]
    assume(queries)
    codes = np.array([[ITEMS.index(item) for item in q] for _, q in queries], dtype=np.int32)
    own = np.array([known.index(u) for u, _ in queries])
    for data, whose, rows, names in (
        (case.pair.published, persons.published, published, behind(release)),
        (case.pair.known, persons.original, originals, users),
    ):
        found = chance_of(case, data, whose, codes, own)
        for (user, query), chance in zip(queries, found, strict=True):
            fit = fitting(rows, names, query)
            assert chance == pytest.approx(1 / len(fit) if user in fit else 0.0)


@given(releases(), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_items_of_all_baskets_are_looked_for_in_histories(release, m):
    originals, users, published, _ = release
    case = case_of(*release, draws=10_000, known=(m,))
    known = sorted(set(users) - {-1})
    owner = {u: history(originals, users, u) for u in known}
    after = {u: history(published, behind(release), u) for u in known}
    people = [u for u in known if len(owner[u]) >= m]
    findings = find(case, ["history-items"]).attacks
    assert bool(findings) == bool(people)
    assume(people)

    def chance(user, query, histories):
        fit = {u for u in known if set(query) <= histories[u]}
        return 1 / len(fit) if user in fit else 0.0

    def mean(histories):
        each = [[chance(u, q, histories) for q in combinations(sorted(owner[u]), m)] for u in people]
        return sum(sum(row) / len(row) for row in each) / len(each)

    one = findings[0]
    assert (one.attacked, one.upper_bound, one.part) == (len(people), True, "linkability")
    assert one.before == pytest.approx(mean(owner), abs=0.05)  # drawn, each person thousands of times
    assert one.after == pytest.approx(mean(after), abs=0.05)


@given(releases())
@settings(max_examples=200, deadline=None)
def test_the_whole_history_is_linked_with_the_nearest_one(release):
    originals, users, published, _ = release
    known = sorted(set(users) - {-1})
    owner = {u: history(originals, users, u) for u in known}
    after = {u: history(published, behind(release), u) for u in known}
    one = find(case_of(*release), ["whole-history"]).attacks[0]
    chances = []
    for u in known:
        least = min(len(owner[u] ^ after[v]) for v in known)
        nearest = [v for v in known if len(owner[u] ^ after[v]) == least]
        chances.append(1 / len(nearest) if u in nearest else 0.0)
    assert one.after == pytest.approx(sum(chances) / len(chances))
    assert one.before == pytest.approx(np.mean([1 / list(owner.values()).count(owner[u]) for u in known]))
    assert one.certain == chances.count(1.0)
    assert (one.attacked, one.exact) == (len(known), True)


def _shop(seed, n=60, users=9):
    random = np.random.default_rng(seed)
    lists = [[f"i{i}" for i in random.choice(8, size=random.integers(1, 4), replace=False)] for _ in range(n)]
    return Transactions.from_lists(lists, users=[f"u{u}" for u in random.integers(0, users, n)])


@pytest.mark.parametrize("method", ["crowd", "km-apriori"])
@pytest.mark.parametrize("seed", range(3))
def test_a_promise_in_persons_stops_who_knows_items_of_one_basket(method, seed):
    result = anonset.anonymize(_shop(seed), method=method, k=4, seed=1, unit="user")
    from anonset.assess.risk.find import case_of as of_result
    from anonset.data.job import Job

    found = find(of_result(result, Job(0)), ["person-items"]).attacks
    stopped = [one for one in found if one.stopped]
    assert stopped
    assert all(one.worst <= 1 / 4 and not one.broken for one in stopped)
    counted = anonset.anonymize(_shop(seed), method=method, k=4, seed=1, unit="transaction")
    assert not any(one.stopped for one in find(of_result(counted, Job(0)), ["person-items"]))


def test_published_pseudonyms_turn_the_bound_into_what_is_achieved():
    from anonset.assess.risk.find import case_of as of_result
    from anonset.data.job import Job

    kept = anonset.anonymize(_shop(1), k=3, seed=1, keep=anonset.Keep(users=True))
    one = find(of_result(kept, Job(0)), ["whole-history"]).attacks[0]
    assert not one.upper_bound
    assert histories_of(of_result(kept, Job(0))).published.n_items == 8


def test_without_users_or_without_the_way_back_persons_are_not_looked_for():
    data = _shop(1)
    release = Release(data)
    left = find(Case(data, release), ["person-items"]).left_out
    assert "link" in left["person-items"]
    from dataclasses import replace

    bare = replace(data, users=None, user_labels=None)
    left = find(Case(bare, release, np.arange(len(data))), ["person-items"]).left_out
    assert left == {"person-items": "the data name no users"}


def test_one_history_for_each_person_stops_who_looks_for_persons_too():
    from anonset.assess.risk.find import case_of as of_result
    from anonset.data.job import Job

    result = anonset.anonymize(_shop(2, n=200, users=40), k=3, seed=1, one_per_user=True)
    assert len(result.release) == 40
    found = find(of_result(result, Job(0)), ["person-items"]).attacks
    assert found
    assert all(one.stopped and not one.broken for one in found)
