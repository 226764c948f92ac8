"""Publish: make the release, see what was checked, accept with a reason where that is asked for, download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

import anonset
from anonset.app.pieces import (
    button,
    card,
    check,
    choice,
    code,
    element,
    facts,
    field,
    heading,
    link,
    listing,
    note,
    para,
    table,
    term,
)
from anonset.app.steps.page import Page
from anonset.app.steps.protect import chosen, start_with_something

FORMATS = ("csv", "csv.gz", "parquet", "jsonl", "dat")


def show(page: Page) -> None:
    """The step."""
    if not page.has_data():
        return
    start_with_something(page.work)
    page.part(lambda: page.work.choices, lambda: _choice(page))
    page.part(lambda: page.work.stamps["publish"], lambda: _answer(page))


def _answer(page: Page) -> None:
    _refused(page)
    if (found := page.work.answers.get("publish")) is not None:
        _made(page, found)


def _choice(page: Page) -> None:
    text, work = page.words, page.work
    spec = anonset.MODELS[work.model]
    values = ", ".join(f"{name} = {value}" for name, value in chosen(work)["params"].items())
    with card(text("publish.choice")):
        facts(
            [
                (text("publish.data"), work.shown),
                (text("publish.promise"), f"{spec.title} ({values})" if values else spec.title),
                (text("publish.method"), work.method),
            ]
        )
        if spec.form == "rows":
            choice(text("publish.format"), [(name, name) for name in FORMATS], work.format, _format(page))
        with ui.element("div").classes("row"):
            field(text("publish.purpose"), work.purpose, lambda new: setattr(work, "purpose", new.strip()))
            field(text("publish.responsible"), work.responsible, lambda new: setattr(work, "responsible", new.strip()))
        with ui.element("p"):
            page.go("publish.run", lambda: make(page))


def _format(page: Page) -> Any:
    def take(name: str) -> None:
        page.work.format = name
        page.work.changed("publish")

    return take


def make(page: Page) -> None:
    """Start making the release."""
    work = page.work
    folder = work.folder / "release"
    page.run(
        "publish",
        folder=str(folder),
        ending=work.format,
        shown=work.shown,
        accept=work.accept,
        purpose=" ".join(filter(None, (work.purpose, page.words("publish.because", reason=work.reason))))
        if work.reason
        else work.purpose,
        responsible=work.responsible,
        **chosen(work),
    )


def _refused(page: Page) -> None:
    """What stands against publishing; where it can be accepted, a place to say so and why."""
    text, work = page.words, page.work
    said = work.problems.get("publish")
    if said is None:
        return
    if not said.get("accept"):
        page.problem("publish")
        return
    with card(text("publish.refused")):
        note(said["message"], "bad").props('role="alert"')
        para(text("publish.accept_lead"))
        agreed = dict.fromkeys(said["accept"], False)
        for name in agreed:
            what = text.or_else(f"accept.{name}", name)
            check(text("publish.accepting", what=what), False, lambda yes, name=name: agreed.update({name: yes}))
        typed = {"reason": work.reason}
        field(text("publish.reason"), work.reason, lambda new: typed.update(reason=new), wide=True)

        def anyway() -> None:
            if not typed["reason"].strip() or not all(agreed.values()):
                ui.notify(text("publish.reason_missing"), type="negative")
                return
            work.reason = typed["reason"].strip()
            work.accept = [*dict.fromkeys((*work.accept, *agreed))]
            make(page)

        with ui.element("p"):
            button(text("publish.anyway"), anyway, "work")


def _made(page: Page, found: Mapping[str, Any]) -> None:
    text, work = page.words, page.work
    with card(), ui.element("div").props('role="status"'):
        note(text("publish.holds", promise=found["promise"]), "good")
        rows = [
            (f"{text('publish.measured')}: {name}", _value(page, value)) for name, value in found["measured"].items()
        ]
        facts([*rows, *((f"{text('publish.lost')}: {name}", value) for name, value in found["lost"])])
        if work.accept and found["accepted"]:
            what = ", ".join(text.or_else(f"accept.{name}", name) for name in found["accepted"])
            note(f"{text('publish.accepted')}: {what}. {work.reason}", "warn")
        if found["notes"]:
            listing(found["notes"])
    _findings(page, found)
    _files(page, found)


def _value(page: Page, value: Any) -> str:
    return page.words.number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _findings(page: Page, found: Mapping[str, Any]) -> None:
    text = page.words
    if not found["findings"]:
        return
    with card(text("publish.findings")):
        names = [text(f"publish.{name}") for name in ("attack", "before", "after", "verdict")]
        rows = [
            (
                one["sentence"] or one["knows"],
                "–" if one["before"] is None else text.share(one["before"]),
                text.share(one["after"]),
                text("publish.broken" if one["broken"] else "publish.ok" if one["stopped"] else "publish.open"),
            )
            for one in found["findings"]
        ]
        table(names, rows, text("publish.findings"))
        if found["remaining"]:
            heading(text("publish.remaining"), 3)
            listing(found["remaining"])


def _files(page: Page, found: Mapping[str, Any]) -> None:
    text, work = page.words, page.work
    with card(text("publish.files")):
        with ui.element("ul"):
            for number, file in enumerate(found["files"]):
                with ui.element("li"):
                    link(file["name"], f"/work/{work.name}/file/{number}", download=file["name"])
                    what = text(f"publish.file.{file['what']}")
                    who = text("publish.public" if file["public"] else "publish.private")
                    element("span", f" – {what}; {who} ({text.number(file['bytes'])} B)")
        with ui.element("p"):
            term(text, "certificate", text("publish.file.certificate"), work.name)
    with card(text("publish.command")):
        code(found["command"], text("publish.command")).classes("wrap")
