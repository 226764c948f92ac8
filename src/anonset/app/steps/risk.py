"""Risk: whom an attacker finds in the data as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from anonset.app.pieces import card, chart, heading, para, table, term
from anonset.app.steps.page import Page


def show(page: Page) -> None:
    """The step."""
    if page.has_data():
        page.part(lambda: page.work.stamps["risk"], lambda: _measured(page))
        page.wanted = "risk"


def _measured(page: Page) -> None:
    page.problem("risk")
    found = page.work.answers.get("risk")
    if found is None:
        page.go("risk.run", lambda: page.run("risk"))
    else:
        _found(page, found)
        _criteria(page, found)


def _found(page: Page, found: Mapping[str, Any]) -> None:
    text = page.words
    rows = found["rows"]
    with card():
        if rows:
            most = next((row for row in rows if row["m"] == 3), rows[-1])
            heading(text("risk.headline", m=most["m"], share=text.share(most["share"])))
        with ui.element("div").classes("pair"):
            chart(found["chart"], text("risk.title"))
            with ui.element("div"):
                columns = [text(f"risk.{name}") for name in ("items_known", "found", "guess", "candidates", "attacked")]
                cells = [
                    (
                        row["m"],
                        text.share(row["share"]),
                        text.share(row["success"]),
                        text.number(round(row["expected_candidates"], 1)),
                        text.number(row["attacked"]),
                    )
                    for row in rows
                ]
                table(columns, cells, text("risk.title"), "numbers")


def _criteria(page: Page, found: Mapping[str, Any]) -> None:
    text, said = page.words, page.work.answers["open"]["summary"]
    two = next((row for row in found["rows"] if row["m"] == 2), None)
    with card(text("risk.criteria")), ui.element("div").classes("cards"):
        with card(text("risk.singling"), 3):
            if two is not None:
                para(text("risk.singling_text", share=text.share(two["share"])))
            with ui.element("p"):
                term(text, "singled", text("risk.found"), page.work.name)
        with card(text("risk.linking"), 3):
            again = said["users"] is not None and said["users"] < said["transactions"]
            values = {"users": said["users"] or 0, "transactions": said["transactions"]}
            para(text("risk.linking_yes", **values) if again else text("risk.linking_no"))
        with card(text("risk.inference"), 3):
            count = found["sensitive_items"]
            values = {"items": count, "transactions": found["sensitive_transactions"]}
            para(text("risk.inference_yes", **values) if count else text("risk.inference_no"))
