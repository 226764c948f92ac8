"""What the nouns show in a notebook: true figures, escaped labels, bars that fit the figures."""

import xml.etree.ElementTree as ET

import pytest

import anonset
from anonset.data.display import HEIGHT, Picture, histogram

BASKETS = [["wine", "bread"], ["wine", "bread"], ["bread"], ["bread"], [], []]
LEVELS = {"item": ["wine", "bread"], "level1": ["drinks", "food"]}


@pytest.fixture(scope="module")
def shown():
    result = anonset.anonymize(BASKETS, k=2, seed=1)
    return {
        "transactions": anonset.read(BASKETS),
        "hierarchy": anonset.read_hierarchy(LEVELS),
        "verdict": result.verdict,
        "failed": anonset.verify([["a"], ["<b>"]], k=2),
        "result": result,
    }


@pytest.mark.parametrize("name", ["transactions", "hierarchy", "verdict", "failed", "result"])
def test_everything_shows_a_table_and_bars_that_are_well_formed(shown, name):
    page = ET.fromstring(shown[name]._repr_html_())
    said = {row.find("th").text: row.find("td").text for row in page.iter("tr")}
    assert said == {str(key): said[str(key)] for key, _ in shown[name].facts()}
    figure = shown[name].plot()
    assert list(figure.data[0].x) == list(shown[name].picture().places)
    assert len(list(page.iter("rect"))) == sum(len(trace.y) for trace in figure.data)


def test_the_figures_are_those_of_the_data(shown):
    facts = dict(shown["transactions"].facts())
    assert facts == {"transactions": 6, "items": 2, "mean length": 1.0, "longest": 2}
    assert list(shown["transactions"].picture().series[0][1])[:3] == [2, 2, 2]
    assert dict(shown["verdict"].facts())["holds"] is True
    assert dict(shown["failed"].facts())["holds"] is False
    assert dict(shown["hierarchy"].facts()) == {"items": 2, "nodes": 5, "height": 2}


def test_labels_cannot_become_markup():
    picture = Picture('"><script>', ["<i>"], (("<b>", [1.0]),))
    assert "<script>" not in picture.to_svg()
    verdict = anonset.verify([["<script>alert(1)</script>"], ["b"]], k=2)
    assert "<script>" not in verdict._repr_html_()


def test_the_highest_bar_is_as_high_as_the_picture_and_the_others_in_proportion():
    bars = ET.fromstring(Picture("x", ["a", "b", "c"], (("n", [2.0, 4.0, 0.0]),)).to_svg())
    assert [float(bar.get("height")) for bar in bars] == [HEIGHT / 2, HEIGHT, 0]


def test_nothing_is_drawn_of_nothing():
    empty = anonset.read([])
    assert empty.picture() is None
    assert "rect" not in empty._repr_html_()
    assert not empty.plot().data


def test_long_transactions_share_the_last_bar():
    picture = histogram("lengths", [0, 1, 11, 12, 500])
    assert picture.series[0][1] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]
    assert picture.places[-1] == "≥ 11"
