"""Every attacker, compared with one who looks at all candidates and all assignments by hand, on tiny data."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import anonset
from anonset import Release, Transactions
from anonset.assess.align import pair
from anonset.assess.risk import kept as kept_of
from anonset.assess.risk.attackers import ATTACKS
from anonset.assess.risk.attackers.known_items import Queries, query_chances, seen
from anonset.assess.risk.attackers.posterior import posteriors
from anonset.assess.risk.find import find
from anonset.assess.risk.kept import kept_share
from anonset.assess.risk.spec import Case
from anonset.data.job import Job
from anonset.data.release import GroupCounts

ITEMS = "abcdef"
sets = st.frozensets(st.sampled_from(ITEMS), max_size=5)


@st.composite
def releases(draw):
    """Transactions, what became of each of them, and who is who: some are left out, some invented."""
    originals = draw(st.lists(sets, min_size=1, max_size=8))
    rows = draw(st.permutations(range(len(originals))))
    kept = rows[draw(st.integers(0, 1)) :]
    assume(kept)
    changed = [originals[i] if draw(st.booleans()) else draw(sets) for i in kept]
    invented = draw(st.lists(sets, max_size=1))
    return originals, [*changed, *invented], [*kept, *[-1] * len(invented)]


def case_of(originals, published, origin, **more):
    data = Transactions.from_lists(map(sorted, originals), labels=list(ITEMS))
    release = Release(Transactions.from_lists(map(sorted, published), labels=list(ITEMS)))
    return Case(data, release, np.array(origin, dtype=np.int64), **more)


def chance(own, candidates):
    """1 / candidates where one's own is one of them."""
    return 1 / len(candidates) if own in candidates else 0.0


def own_place(origin, person):
    return origin.index(person) if person in origin else None


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


@given(releases(), st.integers(1, 3), st.integers(0, 2))
def test_known_and_absent_items_equal_looking_at_every_transaction(release, m, absent):
    originals, published, origin = release
    both = case_of(*release).pair
    owners = [i for i, own in enumerate(originals) if len(own) >= m]
    queries = [(i, known) for i in owners for known in combinations(sorted(originals[i]), m)]
    assume(queries)
    frequency = [-sum(item in row for row in published) for item in ITEMS]
    by_frequency = sorted(range(len(ITEMS)), key=lambda i: (frequency[i], i))
    codes = np.array([[ITEMS.index(item) for item in known] for _, known in queries], dtype=np.int32)
    many = np.full(len(queries), absent)
    found = query_chances(both, Queries(np.array([i for i, _ in queries]), codes, many), Job(0))
    for (i, known), value in zip(queries, found, strict=True):
        lacking = [ITEMS[item] for item in by_frequency if ITEMS[item] not in originals[i]][:absent]
        fit = [r for r, row in enumerate(published) if set(known) <= row and not row & set(lacking)]
        assert value == pytest.approx(chance(own_place(origin, i), fit))


@given(releases())
def test_the_whole_basket_equals_looking_for_equal_sets(release):
    originals, published, origin = release
    found = find(case_of(*release), ["whole-basket"]).attacks[0]
    after = [
        chance(own_place(origin, i), [r for r, row in enumerate(published) if row == own])
        for i, own in enumerate(originals)
    ]
    assert found.after == pytest.approx(mean(after))
    assert found.before == pytest.approx(mean(1 / originals.count(own) for own in originals))
    assert found.certain == after.count(1)
    assert found.certain_before == sum(originals.count(own) == 1 for own in originals)
    assert found.exact


@given(releases())
def test_the_nearest_match_equals_comparing_with_every_set(release):
    originals, published, origin = release
    found = find(case_of(*release), ["nearest-match"]).attacks[0]
    after = []
    for i, own in enumerate(originals):
        distances = [len(own ^ row) for row in published]
        nearest = [r for r, distance in enumerate(distances) if distance == min(distances)]
        after.append(chance(own_place(origin, i), nearest))
    assert found.after == pytest.approx(mean(after))
    assert found.worst == pytest.approx(max(after))


@given(releases())
def test_longest_and_empty_baskets_equal_looking_at_lengths(release):
    originals, published, origin = release
    found = {one.name: one for one in find(case_of(*release), ["longest-basket", "empty-basket"])}
    for name, length in (("longest-basket", max(map(len, originals))), ("empty-basket", 0)):
        people = [i for i, own in enumerate(originals) if len(own) == length]
        if not people or (name == "longest-basket" and len(people) == len(originals)):
            assert name not in found
            continue
        target = max(map(len, published)) if name == "longest-basket" else 0
        candidates = [r for r, row in enumerate(published) if len(row) == target]
        assert found[name].after == pytest.approx(mean(chance(own_place(origin, i), candidates) for i in people))
        assert found[name].before == pytest.approx(1 / len(people))


@given(st.lists(sets, min_size=1, max_size=8), st.frozensets(st.sampled_from(ITEMS), min_size=1, max_size=2))
def test_homogeneity_equals_counting_in_every_group(rows, secret):
    data = Transactions.from_lists(map(sorted, rows), labels=list(ITEMS), sensitive=sorted(secret))
    shares = []
    for own in rows:
        group = [row for row in rows if row - secret == own - secret]
        shares += [mean(item in row for row in group) for item in own & secret]
    found = find(Case(data, Release(data)), ["homogeneity"]).attacks
    if shares:
        assert found[0].after == found[0].before == pytest.approx(mean(shares))
        assert found[0].certain == shares.count(1)
    else:
        assert not found


@given(st.lists(sets, min_size=2, max_size=8), st.data())
def test_the_longest_member_equals_looking_at_every_group(rows, draw):
    """Groups, holders and the order of rows are drawn; of several longest members each is pointed at equally often."""
    holders = draw.draw(st.sets(st.sampled_from(range(len(rows))), min_size=1))
    group_of = draw.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    order = draw.draw(st.permutations(range(len(rows))))
    lists = [[*sorted(own), *(["s"] if i in holders else [])] for i, own in enumerate(rows)]
    data = Transactions.from_lists(lists, labels=[*ITEMS, "s"], sensitive=["s"])
    shown = Transactions.from_lists([sorted(rows[i]) for i in order], labels=[*ITEMS, "s"])
    members = {group: [i for i in range(len(rows)) if group_of[i] == group] for group in set(group_of)}
    held = {group: [i for i in own if i in holders] for group, own in members.items()}
    lines = [(group, len(ITEMS), len(own)) for group, own in held.items() if own]
    counts = GroupCounts(*(np.array(column, dtype=np.int64) for column in zip(*lines, strict=True)))
    groups = np.array([group_of[i] for i in order], dtype=np.int32)
    case = Case(data, Release(shown, groups, counts), np.array(order, dtype=np.int64))
    alone = {group: own for group, own in members.items() if len(held[group]) == 1 and len(own) > 1}
    found = find(case, ["longest-member"]).attacks
    if not alone:
        assert not found
        return
    right = []
    for group, own in alone.items():
        longest = [i for i in own if len(rows[i]) == max(len(rows[j]) for j in own)]
        right.append(mean(i in held[group] for i in longest))
    assert found[0].after == pytest.approx(mean(right))
    assert found[0].before == pytest.approx(mean(1 / len(own) for own in alone.values()))


def possible(size, empty, counts):
    """All assignments of holders to items in which every one of the first `empty` members holds something."""
    choices = product(*(combinations(range(size), count) for count in counts))
    return [held for held in choices if set(range(empty)) <= set().union(*held)]


@given(st.integers(1, 5), st.data())
def test_posteriors_equal_weighing_all_assignments(size, data):
    counts = data.draw(st.lists(st.integers(1, size), min_size=1, max_size=3))
    empty = data.draw(st.integers(1, size))
    assignments = possible(size, empty, counts)
    assume(assignments)
    for item, (of_empty, of_other) in enumerate(posteriors(size, empty, counts)):
        for member, value in ((0, of_empty), (size - 1, of_other if empty < size else of_empty)):
            right = Fraction(sum(member in held[item] for held in assignments), len(assignments))
            assert value == pytest.approx(float(right), abs=1e-12)


def test_posteriors_of_a_large_group_are_exact_enough():
    """With one item of many holders, every empty member is one: the sums cancel down to certainty."""
    found = posteriors(50_000, 400, [400])
    assert found == [(1.0, 0.0)]
    (of_empty, of_other) = posteriors(20_000, 300, [900, 700])[0]
    assert 300 * of_empty + 19_700 * of_other == pytest.approx(900)


@given(releases(), st.sampled_from([2, 1 << 20]))
def test_what_is_kept_equals_counting_it(release, at_once):
    originals, published, origin = release
    assume(any(originals))
    kept = sum(len(own & published[origin.index(i)]) for i, own in enumerate(originals) if i in origin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_of, "_AT_ONCE", at_once)
        assert kept_share(case_of(*release)) == pytest.approx(kept / sum(map(len, originals)))


TREE = {"item": list(ITEMS), "level1": ["X", "X", "X", "Y", "Y", "Z"]}


@pytest.mark.parametrize("method", ["km-apriori", "km-refine"])
@given(st.lists(sets.filter(bool), min_size=4, max_size=8))
def test_what_a_cut_keeps_equals_looking_up_every_item(method, rows):
    data = Transactions.from_lists(map(sorted, rows), labels=list(ITEMS))
    result = anonset.anonymize(data, method=method, k=2, m=1, hierarchy=TREE, seed=1)
    root = result.cut.hierarchy.names[0].as_py()
    published_as = result.cut.mapping()
    told = [published_as.get(item) not in (None, root) for row in rows for item in row]
    assert result.findings.kept == pytest.approx(mean(told))


def test_a_generalized_release_is_attacked_through_its_nodes():
    data = Transactions.from_lists([["a", "d"], ["b", "d"], ["c"], ["c"]], labels=list(ITEMS))
    tree = anonset.read_hierarchy(TREE)
    published = Release(Transactions.from_lists([["X", "d"], ["X", "d"], ["X"], ["X"]]))
    both = pair(data, published, np.arange(4), tree)
    queries = Queries(np.arange(2), np.array([[0, 3], [1, 3]], dtype=np.int32), np.zeros(2, dtype=np.int64))
    found = query_chances(both, seen(both, queries), Job(0))
    assert found.tolist() == [0.5, 0.5]


def test_every_attacker_says_what_it_knows_and_fits_some_release():
    for name, spec in ATTACKS.items():
        assert name == spec.name
        assert spec.knows
        assert spec.forms
