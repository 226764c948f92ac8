"""What the page says, in several languages: texts come from `words.toml`, numbers are written as people there do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DEFAULT = "en"
_MARKS = {"en": (",", "."), "de": (".", ",")}
"""What stands between thousands, and before the decimals."""


@dataclass(frozen=True)
class Words:
    """The texts of one language.

    Examples
    --------
    >>> words("de").number(1234567), words("en").share(0.1234)
    ('1.234.567', '12.3 %')
    """

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """A text, with numbers in its places."""
        shown = {name: self.number(value) if _is_number(value) else value for name, value in values.items()}
        return self.texts[key].format(**shown)

    def or_else(self, key: str, text: str) -> str:
        """A text that only some languages have, such as the translation of a help text; else the one given."""
        return self.texts.get(key, text)

    def number(self, value: float) -> str:
        """A number with marks between thousands."""
        return self._marked(f"{value:,}" if isinstance(value, int) else f"{value:,.4g}")

    def share(self, value: float) -> str:
        """A share in per cent; a small one is not rounded to nothing."""
        text = "< 0.1" if 0 < value < 0.001 else f"{100 * value:.1f}"
        return f"{self._marked(text)} %"

    def _marked(self, text: str) -> str:
        thousands, decimals = _MARKS.get(self.language, _MARKS[DEFAULT])
        return text.translate({ord(","): thousands, ord("."): decimals})


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@cache
def languages() -> dict[str, dict[str, str]]:
    """All texts of all languages, by key."""
    return tomllib.loads(files("anonset.app").joinpath("words.toml").read_text(encoding="utf-8"))


def words(language: str) -> Words:
    """The texts of a language; those of the default one where it is not known."""
    known = language if language in languages() else DEFAULT
    return Words(known, languages()[known])


def preferred(accepted: str) -> str:
    """The language that a browser asks for first among those there are.

    Examples
    --------
    >>> preferred("fr-CH, de;q=0.9, en;q=0.8"), preferred("")
    ('de', 'en')
    """
    asked = []
    for place, part in enumerate(accepted.split(",")):
        name, _, quality = part.strip().partition(";q=")
        try:
            asked.append((-float(quality or 1), place, name.split("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(asked) if name in languages()), DEFAULT)
