"""The dossier: what stands on the page, that every term is explained, and that it is an output like all others."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

import anonset
from anonset import InputError, ParameterError, Targets, Transactions
from anonset.data.findings import Finding, Findings, Objection
from anonset.reports.dossier import dossier_path, facts
from anonset.reports.terms import TERMS, terms_in

BASKETS = [["wine", "bread"], ["wine", "bread"], ["bread", "test"], ["bread", "beer"], ["beer"], ["beer", "test"]] * 5


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sales.basket"
    path.write_text("".join(",".join(basket) + "\n" for basket in BASKETS), encoding="utf-8")
    return path


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PRINTED = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"]
PURPOSE = "Study of shopping habits with the university, to be continued in the following year with the same data"


def first_page(path: Path) -> str:
    """The text of the page before the annex."""
    html = path.read_text(encoding="utf-8")
    page = html[html.index('<main class="dossier') : html.index("Annex: the full report")]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def test_the_page_says_what_when_from_which_file_and_for_what(source: Path, tmp_path: Path) -> None:
    targets = Targets(out=tmp_path / "out.basket", dossier=tmp_path / "d.html", purpose="Shelves", responsible="Ada's")
    result = anonset.publish(source, targets, k=5, seed=1)
    assert result.certificate is not None
    text = first_page(tmp_path / "d.PRIVATE.html")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    for part in ("sales.basket", digest, "out.basket", result.certificate.files["out.basket"], "Shelves", "Ada's"):
        assert part in text
    assert "shared by at least 5 transactions" in text
    assert "UTC" in text
    assert "signature" in text
    for part in ("Singling out.", "Linkability.", "Inference."):
        assert part in text


def test_the_three_criteria_show_what_attackers_achieved(source: Path) -> None:
    result = anonset.anonymize(source, k=5, seed=1)
    assert result.findings is not None
    assert result.source is not None
    said = facts(result, result.source, result.findings)
    row = said["parts"][0]["rows"][0]
    best = max((one for one in result.findings.of("singling out") if one.stopped), key=lambda one: one.after)
    assert row["knows"] == best.knows
    assert row["state"] == "good"
    assert "20.0 %" in row["answer"]
    assert said["parts"][2]["none"]
    assert len(said["attacks"]) == len(result.findings)


def test_the_strongest_attack_beyond_the_promise_stands_beside_the_strongest_within(source: Path) -> None:
    def finding(name: str, after: float, stopped: bool, limit: float | None) -> Finding:
        return Finding(name, "inference", "x", 0.5, after, (after, after), after, 1, 10, stopped=stopped, limit=limit)

    result = anonset.anonymize(source, k=5, seed=1)
    found = [finding("a", 0.1, True, 0.2), finding("b", 0.4, True, 0.2), finding("c", 0.7, False, None)]
    objections = (Objection("inference", "Somebody is found."), Objection("loss", "Nothing is left."))
    findings = Findings(tuple(found), objections, ("Guessing is possible.",), ("loss",))
    assert result.source is not None
    said = facts(result, result.source, findings)
    rows = said["parts"][2]["rows"]
    assert [row["state"] for row in rows] == ["bad", "open"]
    assert said["accepted"] == ["Nothing is left."]
    assert said["refused"] == ["Somebody is found."]
    assert "Guessing is possible." in said["remaining"]


def test_a_promise_that_attackers_take_apart_is_not_said_to_mean_what_it_should(source: Path) -> None:
    result = anonset.anonymize(source, k=5, seed=1)
    assert result.source is not None
    sound = facts(result, result.source, Findings())
    assert "5 transactions to choose from" in sound["meaning"]
    broken = Finding("a", "inference", "x", 0.1, 0.5, (0.4, 0.6), 1.0, 1, 30, stopped=True, limit=0.1)
    assert "learn more" in facts(result, result.source, Findings((broken,)))["meaning"]


def test_what_was_accepted_stands_on_the_page(source: Path, tmp_path: Path) -> None:
    rows = [[f"{row} {place}" for place in range(3)] for row in range(12)]
    with pytest.raises(anonset.AnonsetError):
        anonset.publish(rows, Targets(out=tmp_path / "o.basket", dossier=tmp_path / "d.html"), k=3, seed=1)
    assert not (tmp_path / "d.PRIVATE.html").exists()
    accept = ("loss", "singling-out")
    anonset.publish(rows, Targets(out=tmp_path / "o.basket", dossier=tmp_path / "d.html", accept=accept), k=3, seed=1)
    text = first_page(tmp_path / "d.PRIVATE.html")
    assert "Nothing had to be accepted" not in text
    assert "nothing can be learnt" in text
    assert "Not accepted" not in text


@pytest.mark.parametrize(
    ("model", "params"),
    [
        ("k-anonymity", {"k": 3, "diversity": 2}),
        ("privacy-degree", {"p": 3}),
        (
            "km-anonymity",
            {"k": 2, "m": 2, "hierarchy": {"item": ["wine", "beer", "bread"], "level1": ["d", "d", "food"]}},
        ),
    ],
)
def test_every_term_on_the_page_is_explained(model: str, params: dict, source: Path, tmp_path: Path) -> None:
    sensitive = {} if model == "km-anonymity" else {"sensitive": ["test"]}
    rows = [[item for item in row if sensitive or item != "test"] for row in BASKETS]
    data = Transactions.from_lists(rows, **sensitive)
    anonset.anonymize(data, model, seed=1, **params).dossier(tmp_path / "d.html")
    page = first_page(tmp_path / "d.PRIVATE.html")
    said, explained = page.split("The words on this page")
    for term, _ in terms_in([said]):
        assert f"{term}:" in explained
    for word in (
        "itemset",
        "quasi-identifier",
        "sha256",
        "diversity",
        "hierarchy",
        "pseudonym",
        "NCP",
        "posterior",
        "homogene",
    ):
        assert word not in said or any(re.search(pattern, word) for pattern, _, _ in TERMS), word


def test_it_is_private_and_says_so_in_its_name() -> None:
    assert dossier_path("a/d.html").name == "d.PRIVATE.html"
    assert dossier_path("d.PRIVATE.html").name == "d.PRIVATE.html"
    with pytest.raises(ParameterError, match=r"'dossier' must end in .html. Got d.pdf"):
        dossier_path("d.pdf")


def test_it_is_planned_with_the_others(source: Path, tmp_path: Path) -> None:
    page = tmp_path / "d.PRIVATE.html"
    with pytest.raises(InputError, match="must be another file than"):
        anonset.publish(source, Targets(report=tmp_path / "d.html", dossier=tmp_path / "d.html"), k=5)
    page.write_text("mine")
    with pytest.raises(anonset.AnonsetError, match="is there already"):
        anonset.publish(source, Targets(out=tmp_path / "o.csv", dossier=page), k=5)
    assert page.read_text() == "mine"
    assert not (tmp_path / "o.csv").exists()


def test_labels_stay_text_and_the_policy_names_every_script(tmp_path: Path) -> None:
    rows = [["<script>alert(1)</script>", "b"], ["b"]] * 4
    anonset.anonymize(rows, k=2, seed=1).dossier(tmp_path / "d.html", purpose="<b>x</b>", responsible="a\x07b")
    html = (tmp_path / "d.PRIVATE.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<b>x</b>" not in html
    assert "\x07" not in html
    assert "unsafe-inline" not in html
    assert html.count("'sha256-") >= 3


def test_a_public_report_says_that_items_were_removed_but_not_how_many(source: Path, tmp_path: Path) -> None:
    result = anonset.anonymize(source, k=7, seed=1)
    assert result.measurements["items_removed"]
    result.report(tmp_path / "r.html", public=True)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "items were removed from transactions" in html
    assert "information_loss" not in html


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize(
    "settings", [{"k": 2}, {"method": "cahd-gray", "p": 3, "sensitive": ["test"]}], ids=["short", "long"]
)
def test_what_is_signed_is_one_printed_page(settings: dict, source: Path, tmp_path: Path) -> None:
    targets = Targets(
        out=tmp_path / ("release" if "p" in settings else "out.csv"),
        dossier=tmp_path / "d.html",
        accept="singling-out,linkability,inference,loss",
        purpose=PURPOSE,
        responsible="The head of data protection",
    )
    anonset.publish(source, targets, seed=1, **settings)
    html = (tmp_path / "d.PRIVATE.html").read_text(encoding="utf-8")
    assert ("dossier long" in html) == ("p" in settings)
    alone, page = tmp_path / "alone.html", tmp_path / "page.pdf"
    alone.write_text(html[: html.index('<header class="annex"')] + "</body></html>", encoding="utf-8")
    browser = [str(CHROMIUM), *PRINTED, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={page}"]
    subprocess.run([*browser, alone.as_uri()], capture_output=True, timeout=180, check=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", page.read_bytes())) == 1
