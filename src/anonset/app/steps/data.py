"""Data: a file, a path, a database or the built-in supermarket; what was detected, and what came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from anonset.app.pieces import (
    card,
    chart,
    check,
    choice,
    element,
    field,
    link,
    listing,
    note,
    para,
    table,
    upload,
)
from anonset.app.steps.page import Page
from anonset.app.work import Work

ROLES = ("transaction", "item", "user", "count", "attribute", "sensitivity", "sensitive_column", "drop")
"""The reading options that name a column."""
SEVERAL = ("transaction", "drop")
"""Those that may name several."""


async def uploaded(work: Work, path: Path) -> None:
    """Begin with an uploaded file."""
    work.take(str(path), path.name)
    background_tasks.create(work.run("open"), name="anonset open")


def show(page: Page) -> None:
    """The step."""
    _choose(page)
    page.problem("open")
    page.problem("market")
    if page.work.source:
        note(page.words("data.is", name=page.work.shown), "good" if "open" in page.work.answers else "")
    unclear = page.work.problems.get("open", {})
    if unclear.get("columns"):
        para(page.words("data.unclear"))
        _roles(page, unclear["columns"], unclear["guess"])
    if (found := page.work.answers.get("open")) is not None:
        _counted(page, found)
        _first(page, found)
        if found.get("columns"):
            _roles(page, [one["name"] for one in found["columns"]], _by_role(found["columns"]))
        _charts(page, found)
    page.part(lambda: [other.name for other in page.works.others(page.work)], lambda: _others(page))


def _choose(page: Page) -> None:
    text, work = page.words, page.work
    with card():
        where = f"/work/{work.name}/upload/data?file="

        def failed(said: str) -> None:
            known = f"data.{said}"
            ui.notify(text(known, most=page.most) if known in text.texts else text("run.busy"), type="negative")

        upload(text("data.upload"), where, text("data.upload_hint", most=page.most), failed)
        typed = {"path": "" if "/upload" in work.source else _typed(work), "part": ""}
        with ui.element("div").classes("row"):
            field(
                text("data.path"),
                typed["path"],
                lambda new: typed.update(path=new),
                hint=text("data.path_hint"),
                wide=True,
            )
            page.go("data.read", lambda: _read(page, typed["path"]), "work")
        with ui.element("div").classes("row"):
            page.go("data.market", lambda: _market(page), "work")
            element("small", text("data.market_hint"))


def _typed(work: Work) -> str:
    return work.source if work.source and not work.source.startswith(str(work.folder)) else ""


def _read(page: Page, path: str) -> None:
    if path.strip():
        page.work.take(path.strip(), Path(path.strip()).name if "://" not in path else path.strip())
        page.run("open")


def _market(page: Page) -> None:
    work = page.work

    def made(answer: dict[str, Any]) -> None:
        work.take(answer["source"], "supermarket.csv")
        work.sensitive, work.hierarchy = answer["sensitive"], {"file": answer["hierarchy"]}
        page.run("open")

    work.take("", "")
    page.run("market", made, folder=str(work.folder / "supermarket"), seed=1)


def _counted(page: Page, found: Mapping[str, Any]) -> None:
    text, said = page.words, found["summary"]
    with card(text("data.counted")):
        with ui.element("div").classes("tiles"):
            names = ("transactions", "items", "occurrences", "users", "empty", "duplicates")
            for name in names:
                if said[name] is not None and (said[name] or name not in ("empty", "duplicates")):
                    _tile(text(f"data.{name}"), text.number(said[name]))
            lengths = {name: text.number(said["lengths"][name]) for name in ("min", "max", "mean")}
            _tile(text("data.lengths"), text("data.lengths_value", **lengths))
        if said["unique"]:
            share = text.share(said["unique"] / said["transactions"])
            para(text("data.alone", count=said["unique"], share=share))
        elif said["transactions"]:
            para(text("data.not_alone", count=max(0, said["k"] - 1)))
        if found["notes"]:
            element("h3", text("notes"))
            listing(found["notes"])


def _tile(name: str, value: str) -> None:
    with ui.element("div").classes("tile"):
        element("span", name)
        element("b", value)


def _first(page: Page, found: Mapping[str, Any]) -> None:
    text = page.words
    if found["first"]:
        with card(text("data.first")):
            rows = [(text.number(place), ", ".join(items)) for place, items in enumerate(found["first"], 1)]
            table(("#", text("items")), rows, text("data.first"), "first")


def _by_role(columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {one["role"]: one["name"] for one in columns if one["role"]}


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _roles(page: Page, columns: Sequence[str], guess: Mapping[str, str]) -> None:
    """Which column is what, to correct."""
    text, work = page.words, page.work
    known = {name: role for role, name in guess.items()}
    known |= {name: role for role, names in work.reading.items() if role in ROLES for name in _listed(names)}
    chosen = {name: known.get(name, "") for name in columns}
    options = [("", text("data.role.none")), *((role, text(f"data.role.{role}")) for role in ROLES)]
    nulls = {"skip": bool(work.reading.get("skip_nulls"))}

    def again() -> None:
        named = {role: [name for name, part in chosen.items() if part == role] for role in ROLES}
        work.reading = {role: names if role in SEVERAL else names[0] for role, names in named.items() if names}
        if nulls["skip"]:
            work.reading["skip_nulls"] = True
        work.changed("open")
        page.run("open")

    with card(text("data.roles")):
        para(text("data.roles_lead"))
        with ui.element("div").classes("form"):
            for name in columns:
                choice(name or "–", options, chosen[name], lambda role, name=name: chosen.update({name: role}))
        check(text("data.skip_nulls"), nulls["skip"], lambda value: nulls.update(skip=value))
        page.go("data.again", again)


def _charts(page: Page, found: Mapping[str, Any]) -> None:
    with ui.element("div").classes("pair"):
        for figure in found["charts"]:
            chart(figure, figure["layout"]["title"]["text"])


def _others(page: Page) -> None:
    others = page.works.others(page.work)
    if others:
        with card(page.words("data.others")):
            para(page.words("data.others_lead"))
            with ui.element("ul"):
                for other in others:
                    with ui.element("li"):
                        link(other.shown or other.source, f"/work/{other.name}/data")
