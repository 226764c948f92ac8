"""Describe: which items are sensitive, which are of one kind, and whom to protect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from anonset.app.pieces import (
    Handler,
    button,
    card,
    check,
    choice,
    code,
    element,
    field,
    listing,
    note,
    para,
    search,
    term,
    upload,
)
from anonset.app.steps.page import Page
from anonset.app.work import Work

MOST_CHIPS = 200
BUILT = ("cooccurrence", "frequency", "prefix", "order")


async def uploaded(work: Work, path: Path) -> None:
    """Take an uploaded hierarchy."""
    _take_hierarchy(work, {"file": str(path)})
    background_tasks.create(work.run("hierarchy"), name="anonset hierarchy")


def show(page: Page) -> None:
    """The step."""
    if page.has_data():
        _sensitive(page)
        _hierarchy(page)
        _unit(page)


def _sensitive(page: Page) -> None:
    text, work = page.words, page.work
    if work.sensitive is None:
        work.sensitive = list(work.answers["open"]["sensitive"]) or None
    with card(text("describe.sensitive")):
        with ui.element("p"):
            term(text, "sensitive", text("describe.sensitive"), work.name)
            element("span", f" – {text('describe.sensitive_lead')}")
        chips = ui.element("div").props('role="status"')
        search(text("describe.search"), work.searched, lambda new: look(new))
        found = ui.element("div")

    def mark(item: str, yes: bool) -> None:
        work.sensitive = [one for one in work.sensitive or () if one != item] + ([item] if yes else [])
        work.changed("describe")
        page.keep()
        _chips(page, chips, unmark)

    async def unmark(item: str) -> None:
        mark(item, False)
        await look(work.searched)

    async def look(new: str) -> None:
        work.searched = new
        answer = await page.ask("items", text=new)
        if answer is not None and not found.is_deleted:
            _hits(page, found, answer, mark)

    _chips(page, chips, unmark)
    ui.timer(0.05, lambda: look(work.searched), once=True)


def _chips(page: Page, place: ui.element, unmark: Handler) -> None:
    """The sensitive items, each to be taken off."""
    text, marked = page.words, page.work.sensitive or []
    place.clear()
    with place:
        para(text("describe.marked", count=len(marked)) if marked else text("describe.none"))
        with ui.element("div").classes("chips"):
            for item in marked[:MOST_CHIPS]:
                button(f"{item} ×", lambda item=item: unmark(item), "chip", text("describe.remove", item=item))


def _hits(page: Page, place: ui.element, answer: Mapping[str, Any], mark: Handler) -> None:
    """The items that were found, each to be marked."""
    text, marked = page.words, set(page.work.sensitive or ())
    place.clear()
    with place:
        para(text("describe.found", shown=len(answer["found"]), all=answer["all"]), "soft")
        with ui.element("div").classes("hits"):
            for one in answer["found"]:
                name, count = one["item"], text.number(one["transactions"])
                check(f"{name} ({count})", name in marked, lambda yes, name=name: mark(name, yes))


def _take_hierarchy(work: Work, asked: dict[str, Any]) -> None:
    work.hierarchy = asked
    work.problems.pop("hierarchy", None)
    work.answers.pop("hierarchy", None)
    work.stamps["hierarchy"] += 1
    work.changed("describe")


def _hierarchy(page: Page) -> None:
    text, work = page.words, page.work

    def take(asked: dict[str, Any]) -> None:
        _take_hierarchy(work, asked)
        page.wanted = "hierarchy" if asked else ""

    with card(text("describe.hierarchy")):
        with ui.element("p"):
            term(text, "hierarchy", text("describe.hierarchy"), work.name)
            element("span", f" – {text('describe.hierarchy_lead')}")
        where = f"/work/{work.name}/upload/hierarchy?file="
        upload(text("describe.hierarchy_upload"), where, "CSV", lambda said: ui.notify(text("data.upload_failed")))
        typed = {"path": ""}
        with ui.element("div").classes("row"):
            field(text("describe.hierarchy_path"), "", lambda new: typed.update(path=new), wide=True)
            page.go("describe.hierarchy_use", lambda: take({"file": typed["path"]}) if typed["path"] else None, "work")
        page.part(lambda: work.hierarchy, lambda: _built(page, take))
        page.part(lambda: work.stamps["hierarchy"], lambda: _tree(page))
    page.wanted = "hierarchy" if work.hierarchy else ""


def _built(page: Page, take: Handler) -> None:
    """The hierarchy that there is, or one to build."""
    text, now = page.words, page.work.hierarchy
    built = str(now.get("by", "file" if now else ""))
    options = [("", text("describe.hierarchy_none")), *((by, text(f"describe.by.{by}")) for by in BUILT)]
    if built == "file":
        options.append(("file", Path(now["file"]).name))
    choice(text("describe.building"), options, built, lambda by: take({"by": by} if by in BUILT else {}))


def _tree(page: Page) -> None:
    """The hierarchy drawn, with a search."""
    text, found = page.words, page.work.answers.get("hierarchy")
    page.problem("hierarchy")
    if found is None:
        return
    para(text("describe.hierarchy_is", items=found["items"], height=found["height"], missing=found["missing"]))
    if found["notes"]:
        listing(found["notes"])
    hits = ui.element("div")

    async def look(new: str) -> None:
        answer = await page.ask("hierarchy", text=new)
        hits.clear()
        with hits:
            if new and answer is not None:
                listing(answer["found"] or [text("none")])

    search(text("describe.hierarchy_search"), "", look)
    hits.move(target_index=-1)
    code(found["drawing"], text("describe.hierarchy"))


def _unit(page: Page) -> None:
    text, work = page.words, page.work

    def take(unit: str) -> None:
        work.unit = unit
        work.changed("describe")

    with card(text("describe.unit")):
        with ui.element("p"):
            term(text, "unit", text("describe.unit"), work.name)
            element("span", f" – {text('describe.unit_lead')}")
        if work.answers["open"]["summary"]["users"] is None:
            note(text("describe.no_users"))
        else:
            options = [(unit, text(f"describe.unit.{unit or 'default'}")) for unit in ("", "user", "transaction")]
            choice(text("describe.unit"), options, work.unit, take)
