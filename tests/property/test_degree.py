"""For any data and any p: either a verified release or the error that says why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import METHODS, InfeasibleError, InputError, Transactions
from anonset.data.job import Job
from anonset.data.release import Draft, Release
from anonset.models.privacy_degree import SPEC, check
from anonset.unlink import Keep, unlink

NAMES = [name for name, spec in METHODS.items() if spec.model == "privacy-degree"]
SECRETS = ["s1", "s2", "s3"]
BASKETS = st.lists(st.sets(st.sampled_from([*"abcdef", *SECRETS])), min_size=1, max_size=40)


def marked(baskets: list[set[str]]) -> Transactions:
    return Transactions.from_lists(baskets, labels=[*"abcdef", *SECRETS], sensitive=SECRETS)


def published_by(name: str, baskets: list[set[str]]) -> list[set[str]]:
    """Blind groups leave out what would be published empty; all other methods publish everything."""
    return [basket for basket in baskets if basket - set(SECRETS)] if name == "cahd-blind" else baskets


def run(name: str, data: Transactions, p: int, seed: int = 1, threads: int = 1) -> Draft:
    defaults = {param.name: param.parse(None) for param in METHODS[name].params}
    return METHODS[name].run(data, Job(seed, threads), p=p, **defaults)


def published(draft: Draft, seed: int = 1) -> Release:
    return unlink(draft, SPEC, Job(seed), Keep())[0]


@pytest.mark.parametrize("name", NAMES)
@given(baskets=BASKETS, p=st.integers(2, 6))
@settings(max_examples=60)
def test_a_verified_release_exactly_when_one_exists(name: str, baskets: list[set[str]], p: int) -> None:
    data = marked(baskets)
    baskets = published_by(name, baskets)
    most = max(sum(s in basket for basket in baskets) for s in SECRETS)
    if most * p > len(baskets):
        with pytest.raises(InfeasibleError) as error:
            run(name, data, p)
        largest = len(baskets) // most
        assert (f"at most {largest}" if largest >= 2 else "cannot be reached") in str(error.value)
        if largest >= 2:
            assert check(published(run(name, data, largest)), largest).holds
        return
    release = published(run(name, data, p))
    assert check(release, p).holds
    kept = marked(baskets)
    assert sorted(release.transactions) == sorted(kept.quasi())
    assert release.counts is not None
    assert release.counts.count.sum() == kept.sensitive_part().nnz


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_and_threads_do_not(name: str) -> None:
    rng = np.random.default_rng(3)
    data = marked([set(np.array([*"abcdef", *SECRETS])[rng.random(9) < 0.15].tolist()) for _ in range(500)])
    one, two = published(run(name, data, 3, threads=1)), published(run(name, data, 3, threads=4))
    assert one.groups is not None
    assert np.array_equal(one.groups, two.groups)
    assert one.transactions.same_sets(two.transactions)


@pytest.mark.parametrize("name", NAMES)
def test_every_transaction_may_be_sensitive(name: str) -> None:
    data = marked([{"a", SECRETS[i % 3]} for i in range(30)])
    assert check(published(run(name, data, 3)), 3).holds
    with pytest.raises(InfeasibleError, match="'p' must be at most 3, because 's1' occurs in 10 of 30 transactions"):
        run(name, data, 4)


@pytest.mark.parametrize("name", NAMES)
def test_one_secret_that_everybody_has_can_never_be_hidden(name: str) -> None:
    with pytest.raises(InfeasibleError, match="'p' of 2 or more cannot be reached, because 's2' occurs in 5 of 6"):
        run(name, marked([{"b", "s2"}] * 5 + [{"a"}]), 2)


@pytest.mark.parametrize("name", NAMES)
def test_without_sensitive_items_there_is_nothing_to_protect(name: str) -> None:
    with pytest.raises(InputError, match="'sensitive' must name at least one item"):
        run(name, Transactions.from_lists([["a"], ["b"]]), 2)


@pytest.mark.parametrize("name", NAMES)
def test_no_transactions_and_no_occurrence_are_ordinary(name: str) -> None:
    assert check(published(run(name, marked([]), 2)), 2).holds
    assert check(published(run(name, marked([{"a"}, {"b"}, set()]), 5)), 5).holds
