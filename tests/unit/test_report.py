"""Reports: what they say, what they must not say, and that they need nothing else."""

import json
import re
import stat

import pytest

import anonset
from anonset import ExistsError, InputError, ParameterError, Transactions
from anonset.reports import charts, write_report

NASTY = "<script>alert('x')</script>"
ROWS = [["wine", "bread"], ["wine"], ["wine", "bread", NASTY], ["bread", NASTY], [NASTY, "wine"], ["beer"]] * 3


@pytest.fixture(scope="module")
def data():
    return Transactions.from_lists(ROWS)


@pytest.fixture(scope="module")
def result(data):
    return anonset.anonymize(data, k=2, seed=8_675_309)


@pytest.fixture(scope="module")
def private(result, data, tmp_path_factory):
    return write_report(result, data, tmp_path_factory.mktemp("private") / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def public(result, tmp_path_factory):
    path = write_report(result, None, tmp_path_factory.mktemp("public") / "report.html", public=True)
    return path.read_text("utf-8")


def body(html):
    """The page without Plotly's own code."""
    return re.sub(r"<script>/\*\*.*?</script>", "", html, flags=re.S)


def test_labels_are_shown_not_run(private, public):
    for html in (private, public):
        assert NASTY not in html
        assert "alert(" not in body(html).replace("alert(\\u0027x", "")
        assert "\\u0026lt;script\\u0026gt;" in html  # in the charts: escaped for Plotly, then for the page


def test_a_label_in_the_text_of_the_page_is_escaped(tmp_path):
    rows = [["a", NASTY]] * 3 + [["b"]] * 3
    data = Transactions.from_lists(rows, sensitive=[NASTY])
    result = anonset.anonymize(data, k=3, seed=1)
    html = write_report(result, data, tmp_path / "r.html").read_text("utf-8")
    assert NASTY not in html
    assert "Warning" in html


def test_the_page_loads_nothing(private):
    page = body(private)
    assert not re.search(r"(src|href)\s*=\s*[\"']", page)
    assert "default-src 'none'" in page
    assert private.count("plotly.js v") >= 1


def test_a_private_report_says_so_in_its_name_and_on_its_page(result, data, tmp_path, private):
    path = write_report(result, data, tmp_path / "report.html")
    assert path.name == "report.PRIVATE.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert '<p class="badge private">PRIVATE</p>' in private
    assert write_report(result, data, tmp_path / "my.PRIVATE.json").name == "my.PRIVATE.json"


def test_a_public_report_holds_nothing_computed_from_the_original(public, private, result, tmp_path):
    assert '<p class="badge public">PUBLIC</p>' in public
    for word in (
        "8675309",
        "before and after",
        "success before",
        "Items changed",
        "Query error",
        "original\\u0022",
        '"original"',
    ):
        assert word in private or word.startswith("original")
        assert word not in body(public), word
    said = json.loads(write_report(result, None, tmp_path / "r.json", public=True).read_text("utf-8"))
    assert "private" not in said
    assert "seed" not in said["method"]["params"]
    assert said["notes"] == []


def test_json_has_the_same_content(result, data, tmp_path):
    said = json.loads(write_report(result, data, tmp_path / "r.json").read_text("utf-8"))
    assert said["holds"] is True
    assert said["measured"]["k"] == result.verdict.measured["k"]
    assert [row["m"] for row in said["private"]["attacks"]] == [1, 2, 3]
    utility = {row["name"]: row["value"] for row in said["private"]["utility"]}
    assert utility["information_loss"] == result.measurements["information_loss"]
    assert said["private"]["linking"][0]["largest"] <= 1 / 2


def test_an_existing_report_is_not_replaced(result, data, tmp_path):
    write_report(result, data, tmp_path / "r.json")
    with pytest.raises(ExistsError):
        write_report(result, data, tmp_path / "r.json")
    write_report(result, data, tmp_path / "r.json", force=True)


def test_wrong_arguments_are_explained(result, data, tmp_path):
    with pytest.raises(ParameterError, match=r"end in \.html or \.json"):
        write_report(result, data, tmp_path / "r.pdf")
    with pytest.raises(InputError):
        write_report(result, object(), tmp_path / "r.html")


def test_the_report_of_a_release_in_groups(tmp_path):
    rows = [["a", "b"], ["a"], ["b"], ["a", "secret"], ["b", "a"], ["b"]]
    data = Transactions.from_lists(rows, sensitive=["secret"])
    result = anonset.anonymize(data, method="cahd-gray", p=2, seed=1)
    html = write_report(result, data, tmp_path / "r.html").read_text("utf-8")
    assert "counts per group" in html
    assert "1 in 2 sure" in " ".join(html.split())


def test_charts_hold_the_figures(data):
    figure = charts.item_frequencies(data.labels.to_pylist(), data.item_counts, data.item_counts)
    assert [bar.name for bar in figure.data] == ["original", "published"]
    assert "&lt;script&gt;alert('x')&lt;/scrip…" in figure.layout.yaxis.ticktext
    assert max(figure.data[0].x) == data.item_counts.max()
    sizes = charts.group_sizes(data.lengths)
    assert sum(sizes.data[0].y) == len(data)


@pytest.mark.parametrize("sizes", [[], [5], [2, 2, 3], list(range(1, 200)), [1, 10_000]])
def test_every_group_is_in_the_chart_of_sizes(sizes):
    import numpy as np

    figure = charts.group_sizes(np.array(sizes, dtype=np.int64))
    assert sum(figure.data[0].y) == len(sizes)


def test_reports_of_no_transactions(tmp_path):
    data = Transactions.from_lists([])
    result = anonset.anonymize(data, k=2, seed=1)
    assert write_report(result, data, tmp_path / "r.html").exists()


def test_json_holds_what_the_charts_show(result, data, tmp_path):
    drawn = json.loads(write_report(result, data, tmp_path / "r.json").read_text("utf-8"))["charts"]
    assert set(drawn) >= {"group_sizes", "item_frequencies", "lengths", "attacks"}
    shown = drawn["item_frequencies"]["series"]
    assert [line["name"] for line in shown] == ["original", "published"]
    counts = dict(zip(data.labels.to_pylist(), data.item_counts.tolist(), strict=True))
    assert dict(zip(shown[0]["at"], shown[0]["values"], strict=True))["wine"] == counts["wine"]
    assert sum(drawn["group_sizes"]["series"][0]["values"]) == result.verdict.measured["groups"]
    public = json.loads(write_report(result, None, tmp_path / "p.json", public=True).read_text("utf-8"))["charts"]
    assert set(public) == {"group_sizes", "item_frequencies", "lengths"}
    assert [line["name"] for chart in public.values() for line in chart["series"]] == ["", "published", "published"]


def test_itemsets_are_a_table_of_their_own(private):
    assert "<th>invented</th>" in private
    assert "Itemsets, low" not in body(private)


def test_public_reports_say_what_is_not_prevented_and_what_was_accepted(tmp_path):
    rows = [["bread", "hiv test"]] * 3 + [["milk"]] * 6
    data = Transactions.from_lists(rows, sensitive=["hiv test"])
    targets = anonset.Targets(
        out=tmp_path / "out.csv", report=tmp_path / "r.json", public_report=True, accept="inference"
    )
    done = anonset.publish(data, targets, k=3, diversity="off", seed=1)
    said = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert said["accepted"] == ["inference"]
    assert said["remaining"] == list(done.certificate.remaining)
    assert any("Not prevented" in sentence for sentence in said["remaining"])
    html = write_report(done, None, tmp_path / "r.html", public=True).read_text("utf-8")
    assert all(sentence in html for sentence in said["remaining"])
    assert "Accepted by the owner" in html
