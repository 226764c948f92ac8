"""The tree itself, its builders and its cuts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset.data.errors import DataError, ExistsError, InputError, ParameterError
from anonset.data.hierarchy import Cut, Hierarchy, balanced, by_cooccurrence, by_frequency, by_prefix, read_cut
from anonset.data.transactions import Transactions

TREE = Hierarchy.from_levels(["a1", "a2", "b1", "b2"], [["A", "A", "B", "B"]])


@st.composite
def trees(draw, most: int = 14):
    """Any tree: the parent of each node is on the path to the node before it."""
    parent = [-1]
    for node in range(1, draw(st.integers(2, most))):
        path = [node - 1]
        while path[-1] > 0:
            path.append(parent[path[-1]])
        parent.append(draw(st.sampled_from(path)))
    return Hierarchy(np.array(parent), [f"n{i}" for i in range(len(parent))])


@given(trees())
def test_spans_depths_and_counts_agree_with_walking_the_tree(tree):
    for node in range(len(tree)):
        below = [other for other in range(len(tree)) if node in above(tree, other)]
        assert below == list(range(node, tree.end[node]))
        assert tree.depth[node] == len(above(tree, node)) - 1
        assert tree.leaf_counts[node] == sum(other in tree.leaves for other in below)


def above(tree, node):
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path


@pytest.mark.parametrize("parent", [[-1, 0, 0, 1], [0], [-1, 2, 0], [-1, -1], []])
def test_nodes_out_of_order_are_an_error(parent):
    with pytest.raises(InputError, match="depth-first"):
        Hierarchy(np.array(parent, dtype=np.int32), [str(i) for i in range(len(parent))])


def test_an_item_cannot_occur_twice():
    with pytest.raises(InputError, match="twice"):
        Hierarchy.from_levels(["a", "a"], [["X", "Y"]])


@pytest.mark.parametrize(
    ("size", "fanout", "height"), [(1, 5, 1), (5, 5, 1), (6, 5, 2), (25, 5, 2), (497, 5, 4), (3340, 5, 6)]
)
def test_a_balanced_tree_has_the_fan_out_everywhere(size, fanout, height):
    tree = balanced([str(i) for i in range(size)], fanout)
    children = np.bincount(tree.parent[1:], minlength=len(tree))
    assert tree.height == height
    assert children.max() <= fanout
    assert tree.items.to_pylist() == [str(i) for i in range(size)]
    assert len(set(tree.names.to_pylist())) == len(tree)


def test_builders_refuse_a_fan_out_below_two():
    with pytest.raises(ParameterError, match="fanout"):
        balanced(["a"], 1)


def test_prefixes_follow_the_codes():
    tree = by_prefix(["E10", "E11", "E112", "I10"], lengths=[1, 3])
    assert tree.path(int(tree.nodes_of(["E112"])[0])) == ("E*", "E11*", "E112")
    assert by_prefix(["x/a", "x/b", "y"], separator="/").path(3) == ("x", "x/a")
    with pytest.raises(ParameterError, match="lengths"):
        by_prefix(["a"], lengths=[0])
    automatic = by_prefix(["E101", "E102", "I10"])
    assert automatic.path(int(automatic.nodes_of(["E102"])[0])) == ("E10*", "E102"), "no level without a choice"


def test_items_that_occur_together_share_a_node():
    rows = [["a", "y"]] * 4 + [["b", "x"]] * 3 + [["c", "z"]] * 2
    tree = by_cooccurrence(Transactions.from_lists(rows), fanout=2)
    parents = {str(tree.labels[int(leaf)]): int(tree.parent[leaf]) for leaf in tree.leaves}
    assert parents["a"] == parents["y"] != parents["b"] == parents["x"]
    assert parents["c"] == parents["z"]
    assert sorted(tree.items.to_pylist()) == list("abcxyz")


@given(
    st.lists(
        st.sets(st.sampled_from(["apple", "bean", "corn", "group1", "x..y", "9", "rare"]), min_size=1), min_size=1
    ),
    st.integers(2, 4),
)
def test_nodes_of_built_trees_are_numbered_by_their_place_and_name_no_item(baskets, fanout):
    data = Transactions.from_lists(baskets)
    for tree in (balanced(data.labels, fanout), by_frequency(data, fanout), by_cooccurrence(data, fanout)):
        assert sorted(tree.items.to_pylist()) == sorted(data.labels.to_pylist())
        assert tree.names.equals(tree.labels)  # no two read alike, and none like an item
        for node in np.flatnonzero(~tree.is_leaf)[1:].tolist():
            name, above = str(tree.labels[node]), int(tree.parent[node])
            place = [one for one in tree.children(above) if not tree.is_leaf[one]].index(node) + 1
            prefix = "group_" if "group1" in tree.items.to_pylist() else "group"
            assert name == (f"{prefix}{place}" if above == 0 else f"{tree.labels[above]}.{place}")


def test_items_of_one_frequency_share_a_node():
    rows = [["a", "z"]] * 9 + [["b", "y"]] * 3 + [["c"], ["x"]]
    tree = by_frequency(Transactions.from_lists(rows), fanout=2)
    assert tree.items.to_pylist() == ["a", "z", "b", "y", "c", "x"]
    parents = tree.parent[tree.leaves].reshape(3, 2)
    assert (parents[:, 0] == parents[:, 1]).all()
    assert len(np.unique(parents)) == 3


def test_a_cut_recodes_merges_and_names():
    data = Transactions.from_lists([["a1", "a2", "b1"], ["b2"], []])
    published = Cut.of_nodes(TREE, [1]).apply(data)
    assert published.to_lists() == [["A", "b1"], ["b2"], []]
    left_out = read_cut({"b1": ""}, TREE).apply(data)
    assert left_out.to_lists() == [["a1", "a2"], ["b2"], []]


@given(trees(), st.data())
def test_a_cut_survives_writing_and_reading(tmp_path_factory, tree, data):
    nodes = data.draw(st.lists(st.integers(0, len(tree) - 1), max_size=4))
    cut = Cut.of_nodes(tree, nodes)
    path = tmp_path_factory.mktemp("cut") / "cut.csv"
    cut.write(path)
    assert np.array_equal(read_cut(path, tree).published, cut.published)
    with pytest.raises(ExistsError):
        cut.write(path)


def test_items_that_a_cut_does_not_name_follow_the_node_above_them():
    assert read_cut({"a1": "A"}, TREE).mapping() == {"a1": "A", "a2": "A", "b1": "b1", "b2": "b2"}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"a1": "A", "a2": "a2"}, "all items below a node alike"),
        ({"a1": "ALL", "a2": "A"}, "all items below a node alike"),
        ({"a1": "B"}, "node above it"),
        ({"a1": "nowhere"}, "nodes of the hierarchy"),
        ({"zzz": "A"}, "items of the hierarchy"),
    ],
)
def test_an_edited_cut_that_is_no_cut_is_an_error(mapping, message):
    with pytest.raises(InputError, match=message):
        read_cut(mapping, TREE)


def test_a_cut_that_lacks_an_item_of_the_data_says_which():
    with pytest.raises(InputError, match=r"lacks 1 \(cola\)"):
        Cut.of_nodes(TREE, []).apply(Transactions.from_lists([["a1", "cola"]]))


def test_show_stops_at_a_depth_and_at_a_width():
    tree = balanced([str(i) for i in range(100)], 5)
    assert len(tree.show(depth=1).splitlines()) == 1 + 4
    assert "more" in Hierarchy.from_levels([str(i) for i in range(9)], []).show(widest=4)


@pytest.mark.parametrize("text", ["item;published\na1;A\na2;A\n", "\ufeffitem,published\r\na1,A\r\n"])
def test_a_cut_that_a_spreadsheet_saved_is_read(tmp_path, text):
    path = tmp_path / "cut.csv"
    path.write_text(text, encoding="utf-8")
    assert read_cut(path, TREE).mapping() == {"a1": "A", "a2": "A", "b1": "b1", "b2": "b2"}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"item,published\na1\n", b"item,node\na1,A\n"])
def test_a_file_that_is_no_cut_is_an_error(tmp_path, content):
    path = tmp_path / "cut.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match="columns 'item' and 'published'"):
        read_cut(path, TREE)
    with pytest.raises(DataError, match="This is a folder"):
        read_cut(tmp_path, TREE)


def test_a_cut_with_two_lines_for_an_item_is_an_error(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("item,published\na1,A\na1,\n")
    with pytest.raises(InputError, match="Got two for 'a1'"):
        read_cut(path, TREE)


def test_a_cut_is_drawn_down_to_what_it_publishes():
    drawn = read_cut({"a1": "A", "a2": "A", "b2": ""}, TREE).show().splitlines()
    assert drawn[1:] == [
        "├── A  2 items  ← published for all below",
        "└── B  2 items",
        "    ├── b1",
        "    └── b2  ← left out",
    ]
