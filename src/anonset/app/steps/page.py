"""What every step knows: the work it shows, the words it says, and how a button does something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nicegui import background_tasks, ui

from anonset.app.pieces import Handler, button, link, note
from anonset.app.words import Words
from anonset.app.work import Work, Works


@dataclass
class Part:
    """A part of a page: where it is, what it depends on, how it is built, and on what it was."""

    box: ui.element
    key: Callable[[], Any]
    build: Callable[[], None]
    built: Any


@dataclass
class Page:
    """One step as one tab shows it; `show` builds its content anew."""

    work: Work
    words: Words
    works: Works
    most: int
    show: Callable[[], None]
    keep: Callable[[], None] = lambda: None  # what changed is shown already
    parts: list[Part] = field(default_factory=list)
    wanted: str = ""  # a task that this page starts by itself as soon as nothing else runs

    def part(self, key: Callable[[], Any], build: Callable[[], None]) -> None:
        """A part of the content that is built anew where its key changes; what is typed elsewhere stays."""
        box = ui.element("div")
        self.parts.append(Part(box, key, build, key()))
        with box:
            build()

    def renew(self) -> None:
        """Build those parts anew whose keys changed."""
        for part in list(self.parts):
            now = part.key()
            if part.box.is_deleted:
                self.parts.remove(part)  # it stood in one that was built anew
            elif now != part.built:
                part.built = now
                part.box.clear()
                with part.box:
                    part.build()

    def run(self, task: str, then: Callable[[dict[str, Any]], None] | None = None, **args: Any) -> None:
        """Start a task that goes on although the tab is closed; `then` hears its answer."""
        if self.work.running is not None:
            ui.notify(self.words("run.busy"))
            return

        async def going() -> None:
            answer = await self.work.run(task, **args)
            if answer is not None and then is not None:
                then(answer)
                self.work.version += 1

        background_tasks.create(going(), name=f"anonset {task}")

    def start_wanted(self) -> None:
        """Start what the page wants, if it has no answer yet and nothing else runs."""
        work = self.work
        if self.wanted and work.running is None and self.wanted not in (*work.answers, *work.problems):
            self.run(self.wanted)

    def go(self, key: str, does: Handler, classes: str = "main work") -> None:
        """A button that starts work."""
        button(self.words(key), does, classes)

    def has_data(self) -> bool:
        """Whether the data were read; where not, says so with the way there."""
        if "open" in self.work.answers:
            return True
        note(self.words("first_data"))
        link(self.words("goto", step=self.words("step.data")), f"/work/{self.work.name}/data", "button main")
        return False

    def problem(self, task: str) -> None:
        """What went wrong with a task, if something did, and what to do."""
        said = self.work.problems.get(task)
        if said is None:
            return
        own = self.words.texts.get(f"trouble.{said['kind']}")
        kind = "warn" if said["kind"] == "Cancelled" else "bad"
        note(said["message"] if own is None else own.format(message=said["message"]), kind).props('role="alert"')

    async def ask(self, task: str, **args: Any) -> dict[str, Any] | None:
        """A quick answer; it may wait for data that are just being read."""
        return await self.work.ask(task, **args)
