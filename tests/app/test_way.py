"""The page in a real browser: the whole way, and what happens when something is wrong."""

import re
import time
from pathlib import Path

import pytest

import anonset

pytestmark = pytest.mark.xdist_group("browser")

AXE = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"


def take_market(tab):
    tab.get_by_role("button", name="Try the built-in supermarket").click()
    tab.get_by_text("What came in").wait_for()


def upload(tab, path):
    tab.get_by_label("Choose a file", exact=False).set_input_files(path)


def to(tab, step):
    tab.get_by_role("navigation").get_by_role("link", name=step).click()
    tab.wait_for_url(re.compile(f"/{step.lower()}$"))
    tab.locator("h1").wait_for()


def small(tmp_path, name="shop.csv"):
    path = tmp_path / name
    lines = [f"{row},{item}" for row in range(60) for item in ("bread", "milk", "tea")[: 1 + row % 3]]
    lines += [f"{row},pregnancy test" for row in range(0, 60, 6)]
    path.write_text("transaction,item\n" + "\n".join(lines) + "\n")
    return path


def test_the_whole_way_on_the_built_in_data(tab, tmp_path):
    take_market(tab)
    assert "10,000" in tab.inner_text("main")
    tab.get_by_role("link", name="Next: Describe").click()
    tab.get_by_text("Sensitive: 15").wait_for()
    tab.get_by_label("Search items").fill("wine vin")
    tab.get_by_text("white wine vinegar").wait_for()
    to(tab, "Risk")
    tab.get_by_text(re.compile(r"An attacker who knows 3 items finds \d+\.\d\s% of the transactions")).wait_for()
    to(tab, "Protect")
    tab.get_by_text("shared by at least").wait_for()
    tab.get_by_label("Method", exact=True).select_option(label="gsc")
    tab.get_by_text("Gray order cut").wait_for()
    tab.get_by_label("k", exact=True).fill("5")
    tab.get_by_label("k", exact=True).blur()
    tab.get_by_text("shared by at least 5").wait_for()
    tab.get_by_role("button", name="Try it on a sample").click()
    tab.get_by_role("columnheader", name="After").wait_for()
    to(tab, "Compare")
    tab.get_by_label("gray-tsp").uncheck()
    tab.get_by_label("crowd").uncheck()
    tab.get_by_label("Values of k").fill("3, 5")
    tab.get_by_label("Values of k").blur()
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("button", name="Take: pta, 3").click()
    tab.wait_for_url(re.compile("/protect$"))
    tab.get_by_text("shared by at least 3").wait_for()
    to(tab, "Publish")
    tab.get_by_role("button", name="Make the release").click()
    tab.get_by_text("The promise holds").wait_for()
    files = {}
    for name in ("release.csv", "release.csv.certificate.json", "anonset.toml", "report.PRIVATE.html"):
        with tab.expect_download() as waiting:
            tab.get_by_role("link", name=name, exact=True).click()
        files[name] = tmp_path / name
        waiting.value.save_as(files[name])
    assert anonset.verify(files["release.csv"], k=3)
    assert "pta" in files["release.csv.certificate.json"].read_text()
    assert 'method = "pta"' in files["anonset.toml"].read_text()
    assert "--method pta" in tab.inner_text("main")


def test_a_point_of_the_chart_is_taken_by_a_click(tab, tmp_path):
    upload(tab, small(tmp_path))
    tab.get_by_text("What came in").wait_for()
    to(tab, "Compare")
    tab.get_by_label("Values of k").fill("4")
    tab.get_by_label("Values of k").blur()
    tab.get_by_role("button", name="Compare").click()
    point = tab.locator(".scatterlayer .point").first
    point.wait_for()
    tab.get_by_role("button", name=re.compile("^Take: gsc")).wait_for()
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.wait_for_url(re.compile("/protect$"))


def test_an_excel_file(tab, tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    book = xlsxwriter.Workbook(str(tmp_path / "Verkauf.xlsx"))
    sheet = book.add_worksheet("März")
    for row, cells in enumerate([("Bon-Nr", "Artikel"), (1, "Brot"), (1, "Milch"), (2, "Brot"), (3, "Tee")]):
        sheet.write_row(row, 0, cells)
    book.close()
    upload(tab, tmp_path / "Verkauf.xlsx")
    tab.get_by_text("What came in").wait_for()
    assert "Brot, Milch" in tab.inner_text("main")


def test_a_bad_file_is_said_and_the_next_one_works(tab, tmp_path):
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 this is no table")
    upload(tab, bad)
    alert = tab.get_by_role("alert")
    alert.first.wait_for()
    assert "bad.parquet" in alert.first.inner_text()
    upload(tab, small(tmp_path))
    tab.get_by_text("What came in").wait_for()
    assert tab.get_by_role("alert").count() == 0


def test_a_path_that_is_not_there_is_said(tab):
    tab.get_by_label("Or a path").fill("/no/such/file.csv")
    tab.get_by_role("button", name="Read it").click()
    tab.get_by_role("alert").first.wait_for()
    assert "/no/such/file.csv" in tab.get_by_role("alert").first.inner_text()


def test_unclear_columns_are_asked_for(tab, tmp_path):
    path = tmp_path / "unclear.csv"
    rows = [
        f"{who},{where},{what}" for who in range(20) for where, what in (("a", f"x{who % 3}"), ("b", f"y{who % 4}"))
    ]
    path.write_text("alpha,beta,gamma\n" + "\n".join(rows) + "\n")
    upload(tab, path)
    tab.get_by_text("It is not clear which column is what").wait_for()
    tab.get_by_label("alpha").select_option(label="transaction (receipt, visit)")
    tab.get_by_label("gamma").select_option(label="item (product, diagnosis)")
    tab.get_by_label("beta").select_option(label="leave aside")
    tab.get_by_role("button", name="Read again with these").click()
    tab.get_by_text("What came in").wait_for()
    assert "x0, y0" in tab.inner_text("main")


def test_an_infeasible_promise_says_what_would_work(tab, tmp_path):
    upload(tab, small(tmp_path))
    tab.get_by_text("What came in").wait_for()
    to(tab, "Describe")
    tab.get_by_label("pregnancy test").check()
    tab.get_by_text("Sensitive: 1").wait_for()
    to(tab, "Protect")
    tab.get_by_label("Promise").select_option(label="privacy degree")
    field = tab.get_by_label("p", exact=True)
    field.fill("50")
    field.blur()
    tab.get_by_text(re.compile("The promise: .*50")).wait_for()
    to(tab, "Publish")
    tab.get_by_role("button", name="Make the release").click()
    alert = tab.get_by_role("alert").first
    alert.wait_for()
    assert re.search(r"'p'|p must|at most", alert.inner_text())
    assert tab.get_by_text("The promise holds").count() == 0


def test_a_wrong_value_is_said_beside_its_field(tab, tmp_path):
    upload(tab, small(tmp_path))
    tab.get_by_text("What came in").wait_for()
    to(tab, "Protect")
    tab.get_by_text("shared by at least").wait_for()
    field = tab.get_by_label("k", exact=True)
    field.fill("1")
    field.blur()
    tab.get_by_text("'k' must be at least 2").wait_for()


HOSTILE = '<img src=x onerror="window.hit=1">'


def test_labels_and_column_names_are_text_and_nothing_else(tab, tmp_path):
    path = tmp_path / "hostile.csv"
    hostile = HOSTILE.replace('"', '""')
    rows = [f'{row},"{label}"' for row in range(24) for label in ("{{7*7}}", "=1+1", f":{row % 2}")]
    rows += [f'{row},"{hostile}"' for row in range(0, 24, 6)]
    path.write_text(':x,":onclick=alert(1)"\n' + "\n".join(rows) + "\n")
    upload(tab, path)
    tab.get_by_role("heading", name="Which column is what").wait_for()
    assert tab.get_by_label(":x", exact=True).count() == 1
    tab.get_by_label(":x", exact=True).select_option(label="transaction (receipt, visit)")
    tab.get_by_label(":onclick=alert(1)").select_option(label="item (product, diagnosis)")
    tab.get_by_role("button", name="Read again with these").click()
    tab.get_by_text("What came in").wait_for()
    assert HOSTILE in tab.inner_text("main")
    assert "{{7*7}}" in tab.inner_text("main")
    to(tab, "Describe")
    tab.get_by_label("<img").check()
    tab.get_by_text("Sensitive: 1").wait_for()
    to(tab, "Risk")
    tab.get_by_text("The three criteria").wait_for()
    to(tab, "Protect")
    tab.get_by_role("button", name="Try it on a sample").click()
    tab.get_by_role("columnheader", name="After").wait_for()
    assert tab.evaluate("window.hit") is None
    assert tab.locator("main img").count() == 0


def test_work_goes_on_after_a_reload_and_two_tabs_do_not_mix(tab, context, served, tmp_path):
    take_market(tab)
    other = context.new_page()
    other.goto(served.root)
    other.locator("h1").wait_for()
    assert other.get_by_text("What came in").count() == 0
    upload(other, small(tmp_path, "another.csv"))
    other.get_by_text("Now open: another.csv").wait_for()
    to(tab, "Risk")
    tab.get_by_text("Trying attackers on the data").or_(tab.get_by_text("The three criteria")).first.wait_for()
    tab.reload()
    tab.get_by_text("The three criteria").wait_for()
    to(tab, "Data")
    assert "10,000" in tab.inner_text("main")
    assert other.url != tab.url
    address = other.url
    other.close()
    again = context.new_page()
    again.goto(served.root)
    again.get_by_role("link", name="another.csv").first.click()
    again.wait_for_url(address)
    again.get_by_text("Now open: another.csv").wait_for()
    again.close()


def test_closing_the_tab_does_not_stop_the_work(tab, context, served):
    take_market(tab)
    address = tab.url.replace("/data", "/compare")
    tab.goto(address)
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("button", name="Cancel").wait_for()
    later = context.new_page()
    tab.goto("about:blank")
    later.goto(address)
    later.get_by_role("button", name="Take: gsc, 3").wait_for()
    later.close()


def test_cancel_ends_the_work_within_a_second(tab):
    take_market(tab)
    to(tab, "Compare")
    tab.get_by_role("button", name="Compare").click()
    cancel = tab.get_by_role("button", name="Cancel")
    cancel.wait_for()
    begun = time.monotonic()
    cancel.click()
    tab.get_by_text("Stopped. Nothing was changed").wait_for()
    assert time.monotonic() - begun < 2  # with the clicks of the browser
    tab.get_by_label("Values of k").fill("3")
    tab.get_by_label("Values of k").blur()
    for name in ("crowd", "gray-tsp", "pta"):
        tab.get_by_label(name, exact=True).uncheck()
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("button", name="Take: gsc, 3").wait_for()


def test_a_worker_that_dies_is_shown_with_what_to_do(tab, served):
    psutil = pytest.importorskip("psutil")
    before = set(psutil.Process(served.process.pid).children())
    take_market(tab)
    to(tab, "Compare")
    mine = set(psutil.Process(served.process.pid).children()) - before
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("button", name="Cancel").wait_for()
    for process in mine:
        process.kill()
    tab.get_by_text("ended unexpectedly").wait_for()


def test_german_for_a_german_browser(served, browser, watch):
    made = browser.new_context(locale="de-DE")
    name, value = served.cookie.split("=", 1)
    made.add_cookies([{"name": name, "value": value, "url": served.root}])
    page = made.new_page()
    watch.over(page)
    page.goto(served.root)
    page.get_by_text("Welche Daten?").wait_for()
    page.get_by_role("button", name="Den eingebauten Supermarkt ausprobieren").click()
    page.get_by_text("10.000").first.wait_for()
    page.wait_for_function("document.documentElement.lang === 'de'")
    page.get_by_role("button", name="English").click()
    page.get_by_text("Which data?").wait_for()
    made.close()
    assert watch.said == []


def test_everything_can_be_reached_by_the_keyboard(tab):
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.innerText") == "Skip to the content"
    seen = []
    for _ in range(30):
        tab.keyboard.press("Tab")
        seen.append(tab.evaluate("document.activeElement.innerText || document.activeElement.type"))
    for name in ("Data", "Publish", "Terms", "file", "text", "Read it", "Try the built-in supermarket"):
        assert name in seen
    tab.get_by_role("button", name="Try the built-in supermarket").focus()
    tab.keyboard.press("Enter")
    tab.get_by_text("What came in").wait_for()


@pytest.mark.parametrize("dark", [False, True])
def test_no_step_has_a_fault_that_axe_finds(tab, context, dark):
    if not AXE.exists():
        pytest.skip("needs axe-core from npm: npm install --prefix build/npm axe-core")
    tab.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    take_market(tab)
    faults = {}
    for step, sign in (
        ("data", "What came in"),
        ("describe", "Sensitive: 15"),
        ("risk", "The three criteria"),
        ("protect", "shared by at least"),
        ("compare", "Which method loses least?"),
        ("publish", "What will be made"),
        ("terms", "Terms"),
    ):
        tab.goto(re.sub("[a-z]+$", step, tab.url))
        tab.get_by_text(sign).first.wait_for()
        tab.locator(".status.idle").wait_for(state="attached")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for fault in found["violations"]:
            faults[f"{step}: {fault['id']}"] = [node["html"][:200] for node in fault["nodes"]][:3]
    assert faults == {}


def test_nothing_runs_over_the_edge_of_a_telephone(tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    take_market(tab)
    signs = {
        "data": "What came in",
        "describe": "Sensitive: 15",
        "risk": "The three criteria",
        "protect": "shared by at least",
    }
    for step, sign in signs.items():
        tab.goto(re.sub("[a-z]+$", step, tab.url))
        tab.get_by_text(sign).first.wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_release_that_the_gate_refuses_is_accepted_with_a_reason(tab, tmp_path):
    path = tmp_path / "unique.csv"
    path.write_text("transaction,item\n" + "\n".join(f"{row},only {row}" for row in range(40)) + "\n")
    upload(tab, path)
    tab.get_by_text("What came in").wait_for()
    to(tab, "Protect")
    tab.get_by_label("Method", exact=True).select_option(label="gsc")
    tab.get_by_text("Gray order cut").wait_for()
    to(tab, "Publish")
    tab.get_by_role("button", name="Make the release").click()
    tab.get_by_role("heading", name="The promise holds, but the release was not made").wait_for()
    assert tab.get_by_role("heading", name="Download").count() == 0
    tab.get_by_role("button", name="Publish all the same").click()
    tab.get_by_text("Say why, in a few words.").wait_for()
    for box in tab.get_by_label(re.compile("^I accept")).all():
        box.check()
    tab.get_by_label("Why this is acceptable").fill("It is a test of the page.")
    tab.get_by_label("Why this is acceptable").blur()
    tab.get_by_role("button", name="Publish all the same").click()
    tab.get_by_role("heading", name="Download").wait_for()
    assert "It is a test of the page." in tab.inner_text("main")
    for name, holds in (("anonset.toml", "accept"), ("dossier.PRIVATE.html", "It is a test of the page.")):
        with tab.expect_download() as waiting:
            tab.get_by_role("link", name=name, exact=True).click()
        waiting.value.save_as(tmp_path / name)
        assert holds in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_two_hundred_thousand_transactions_stay_pleasant(tab, served, tmp_path):
    psutil = pytest.importorskip("psutil")
    from anonset.generate import generate_quest
    from anonset.io import save

    path = tmp_path / "large.dat"
    save(generate_quest(200_000, items=2000, seed=1), path)
    tab.get_by_label("Or a path").fill(str(path))
    tab.get_by_role("button", name="Read it").click()
    tab.get_by_text("What came in").wait_for()
    slowest = 0.0
    for step in ("Describe", "Risk", "Protect", "Compare", "Publish", "Data"):
        begun = time.monotonic()
        to(tab, step)
        slowest = max(slowest, time.monotonic() - begun)
    tab.goto(re.sub("[a-z]+$", "describe", tab.url))
    begun = time.monotonic()
    tab.get_by_label("Search items").fill("17")
    tab.get_by_text(re.compile("^40 of ")).wait_for()
    slowest = max(slowest, time.monotonic() - begun)
    assert slowest < 1
    assert psutil.Process(served.process.pid).memory_info().rss < 500 * 2**20
