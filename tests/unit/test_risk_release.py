"""Attacks on a release, compared with counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import InputError, Job, Release, Transactions
from anonset.assess.align import pair
from anonset.assess.risk import attack, infer, link
from anonset.data.hierarchy import Hierarchy
from anonset.data.release import GroupCounts
from anonset.generate import generate_quest

sets_of = st.frozensets(st.sampled_from("abcdef"), max_size=5)


@st.composite
def releases(draw):
    """Originals, published sets, and which original is behind each published one (−1: none)."""
    originals = draw(st.lists(sets_of, min_size=1, max_size=8))
    extra = draw(st.integers(0, 2))
    source = [*draw(st.permutations(range(len(originals)))), *[-1] * extra]
    return originals, draw(st.lists(sets_of, min_size=len(source), max_size=len(source))), source


def paired(originals, published, source):
    data = Transactions.from_lists(originals, labels=list("abcdef"))
    release = Release(Transactions.from_lists(published, labels=list("abcdef")))
    return pair(data, release, np.array(source))


def distance(a, b, measure):
    if measure == "hamming":
        return len(a ^ b)
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


@given(releases(), st.sampled_from(["hamming", "jaccard"]))
def test_linking_equals_brute_force(case, measure):
    originals, published, source = case
    linking = link(paired(*case), Job(1), measure)
    for i, own in enumerate(originals):
        apart = [distance(own, other, measure) for other in published]
        nearest = [j for j, value in enumerate(apart) if value == min(apart)]
        assert linking.scores[i] == pytest.approx(1 / len(nearest) if source.index(i) in nearest else 0)
    assert linking.success == pytest.approx(linking.scores.mean())
    assert linking.before == pytest.approx(np.mean([1 / originals.count(own) for own in originals]))


def test_of_many_people_some_are_linked_and_the_margin_says_how_sure_that_is():
    data = generate_quest(600, items=40, patterns=20, seed=4)
    result = anonset.anonymize(data, k=3, seed=1)
    both = pair(data, result.release, result.row_origin)
    everybody = link(both, Job(1))
    assert (everybody.linked, everybody.margin) == (600, 0)
    errors = []
    for seed in range(20):
        some = link(both, Job(seed), most=150)
        assert some.linked == 150
        assert some.margin > 0
        assert some.largest <= everybody.largest
        errors.append(abs(some.success - everybody.success) / some.margin)
    assert sum(error > 1 for error in errors) <= 4


def test_an_attack_on_single_items_equals_brute_force():
    originals = [frozenset("ab"), frozenset("ab"), frozenset("bc"), frozenset("d")]
    published = [frozenset("ab"), frozenset("b"), frozenset("b"), frozenset("b")]
    case = paired(originals, published, [1, 0, 2, 3])
    chance = {0: [0, 1 / 4], 1: [1, 1 / 4], 2: [1 / 4, 0], 3: [0]}
    found = attack(case, 1, Job(3), draws=40_000)
    assert found.success_after == pytest.approx(np.mean([np.mean(c) for c in chance.values()]), abs=3 * found.margin)
    assert found.singled_out_after == pytest.approx(0.5 / 4, abs=0.01)
    assert found.success_before == pytest.approx(
        np.mean([(1 / 2 + 1 / 3) / 2, (1 / 2 + 1 / 3) / 2, (1 / 3 + 1) / 2, 1])
    )


def test_without_the_source_the_figures_are_upper_bounds():
    data = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "c"], ["b"]])
    result = anonset.anonymize(data, k=2, seed=4)
    known, unknown = pair(data, result.release, result.row_origin), pair(data, result.release)
    assert link(unknown, Job(1)).upper_bound
    assert link(unknown, Job(1)).success >= link(known, Job(1)).success
    assert attack(unknown, 1, Job(1)).success_after >= attack(known, 1, Job(1)).success_after


def test_nobody_is_linked_better_than_one_in_k():
    random = np.random.default_rng(2)
    data = Transactions.from_lists([map(str, random.choice(20, 5, replace=False)) for _ in range(200)])
    result = anonset.anonymize(data, k=5, seed=1)
    assert link(pair(data, result.release, result.row_origin), Job(1)).largest <= 1 / 5


def test_a_generalized_release_is_seen_through_its_hierarchy():
    data = Transactions.from_lists([["milk", "wine"], ["brie", "wine"]])
    tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
    release = Release(Transactions.from_lists([["dairy", "wine"], ["dairy", "wine"]]))
    both = pair(data, release, np.array([0, 1]), tree)
    assert both.original.to_lists() == [["dairy", "wine"], ["dairy", "wine"]]
    assert link(both, Job(1)).success == 0.5
    with pytest.raises(InputError, match=r"1 of its 2 items are not in the data \(dairy\).*hierarchy"):
        pair(data, release, np.array([0, 1]))


def test_what_does_not_fit_is_named():
    data = Transactions.from_lists([["a"], ["b"]])
    with pytest.raises(InputError, match="it has 1 transactions, the data 2"):
        pair(data, Release(Transactions.from_lists([["a"]])))
    with pytest.raises(InputError, match=r"1 of its 2 items are not in the data \(x\)"):
        pair(data, Release(Transactions.from_lists([["a"], ["x"]])))
    with pytest.raises(InputError, match="points behind the last transaction"):
        pair(data, Release(Transactions.from_lists([["a"]])), np.array([7]))


def test_a_sensitive_item_that_everybody_in_a_group_has_is_certain():
    rows = [["wine", "test"], ["wine", "test"], ["beer", "test"], ["beer"], ["beer"]]
    found = infer(Release(Transactions.from_lists(rows, sensitive=["test"])))
    assert (found.certain, found.certain_groups, found.largest, found.worst) == (2, 1, 1.0, "test")
    assert found.expected == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert "privacy-degree" in found.warning


def test_groups_give_away_their_shares():
    data = Transactions.from_lists([["a"], ["b"], ["a"], ["b"]], labels=["a", "b", "secret"], sensitive=["secret"])
    counts = GroupCounts(np.array([0], np.int32), np.array([2], np.int32), np.array([1]))
    found = infer(Release(data, np.array([0, 0, 0, 1], np.int32), counts))
    assert (found.largest, found.certain, found.warning) == (pytest.approx(1 / 3), 0, "")


def test_without_sensitive_items_there_is_nothing_to_infer():
    assert infer(Release(Transactions.from_lists([["a"]]))) is None
    rows = Transactions.from_lists([["a"]], labels=["a", "b"], sensitive=["b"])
    assert infer(Release(rows)).largest == 0


def test_sensitive_items_published_by_name_do_not_hide_the_node_above_them():
    tree = Hierarchy.from_levels(["milk", "brie", "wine"], [["dairy", "dairy", "drinks"]])
    data = Transactions.from_lists([["milk", "wine"], ["brie", "wine"]])
    release = Release(Transactions.from_lists([["dairy", "drinks", "brie"], ["dairy", "drinks"]], sensitive=["brie"]))
    both = pair(data, release, None, tree)
    assert both.original.to_lists() == both.published.to_lists() == [["dairy", "drinks"], ["dairy", "drinks"]]


def test_before_is_about_the_items_as_they_were():
    tree = Hierarchy.from_levels(["milk", "brie", "wine", "beer"], [["dairy", "dairy", "drinks", "drinks"]])
    data = Transactions.from_lists([["milk", "wine"], ["brie", "wine"], ["milk", "brie"], ["milk", "beer"]])
    release = Release(
        Transactions.from_lists([["dairy", "drinks"], ["dairy", "drinks"], ["dairy"], ["dairy", "drinks"]])
    )
    both = pair(data, release, np.arange(4), tree)
    found = attack(both, 2, Job(1))
    assert found.singled_out_before == 1  # every pair of items is somebody's own
    # milk and brie, both seen as dairy, fit all four; the other three pairs fit three each
    assert found.success_after == pytest.approx((3 * 1 / 3 + 1 / 4) / 4)
    assert link(both, Job(1)).before == 1
