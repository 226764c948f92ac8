"""Every kind of source becomes the same tree; bad sources are named, and repaired where asked."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset.data.errors import DataError, InputError
from anonset.data.hierarchy import Hierarchy, lint, read_hierarchy

SHAPE = {("a1", "A"), ("a2", "A"), ("b1", "B"), ("b2", "B")}
TABLE = "item,level1,level2\na1,X,A\na2,X,A\nb1,Y,B\nb2,Y,B\n"


def pairs(tree: Hierarchy) -> set[tuple[str, str]]:
    labels = tree.labels.to_pylist()
    return {(labels[leaf], labels[tree.parent[leaf]]) for leaf in tree.leaves}


def kinds(problems) -> set[str]:
    return {problem.kind for problem in problems if problem.severity == "error"}


def same(one: Hierarchy, other: Hierarchy) -> bool:
    return np.array_equal(one.parent, other.parent) and one.labels.equals(other.labels)


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "a1;A;X;*\na2;A;X;*\nb1;B;Y;*\nb2;B;Y;*\n",
        "child,parent\na1,A\na2,A\nb1,B\nb2,B\nA,X\nB,Y\n",
        "parent\tchild\nA\ta1\nA\ta2\nB\tb1\nB\tb2\nX\tA\nY\tB\n",
        "a1,A\na2,A\nb1,B\nb2,B\nA,X\nB,Y\n",
        "distinct\nname item\ntype string\nheight 4\n\nA has a1 a2\nB has b1 b2\n\nX has A\nY has B\n\nR has X Y\n",
        "\ufeffitem,level1,level2\r\na1,X,A\r\na2,X,A\r\nb1,Y,B\r\nb2,Y,B\r\n",
    ],
    ids=["table", "arx", "edges", "edges-swapped", "edges-no-header", "amnesia", "bom-crlf"],
)
def test_every_format_gives_the_same_tree(tmp_path, text):
    path = tmp_path / "tree.txt"
    path.write_text(text, encoding="utf-8", newline="")
    tree = read_hierarchy(path)
    assert pairs(tree) == SHAPE
    assert [tree.path(int(leaf)) for leaf in tree.leaves[:1]] == [("X", "A", "a1")]
    assert tree.height == 3


def test_fine_to_coarse_is_detected_by_the_number_of_names(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("item,level1,level2\na1,A,X\na2,A,X\nb1,B,X\nc1,C,Z\n")
    assert read_hierarchy(path).path(int(read_hierarchy(path).leaves[0])) == ("X", "A", "a1")
    forced = read_hierarchy(path, order="coarse-to-fine")
    assert forced.path(int(forced.leaves[0])) == ("A", "X", "a1")


def test_the_direction_is_judged_by_items_that_have_all_levels(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("item,level1,level2\nmilk,food,dairy\nbrie,dairy,\nwine,drinks,\ncola,unlisted,\n")
    assert read_hierarchy(path).path(3) == ("food", "dairy", "milk")


def test_a_fine_name_that_repeats_does_not_turn_the_direction():
    tops = ["a", "a", "b", "b", "c", "c"]
    tree = read_hierarchy(
        {"item": list("123456"), "level1": tops, "level2": ["other", "x", "other", "y", "other", "z"]}
    )
    assert [tree.path(v)[0] for v in tree.leaves] == tops


def test_compressed_files_frames_and_dictionaries_are_read(tmp_path):
    path = tmp_path / "tree.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    columns = {"item": ["a1", "a2", "b1", "b2"], "level1": list("XXYY"), "level2": list("AABB")}
    pd = pytest.importorskip("pandas")
    sources = [columns, pa.table(columns), pd.DataFrame(columns)]
    assert all(same(read_hierarchy(source), read_hierarchy(path)) for source in sources)


def test_labels_that_repeat_make_different_nodes_with_different_names():
    tree = read_hierarchy(
        {"item": ["1", "2", "other"], "level1": ["food", "home", "home"], "level2": ["other", "other", "other"]},
        order="coarse-to-fine",
    )
    assert len(tree) == 1 + 2 + 2 + 3
    names = tree.names.to_pylist()
    assert len(set(names)) == len(names)
    assert {"food/other", "home/other", "other"} <= set(names)
    assert str(tree.names[int(tree.nodes_of(["other"])[0])]) == "other", "an item keeps its own name"


def test_a_name_that_reads_like_a_path_is_still_told_apart():
    columns = {
        "item": ["1", "2", "a/x", "ALL/a/x", "3"],
        "level1": ["a", "b", "", "", "c"],
        "level2": ["x", "x", "", "", "d"],
    }
    names = read_hierarchy(columns).names.to_pylist()
    assert len(set(names)) == len(names)


def test_missing_levels_are_closed_up_and_the_same_path_is_the_same_node():
    tree = read_hierarchy(
        {"item": list("abc"), "level1": ["X", "X", "X"], "level2": ["", "Y", ""], "level3": ["Y", "", ""]}
    )
    assert tree.parent[tree.nodes_of(["a"])[0]] == tree.parent[tree.nodes_of(["b"])[0]]
    assert tree.labels[0].as_py() == "X", "a single top node is the root"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"item": ["a", "a", "b"], "level1": ["X", "Y", "X"]}, "two-parents"),
        ({"child": ["a", "a", "b"], "parent": ["X", "Y", "X"]}, "two-parents"),
        ({"child": ["a", "b", "c", "d"], "parent": ["b", "c", "a", "c"]}, "cycle"),
        ({"child": ["a", "b"], "parent": ["a", "X"]}, "cycle"),
        ({"item": ["a", "", "b"], "level1": ["X", "Y", "X"]}, "nameless"),
    ],
)
def test_errors_are_named_and_repaired_only_on_request(source, kind):
    assert kind in kinds(lint(source))
    with pytest.raises(DataError, match="repair"):
        read_hierarchy(source)
    mended = read_hierarchy(source, repair=True)
    assert mended.notes
    assert kinds(lint(mended)) == set()


def test_items_of_the_data_must_be_there():
    tree = read_hierarchy({"item": ["a", "b"], "level1": ["X", "X"], "level2": ["Y", "Z"]})
    assert kinds(lint(tree, ["a", "c"])) == {"missing"}
    with pytest.raises(DataError, match="1 item of the data is not in the hierarchy"):
        read_hierarchy(tree, items=["a", "c"])
    mended = read_hierarchy(tree, items=["a", "c", "Y"], repair=True)
    assert mended.path(int(mended.nodes_of(["c"])[0])) == ("unlisted", "c")
    flat = read_hierarchy(Hierarchy.from_levels(["a"], []), items=["a", "c"], repair=True)
    assert flat.path(int(flat.nodes_of(["c"])[0])) == ("unlisted", "c"), "also where there was no level before"
    assert mended.path(int(mended.nodes_of(["Y"])[0])) == ("Y", "Y"), "below its namesake"


def test_warnings_never_stop_the_reading():
    source = {"item": ["a", "b", "c"], "level1": ["X", "X", "Z"], "level2": ["", "Y", ""], "level3": ["W", "V", ""]}
    found = {problem.kind for problem in lint(source)}
    assert {"gap", "ragged", "single-child"} <= found
    assert read_hierarchy(source).n_items == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,level1\na\n", "table"),
        ("distinct\nname x\n\nA with b c\n", "parent has child"),
        ("distinct\n", "no 'parent"),
    ],
)
def test_broken_files_are_errors(tmp_path, text, message):
    path = tmp_path / "tree.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_hierarchy(path)


def test_what_is_no_hierarchy_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_hierarchy(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="int"):
        read_hierarchy(3)
    path = tmp_path / "latin.csv"
    path.write_bytes("item,level1\nK\xe4se,dairy\n".encode("latin-1"))
    with pytest.raises(DataError, match="line 2"):
        read_hierarchy(path)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "X", "Y", "a,b", 'q"q']), st.sampled_from(["", "X", "Z"]), st.just("") | st.just("V")
        ),
        min_size=1,
        max_size=12,
    )
)
def test_writing_and_reading_gives_the_same_tree(tmp_path_factory, rows):
    items = [f"i{n}" for n in range(len(rows))]
    tree = Hierarchy.from_levels(items, [list(level) for level in zip(*rows, strict=True)])
    path = tmp_path_factory.mktemp("tree") / "tree.csv"
    tree.write(path)
    assert same(read_hierarchy(path, order="coarse-to-fine"), tree)


def test_the_real_hierarchies_load(real_data):
    tree = read_hierarchy(real_data("completejourney-hierarchy.csv.gz"))
    assert (tree.n_items, tree.height) == (92_331, 4)
    assert "GROCERY" in {str(tree.labels[node]) for node in tree.children(0)}
    assert len(set(tree.names.to_pylist())) == len(tree)
    groceries = read_hierarchy(real_data("groceries-hierarchy.csv.gz"))
    assert (groceries.n_items, len(groceries) - groceries.n_items - 1) == (169, 65)


def test_a_folder_is_no_hierarchy(tmp_path):
    with pytest.raises(DataError, match="This is a folder"):
        read_hierarchy(tmp_path)
