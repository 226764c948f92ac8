"""Pages without a browser, by NiceGUI's own simulated user: forms come from specs, texts from the file of words."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

import anonset
from anonset.data.spec import MethodSpec, Param

pytest.importorskip("nicegui", reason="needs the extra 'app'")

SUMMARY = {
    "transactions": 1234,
    "items": 7,
    "occurrences": 4000,
    "empty": 0,
    "duplicates": 3,
    "lengths": {"min": 1, "mean": 3.2, "max": 6},
    "unique": 5,
    "k": 1,
    "users": None,
    "degrees": False,
    "frequent": [],
}
AFTER_DATA = ("describe", "risk", "protect", "compare", "publish")
OPENED = {"summary": SUMMARY, "notes": ["1 column was left aside: price"], "first": [["<b>bread</b>"]], "sensitive": []}


@pytest.fixture
def loaded():
    """NiceGUI's test tools unload the package of every page when they are done; other tests need it as it was."""
    mine = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("anonset", "tests")}
    yield
    sys.modules.update(mine)


@asynccontextmanager
async def simulated(folder):
    """A user of the pages, and the site behind them."""
    import httpx
    from nicegui import core, ui
    from nicegui.storage import Storage
    from nicegui.testing import User
    from nicegui.testing.general import nicegui_reset_globals, prepare_simulation

    from anonset.app.pages import Site

    Storage.path = folder / "framework"  # it is emptied
    with nicegui_reset_globals():
        os.environ["NICEGUI_USER_SIMULATION"] = "true"
        try:
            prepare_simulation()
            site = Site(folder)
            site.add_pages()
            ui.run(storage_secret="simulated")
            async with core.app.router.lifespan_context(core.app):
                inside = httpx.ASGITransport(core.app)
                async with httpx.AsyncClient(transport=inside, base_url="http://test") as client:
                    yield User(client), site
        finally:
            os.environ.pop("NICEGUI_USER_SIMULATION", None)


async def opened(site, language="en"):
    """Work for which the data were read."""
    work = await site.works.new("", language)
    work.source = work.shown = "shop.csv"
    work.answers["open"] = {**OPENED, "charts": [], "unread": []}
    work.answers["advise"] = {"reasons": [], "help": [], "cards": []}
    return work


@pytest.fixture
def shown_each(tmp_path, loaded):
    """The texts of several pages of prepared work, each with work of its own, by one simulated user."""

    def look(*pages, language="en"):
        async def way():
            found = []
            async with simulated(tmp_path) as (user, site):
                for step, prepare in pages:
                    work = await opened(site, language)
                    prepare(work)
                    await user.open(f"/work/{work.name}/{step}")
                    found.append([text for element in user.client.elements.values() for text in texts_of(element)])
            return found

        return asyncio.run(way())

    return look


@pytest.fixture
def shown(shown_each):
    """The texts of one page."""
    return lambda step, prepare=lambda work: None, language="en": shown_each((step, prepare), language=language)[0]


def texts_of(element):
    yield from filter(None, (getattr(element, "_text", None), element.props.get("innerHTML")))


def mine(data, job, **params):
    raise NotImplementedError


MINE = MethodSpec(
    name="tomorrow",
    title="Tomorrow's method",
    model="k-anonymity",
    summary="What nobody knew when the page was written.",
    params=(
        Param("patience", "int", "How long it thinks.", 7, minimum=1, maximum=90, example=5),
        Param("mood", "choice", "How it feels.", "calm", choices=("calm", "bold")),
        Param("careful", "bool", "Whether it looks twice.", True),
    ),
    run=mine,
    paper="",
)


def test_a_method_registered_tomorrow_has_its_form_without_a_change_of_the_page(shown, monkeypatch):
    monkeypatch.setitem(anonset.METHODS, "tomorrow", MINE)

    def prepare(work):
        work.model, work.method, work.params = "k-anonymity", "tomorrow", {"k": "4"}

    texts = shown("protect", prepare)
    assert "Tomorrow's method" in texts
    assert "What nobody knew when the page was written." in " ".join(texts)
    for param in MINE.params:
        assert any(param.help in text for text in texts)
        assert param.name in texts
    assert {"calm", "bold", "yes", "no"} <= set(texts)
    assert any("1 … 90" in text and "7" in text for text in texts)


def test_a_model_registered_tomorrow_can_be_chosen(shown, monkeypatch):
    model = replace(anonset.MODELS["k-anonymity"], name="new", title="A new promise", default_method="tomorrow")
    monkeypatch.setitem(anonset.MODELS, "new", model)
    monkeypatch.setitem(anonset.METHODS, "tomorrow", replace(MINE, model="new"))
    assert "A new promise" in shown("protect")


def with_everything(model):
    """Data that have all that a method can need, and a promise that was chosen."""

    def prepare(work):
        work.answers["open"]["summary"] = {**SUMMARY, "users": 100, "degrees": True}
        work.sensitive = ["wine"]
        work.model, work.method = model, anonset.MODELS[model].default_method

    return prepare


def test_every_promise_has_a_form_with_all_its_parameters(shown_each):
    pages = shown_each(*(("protect", with_everything(model)) for model in anonset.MODELS))
    for (model, spec), texts in zip(anonset.MODELS.items(), pages, strict=True):
        for param in (*spec.params, *anonset.METHODS[spec.default_method].params):
            assert param.type == "hierarchy" or any(param.help in text for text in texts), (model, param.name)


def test_methods_that_do_not_fit_say_what_they_need(shown):
    texts = " ".join(shown("protect"))
    assert "cahd-blind" in texts
    assert "Needs what the data do not have: sensitive items." in texts


def test_labels_are_text(shown):
    texts = shown("data")
    assert any("&lt;b&gt;bread&lt;/b&gt;" in text for text in texts)
    assert not any("<b>bread" in text for text in texts)


def test_german_numbers_and_words(shown):
    texts = shown("data", language="de")
    assert "1.234" in texts
    assert "Was hereinkam" in texts


def test_every_step_can_be_reached_before_there_are_data(shown_each):
    pages = shown_each(*((step, lambda work: work.answers.clear()) for step in AFTER_DATA))
    assert all("First choose the data." in texts for texts in pages)


def test_work_that_is_gone_is_said(tmp_path, loaded):
    async def way():
        async with simulated(tmp_path) as (user, _):
            await user.open("/work/none/data")
            said = [text for element in user.client.elements.values() for text in texts_of(element)]
            assert any("no longer here" in text for text in said)

    asyncio.run(way())


def test_what_stands_against_publishing_is_shown_with_what_to_accept(shown):
    def prepare(work):
        work.model, work.method = "k-anonymity", "gsc"
        work.problems["publish"] = {
            "kind": "OutcomeError",
            "message": "Everybody is still found. Nothing was published.",
            "hint": "",
            "accept": ["singling-out"],
        }

    texts = shown("publish", prepare)
    assert "Everybody is still found. Nothing was published." in texts
    assert "I accept: somebody can be singled out" in texts
    assert "Why this is acceptable" in texts
