"""The page on threats speaks of every attack and shows it, as the generator draws it."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from anonset.assess.risk.attackers import ATTACKS
from tools.threats import PICTURES, svg

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "threats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_on_the_page_with_its_picture(name):
    assert f"| `{name}` |" in PAGE
    assert f"../images/threats/{name}.svg" in PAGE
    drawn = svg(name, PICTURES[name])
    stored = (ROOT / "docs" / "images" / "threats" / f"{name}.svg").read_text(encoding="utf-8")
    assert stored == drawn, "stale: run `python -m tools.threats docs/images/threats`"
    assert ElementTree.fromstring(drawn).get("role") == "img"


def test_no_picture_is_of_nothing():
    assert set(PICTURES) == set(ATTACKS)
