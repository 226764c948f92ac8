"""Secrets beside a cut: the model's counting and the method's raising against plain sets."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset.data.errors import InfeasibleError, InputError, ParameterError

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
    with pytest.raises(InfeasibleError, match="'diversity' must be at most 1"):
        anonset.anonymize(rows, method="km-refine", k=2, m=1, diversity=2, hierarchy=TREE, sensitive="s", seed=1)


def test_a_node_that_is_called_like_a_secret_is_refused():
    rows = [["a", "x"], ["b"], ["c"], ["d"]]
    with pytest.raises(InputError, match="no node that is called like a sensitive item"):
        anonset.anonymize(rows, method="km-apriori", k=2, m=1, hierarchy=TREE, sensitive="x", seed=1)


def test_diversity_counts_transactions():
    data = anonset.Transactions.from_lists([["a", "s"], ["a"], ["a"]], users=["u", "u", "v"], sensitive=["s"])
    with pytest.raises(ParameterError, match="'diversity' must be left out where users are counted"):
        anonset.anonymize(data, method="km-refine", k=2, m=1, diversity=2, hierarchy=TREE, unit="user", seed=1)
