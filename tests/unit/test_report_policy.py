"""A report runs only the scripts it was made with: no unsafe-inline, and a browser has nothing to block."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

import anonset
from anonset.cli.base.outcome import run
from anonset.generate import write_supermarket
from anonset.reports.policy import own_styles, sealed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
    "--virtual-time-budget=8000",
]
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A private report with everything in it, a public one, one with hostile names, and a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    write_supermarket(folder / "shop", 600, seed=1)
    data = anonset.read(folder / "shop/transactions.csv", sensitive_file=folder / "shop/sensitive.txt")
    tree = folder / "shop/hierarchy.csv"
    anonset.publish(
        data, anonset.Targets(report=folder / "tree.html"), method="km-apriori", k=5, m=2, hierarchy=tree, seed=1
    )
    anonset.publish(
        data, anonset.Targets(report=folder / "public.html", public_report=True), k=5, seed=1, effort="quick"
    )
    hostile = ["<script>alert(1)</script>", "</script><script>alert(2)</script>", '" onload="alert(3)', "<b style='x'>"]
    rows = [[hostile[place % 4], "x"] for place in range(40)]
    anonset.publish(rows, anonset.Targets(report=folder / "hostile.html"), k=2, seed=1)
    anonset.convert(rows, folder / "small.csv")
    code = run(["compare", str(folder / "small.csv"), "--methods", "pta", "-k", "2", "-o", str(folder), "--quiet"])
    assert code == 0
    names = ["tree.PRIVATE", "public", "hostile.PRIVATE", "comparison.PRIVATE"]
    return {name: folder / f"{name}.html" for name in names}


NAMES = ["tree.PRIVATE", "public", "hostile.PRIVATE", "comparison.PRIVATE"]


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_allows_nothing_but_what_it_names(pages, name):
    (policy,) = POLICY.findall(pages[name].read_text())
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    scripts = re.search(r"script-src ([^;]*)", policy)[1].split()
    assert scripts
    assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", source) for source in scripts)
    assert not re.search(r"https?:|\*", policy)


class Attributes(HTMLParser):
    """Collects attributes that a policy without unsafe-inline would block."""

    def __init__(self):
        super().__init__()
        self.blocked = []

    def handle_starttag(self, tag, attrs):
        self.blocked += [(tag, name) for name, _ in attrs if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("name", NAMES)
def test_no_element_has_a_style_or_a_script_of_its_own(pages, name):
    parser = Attributes()
    parser.feed(pages[name].read_text())
    assert parser.blocked == []


def test_every_script_and_style_is_named():
    page = sealed('<meta content="CONTENT-SECURITY-POLICY"><style>a</style><script>b</script><script>c</script>')
    assert page.count("sha256-") == 4, "one style, the empty one, and two scripts"


def test_ids_of_styles_for_maps_are_found():
    assert own_styles(f'getElementById("{"a" * 64}")getElementById("{"a" * 64}")getElementById("x")') == ["a" * 64]


# --- in a browser ----------------------------------------------------------------------------------------------


def browse(page, folder, *more):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *more, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@needs_browser
@pytest.mark.parametrize("name", NAMES)
def test_a_browser_draws_the_page_and_has_nothing_to_block(pages, tmp_path, name):
    drawn, said = browse(pages[name], tmp_path, "--dump-dom")
    assert said == []
    assert drawn.count('class="main-svg"') >= 2, "the charts are drawn"


@needs_browser
def test_a_script_that_was_slipped_in_does_not_run_and_is_reported(pages, tmp_path):
    """The counter-check: what the test above would see if something were blocked."""
    page = tmp_path / "page.html"
    bad = "<script>document.body.id = 'taken'</script><p style='color: red' onclick='x()'>…</p>"
    page.write_text(pages["public"].read_text().replace("</main>", f"{bad}</main>"))
    drawn, said = browse(page, tmp_path, "--dump-dom")
    assert '<body id="taken"' not in drawn
    assert sum("Content Security Policy" in line for line in said) >= 2
