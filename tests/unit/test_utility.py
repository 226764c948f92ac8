"""Every metric on a worked example small enough to check by hand (the same as on its page)."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import Job, ParameterError, Release, Transactions
from anonset.assess.utility import METRICS, measure
from anonset.assess.utility.discernibility import discernibility
from anonset.assess.utility.item_frequencies import frequency_error
from anonset.assess.utility.itemsets import changes, overlap
from anonset.assess.utility.lengths import length_change
from anonset.assess.utility.reconstruction import divergences, total_error, workload
from anonset.assess.utility.rules import compared, rules
from anonset.assess.utility.workload import GroupBy, Workload
from anonset.data.hierarchy import Hierarchy
from anonset.data.release import GroupCounts
from anonset.mining.itemsets import frequent

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "utility"


def release_of(rows, **options):
    return Release(Transactions.from_lists(rows, **options))


def test_information_loss():
    data = Transactions.from_lists([["a", "b"], ["a"], ["a", "c"]])
    lost = measure(data, release_of([["a"], ["a"], ["a", "b"]]), np.arange(3), metrics=["information-loss"])
    assert (lost["information_loss"], lost["information_loss_ratio"]) == (3, pytest.approx(0.6))
    assert (lost["items_added"], lost["items_removed"]) == (1, 2)
    assert (lost["item_differences"], lost["item_differences_ratio"]) == (2, pytest.approx(0.4))


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 6)), st.frozensets(st.integers(0, 6))), min_size=1, max_size=8))
def test_item_differences_count_a_replacement_once(rows):
    original, published = (Transactions.from_lists(side, labels=list("0123456")) for side in zip(*rows, strict=True))
    source = np.arange(len(rows))[::-1]
    lost = measure(original, Release(published.take(source)), source, metrics=["information-loss"])
    assert lost["item_differences"] == sum(max(len(a - b), len(b - a)) for a, b in rows)
    assert lost["information_loss"] == sum(len(a ^ b) for a, b in rows)


def test_ncp_of_a_generalized_release():
    data = Transactions.from_lists([["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]])
    tree = Hierarchy.from_levels(["a1", "a2", "b1", "b2"], [["A", "A", "B", "B"]])
    published = release_of([["A", "b1", "b2"], ["A", "b1"], ["A", "b1", "b2"], ["A", "b2"]])
    assert measure(data, published, hierarchy=tree, metrics=["ncp"])["ncp"] == pytest.approx(2.5 / 11)


def test_discernibility():
    found = discernibility(release_of([["a"], ["a"], ["b"]]))
    assert (found["discernibility"], found["discernibility_share"]) == (5, pytest.approx(5 / 9))


def test_reconstruction_is_measured_for_groups_with_sensitive_items_only():
    data = Transactions.from_lists([["a", "s"], ["a"], ["b", "s"], ["b"]], sensitive=["s"])
    result = anonset.anonymize(data, method="nn", p=2, seed=1)
    assert measure(data, result.release, result.row_origin)["reconstruction_error"] == 0
    assert "reconstruction" in measure(data, release_of([["a"], ["a"], ["b"], ["b"]])).left_out


def test_item_frequencies():
    found = frequency_error(np.array([4, 2]), np.array([2, 2]))
    assert found["item_error_mean"] == 0.25
    assert found["item_variation"] == pytest.approx(1 / 6)
    assert frequency_error(np.array([1, 0]), np.array([0, 0]))["items_lost"] == 1


def test_queries():
    data = Transactions.from_lists([["x", "y"]] * 4)
    lost = measure(data, release_of([["x", "y"]] * 3 + [[]]), metrics=["queries"])
    assert lost["query_error_1"] == lost["query_error_2"] == 0.25
    assert lost["query_error_3"] == 0


def test_queries_about_next_to_nobody_do_not_decide():
    data = Transactions.from_lists([["rare"], *[["x"]] * 9_999])
    lost = measure(data, release_of([["x"]] * 10_000), metrics=["queries"])
    assert lost["query_error_1"] < 0.001


def test_itemsets():
    labels = ["a", "b", "c"]
    before = frequent(Transactions.from_lists([["a", "b"], ["a", "b"], ["c"]], labels=labels), 2)
    after = frequent(Transactions.from_lists([["a"], ["a", "c"], ["b", "c"]], labels=labels), 2)
    assert changes(before, after) == (1, 2, 1)
    assert overlap(1, 2, 1) == (pytest.approx(1 / 2), pytest.approx(1 / 3), pytest.approx(2 / 5))


def test_rules():
    before = rules(frequent([["wine", "bread"], ["wine", "bread"], ["bread"]], 2))
    after = {rule: share for rule, share in before.items() if share == 1}
    found = compared(before, after)
    assert (found["rules"], found["rules_precision"], found["rules_recall"]) == (2, 1, 0.5)
    assert compared(before, dict.fromkeys(before, 1.0))["rules_confidence_error"] == pytest.approx(1 / 6)


def test_where_there_are_no_rules_nothing_is_said_about_them():
    rule = {(b"a", b"b"): 0.8}
    none = compared({}, {})
    assert none["rules"] == none["rules_found"] == 0
    assert {none[name] for name in none if name not in ("rules", "rules_found")} == {None}
    invented = compared({}, rule)
    assert (invented["rules_precision"], invented["rules_recall"], invented["rules_f1"]) == (0, None, None)
    lost = compared(rule, {})
    assert (lost["rules_precision"], lost["rules_recall"], lost["rules_f1"]) == (None, 0, 0)


def test_rules_with_sensitive_items_are_those_of_the_expected_counts():
    data = Transactions.from_lists([["a", "s"]] * 10 + [["b"]] * 10, sensitive=["s"])
    counts = GroupCounts(np.zeros(1, np.int32), np.full(1, 2, np.int32), np.full(1, 10))
    one_group = Release(data.quasi(), np.zeros(20, np.int32), counts)
    lost = measure(data, one_group)
    assert (lost["sensitive_rules"], lost["sensitive_rules_found"], lost["sensitive_rules_recall"]) == (2, 0, 0)
    assert lost["sensitive_pairs_moved"] == 0.5
    assert "release in rows" in lost.left_out["rules"]


def test_definition_4_sums_over_all_sensitive_items():
    random = np.random.default_rng(2)
    rows = [[f"q{i}" for i in random.choice(6, 2, replace=False)] for _ in range(60)]
    data = Transactions.from_lists(
        [[*row, *(["s"] * (i % 9 == 0)), *(["t"] * (i % 7 == 0))] for i, row in enumerate(rows)]
    )
    data = data.with_sensitive(["s", "t"])
    release = anonset.anonymize(data, method="cahd-gray", p=4, seed=1).release
    asked = workload(data, r=2, queries=10, seed=3)
    by_hand = np.mean([sum(divergences(data, release, [GroupBy(s, q.items) for s in "st"])) for q in asked])
    total, margin = total_error(data, release, Workload(r=2, queries=20), seed=3)  # 20 questions, 2 sensitive items
    assert total == pytest.approx(by_hand)
    assert margin > 0
    assert by_hand > 0


def test_lengths():
    found = length_change(np.array([1, 2, 3, 4]), np.array([2, 2, 2, 2]))
    assert (found["length_mean_before"], found["length_mean_after"], found["length_distance"]) == (2.5, 2, 0.5)


def test_pattern_distance_is_measured_where_users_are_published():
    rows = [["a", "b"], ["a", "b"], ["b", "c"], ["b", "c"], ["a", "c"], ["a", "c"]]
    data = Transactions.from_lists(rows, users=["u", "v", "u", "v", "u", "v"])
    lost = measure(data, Release(data), np.arange(6), metrics=["pattern-distance"])
    assert lost["pattern_distance"] == 0
    changed = Transactions.from_lists([["a"], *rows[1:]], users=["u", "v", "u", "v", "u", "v"])
    assert measure(data, Release(changed), np.arange(6), metrics=["pattern-distance"])["pattern_distance"] > 0


def test_a_release_that_changed_nothing_lost_nothing():
    random = np.random.default_rng(5)
    rows = [[*map(str, random.choice(12, 4, replace=False)), *(["x", "y"] * (i % 2))] for i in range(300)]
    data = Transactions.from_lists(rows)
    order = random.permutation(300)
    lost = measure(data, Release(data.take(order)), order)
    for one in lost.figures:
        if one.figure.better == "high":
            assert one.value == 1, one
        if one.figure.better == "low" and one.metric != "discernibility":
            assert one.value == 0, one
    assert lost["rules"] >= 2
    left_out = "attribute-loss columns levels ncp pattern-distance quantities reconstruction sensitive-rules".split()
    assert sorted(lost.left_out) == left_out


def test_itemset_supports_come_from_the_data_and_rise():
    data = Transactions.from_lists([list("abcdefghijklmnop")] * 50 + [["a"]] * 50)
    lost = measure(data, Release(data), metrics=["itemsets"])
    supports = [lost[f"itemsets_support_{level}"] for level in ("low", "middle", "high")]
    assert supports == sorted(supports)
    assert supports[0] > 0.5  # 65,535 itemsets are frequent at one half


def test_an_item_that_is_sensitive_is_no_loss_of_quasi_identifiers():
    data = Transactions.from_lists([["a", "s"], ["a"]], sensitive=["s"])
    result = anonset.anonymize(data, k=2, seed=1)
    assert measure(data, result.release, result.row_origin)["information_loss"] == 0


def test_metrics_are_reproducible_and_checked():
    data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "c"]] * 20)
    published = release_of([["a", "b"], ["b"], ["c"]] * 20)
    assert measure(data, published, job=Job(3)).to_dict() == measure(data, published, job=Job(3, 2)).to_dict()
    with pytest.raises(ParameterError, match="lengths"):
        measure(data, published, metrics=["length"])


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_page_that_explains_its_figures(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    metric = METRICS[name]
    assert metric.definition in text
    assert metric.reference in text
    assert "**Example.**" in text
    for figure in metric.figures:
        assert f"`{figure.name}`" in text
        assert f"| {figure.title} |" in text
    assert f"({name}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_tables_have_as_many_cells_in_every_line(page):
    lines = [line for line in (PAGES / page).read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = {line.replace("\\|", "").count("|") for line in lines}
    assert len(cells) == 1, "an upright bar in a cell must be written \\|"
