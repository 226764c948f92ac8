"""Every reader knows in which order its source names items first, whatever their labels are."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.methods.steps.order.gray import gray_order, item_ranks

FILES = {
    "lines.dat": "30 7\n7 100\n2 30\n",
    "basket.csv": "pear,apple\napple,zest\nfig,pear\n",
    "spmf.txt": "@CONVERTED_FROM_TEXT\n@ITEM=1=pear\n@ITEM=2=apple\n@ITEM=3=zest\n@ITEM=4=fig\n1 2\n2 3\n1 4\n",
    "long.csv": "transaction,item\n1,pear\n1,apple\n2,apple\n2,zest\n3,fig\n3,pear\n",
    "degrees.csv": "transaction,item,sensitivity\n1,pear,.1\n1,apple,.2\n2,apple,.3\n2,zest,0\n3,fig,1\n3,pear,0\n",
    "lists.jsonl": '{"items": ["pear", "apple"]}\n{"items": ["apple", "zest"]}\n{"items": ["fig", "pear"]}\n',
    "wide.csv": "pear,apple,zest,fig\n0,1,1,0\n1,1,0,0\n1,0,0,1\n",
}


def named_first(data):
    """The items from the most to the least significant."""
    return [data.labels[int(code)].as_py() for code in np.argsort(item_ranks(data, "given"))]


@pytest.mark.parametrize("name", FILES)
def test_given_is_the_order_in_which_a_file_names_its_items(name, tmp_path):
    path = tmp_path / name
    path.write_text(FILES[name])
    expected = ["30", "7", "100", "2"] if name.endswith(".dat") else ["pear", "apple", "zest", "fig"]
    assert named_first(anonset.read(path)) == expected


def test_parts_of_a_large_file_are_read_at_once_and_still_named_in_its_order(tmp_path):
    names = np.random.default_rng(1).permutation(60_000)
    path = tmp_path / "large.dat.gz"
    path.write_bytes(gzip.compress("\n".join(map(str, names)).encode()))
    assert named_first(anonset.read(path)) == [str(name) for name in names]


def test_frames_and_lists_follow_the_same_rule(tmp_path):
    rows = [["pear", "apple"], ["apple", "zest"], ["fig", "pear"]]
    pq.write_table(pa.table({"items": rows}), tmp_path / "lists.parquet")
    for source in (Transactions.from_lists(rows), Transactions.from_arrow(pa.array(rows)), tmp_path / "lists.parquet"):
        data = source if isinstance(source, Transactions) else anonset.read(source)
        assert named_first(data) == ["pear", "apple", "zest", "fig"]


def test_categories_and_labels_bring_their_own_order():
    rows = [["pear", "apple"], ["fig"]]
    values = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0], type=pa.int32()), ["fig", "apple", "pear"])
    column = pa.LargeListArray.from_arrays(pa.array([0, 2, 3], type=pa.int64()), values)
    assert named_first(Transactions.from_arrow(column)) == ["fig", "apple", "pear"]
    assert named_first(Transactions.from_lists(rows, labels=["fig", "apple", "pear"])) == ["fig", "apple", "pear"]


def test_the_order_inside_a_python_set_does_not_count():
    assert named_first(Transactions.from_lists([{"b", "a", "c"}, {"d"}])) == ["a", "b", "c", "d"]


def test_label_sorts_numbers_by_value_and_texts_by_code_point(tmp_path):
    path = tmp_path / "lines.dat"
    path.write_text(FILES["lines.dat"])
    ranks = item_ranks(anonset.read(path), "label")
    assert ranks.tolist() == [0, 1, 2, 3]
    wide = tmp_path / "wide.csv"
    wide.write_text(FILES["wide.csv"])
    data = anonset.read(wide)
    assert [data.labels[int(i)].as_py() for i in np.argsort(item_ranks(data, "label"))] == sorted(
        data.labels.to_pylist()
    )


def test_given_decides_the_gray_order_and_a_part_keeps_it():
    data = Transactions.from_lists(["ca", "b", "c", "ab"], sensitive="b")
    assert data.quasi().appearance is not None
    order = gray_order(data.quasi(), Job(), "given")
    # c is the most significant: bitmaps c, a are 11, 00, 10, 01, with the Gray ranks 2, 0, 3, 1
    assert order.tolist() == [1, 3, 0, 2]


def test_a_release_does_not_say_which_item_came_first():
    data = Transactions.from_lists(["ca", "ca", "b", "b"])
    assert data.appearance is not None
    assert (
        anonset.anonymize(data, k=2, method="pta", item_order="given", seed=1).release.transactions.appearance is None
    )


def test_the_default_order_depends_on_the_sets_alone():
    rows = [["pear", "apple"], ["apple", "zest"], ["fig", "pear"], ["zest", "apple"]]
    turned = [row[::-1] for row in rows]
    ranks = [item_ranks(Transactions.from_lists(some)).tolist() for some in (rows, turned)]
    assert ranks[0] == ranks[1]
