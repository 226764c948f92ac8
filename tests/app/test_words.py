"""Texts: every language says the same things."""

import re
from pathlib import Path
from string import Formatter

import pytest

import anonset.app
from anonset.app.words import languages, preferred, words

OTHERS = [language for language in languages() if language != "en"]
CODE = "\n".join(path.read_text(encoding="utf-8") for path in Path(anonset.app.__file__).parent.rglob("*.py"))


def places(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_the_texts_of_english_with_the_same_places_for_numbers(language):
    english, other = languages()["en"], languages()[language]
    assert english.keys() <= other.keys()
    extra = {key for key in other.keys() - english.keys() if not key.startswith(("param.", "model.", "method."))}
    assert extra == set()
    assert {key: places(text) for key, text in english.items()} == {key: places(other[key]) for key in english}


def test_the_code_asks_for_texts_that_there_are():
    asked = set(re.findall(r'(?:words|text)\("([a-z_.]+)"', CODE)) | set(re.findall(r'\.go\("([a-z_.]+)"', CODE))
    assert len(asked) > 50
    assert asked - languages().keys() <= languages()["en"].keys()


def test_no_text_is_there_for_nobody():
    made = {
        "step",
        "run",
        "trouble",
        "data",
        "term",
        "need",
        "accept",
        "describe",
        "publish",
        "risk",
        "protect",
        "compare",
    }
    unused = {key for key in languages()["en"] if f'"{key}"' not in CODE and key.split(".")[0] not in made}
    assert unused == set()


def test_numbers_are_written_as_people_there_do():
    assert words("en").number(1234567) == "1,234,567"
    assert words("de").number(1234567) == "1.234.567"
    assert words("de").share(0.4215) == "42,1 %"
    assert words("en").share(0.00001) == "< 0.1 %"
    assert words("en").share(0) == "0.0 %"


def test_the_language_is_the_one_the_browser_prefers():
    assert preferred("de-CH,de;q=0.9,en;q=0.8") == "de"
    assert preferred("en-GB,de;q=0.5") == "en"
    assert preferred("xx, de;q=nonsense") == "en"
