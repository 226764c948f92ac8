"""Two baskets of one user, and a transaction in two releases, compared with looking at every candidate by hand."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonset import Release, Transactions
from anonset.assess.align import pair
from anonset.assess.risk.attackers.two_releases import View, chance, common, joined_views, nearest
from anonset.assess.risk.find import find
from anonset.assess.risk.spec import Case, Earlier
from anonset.data.job import Job

ITEMS = "abcd"
sets = st.frozensets(st.sampled_from(ITEMS), max_size=3)


def transactions(rows, **more):
    return Transactions.from_lists(map(sorted, rows), labels=list(ITEMS), **more)


def mean(values):
    return sum(values) / len(values)


@given(st.lists(st.tuples(sets, st.integers(0, 2), sets), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_two_baskets_equal_looking_at_every_user(rows, random):
    originals, users, published = zip(*rows, strict=True)
    order = list(range(len(rows)))
    random.shuffle(order)
    data = transactions(originals, users=[f"u{user}" for user in users])
    release = Release(transactions([published[i] for i in order], users=[f"p{9 - users[i]}" for i in order]))
    found = find(Case(data, release, np.array(order, dtype=np.int64)), ["two-baskets"]).attacks[0]
    after, before = [], []
    for own, user in zip(originals, users, strict=True):
        for shown, into in ((published, after), (originals, before)):
            fit = {other for one, other in zip(shown, users, strict=True) if one == own}
            into.append(1 / len(fit) if user in fit else 0.0)
    assert found.after == pytest.approx(mean(after))
    assert found.before == pytest.approx(mean(before))


@given(st.lists(st.tuples(sets, sets, sets), min_size=2, max_size=7), st.integers(1, 2), st.integers(0, 2))
def test_two_releases_equal_intersecting_the_candidates(rows, m, later):
    """The last `later` transactions are in the new data only."""
    originals, new, old = map(list, zip(*rows, strict=True))
    kept = len(rows) - later
    assume(kept > 0)
    ids = pa.array([f"t{i}" for i in range(len(rows))])
    data = replace(transactions(originals), ids=ids)
    earlier = replace(transactions(originals[:kept]), ids=ids[:kept])
    views = []
    for source, shown in ((data, new), (earlier, old[:kept])):
        views.append(View.of(pair(source, Release(transactions(shown)), np.arange(len(shown)))))
    owners = [i for i in range(kept) for _ in combinations(sorted(originals[i]), m)]
    queries = [known for i in range(kept) for known in combinations(sorted(originals[i]), m)]
    assume(queries)
    codes = np.array([[ITEMS.index(item) for item in known] for known in queries], dtype=np.int32)
    mine, theirs = common(data, earlier)
    assert mine.tolist() == theirs.tolist() == list(range(kept))
    joined, asked = joined_views(views, [mine, theirs], data.labels, codes)
    for i, known, value in zip(owners, queries, chance(joined, asked, np.array(owners), Job(0)), strict=True):
        fit = [j for j in range(kept) if set(known) <= new[j] and set(known) <= old[j]]
        assert value == pytest.approx(1 / len(fit) if i in fit else 0.0)


@given(st.lists(sets, max_size=7), st.lists(sets, max_size=7))
def test_without_ids_equal_transactions_are_paired_once(new, old):
    mine, theirs = common(transactions(new), transactions(old))
    assert len(set(mine.tolist())) == len(mine) == len(set(theirs.tolist()))
    assert all(new[i] == old[j] for i, j in zip(mine.tolist(), theirs.tolist(), strict=True))
    assert len(mine) == sum(min(new.count(own), old.count(own)) for own in set(new))


@given(st.lists(sets, min_size=1, max_size=7), st.lists(sets, min_size=1, max_size=7))
def test_the_nearest_published_set_is_the_nearest(originals, published):
    found = nearest(transactions(originals), transactions(published)).tolist()
    for own, place in zip(originals, found, strict=True):
        distances = [len(own ^ shown) for shown in published]
        assert place == distances.index(min(distances))


def test_two_cuts_of_the_same_data_find_more_than_each():
    """One release hides which a, the other which b: together they say both."""
    rows = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 2
    data = transactions(rows)
    one = Release(Transactions.from_lists([["AB", row[1]] for row in rows]))
    two = Release(Transactions.from_lists([[row[0], "CD"] for row in rows]))
    from anonset import read_hierarchy

    tree = read_hierarchy({"item": list("abcd"), "level1": ["AB", "AB", "CD", "CD"]})
    case = Case(data, one, None, hierarchy=tree, known=(2,), previous=(Earlier(data, two, hierarchy=tree),))
    found = find(case, ["two-releases"]).attacks[0]
    assert (found.before, found.after) == (0.25, 0.5)
    assert found.upper_bound
