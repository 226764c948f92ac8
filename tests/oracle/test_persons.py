"""Promises in persons: every model's check against a count by hand, every method against the check."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import InfeasibleError
from anonset.data.release import GroupCounts, Release
from anonset.data.transactions import Transactions
from anonset.methods import METHODS

ROWS = st.lists(
    st.tuples(st.frozensets(st.sampled_from("abcd"), max_size=3), st.integers(-1, 3)), min_size=1, max_size=12
)


def _data(rows, sensitive=None):
    sets, users = zip(*rows, strict=True)
    data = Transactions.from_lists(list(sets), labels=sorted({*"abcd", *(sensitive or "")}))
    data = data if sensitive is None else data.with_sensitive(sensitive)
    return data, np.array(users, dtype=np.int32)


@given(ROWS)
@settings(max_examples=200, deadline=None)
def test_k_anonymity_counts_the_different_users_of_each_set(rows):
    data, users = _data(rows)
    holders = defaultdict(set)
    for items, user in rows:
        holders[items] |= {user} - {-1}
    found = anonset.model("k-anonymity", k=2, unit="user").check(Release(data), users)
    assert found.persons.measured["k"] == min(map(len, holders.values()))
    assert found.persons.holds == all(len(who) >= 2 for who in holders.values())
    assert found.holds == (found.persons.holds and found.measured["k"] >= 2)


@given(ROWS, st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_km_anonymity_counts_the_different_users_of_each_itemset(rows, m):
    data, users = _data(rows)
    holders = defaultdict(set)
    for items, user in rows:
        for size in range(1, m + 1):
            for known in combinations(sorted(items), size):
                holders[known] |= {user} - {-1}
    found = anonset.model("km-anonymity", k=2, m=m, unit="user").check(Release(data), users).persons
    assert found.holds == all(len(who) >= 2 for who in holders.values())
    if holders and min(map(len, holders.values())) >= 2:
        assert found.measured["k"] == min(map(len, holders.values()))


@given(ROWS, st.integers(2, 4))
@settings(max_examples=200, deadline=None)
def test_privacy_degree_adds_up_what_the_groups_of_a_user_say(rows, p):
    data, users = _data(rows, sensitive="d")
    groups = np.array([i % 3 for i in range(len(rows))], dtype=np.int32)
    held = [items & {"d"} for items, _ in rows]
    counts = {g: sum(len(held[i]) for i in range(len(rows)) if groups[i] == g) for g in set(groups.tolist())}
    known = {g: sum(1 for i in range(len(rows)) if groups[i] == g and users[i] >= 0) for g in counts}
    sums: dict[int, Fraction] = defaultdict(Fraction)
    for i, user in enumerate(users.tolist()):
        if user >= 0:
            sums[user] += Fraction(counts[int(groups[i])], known[int(groups[i])])
    code = data.labels.to_pylist().index("d")
    table = [(g, code, many) for g, many in counts.items() if many]
    columns = zip(*table, strict=True) if table else ((), (), ())
    release = Release(data.quasi(), groups, GroupCounts(*(np.array(column) for column in columns)))
    found = anonset.model("privacy-degree", p=p, unit="user").check(release, users).persons
    assert found.holds == all(total <= Fraction(1, p) for total in sums.values())


@given(ROWS, st.sampled_from([0.25, 0.5, 1.0]))
@settings(max_examples=200, deadline=None)
def test_kp_anonymity_counts_users_and_holders_of_each_group(rows, p):
    data, users = _data(rows, sensitive="d")
    members, holders = defaultdict(set), defaultdict(set)
    for i, (items, user) in enumerate(rows):
        members[items - {"d"}] |= {user} - {-1}
        if "d" in items:
            holders[items - {"d"}] |= {user if user >= 0 else ("unknown", i)}
    found = anonset.model("kp-anonymity", k=2, p=p, unit="user").check(Release(data), users).persons
    kept = all(len(who) >= 2 and len(holders[group]) <= p * len(who) for group, who in members.items())
    assert found.holds == kept


def _shop(seed, n=90, users=12, heavy=False):
    """Transactions of users who come again, with a sensitive item and degrees; `heavy`: one user has half of all."""
    random = np.random.default_rng(seed)
    lists = [[f"i{i}" for i in random.choice(12, size=random.integers(1, 5), replace=False)] for _ in range(n)]
    lists = [[*items, "secret"] if t % 45 == 0 else items for t, items in enumerate(lists)]
    whose = random.integers(0, users, n)
    whose[0], whose[45] = 0, 1
    if heavy:
        whose[1 : 1 + n // 2] = users
    data = Transactions.from_lists(lists, users=[f"u{u}" for u in whose], sensitive=["secret"])
    degrees = np.where(data.labels.take(data.items).to_numpy(zero_copy_only=False) == "secret", 1.0, 0.1)
    return replace(data, sensitivity=degrees)


PARAMS = {
    "k-anonymity": {"k": 4},
    "km-anonymity": {"k": 4, "m": 2},
    "privacy-degree": {"p": 2},
    "kp-anonymity": {"k": 4, "p": 0.5, "threshold": 0.9},
}
COUNTING = [name for name, spec in METHODS.items() if "user" in spec.units]


def _options(name):
    return {"generations": 3, "population": 4} if name == "gray-tsp" else {}


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("name", COUNTING)
def test_every_method_that_counts_persons_keeps_the_promise(name, heavy):
    spec = METHODS[name]
    try:
        data = _shop(3, heavy=heavy)
        result = anonset.anonymize(data, method=name, seed=1, unit="user", **PARAMS[spec.model], **_options(name))
    except InfeasibleError:
        assert (spec.model, heavy) == ("privacy-degree", True)
        return
    assert result.verdict.persons is not None
    assert result.verdict.holds
    assert result.verdict.persons.holds


@pytest.mark.parametrize("name", ["crowd", "km-apriori", "ant", "cahd-blind"])
def test_where_users_repeat_one_line_says_what_is_counted(name):
    spec = METHODS[name]
    result = anonset.anonymize(_shop(3), method=name, seed=1, **PARAMS[spec.model])
    said = [note for note in result.notes if note.startswith("The promise counts")]
    assert len(said) == 1
    assert ("counts persons" in said[0]) == (result.verdict.unit == "user") == (name != "cahd-blind")


@pytest.mark.parametrize("name", COUNTING)
def test_with_one_transaction_each_both_units_give_the_same_release(name):
    data = _shop(5)
    data = replace(data, users=np.arange(len(data)), user_labels=[f"u{i}" for i in range(len(data))])
    spec = METHODS[name]
    made = [
        anonset.anonymize(data, method=name, seed=1, unit=unit, **PARAMS[spec.model], **_options(name))
        for unit in ("user", "transaction")
    ]
    one, other = (result.release for result in made)
    assert np.array_equal(one.transactions.offsets, other.transactions.offsets)
    assert np.array_equal(one.transactions.items, other.transactions.items)
    assert one.transactions.labels.equals(other.transactions.labels)
    assert (one.groups is None and other.groups is None) or np.array_equal(one.groups, other.groups)
    assert made[0].verdict.persons is not None
    assert made[1].verdict.persons is None


@pytest.mark.parametrize("name", [name for name in COUNTING if METHODS[name].model != "privacy-degree"])
def test_a_single_user_is_refused_and_the_error_says_how_many_there_are(name):
    data = _shop(1)
    data = replace(data, users=np.zeros(len(data), dtype=np.int32), user_labels=["only"])
    with pytest.raises(InfeasibleError, match=r"different users \(1\)"):
        anonset.anonymize(data, method=name, seed=1, **PARAMS[METHODS[name].model], **_options(name))


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(5, 9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_group_of_crowd_has_fewer_than_k_users(seed, k, users, blank):
    random = np.random.default_rng(seed)
    n = int(random.integers(users, 80))
    lists = [list(map(str, random.choice(9, size=random.integers(0, 5), replace=False))) for _ in range(n)]
    whose = np.concatenate((np.arange(users), random.integers(0, users, n - users))).astype(np.int32)
    if blank:
        whose[users:][random.random(n - users) < 0.3] = -1
    data = Transactions.from_lists(lists)
    data = replace(data, users=random.permutation(whose), user_labels=[f"u{i}" for i in range(users)])
    found = [anonset.anonymize(data, k=k, seed=1, unit="user", threads=threads) for threads in (1, 2)]
    assert found[0].verdict.persons.measured["k"] >= k
    assert np.array_equal(found[0].release.transactions.items, found[1].release.transactions.items)


def _sparse(seed, n, users, blank=0.1, heavy=False):
    """Short transactions over many items, of users who like the same things again and again."""
    random = np.random.default_rng(seed)
    likes = random.zipf(1.3, (users, 12)) % 120
    whose = np.concatenate((np.arange(users), random.integers(0, users, n - users))).astype(np.int32)
    if heavy:
        whose[users : users + n // 2] = 0
    lists = [[f"i{i}" for i in set(random.choice(likes[u], random.integers(1, 6)))] for u in whose]
    whose[users:][random.random(n - users) < blank] = -1
    return replace(Transactions.from_lists(lists), users=whose, user_labels=[f"u{u}" for u in range(users)])


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("effort", ["quick", "usual", "thorough"])
@pytest.mark.parametrize(("seed", "k", "users"), [(1, 3, 40), (2, 5, 90), (3, 12, 14)])
def test_sparse_groups_begin_and_stay_with_k_users(seed, k, users, effort, heavy):
    data = _sparse(seed, 1500, users, heavy=heavy)
    found = [anonset.anonymize(data, k=k, seed=1, unit="user", effort=effort, threads=threads) for threads in (1, 3)]
    assert found[0].measurements["regime"] == "sparse"
    assert found[0].verdict.persons.measured["k"] >= k
    assert found[0].release.transactions.same_sets(found[1].release.transactions)


@given(ROWS, st.integers(2, 3))
@settings(max_examples=200, deadline=None)
def test_diversity_in_persons_counts_the_users_who_hold_an_item(rows, p):
    data, users = _data(rows, sensitive="d")
    members, holders = defaultdict(set), defaultdict(set)
    for i, (items, user) in enumerate(rows):
        members[items - {"d"}] |= {user} - {-1}
        if "d" in items:
            holders[items - {"d"}] |= {user if user >= 0 else ("unknown", i)}
    found = anonset.model("k-anonymity", k=2, diversity=p, unit="user").check(Release(data), users).persons
    kept = all(len(who) >= 2 and len(holders[group]) * p <= len(who) for group, who in members.items())
    assert found.holds == kept


@pytest.mark.parametrize("seed", range(4))
def test_crowd_keeps_diversity_in_persons(seed):
    data = _sparse(seed, 600, 40)
    random = np.random.default_rng(seed)
    rare = data.labels.take(np.argsort(data.item_counts)[: data.n_items // 8]).to_pylist()
    data = data.with_sensitive(rare)
    data = replace(data, users=random.permutation(data.users))
    result = anonset.anonymize(data, k=4, diversity=3, unit="user", seed=1)
    assert result.verdict.persons.holds
    assert result.verdict.persons.measured["p"] >= 3


def test_a_sensitive_item_of_too_many_users_is_refused_with_the_diversity_that_is_possible():
    lists = [["a", "s"] if i < 3 else ["a", f"b{i % 3}"] for i in range(30)]
    data = Transactions.from_lists(lists, users=[f"u{i % 6}" for i in range(30)], sensitive=["s"])
    with pytest.raises(InfeasibleError, match="'diversity' must be at most 2, because 3 of 6 users hold 's'"):
        anonset.anonymize(data, k=2, diversity=3, unit="user")
    assert anonset.anonymize(data, k=2, diversity=2, unit="user", seed=1).verdict.persons.holds


@pytest.mark.parametrize("method", ["ant", "kp-crowd"])
def test_groups_that_publish_the_same_counts_keep_the_share_together(method):
    """Two groups of the same users, of whom others hold something in each, are one group to everybody who looks."""
    reached = 0
    for seed in range(96, 136):
        random = np.random.default_rng(seed)
        n, users = int(random.integers(12, 60)), int(random.integers(4, 10))
        lists = [[f"i{i}" for i in random.choice(6, random.integers(1, 4), replace=False)] for _ in range(n)]
        data = Transactions.from_lists(lists, users=[f"u{u}" for u in random.integers(0, users, n)])
        data = replace(data, sensitivity=np.where(random.random(data.nnz) < 0.12, 1.0, 0.1))
        try:
            result = anonset.anonymize(data, method=method, k=2, p=0.5, threshold=0.9, unit="user", seed=1)
        except InfeasibleError:
            continue
        reached += result.verdict.persons.holds
    assert reached > 5


@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from(["cahd-gray", "cahd-blind", "nn"]))
@settings(max_examples=80, deadline=None)
def test_privacy_degree_in_persons_is_reached_or_refused(seed, p, method):
    random = np.random.default_rng(seed)
    n, users = int(random.integers(20, 200)), int(random.integers(10, 60))
    lists = [list(map(str, random.choice(9, random.integers(1, 5), replace=False))) for _ in range(n)]
    for row in random.choice(n, random.integers(1, 9)):
        lists[row] += [str(random.choice(["s", "t"]))]
    whose = np.minimum(random.zipf(1.5, n), users) - 1
    whose[random.random(n) < 0.1] = -1
    data = Transactions.from_lists(lists)
    data = data.with_sensitive(set(data.labels.to_pylist()) & {"s", "t"})
    data = replace(data, users=whose.astype(np.int32), user_labels=[f"u{u}" for u in range(users)])
    try:
        result = anonset.anonymize(data, method=method, p=p, unit="user", seed=1)
    except InfeasibleError:
        return
    assert result.verdict.persons.holds
    assert result.verdict.persons.measured["p"] >= p


@pytest.mark.parametrize("method", [name for name in COUNTING if METHODS[name].model == "privacy-degree"])
def test_rare_items_among_users_with_many_transactions_keep_a_useful_degree(method):
    """Users with 50 transactions each: a bound for all of them needs groups in which nobody is met again and again."""
    random = np.random.default_rng(7)
    lists = [[f"i{i}" for i in random.choice(30, 3, replace=False)] for _ in range(2000)]
    for row in (5, 400, 900, 901, 1700):
        lists[row] += ["s"]
    data = Transactions.from_lists(lists, users=[f"u{i % 40}" for i in range(2000)], sensitive=["s"])
    result = anonset.anonymize(data, method=method, p=5, unit="user", seed=1)
    assert result.verdict.persons.holds
    assert len(set(result.release.groups.tolist())) > 4


def test_what_cannot_be_is_refused_with_the_degree_that_one_transaction_for_each_user_allows():
    lists = [["a", "s"] if i % 20 < 2 else ["a", f"b{i % 3}"] for i in range(60)]
    data = Transactions.from_lists(lists, users=[f"u{i % 20}" for i in range(60)], sensitive=["s"])
    said = r"'p' must be at most 3 for persons, because 's' occurs 6 times among 20 users\. Got 4\. .*up to 10\."
    with pytest.raises(InfeasibleError, match=said):
        anonset.anonymize(data, method="cahd-gray", p=4, unit="user")
    merged = anonset.anonymize(data, method="cahd-gray", p=10, unit="user", one_per_user=True, seed=1)
    assert merged.verdict.holds
    assert len(merged.release) == 20


TREE = {"item": list("abcdefgh"), "level1": list("AAAABBBB"), "level2": ["x", "x", "y", "y", "z", "z", "w", "w"]}
LONGER = st.lists(
    st.tuples(st.frozensets(st.sampled_from("abcdefgh"), max_size=4), st.integers(-1, 4)), min_size=4, max_size=20
)


def _few(rows, users, k, m):
    """Whether some set of at most m published items is held by fewer than k known users."""
    holders = defaultdict(set)
    for row, user in zip(rows, users, strict=True):
        for size in range(1, m + 1):
            for known in combinations(sorted(row), size):
                holders[known] |= {user} - {-1}
    return any(len(who) < k for who in holders.values())


@given(LONGER, st.integers(1, 3), st.sampled_from([0, 0.2]))
@settings(max_examples=150, deadline=None)
def test_km_refine_is_safe_for_persons_and_no_node_can_be_replaced(rows, m, suppress):
    users = [user for _, user in rows]
    data = Transactions.from_lists([sorted(items) for items, _ in rows])
    data = replace(data, users=np.array(users, dtype=np.int32), user_labels=list("uvwxy"))
    options = {"k": 2, "m": m, "hierarchy": TREE, "suppress": suppress, "unit": "user", "seed": 1}
    try:
        result = anonset.anonymize(data, method="km-refine", keep=anonset.Keep(order=True), **options)
    except InfeasibleError:
        assert len({user for items, user in rows if items} - {-1}) < 2
        return
    published = [set(row) for row in result.release.transactions.to_lists()]
    assert not _few(published, users, 2, m)
    if suppress:
        return
    above = dict(zip(TREE["item"], zip(TREE["level2"], TREE["level1"], strict=True), strict=True))
    for node in set().union(*published):  # finer by one node: some set then has too few
        below = [(item, levels) for item, levels in above.items() if node in (*levels, "ALL") and node != item]
        finer = []
        for (items, _), row in zip(rows, published, strict=True):
            own = {_child(node, item, levels) for item, levels in below if item in items} if node in row else set()
            finer.append(row - {node} | own if own else row)
        assert finer == published or _few(finer, users, 2, m)


def _child(node, item, levels):
    """The published child of a node above an item."""
    way = (item, *levels, "ALL")
    return way[way.index(node) - 1]


def test_where_bitmaps_take_too_much_memory_the_cut_of_transactions_is_raised(monkeypatch):
    from anonset import _native

    data, real = _shop(3), _native.km_refine

    def full(*given):
        in_persons = len(given) == 12 and given[-1] is not None
        return (np.empty(0, np.int32), np.empty(0, np.uint8)) if in_persons else real(*given)

    options = {"method": "km-refine", "k": 4, "m": 2, "unit": "user", "seed": 1}
    before = anonset.anonymize(data, **options)
    monkeypatch.setattr(_native, "km_refine", full)
    after = anonset.anonymize(data, **options)
    assert after.verdict.persons.holds
    assert after.measurements["ncp"] >= before.measurements["ncp"]
