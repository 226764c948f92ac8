"""Nothing public without its page, no page without a true link, every docstring example true."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import anonset

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
MODULES = [m.name for m in pkgutil.walk_packages(anonset.__path__, "anonset.") if not m.name.endswith("__main__")]
FOUR_SCREENS = 140  # lines
KINDS = {"# ": "title", "##": "heading", "``": "code", "| ": "shown", "![": "shown"}
OPTIONAL = ("anonset.app", "anonset.engines.spark")


@pytest.mark.parametrize("name", anonset.METHODS)
def test_every_method_has_a_page_that_explains_its_parameters(name):
    text = (ROOT / "docs" / "methods" / f"{name}.md").read_text()
    for param in anonset.METHODS[name].params:
        assert f"`{param.name}`" in text, f"docs/methods/{name}.md does not speak of {param.name}"
    assert "Precondition" in text
    assert "Postcondition" in text


@pytest.mark.parametrize("name", anonset.METHODS)
def test_every_method_page_opens_with_a_sentence_an_example_and_a_table_or_picture(name):
    lines = (ROOT / "docs" / "methods" / f"{name}.md").read_text().splitlines()
    assert len(lines) <= FOUR_SCREENS
    kinds = [KINDS[line[:2]] for line in lines if line[:2] in KINDS]
    assert kinds[:4] == ["title", "code", "code", "shown"]  # the fences of the example, then what it shows
    sentence = " ".join(lines[2 : lines.index("", 2)])
    assert re.fullmatch(r"[A-Z`].*[.]", sentence), sentence
    assert not re.search(r"[.] [A-Z]", sentence), f"more than one sentence: {sentence}"


@pytest.mark.parametrize("name", anonset.MODELS)
def test_every_model_has_a_page_that_explains_its_parameters(name):
    text = (ROOT / "docs" / "models" / f"{name}.md").read_text()
    for param in anonset.MODELS[name].params:
        assert f"`{param.name}`" in text, f"docs/models/{name}.md does not speak of {param.name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_project_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    if name.startswith(OPTIONAL):
        pytest.importorskip("nicegui" if "app" in name else "pyspark")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
