"""Secrets beside a cut: the model's counting and the method's raising against plain sets."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset.data.errors import InfeasibleError, InputError

TREE = {"item": list("abcdefgh"), "level1": list("AAAABBBB"), "level2": ["x", "x", "y", "y", "z", "z", "w", "w"]}
SECRETS = ["s", "t"]
ROWS = st.lists(
    st.tuples(st.sets(st.sampled_from(TREE["item"]), max_size=4), st.sets(st.sampled_from(SECRETS), max_size=2)),
    min_size=2,
    max_size=14,
)


def known_sets(rows, m):
    return {frozenset(part) for row in rows for size in range(m + 1) for part in combinations(sorted(row), size)}


def smallest(rows, secrets, m):
    """k and the diversity of rows, by trying every set of at most m known items."""
    sets = known_sets(rows, m)
    support = {known: [i for i, row in enumerate(rows) if known <= row] for known in sets}
    k = min((len(found) for known, found in support.items() if known), default=len(rows))
    ratios = [
        len(found) / held
        for found in support.values()
        for secret in SECRETS
        if (held := sum(secret in secrets[i] for i in found))
    ]
    return k, min(ratios, default=float("inf"))


def read(rows):
    data = anonset.Transactions.from_lists([sorted(items | secrets) for items, secrets in rows])
    present = [name for name in SECRETS if name in data.labels.to_pylist()]
    return data.with_sensitive(present) if present else data


@given(rows=ROWS, m=st.integers(1, 3), p=st.integers(2, 4))
def test_the_check_counts_what_trying_every_known_set_counts(rows, m, p):
    verdict = anonset.verify(anonset.read_release(read(rows)), "km-anonymity", k=2, m=m, diversity=p)
    k, ratio = smallest([items for items, _ in rows], [secrets for _, secrets in rows], m)
    assert verdict.measured["k"] == k
    assert verdict.holds == (k >= 2 and ratio >= p)
    if ratio < float("inf"):
        assert verdict.measured["p"] == int(ratio)


@given(rows=ROWS, m=st.integers(1, 3), p=st.integers(2, 3))
def test_what_is_published_is_diverse_and_secrets_stay(rows, m, p):
    filled = [secrets for items, secrets in rows if items]
    for these in (filled, [secrets for _, secrets in rows]):
        for secret in SECRETS:
            if sum(secret in one for one in these) * p > len(these):
                return
    if 0 < len(filled) < 2:
        return
    result = anonset.anonymize(
        read(rows),
        "km-anonymity",
        method="km-refine",
        k=2,
        m=m,
        diversity=p,
        suppress=0,
        hierarchy=TREE,
        keep=anonset.Keep(order=True),
        seed=1,
    )
    found = [set(row) for row in result.release.transactions.to_lists()]
    assert [row & set(SECRETS) for row in found] == [secrets for _, secrets in rows]
    k, ratio = smallest([row - set(SECRETS) for row in found], [row & set(SECRETS) for row in found], m)
    assert k >= 2
    assert ratio >= p


@pytest.mark.parametrize("method", ["km-apriori", "km-direct", "km-optimal", "km-refine"])
def test_a_hierarchy_of_the_quasi_identifier_is_enough(method):
    rows = [["a", "s"], ["b"], ["a", "t"], ["b"]]
    result = anonset.anonymize(rows, method=method, k=2, m=2, hierarchy=TREE, sensitive=SECRETS, seed=1)
    assert result.release.transactions.sensitive_names() == ["s", "t"]
    assert result.verdict.holds


def test_a_diversity_that_cannot_be_is_refused():
    rows = [["a", "s"], ["b", "s"], ["a"]]
    with pytest.raises(
        InfeasibleError, match="'diversity' of 2 or more cannot be reached, because a sensitive item occurs in 2 of 3"
    ):
        anonset.anonymize(rows, method="km-refine", k=2, m=1, diversity=2, hierarchy=TREE, sensitive="s", seed=1)


def test_a_node_that_is_called_like_a_secret_is_refused():
    rows = [["a", "x"], ["b"], ["c"], ["d"]]
    with pytest.raises(InputError, match="no node that is called like a sensitive item"):
        anonset.anonymize(rows, method="km-apriori", k=2, m=1, hierarchy=TREE, sensitive="x", seed=1)


USERS = st.lists(st.integers(-1, 4), min_size=14, max_size=14)


def people(rows, secrets, users, known, secret):
    """Known users with a transaction that holds what is known, and different holders, unknown ones each by itself."""
    fit = [i for i, row in enumerate(rows) if known <= row]
    held = {users[i] if users[i] >= 0 else ("unknown", i) for i in fit if secret in secrets[i]}
    return len({users[i] for i in fit} - {-1}), len(held)


def smallest_in_persons(rows, secrets, users, m):
    found = [people(rows, secrets, users, known, secret) for known in known_sets(rows, m) for secret in SECRETS]
    return min((many / held for many, held in found if held), default=float("inf"))


@given(rows=ROWS, users=USERS, m=st.integers(1, 3), p=st.integers(2, 4))
def test_in_persons_the_check_counts_what_trying_every_known_set_counts(rows, users, m, p):
    users = users[: len(rows)]
    target = anonset.model("km-anonymity", k=2, m=m, diversity=p, unit="user")
    found = target.check(anonset.read_release(read(rows)), np.array(users, dtype=np.int32)).persons
    plain = anonset.model("km-anonymity", k=2, m=m, unit="user")
    ratio = smallest_in_persons([items for items, _ in rows], [secrets for _, secrets in rows], users, m)
    k = plain.check(anonset.read_release(read(rows)), np.array(users, dtype=np.int32)).persons
    assert found.holds == (k.holds and ratio >= p)
    assert found.measured["k"] == k.measured["k"]
    if ratio < float("inf"):
        assert found.measured["p"] == int(ratio)


@given(rows=ROWS, users=USERS, m=st.integers(1, 3), p=st.integers(2, 3))
def test_in_persons_what_is_published_is_diverse_for_transactions_and_for_users(rows, users, m, p):
    users = users[: len(rows)]
    sets, secrets = [items for items, _ in rows], [held for _, held in rows]
    data = replace(read(rows), users=np.array(users, dtype=np.int32), user_labels=list("uvwxy"))
    try:
        result = anonset.anonymize(
            data, method="km-refine", k=2, m=m, diversity=p, suppress=0, hierarchy=TREE, unit="user",
            keep=anonset.Keep(order=True), seed=1,
        )  # fmt: skip
    except InfeasibleError:
        assert not one_node_would_do(sets, secrets, users, p)
        return
    found = [set(row) - set(SECRETS) for row in result.release.transactions.to_lists()]
    assert smallest(found, secrets, m)[1] >= p
    assert smallest_in_persons(found, secrets, users, m) >= p
    assert all(people(found, secrets, users, known, "")[0] >= 2 for known in known_sets(found, m) if known)


def one_node_would_do(sets, secrets, users, p):
    """Whether everything as one node, which loses most, keeps k = 2 and the diversity."""
    top = [{"ALL"} if items else set() for items in sets]
    enough = not any(top) or people(top, secrets, users, {"ALL"}, "")[0] >= 2
    return enough and min(smallest(top, secrets, 1)[1], smallest_in_persons(top, secrets, users, 1)) >= p


def test_a_user_who_holds_a_secret_again_and_again_is_one_holder_and_each_transaction_counts():
    rows = [["a", "s"]] * 4 + [["a"]] * 4
    data = anonset.Transactions.from_lists(rows, users=list("uuuuvwxy"), sensitive=["s"])
    options = {"method": "km-refine", "k": 2, "m": 1, "hierarchy": TREE, "unit": "user", "seed": 1}
    result = anonset.anonymize(data, diversity=2, **options)
    assert (result.verdict.measured["p"], result.verdict.persons.measured["p"]) == (2, 5)
    with pytest.raises(
        InfeasibleError, match="'diversity' must be at most 2, because a sensitive item occurs in 4 of 8"
    ):
        anonset.anonymize(data, diversity=3, **options)
    data = replace(data, users=np.array([0, 1, 2, 3, 0, 1, 2, 3], dtype=np.int32))
    with pytest.raises(InfeasibleError, match="cannot be reached, because a sensitive item is held by 4 of 4 users"):
        anonset.anonymize(data, diversity=2, **options)


@pytest.mark.parametrize("method", ["crowd", "km-refine"])
def test_where_sensitive_items_are_named_persons_are_diverse_by_default(method):
    rows = [["a", "s"], *[["a"]] * 7]
    data = anonset.Transactions.from_lists(rows, users=list("uuvvwwxx"), sensitive=["s"])
    result = anonset.anonymize(data, method=method, k=2, seed=1)
    assert result.verdict.unit == "user"
    assert result.verdict.persons.measured["p"] >= 2
    assert "diversity=2" in " ".join(result.notes)
    assert "at most one of 2 holds" in result.verdict.persons.promise
    off = anonset.anonymize(data, method=method, k=2, seed=1, diversity="off")
    assert "p" not in off.verdict.persons.measured
