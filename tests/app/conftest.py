"""One server and one browser for all tests of the page; each test has a tab, and mostly a context, of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT = 60_000  # milliseconds


@dataclass
class Served:
    """A running page: its process, the folder of all temporary files, its address and what it printed."""

    process: subprocess.Popen
    folder: Path
    address: str
    lines: list[str]
    cookie: str = ""

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.address)[1])

    @property
    def root(self):
        return self.address.split("/enter")[0]

    def enter(self):
        """Use the token, and keep the cookie."""
        answer = self.ask("GET", self.address.removeprefix(self.root))
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        return answer

    def ask(self, method, path, body=None, **headers):
        """An answer to a request; headers that are None are left out."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        usual = {"Host": f"127.0.0.1:{self.port}", "Origin": self.root, "Cookie": self.cookie or None}
        given = {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def stop(self, number=signal.SIGINT):
        """End the server; gives its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(20)
        self.process.stderr.close()
        return code


@contextmanager
def serving(folder, *options):
    """A page that is served by a process of its own, as from the command line."""
    pytest.importorskip("nicegui", reason="needs the extra 'app'")
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "anonset", "app", "--no-browser", *options]
    place = {**os.environ, "TMPDIR": str(folder), "PYTHONWARNINGS": "error::ResourceWarning"}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=place, cwd=folder
    )
    try:
        lines = [process.stderr.readline() for _ in range(3)]
        found = re.search(r"http://\S+", lines[0])
        assert found, lines
        served = Served(process, folder, found[0], lines)
        _until_it_answers(served)
        yield served
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(20)
        process.stderr.close()


def _until_it_answers(served):
    import time

    for _ in range(200):
        try:
            served.ask("GET", "/")
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the page does not answer")


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The one server; whoever comes has the cookie already."""
    with serving(tmp_path_factory.mktemp("page") / "tmp") as one:
        one.enter()
        yield one


@pytest.fixture(scope="module")
def browser():
    """One for each file of tests: while it is open, its event loop runs in this thread and lets no other one begin."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        yield chromium
        chromium.close()


class Watch:
    """What a tab complained about."""

    def __init__(self):
        self.said = []

    def over(self, page):
        page.on("console", lambda message: message.type in ("error", "warning") and self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def context(served, browser, tmp_path):
    """A browser that has come in by the door, with nothing else in it."""
    made = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", accept_downloads=True)
    made.set_default_timeout(WAIT)
    name, value = served.cookie.split("=", 1)
    made.add_cookies([{"name": name, "value": value, "url": served.root, "httpOnly": True, "sameSite": "Strict"}])
    yield made
    made.close()


@pytest.fixture
def tab(context, served, watch):
    """A tab at the first step; it must end without a complaint of the browser."""
    page = context.new_page()
    watch.over(page)
    page.goto(served.root)
    page.wait_for_selector("main h1")
    yield page
    page.close()
    assert watch.said == []
