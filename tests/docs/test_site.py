"""The documentation site builds, every link in it leads somewhere, and the pages of the API show what they name."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anonset

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    zensical = Path(sys.executable).with_name("zensical")
    if not zensical.exists():
        pytest.skip("needs zensical: pip install 'anonset[docs]'")
    root = tmp_path_factory.mktemp("site")
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (root / "mkdocs.yml").write_text((ROOT / "mkdocs.yml").read_text())
    done = subprocess.run([zensical, "build", "--clean", "--strict"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "build" / "site"


def test_every_page_is_in_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        inner = page.relative_to(ROOT / "docs").with_suffix("")
        folder = inner.parent if inner.name in ("README", "index") else inner
        assert (site / folder / "index.html").exists(), page


def test_the_python_page_shows_every_name_that_it_lists(site):
    page = (site / "reference" / "api" / "index.html").read_text()
    listed = [line.removeprefix("::: ") for line in (ROOT / "docs/reference/api.md").read_text().splitlines()]
    names = [name for name in listed if name.startswith("anonset.")]
    assert names
    for name in names:
        assert f'id="{name}"' in page, name


def test_every_public_function_is_on_the_python_page():
    text = (ROOT / "docs/reference/api.md").read_text()
    for name in anonset.__all__:
        if callable(getattr(anonset, name)) and not name.endswith("Error"):
            assert f"::: anonset.{name}\n" in text, name


def test_the_site_asks_nothing_of_other_hosts(site):
    page = (site / "index.html").read_text()
    assert "fonts.googleapis.com" not in page
