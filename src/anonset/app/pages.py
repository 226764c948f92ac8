"""The pages: their addresses, the frame around each step, uploads and downloads."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from nicegui import app, ui

from anonset.app import steps
from anonset.app.guard import VISITOR
from anonset.app.pieces import button, element, heading, link, note, para
from anonset.app.steps import Page
from anonset.app.words import Words, preferred, words
from anonset.app.work import IDLE, Running, Work, Works

LOOK = Path(__file__).parent / "look"
EVERY = 0.25  # seconds between two looks at what runs
SPARE = 200 * 2**20  # bytes of the disk that an upload leaves free


class Site:
    """All pages of one server, and the work of all its tabs."""

    def __init__(self, folder: Path, most_megabytes: int = 1000) -> None:
        self.works = Works(folder)
        self.most = most_megabytes

    def application(self) -> FastAPI:
        """The pages as an application, without the guard."""
        self.add_pages()

        @asynccontextmanager
        async def life(_: FastAPI) -> Any:
            resting = asyncio.create_task(self._rest())
            try:
                yield
            finally:
                resting.cancel()
                await self.works.close()

        outside = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
        ui.run_with(
            outside,
            title="anonset",
            dark=None,
            language="en-US",
            tailwind=False,
            gzip_middleware_factory=None,
            show_welcome_message=False,
            message_history_length=50,
            reconnect_timeout=10,
        )
        return outside

    async def _rest(self) -> None:
        while True:
            await asyncio.sleep(IDLE / 4)
            await self.works.rest()

    def add_pages(self) -> None:
        """Put all addresses into the framework."""
        works, most = self.works, self.most
        app.add_static_files("/look", LOOK)

        async def start(request: Request) -> Response:
            language = preferred(request.headers.get("accept-language", ""))
            work = await works.new(visitor_of(request), language)
            return RedirectResponse(f"/work/{work.name}/data", status_code=303)

        async def upload(request: Request, name: str, what: str, file: str) -> Response:
            work = works.of(name, visitor_of(request))
            if work is None or what not in steps.UPLOADS:
                return PlainTextResponse("upload_failed", status_code=404)
            if work.running is not None:
                return PlainTextResponse("busy", status_code=409)
            path, problem = await received(request, work, file, most * 10**6)
            if path is None:
                return PlainTextResponse(problem, status_code=413)
            await steps.UPLOADS[what](work, path)
            return PlainTextResponse("")

        def download(request: Request, name: str, number: int) -> Response:
            work = works.of(name, visitor_of(request))
            files = [] if work is None else work.answers.get("publish", {}).get("files", [])
            if not 0 <= number < len(files):
                return PlainTextResponse("404", status_code=404)
            kind = "application/octet-stream"  # never shown as a page of ours
            return FileResponse(files[number]["path"], filename=files[number]["name"], media_type=kind)

        def work_page(request: Request, name: str, step: str) -> None:
            work = works.of(name, visitor_of(request))
            if work is None or step not in (*steps.STEPS, "terms"):
                lost(words(preferred(request.headers.get("accept-language", ""))))
            else:
                Frame(works, work, step, most).build()

        app.get("/")(start)
        app.put("/work/{name}/upload/{what}")(upload)
        app.get("/work/{name}/file/{number}")(download)
        ui.page("/work/{name}/{step}", title="anonset", dark=None)(work_page)


def visitor_of(request: Request) -> str:
    """Who came through the guard; nobody in particular where there is none, as in tests of the pages."""
    return str(request.scope.get(VISITOR, ""))


async def received(request: Request, work: Work, name: str, most: int) -> tuple[Path | None, str]:
    """The uploaded file in the private folder of the work; or None, and why not."""
    claimed = int(length) if (length := request.headers.get("content-length", "")).isdigit() else 0
    if claimed > most:
        return None, "too_large"
    if shutil.disk_usage(work.folder).free < claimed + SPARE:
        return None, "no_room"
    path = work.folder / safe_name(name)
    work.running = running = Running("upload", total=claimed or None)
    try:
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600), "wb") as file:
            async for part in request.stream():
                running.done += len(part)
                if running.done > most:
                    break
                await asyncio.to_thread(file.write, part)
    except OSError:
        running.done = most + 1
    finally:
        work.running = None
    if running.done > most:
        path.unlink(missing_ok=True)
        return None, "too_large"
    return path, ""


def safe_name(name: str) -> str:
    """A file name without a folder, control characters or a leading dot; its ending says the format."""
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(char for char in last if char.isprintable() and char not in '<>:"|?*').lstrip(". ")
    stem, dot, ending = kept.rpartition(".")
    return (f"{stem[:80]}{dot}{ending[:16]}" if dot else kept[:96]) or "upload"


def lost(text: Words) -> None:
    """What stands where work is no more."""
    ui.add_head_html('<link rel="stylesheet" href="/look/page.css">')
    with ui.element("div").classes("frame"):
        heading(text("title"), 1)
        note(text("lost"), "warn")
        link(text("begin"), "/", "button main")


class Frame:
    """One page: the steps above, the content, and what runs below. The content is made again when an answer comes."""

    def __init__(self, works: Works, work: Work, step: str, most: int) -> None:
        self.work, self.step = work, step
        self.words = words(work.language)
        self.page = Page(work, self.words, works, most, self.show, self.keep)
        self.seen = work.version
        self.was_running = False

    def build(self) -> None:
        """The whole page."""
        ui.add_head_html('<link rel="stylesheet" href="/look/page.css">')
        ui.page_title(f"{self._title()} – anonset")
        ui.run_javascript(f"document.documentElement.lang = '{self.words.language}'")
        ui.dark_mode(self.work.dark)
        link(self.words("skip"), "#content", "skip")
        self._top()
        self.content = ui.element("div").classes("frame").props('id="content" tabindex="-1"')
        self._status()
        self.show()
        ui.timer(EVERY, self._look)

    def _title(self) -> str:
        return self.words("terms.title") if self.step == "terms" else self.words(f"step.{self.step}")

    def _top(self) -> None:
        with ui.element("header").classes("top"), ui.element("div").classes("bar"):
            link("anonset", f"/work/{self.work.name}/data", "brand")
            with ui.element("nav") as nav:
                nav.props["aria-label"] = self.words("steps")
                with ui.element("ol"):
                    for step in steps.STEPS:
                        with ui.element("li"):
                            here = {"aria-current": "step"} if step == self.step else {}
                            link(self.words(f"step.{step}"), f"/work/{self.work.name}/{step}", **here)
            with ui.element("div").classes("tools"):
                link(self.words("terms"), f"/work/{self.work.name}/terms")
                button(self.words("language"), self._language, "small")
                button("◐", self._theme, "small", self.words("theme"))

    def _language(self) -> None:
        self.work.language = "de" if self.work.language == "en" else "en"
        ui.navigate.reload()

    def _theme(self) -> None:
        self.work.dark = {None: True, True: False, False: None}[self.work.dark]
        ui.navigate.reload()

    def _status(self) -> None:
        self.strip = ui.element("div").classes("status idle").props('role="status"')
        with self.strip, ui.element("div").classes("inside"):
            with ui.element("div").classes("what"):
                self.what = element("b")
                self.more = element("div", "", "soft")
            self.bar = ui.element("progress").props('max="100"')
            self.bar.props["aria-label"] = self.words("wait")
            button(self.words("run.cancel"), self.work.cancel, "cancel")

    def _look(self) -> None:
        """What runs, and new content where there is some."""
        self.work.used = time.monotonic()
        running = self.work.running
        if (running is not None) != self.was_running:
            self.was_running = running is not None
            self.strip.classes(add="" if running else "idle", remove="idle" if running else "")
        if running is not None:
            self._tell(running)
        else:
            self.page.start_wanted()
        if self.work.version != self.seen:
            self.seen = self.work.version
            if self._skeleton() == self.built:
                self.page.renew()
            else:
                self.show()

    def _tell(self, running: Running) -> None:
        set_text(self.what, f"{self.words(f'run.{running.task}')} …")
        left = running.seconds_left
        key, seconds = ("run.spent", running.seconds) if left is None else ("run.left", left)
        set_text(self.more, " · ".join(filter(None, (running.stage, self.words(key, seconds=round(seconds))))))
        share = running.share
        if share is None:
            self.bar.props.pop("value", None)
        else:
            self.bar.props["value"] = round(100 * share)
        self.bar.update()

    def _skeleton(self) -> int:
        """What the whole content depends on; the rest are its parts."""
        return self.work.stamps["open"]

    def keep(self) -> None:
        """The content shows what changed already."""
        self.seen = self.work.version

    def show(self) -> None:
        """The content, anew."""
        self.seen = self.work.version
        self.built = self._skeleton()
        self.page.parts.clear()
        self.page.wanted = ""
        self.content.clear()
        with self.content:
            if self.step == "terms":
                terms(self.words)
            else:
                heading(self.words(f"{self.step}.title"), 1)
                para(self.words(f"{self.step}.lead"), "lead")
                steps.STEPS[self.step](self.page)
                following = list(steps.STEPS)[list(steps.STEPS).index(self.step) + 1 :]
                if following:
                    with ui.element("p"):
                        text = self.words("next", step=self.words(f"step.{following[0]}"))
                        link(text, f"/work/{self.work.name}/{following[0]}", "button")
                if self.words("english"):
                    para(self.words("english"), "soft")


def set_text(made: ui.element, text: str) -> None:
    """Change what an element says, if that is something new."""
    if made._text != text:
        made._text = text
        made.update()


def terms(text: Words) -> None:
    """Every term with its explanation."""
    heading(text("terms.title"), 1)
    para(text("terms.lead"), "lead")
    with ui.element("dl"):
        for key, explained in text.texts.items():
            if key.startswith("term."):
                name = key.removeprefix("term.")
                element("dt", name, id=name)
                element("dd", explained)
