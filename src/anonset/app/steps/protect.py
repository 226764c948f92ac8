"""Protect: advice, the promise and the method with their parameters, and a try on a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

import anonset
from anonset.app.forms import form, missing, own
from anonset.app.pieces import button, card, choice, element, facts, listing, note, para, table, term
from anonset.app.steps.page import Page
from anonset.app.work import Work
from anonset.data.spec import MethodSpec

MOST_CARDS = 6


def show(page: Page) -> None:
    """The step."""
    if page.has_data():
        start_with_something(page.work)
        work = page.work
        page.part(lambda: (work.stamps["advise"], work.choices), lambda: _advice(page))
        page.part(lambda: work.choices, lambda: _own(page))
        page.part(lambda: work.stamps["preview"], lambda: _preview(page))


def lacks(method: MethodSpec, work: Work) -> list[str]:
    """What a method needs and the data do not have."""
    opened = work.answers["open"]
    there = {
        "sensitive": bool(opened["sensitive"] if work.sensitive is None else work.sensitive),
        "users": opened["summary"]["users"] is not None,
        "sensitivity": opened["summary"]["degrees"],
    }
    return [need for need in method.needs if not there.get(need, True)]


def fitting(work: Work, model: str) -> list[str]:
    """The methods that reach a promise and find in the data what they need."""
    return [name for name, spec in anonset.METHODS.items() if spec.model == model and not lacks(spec, work)]


def start_with_something(work: Work) -> None:
    """A promise and a method that fit, where nothing was chosen yet or the choice no longer fits."""
    if work.method in anonset.METHODS and not lacks(anonset.METHODS[work.method], work):
        return
    fit = [name for name in anonset.MODELS if fitting(work, name)]
    choose(work, work.model if work.model in fit else fit[0])


def choose(work: Work, model: str, method: str = "", params: Mapping[str, Any] | None = None) -> None:
    """Take a promise, and the method asked for or the usual one, with examples for what must be given."""
    spec, fit = anonset.MODELS[model], fitting(work, model)
    work.model = model
    work.method = method or (spec.default_method if spec.default_method in fit else fit[0])
    work.choices += 1
    if params is not None:
        work.params = {name: str(value) for name, value in params.items()}
    usual = work.answers["open"].get("suggested", {}).get(model, {})
    for param in (*spec.params, *anonset.METHODS[work.method].params):
        if param.required and param.type != "hierarchy":
            work.params.setdefault(param.name, str(usual.get(param.name, param.example)))
    work.changed("preview")


def _advice(page: Page) -> None:
    text, work = page.words, page.work
    with card(text("protect.advice")):
        para(text("protect.advice_lead"))
        page.problem("advise")
        found = work.answers.get("advise")
        if found is None:
            page.go("protect.advise", lambda: page.run("advise"))
            return
        listing(found["reasons"])
        for sentence in found["help"]:
            note(sentence)
        with ui.element("div").classes("cards"):
            for one in found["cards"][:MOST_CARDS]:
                _card(page, one)


def _card(page: Page, one: Mapping[str, Any]) -> None:
    text, work = page.words, page.work
    taken = (work.model, work.method) == (one["model"], one["method"]) and all(
        work.params.get(name) == str(value) for name, value in one["params"].items()
    )
    values = ", ".join(f"{name} = {value}" for name, value in one["params"].items())
    with card(f"{anonset.MODELS[one['model']].title}, {one['method']}", 3) as box:
        box.classes("chosen" if taken else "")
        para(f"{values}{' · ' + text('protect.best') if one['best'] else ''}", "soft")
        if one["promise"]:
            para(f"{one['promise']}.")
        rows = [(text("protect.kept"), text.share(one["kept"]))] if one["promise"] else []
        facts([*rows, *((text(f"protect.part.{part}"), _change(page, one, part)) for part in _parts(one))])
        if one["problem"]:
            note(one["problem"], "warn")
        if taken:
            para(text("protect.taken"), "soft")
        else:
            kind = "main" if one["best"] else ""
            button(text("protect.take"), lambda: choose(work, one["model"], one["method"], one["params"]), kind)


def _parts(one: Mapping[str, Any]) -> list[str]:
    """What the attacks threaten, each once."""
    return list(dict.fromkeys(attack["part"] for attack in one["attacks"]))


def _change(page: Page, one: Mapping[str, Any], part: str) -> str:
    """The most successful attack of a part, before and after."""
    worst = max((attack for attack in one["attacks"] if attack["part"] == part), key=lambda attack: attack["after"])
    before = "" if worst["before"] is None else f"{page.words.share(worst['before'])} → "
    return f"{before}{page.words.share(worst['after'])}"


def _own(page: Page) -> None:
    text, work = page.words, page.work
    with card(text("protect.own")):
        with ui.element("div").classes("row"):
            models = [(name, spec.title) for name, spec in anonset.MODELS.items() if fitting(work, name)]
            choice(text("protect.model"), models, work.model, lambda model: choose(work, model))
            methods = [(name, name) for name in fitting(work, work.model)]
            choice(text("protect.method"), methods, work.method, lambda method: choose(work, work.model, method))
        spec, method = anonset.MODELS[work.model], anonset.METHODS[work.method]
        with ui.element("p"):
            term(text, "method", method.title, work.name)
            element("span", f" – {text.or_else(f'method.{method.name}', method.summary)}")
        form(spec.params, work.params, text, lambda name, value: _typed(page))
        if method.params:
            with ui.element("details"):
                element("summary", text("protect.more"))
                form(method.params, work.params, text, lambda name, value: _typed(page))
        if any(param.type == "hierarchy" for param in method.params):
            note(text("protect.hierarchy" if work.hierarchy else "protect.no_hierarchy"))
        page.part(lambda: dict(work.params), lambda: _promise(page))
        _unfit(page)


def _typed(page: Page) -> None:
    """What depends on the values, anew; the fields stay."""
    page.work.changed("preview")
    page.keep()
    page.renew()


def _promise(page: Page) -> None:
    """The promise in a sentence, with the values as they are."""
    work, spec = page.work, anonset.MODELS[page.work.model]
    given = own(spec, anonset.METHODS[work.method], work.params)
    names = {param.name for param in spec.params}
    try:
        model = anonset.model(work.model, **{name: value for name, value in given.items() if name in names})
    except anonset.AnonsetError:
        return
    counted = model.counting("user" if work.unit == "user" else "transaction")
    note(page.words("protect.promise", promise=counted.promise), "good")


def _unfit(page: Page) -> None:
    text = page.words
    rows = [
        (name, text("protect.needs", needs=", ".join(text(f"need.{need}") for need in lacks(spec, page.work))))
        for name, spec in anonset.METHODS.items()
        if lacks(spec, page.work)
    ]
    if rows:
        with ui.element("details"):
            element("summary", text("protect.unfit"))
            facts(rows)


def chosen(work: Work) -> dict[str, Any]:
    """The choice as tasks take it."""
    given = own(anonset.MODELS[work.model], anonset.METHODS[work.method], work.params)
    return {"model": work.model, "method": work.method, "params": given}


def incomplete(work: Work) -> list[str]:
    """The parameters that must be given first."""
    return missing((*anonset.MODELS[work.model].params, *anonset.METHODS[work.method].params), work.params)


def _preview(page: Page) -> None:
    text, work = page.words, page.work
    with card(text("protect.preview")):
        page.problem("preview")
        found = work.answers.get("preview")
        page.go("protect.preview", lambda: page.run("preview", **chosen(work)))
        if found is None:
            return
        para(text("protect.preview_lead", count=found["transactions"]))
        for name, value in found["lost"]:
            para(text("protect.lost", name=name, value=value))
        rows = [
            (", ".join(before) or text("protect.empty"), ", ".join(after) or text("protect.empty"))
            for before, after in found["pairs"]
        ]
        table((text("protect.before"), text("protect.after")), rows, text("protect.preview"))
