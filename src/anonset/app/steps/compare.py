"""Compare: methods and strengths side by side; a click takes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

import anonset
from anonset.app.pieces import button, card, chart, check, choice, element, facts, field, listing, para
from anonset.app.steps.page import Page
from anonset.app.steps.protect import choose, fitting, start_with_something

USUAL = {"k": "3, 5, 10", "p": "2, 4, 8"}
"""What is compared unless something else is typed, for the figure that says how strong a promise is."""


def show(page: Page) -> None:
    """The step."""
    if page.has_data():
        start_with_something(page.work)
        page.part(lambda: page.work.choices, lambda: _ask(page))
        page.part(lambda: page.work.stamps["compare"], lambda: _answer(page))


def _answer(page: Page) -> None:
    page.problem("compare")
    if (found := page.work.answers.get("compare")) is not None:
        _found(page, found)


def _ask(page: Page) -> None:
    text, work = page.words, page.work
    spec = anonset.MODELS[work.model]
    fit = fitting(work, work.model)
    wanted = {name: name in fit[:4] for name in fit}
    values = {"typed": USUAL.get(spec.headline, "")}

    def start() -> None:
        methods = [name for name, yes in wanted.items() if yes]
        strengths = [value.strip() for value in values["typed"].split(",") if value.strip()]
        if not methods or not strengths:
            ui.notify(text("compare.none"), type="negative")
            return
        others = {name: value for name, value in work.params.items() if name in {param.name for param in spec.params}}
        page.run("compare", methods=methods, strengths={spec.headline: strengths}, others=others)

    with card():
        models = [(name, one.title) for name, one in anonset.MODELS.items() if fitting(work, name)]
        choice(text("protect.model"), models, work.model, lambda model: choose(work, model))
        with ui.element("fieldset"):
            element("legend", text("compare.methods"))
            for name in fit:
                check(name, wanted[name], lambda yes, name=name: wanted.update({name: yes}))
        label = text("compare.values", name=spec.headline)
        field(label, values["typed"], lambda new: values.update(typed=new))
        with ui.element("p"):
            page.go("compare.run", start)


def _found(page: Page, found: Mapping[str, Any]) -> None:
    text = page.words
    runs = found["runs"]
    with card():
        if found["sampled"]:
            para(text("compare.sample", count=found["sampled"]))
        listing(found["advice"])
        with ui.element("div").classes("pair"):
            for number, figure in enumerate(found["charts"]):
                drawn = chart(figure, figure["layout"]["title"]["text"])
                place = "(e) => emit([e.points[0].data.name, e.points[0].x, e.points[0].y])"
                if number == 0:
                    drawn.on("plotly_click", lambda event: _take_point(page, runs, event.args), js_handler=place)
        with ui.element("div").classes("scroll"), ui.element("table").classes("numbers"):
            with ui.element("thead"), ui.element("tr"):
                names = [text(f"compare.{name}") for name in ("method", "strength", "loss", "risk", "seconds")]
                for name in [*names, text("compare.take")]:
                    element("th", name, scope="col")
            with ui.element("tbody"):
                for run in runs:
                    _row(page, run)
        if found["left_out"]:
            with ui.element("details"):
                element("summary", text("compare.left_out"))
                facts(found["left_out"])


def _row(page: Page, run: Mapping[str, Any]) -> None:
    text = page.words
    with ui.element("tr"):
        best = f" – {text('compare.best')}" if run["front"] else ""
        element("th", f"{run['method']}{best}", scope="row")
        element("td", text.number(run["strength"]))
        element("td", run["loss_text"])
        element("td", "–" if run["risk"] is None else text.share(run["risk"]))
        element("td", text.number(round(run["seconds"], 2)))
        with ui.element("td"):
            label = f"{text('compare.take')}: {run['method']}, {run['strength']:g}"
            button(text("compare.take"), lambda: _take(page, run), "small", label)


def _take_point(page: Page, runs: list[Mapping[str, Any]], point: Any) -> None:
    """Take the run behind a point of the chart."""
    name, strength, loss = point
    for run in runs:
        if run["method"] == name and run["strength"] == strength and run["loss"] == loss:
            _take(page, run)
            return


def _take(page: Page, run: Mapping[str, Any]) -> None:
    choose(page.work, page.work.model, run["method"], {**page.work.params, **run["params"]})
    ui.navigate.to(f"/work/{page.work.name}/protect")
