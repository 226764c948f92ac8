"""The hierarchy in the report: what is drawn, how much of it, and for whom."""

import json

import numpy as np
import pytest

import anonset
from anonset.data.hierarchy import Cut, Hierarchy, balanced
from anonset.data.transactions import Transactions
from anonset.reports import tree, write_report

NASTY = "<script>alert('x')</script>"
LEVELS = {"item": ["wine", "beer", NASTY, "bread"], "level1": ["drinks", "drinks", "<b>food</b>", "<b>food</b>"]}
ROWS = [["wine", "bread"], ["wine"], ["wine", "bread", NASTY], ["bread"], [NASTY, "wine"], ["beer"]] * 3


@pytest.fixture(scope="module")
def result():
    return anonset.anonymize(ROWS, method="km-apriori", k=4, m=2, hierarchy=LEVELS, seed=1)


def nodes(entry):
    yield entry
    for child in entry.get("children", ()):
        yield from nodes(child)


def test_every_node_knows_where_it_lies():
    levels = Hierarchy.from_levels(["a1", "a2", "b1", "b2"], [["A", "A", "B", "B"]])
    published = levels.leaves.copy()
    published[:2] = 1  # A for both
    published[3] = -1  # b2 is left out
    said = tree.drawing(Cut(levels, published), Transactions.from_lists([["a1", "b1"], ["a2", "b2"]]))
    state = {entry["label"]: entry["state"] for entry in nodes(said["tree"])}
    assert state == {
        "ALL": "above", "A": "general", "a1": "below", "a2": "below", "B": "above", "b1": "exact", "b2": "out",
    }  # fmt: skip
    loss = {entry["label"]: round(entry["loss"], 3) for entry in nodes(said["tree"])}
    assert loss["A"] == 0.5  # two items at 2/4, and one left out at 1
    assert loss["b2"] == 0.5
    assert (said["exact"], said["generalised"], said["general_names"], said["left_out"]) == (1, 2, 1, 1)


def test_a_big_hierarchy_is_drawn_from_the_top_and_the_rest_is_counted():
    data = Transactions.from_lists([[str(i) for i in range(9000)]] * 2)
    levels = balanced(data.labels, 5)
    said = tree.drawing(Cut.of_nodes(levels, []), data)
    drawn = list(nodes(said["tree"]))
    assert len(drawn) <= tree.MOST_NODES
    assert sum(entry.get("more", 0) for entry in drawn) > 0
    assert {entry["items"] for entry in said["tree"]["children"]} == {3125, 2750}


def test_a_very_deep_hierarchy_can_be_drawn():
    depth = 900
    levels = Hierarchy(np.arange(-1, depth), [f"n{i}" for i in range(depth + 1)])
    said = tree.drawing(Cut.of_nodes(levels, []), Transactions.from_lists([[f"n{depth}"]]))
    assert len(list(nodes(said["tree"]))) == tree.MOST_LEVELS + 1
    assert levels.show().count("\n") == depth


def test_the_page_draws_the_tree_with_labels_as_text(result, tmp_path):
    html = write_report(result, Transactions.from_lists(ROWS), tmp_path / "r.html").read_text("utf-8")
    section = html[html.index('<section class="hierarchy">') : html.index("</section>", html.index("Which items"))]
    assert NASTY not in html
    assert "<b>food</b>" not in html
    assert "&lt;b&gt;food&lt;/b&gt;" in section
    assert '<li class="general">' in section
    assert section.count("<details") == 3


def test_the_tree_is_private(result, tmp_path):
    public = write_report(result, None, tmp_path / "r.html", public=True).read_text("utf-8")
    assert "Which items share a name" not in public
    said = json.loads(write_report(result, Transactions.from_lists(ROWS), tmp_path / "r.json").read_text("utf-8"))
    assert said["private"]["hierarchy"]["tree"]["label"] == "ALL"


def test_a_report_without_a_hierarchy_has_no_tree(tmp_path):
    result = anonset.anonymize(ROWS, k=2, seed=1)
    html = write_report(result, Transactions.from_lists(ROWS), tmp_path / "r.html").read_text("utf-8")
    assert "Which items share a name" not in html
