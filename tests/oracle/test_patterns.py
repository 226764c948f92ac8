"""The miner against a public one (mlxtend), against the definitions, and against itself on other threads."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlxtend.frequent_patterns import fpgrowth, fpmax

from anonset import Job, ParameterError, Transactions
from anonset.data.spec import as_count
from anonset.generate import generate_quest
from anonset.mining.itemsets import Patterns, frequent

baskets = st.lists(st.sets(st.sampled_from("abcdefg")), max_size=12)


def as_dict(found: Patterns) -> dict[frozenset[str], int]:
    pairs = [(frozenset(items), count) for items, count in found]
    assert len(dict(pairs)) == len(pairs), "an itemset is listed twice"
    return dict(pairs)


def theirs(miner, data: Transactions, support: int) -> dict[frozenset[str], int]:
    table = pd.DataFrame(data.to_scipy().toarray().astype(bool), columns=data.labels.to_pylist())
    found = miner(table, min_support=(support - 0.5) / len(data), use_colnames=True)
    return {
        frozenset(items): round(part * len(data))
        for items, part in zip(found["itemsets"], found["support"], strict=True)
    }


def by_definition(rows: list[set[str]], support: int) -> dict[frozenset[str], int]:
    vocabulary = sorted(set().union(*rows)) if rows else []
    sets = [frozenset(c) for size in range(1, len(vocabulary) + 1) for c in combinations(vocabulary, size)]
    counts = {items: sum(items <= row for row in rows) for items in sets}
    return {items: count for items, count in counts.items() if count >= support}


@given(baskets, st.integers(1, 5))
def test_all_closed_and_maximal_are_what_their_definitions_say(rows, support):
    every = by_definition(rows, support)
    closed = {a: n for a, n in every.items() if not any(a < b and every[b] == n for b in every)}
    maximal = {a: n for a, n in every.items() if not any(a < b for b in every)}
    assert as_dict(frequent(rows, support)) == every
    assert as_dict(frequent(rows, support, "closed")) == closed
    assert as_dict(frequent(rows, support, "maximal")) == maximal
    assert as_dict(frequent(rows, support, longest=2)) == {a: n for a, n in every.items() if len(a) <= 2}


@pytest.mark.parametrize(("length", "support"), [(6, 8), (10, 20), (4, 3)])
def test_equal_to_a_public_miner_on_generated_data(length, support):
    data = generate_quest(1000, mean_length=length, items=80, patterns=30, seed=length)
    assert as_dict(frequent(data, support)) == theirs(fpgrowth, data, support)
    assert as_dict(frequent(data, support, "maximal")) == theirs(fpmax, data, support)


def test_equal_to_a_public_miner_on_dense_real_data(real_data):
    rows = [line.split() for line in pd.read_csv(real_data("mushroom.dat.gz"), header=None)[0]]
    data = Transactions.from_lists(rows)
    assert as_dict(frequent(data, 0.4)) == theirs(fpgrowth, data, as_count(0.4, len(data)))
    assert as_dict(frequent(data, 0.3, "maximal")) == theirs(fpmax, data, as_count(0.3, len(data)))


def test_the_answer_does_not_depend_on_the_threads():
    data = generate_quest(3000, items=200, patterns=60, seed=1)
    for kind in ("all", "closed", "maximal"):
        one, four = (frequent(data, 0.01, kind, threads=threads) for threads in (1, 4))
        assert np.array_equal(one.offsets, four.offsets)
        assert np.array_equal(one.items, four.items)
        assert np.array_equal(one.counts, four.counts)


@pytest.mark.parametrize("support", [0, -1, 1.5, "much", float("nan")])
def test_a_support_that_is_none_is_refused(support):
    with pytest.raises(ParameterError, match="'support' must"):
        frequent([["a"]], support)


def test_an_unknown_kind_and_a_length_of_none_are_refused():
    with pytest.raises(ParameterError, match="'kind' must be a known name"):
        frequent([["a"]], 1, "closd")
    with pytest.raises(ParameterError, match="'longest' must"):
        frequent([["a"]], 1, longest=0)


def test_more_itemsets_than_asked_for_are_refused_before_they_fill_the_memory():
    dense = [[str(i) for i in range(40)]] * 3
    with pytest.raises(ParameterError, match="at most 1,000 frequent itemsets"):
        frequent(dense, 2, most=1000)
    assert len(frequent(dense, 2, "closed", most=1)) == 1


def test_a_cancelled_job_does_not_mine():
    job = Job()
    job.cancel()
    with pytest.raises(Exception, match="Stopped on request"):
        frequent([["a"]], 1, job=job)


def test_nothing_is_frequent_in_nothing():
    assert len(frequent([], 1)) == 0
    assert len(frequent([[], []], 1)) == 0
