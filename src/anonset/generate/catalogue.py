"""What the example supermarket sells, read from `products.txt` and `meals.txt` beside this file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_CATEGORY = re.compile(r"(?P<name>.+?)(?: \[(?P<tags>.+)\])?")
_KIND = re.compile(r"(?P<name>.+) (?P<popularity>[1-9]): (?P<products>.+)")


@dataclass(frozen=True)
class Product:
    """One product: its way down the hierarchy, and how it is bought.

    `popularity` counts from 1 to 9 for the first product of a kind and falls with each further one; for a sensitive
    product it is the percentage of households that need it. `buyers` is the part of all households that ever
    buys from the category, `private` says that many people would rather not tell.
    """

    name: str
    path: tuple[str, str, str]
    popularity: float
    buyers: float
    private: bool
    sensitive: bool


@cache
def products() -> tuple[Product, ...]:
    """Everything the supermarket sells, department by department."""
    return tuple(_read_products())


@cache
def meals() -> tuple[tuple[str, ...], ...]:
    """Products that are bought together, the most popular meal first."""
    return tuple(tuple(line.split("; ")) for line in _lines("meals.txt"))


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _read_products() -> Iterator[Product]:
    department = category = ""
    buyers, private = 1.0, False
    for line in _lines("products.txt"):
        depth = (len(line) - len(line.lstrip())) // 2
        if depth == 0:
            department = line
        elif depth == 1:
            category, buyers, private = _read_category(line.strip())
        else:
            kind, popularity, names = _read_kind(line.strip())
            for place, name in enumerate(names):
                sensitive = name.startswith("*")
                rank = float(popularity) if sensitive else popularity * 0.75**place
                path = (department, category, kind)
                yield Product(name.removeprefix("*"), path, rank, buyers, private, sensitive)


def _read_category(line: str) -> tuple[str, float, bool]:
    found = _CATEGORY.fullmatch(line)
    assert found is not None
    tags = (found["tags"] or "").split(", ")
    share = next((float(tag.removesuffix("%")) / 100 for tag in tags if tag.endswith("%")), 1.0)
    return found["name"], share, "private" in tags


def _read_kind(line: str) -> tuple[str, int, list[str]]:
    found = _KIND.fullmatch(line)
    assert found is not None, line
    return found["name"], int(found["popularity"]), found["products"].split("; ")
