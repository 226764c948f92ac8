"""Categories where items cannot be kept, against sets and loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset.data.errors import InputError, ParameterError
from anonset.data.hierarchy.nodes import PREFIX
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods.steps.closure import Closure, weights
from tests.oracle import closure as oracle

TREE = {
    "a": ("A", "x"),
    "b": ("A", "x"),
    "c": ("A", "y"),
    "d": ("B", "x"),
    "e": ("B", "z"),
    "f": ("B", "z"),
    "g": ("C", "w"),
}
TABLE = {"item": list(TREE), "level1": [path[0] for path in TREE.values()], "level2": [p[1] for p in TREE.values()]}
BASKETS = st.lists(st.sets(st.sampled_from([*TREE, "stranger"]), max_size=6), min_size=2, max_size=14)
SETTINGS = st.sampled_from(["item=1", "item=3,level1=1", "item=1,level2=2", "item=2,level1=1,level2=1"])


def levels_of(text):
    return {int(name[5:]) for name in weights(text, 2) if name != "item"}


def as_nodes(row, names):
    return {names[label] for label in row}


def names_of():
    """The name of every node in a release, as the project writes it."""
    tree = anonset.read_hierarchy(TABLE)
    found = {item: (0, item) for item in [*TREE, "stranger"]}
    for node in range(1, len(tree)):
        path = tree.path(node)
        if not tree.is_leaf[node]:
            found[PREFIX + str(tree.names[node])] = (len(path), "/".join(path))
    return found


NAMES = names_of()


@given(BASKETS, SETTINGS)
def test_sets_are_closed_under_the_categories_that_count(baskets, text):
    data = Transactions.from_lists([sorted(row) for row in baskets])
    closure = Closure.of(data, TABLE, text)
    node_of = np.repeat(np.arange(len(closure.weight)), closure.weight)
    labels = [*data.labels.to_pylist(), *closure.levels.labels.to_pylist()]
    counted = weights(text, 2)
    for place, row in enumerate(baskets):
        codes = closure.closed.items[closure.closed.offsets[place] : closure.closed.offsets[place + 1]]
        nodes, copies = np.unique(node_of[codes], return_counts=True)
        assert as_nodes([labels[node] for node in nodes], NAMES) == oracle.closed(row, TREE, levels_of(text))
        for node, count in zip(nodes, copies, strict=True):
            level = NAMES[labels[node]][0]
            assert count == counted["item" if level == 0 else f"level{level}"]


ADD = ["majority", "most", "none"]


@given(BASKETS, SETTINGS, st.sampled_from(["gsc", "pta", "crowd"]), st.sampled_from(ADD))
def test_groups_publish_the_most_specific_nodes_of_their_center(baskets, text, method, add):
    rows = [sorted(row) for row in baskets]
    given_ = {"method": method, "k": 2, "hierarchy": TABLE, "levels": text, "add": add}
    result = anonset.anonymize(rows, seed=1, keep=anonset.Keep(order=True), **given_)
    assert result.verdict.holds
    published = [as_nodes(row, NAMES) for row in result.release.transactions.to_lists()]
    members: dict[frozenset, list[int]] = {}
    for place, nodes in enumerate(published):
        members.setdefault(frozenset(nodes), []).append(place)
    for nodes, places in members.items():
        assert len(places) >= 2
        assert nodes == oracle.most_specific(set(nodes), TREE)
        if add != "majority":
            everybody = [oracle.closed(baskets[place], TREE, levels_of(text)) for place in places]
            assert nodes <= oracle.center(everybody, add)


@given(BASKETS, SETTINGS, st.sampled_from(ADD))
def test_one_group_publishes_its_center(baskets, text, add):
    rows = [sorted(row) for row in baskets]
    result = anonset.anonymize(rows, method="gsc", k=len(rows), hierarchy=TABLE, levels=text, add=add, seed=1)
    closed = [oracle.closed(row, TREE, levels_of(text)) for row in baskets]
    wanted = oracle.most_specific(oracle.center(closed, add), TREE)
    assert all(as_nodes(row, NAMES) == wanted for row in result.release.transactions.to_lists())


@given(BASKETS, SETTINGS, st.sampled_from(["gsc", "crowd"]))
def test_losses_are_those_of_sets_and_loops(baskets, text, method):
    rows = [sorted(row) for row in baskets]
    keep = anonset.Keep(order=True)
    result = anonset.anonymize(rows, method=method, k=2, hierarchy=TABLE, levels=text, seed=1, keep=keep)
    published = [as_nodes(row, NAMES) for row in result.release.transactions.to_lists()]
    total = max(sum(map(len, baskets)), 1)
    for level in (1, 2):
        before = [oracle.at_level({(0, item) for item in row}, level, TREE) for row in baskets]
        after = [oracle.at_level(nodes, level, TREE) for nodes in published]
        lost = sum(len(one ^ other) for one, other in zip(before, after, strict=True))
        expected = lost / max(sum(map(len, before)), 1)
        assert result.measurements[f"level{level}_loss_ratio"] == pytest.approx(expected)
    pairs = list(zip(baskets, published, strict=True))
    exact = sum((0, item) in nodes for row, nodes in pairs for item in row)
    penalty = sum(oracle.penalty(item, nodes, TREE) for row, nodes in pairs for item in row)
    added = sum(len(nodes - oracle.closed(row, TREE, {1, 2})) for row, nodes in pairs)
    assert result.measurements["exact_items"] == pytest.approx(exact / total)
    assert result.measurements["ncp"] == pytest.approx(penalty / total)
    assert result.measurements["nodes_added_ratio"] == pytest.approx(added / total)


def test_without_a_hierarchy_nothing_changes():
    rows = [["a", "b"], ["a"], ["b", "c"], ["c"]]
    for method in ("gsc", "pta", "crowd"):
        plain = anonset.anonymize(rows, method=method, k=2, seed=1)
        assert plain.levels is None
        assert (
            anonset.METHODS[method]
            .run.__wrapped__(
                Transactions.from_lists(rows), Job(1), **{k: v for k, v in plain.params.items() if k not in SHARED}
            )
            .release.transactions.same_sets(
                anonset.anonymize(rows, method=method, k=2, seed=1, keep=anonset.Keep(order=True)).release.transactions
            )
        )


SHARED = ("hierarchy", "levels", "add")


def test_sensitive_items_pass_unchanged_and_get_no_category():
    rows = [["a", "e"], ["b", "e"], ["c"], ["d"]]
    result = anonset.anonymize(rows, method="gsc", k=4, sensitive=["e"], hierarchy=TABLE, seed=1)
    lists = result.release.transactions.to_lists()
    assert sum("e" in row for row in lists) == 2
    assert result.release.transactions.sensitive_names() == ["e"]
    assert not any("B" in label for row in lists for label in row)


@given(BASKETS, SETTINGS, st.sampled_from(["gsc", "pta", "crowd"]), st.sets(st.sampled_from([*TREE]), max_size=3))
def test_what_is_published_beside_a_secret_does_not_depend_on_it(baskets, text, method, secret):
    rows = [sorted(row) for row in baskets]
    data = Transactions.from_lists(rows)
    data = data.with_sensitive(secret & set(data.labels.to_pylist()))
    free = {"diversity": "off"} if method == "crowd" else {}
    result = anonset.anonymize(data, method=method, k=2, hierarchy=TABLE, levels=text, seed=1, **free)
    assert result.verdict.holds
    before, after = data.sensitive_part().to_lists(), result.release.transactions.sensitive_part().to_lists()
    assert [before[place] for place in result.row_origin] == after


def test_a_release_of_categories_goes_through_every_format(tmp_path):
    rows = [["a", "d"], ["b", "e"], ["c", "f"]] * 3
    result = anonset.anonymize(rows, method="gsc", k=9, hierarchy=TABLE, seed=1)
    assert result.release.transactions.to_lists() == [[PREFIX + "A", PREFIX + "B"]] * 9
    for name in ("r.dat", "r.csv", "r.basket", "r.jsonl", "r.parquet", "r.arrow"):
        result.write(tmp_path / name)
        assert anonset.verify(tmp_path / name, k=9).holds
        assert anonset.read(tmp_path / name).to_lists() == result.release.transactions.to_lists()


def test_items_the_hierarchy_lacks_are_said_and_have_no_category():
    result = anonset.anonymize([["a", "stranger"]] * 2, method="gsc", k=2, hierarchy=TABLE, seed=1)
    assert any("lacks 1 item" in note for note in result.notes)
    assert result.release.transactions.to_lists() == [["a", "stranger"]] * 2


@pytest.mark.parametrize("wrong", ["level3=1", "item=0,level1=1", "item=x", "item=-1", "item=10", "iten=3", "level1=1"])
def test_weights_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ParameterError, match="levels"):
        anonset.anonymize([["a"], ["a"]], k=2, hierarchy=TABLE, levels=wrong)


def test_levels_without_a_hierarchy_and_items_that_read_like_categories_are_refused():
    with pytest.raises(ParameterError, match="'levels' must come with a hierarchy"):
        anonset.anonymize([["a"], ["a"]], k=2, levels="item=1")
    with pytest.raises(InputError, match="begin with 'some:'"):
        anonset.anonymize([["some:A"], ["a"]], k=2, hierarchy=TABLE)


def test_the_empty_and_the_flat(tmp_path):
    assert anonset.anonymize([], k=2, hierarchy=TABLE, seed=1).verdict.holds
    flat = {"item": ["a", "b"]}
    result = anonset.anonymize([["a", "b"]] * 2, k=2, hierarchy=anonset.read_hierarchy(flat), seed=1)
    assert result.release.transactions.to_lists() == [["a", "b"]] * 2
