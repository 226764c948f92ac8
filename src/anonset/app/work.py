"""What one tab does: its answers so far, what runs for it, and the worker process behind it.

The state lives in the server's memory under a random name that is part of the tab's address. So a reload keeps it, two
tabs never mix, and a tab that was closed can be opened again. It holds what the worker said, never the data.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGEST_LINE = 64 * 2**20  # bytes of one answer
ORDER = ("open", "describe", "risk", "advise", "preview", "compare", "publish")
"""What depends on what: an answer is dropped when one before it changes."""


@dataclass
class Running:
    """A task under way, as the page shows it."""

    task: str
    stage: str = ""
    done: int = 0
    total: int | None = None
    begun: float = field(default_factory=time.monotonic)
    stage_begun: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.begun

    @property
    def share(self) -> float | None:
        """How much of the present stage is done; None where nobody knows."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """How long the present stage will take at its pace so far; None where there is too little to tell."""
        spent = time.monotonic() - self.stage_begun
        return spent * (1 - self.share) / self.share if self.share and spent > 1 else None


class Stopped(Exception):
    """The worker ended before its answer; `wanted` says whether somebody asked for that."""

    def __init__(self, wanted: bool) -> None:
        super().__init__()
        self.wanted = wanted


class Failed(Exception):
    """The worker answered with an error: what it said."""

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__(said["message"])
        self.said = said


class Worker:
    """A worker process and the questions it has not answered yet."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._asked: dict[int, tuple[asyncio.Future[dict[str, Any]], Running | None]] = {}
        self._number = 0
        self._wanted = False
        self._listening: asyncio.Task[None] | None = None

    async def ask(
        self, task: str, setup: dict[str, Any], args: dict[str, Any], running: Running | None = None
    ) -> dict[str, Any]:
        """The answer; `running` hears of progress. `Failed` for an error, `Stopped` where the process ended."""
        process = await self._alive()
        self._number += 1
        number = self._number
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[number] = future, running
        assert process.stdin is not None
        line = json.dumps({"id": number, "task": task, "setup": setup, "args": args})
        with suppress(ConnectionError, BrokenPipeError):  # the listener says so
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
        return await future

    async def stop(self) -> None:
        """End the process at once, and with it all it was asked for."""
        if self._process is not None and self._process.returncode is None:
            self._wanted = True
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._listening is not None:
            await self._listening

    async def _alive(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._wanted = False
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "anonset.app.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LONGEST_LINE,
                env={
                    **os.environ,
                    "TMPDIR": tempfile.gettempdir(),
                },  # private: a worker may be killed
            )
            self._listening = asyncio.create_task(self._listen(self._process))
        return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                self._hear(json.loads(line))
        except ValueError:  # longer than any answer of ours
            process.kill()
        await process.wait()
        waiting, self._asked = self._asked, {}
        for future, _ in waiting.values():
            if not future.done():
                future.set_exception(Stopped(self._wanted))

    def _hear(self, said: dict[str, Any]) -> None:
        future, running = self._asked.get(said["id"], (None, None))
        if future is None or future.done():
            return
        if "stage" in said:
            if running is not None:
                if said["stage"] != running.stage or said["done"] < running.done:
                    running.stage_begun = time.monotonic()
                running.stage, running.done, running.total = said["stage"], said["done"], said["total"]
            return
        del self._asked[said["id"]]
        if "answer" in said:
            future.set_result(said["answer"])
        else:
            future.set_exception(Failed(said["error"]))


@dataclass
class Work:
    """All that a tab shows."""

    name: str
    visitor: str
    folder: Path
    language: str = "en"
    dark: bool | None = None
    source: str = ""
    shown: str = ""  # what the source is called on the page
    reading: dict[str, Any] = field(default_factory=dict)
    sensitive: list[str] | None = None
    hierarchy: dict[str, Any] = field(default_factory=dict)
    unit: str = ""
    model: str = ""
    method: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    accept: list[str] = field(default_factory=list)
    reason: str = ""
    purpose: str = ""
    responsible: str = ""
    format: str = "csv"
    choices: int = 0  # how often a promise and a method were taken
    searched: str = ""  # what was looked for among the items
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)
    running: Running | None = None
    version: int = 0
    stamps: Counter[str] = field(default_factory=Counter)  # how often the answer or problem of a task changed
    worker: Worker = field(default_factory=Worker)
    used: float = field(default_factory=time.monotonic)

    @property
    def setup(self) -> dict[str, Any]:
        """What a worker must know to read the data as they are described here."""
        return {
            "source": self.source,
            "reading": self.reading,
            "sensitive": self.sensitive,
            "hierarchy": self.hierarchy,
            "unit": self.unit,
        }

    def changed(self, since: str) -> None:
        """Forget the answers and problems that depend on this one."""
        for task in ORDER[ORDER.index(since) :]:
            self.answers.pop(task, None)
            self.problems.pop(task, None)
            self.stamps[task] += 1
        self.version += 1

    def take(self, source: str, shown: str) -> None:
        """Begin with other data: what was said of the former ones no longer holds."""
        self.source, self.shown = source, shown
        self.reading, self.sensitive, self.hierarchy, self.unit = {}, None, {}, ""
        self.model, self.method, self.params, self.accept, self.reason = "", "", {}, [], ""
        self.changed("open")

    async def run(self, task: str, **args: Any) -> dict[str, Any] | None:
        """Run a task to its end; its answer, which is kept, or None where there is a problem, which is kept, too."""
        if self.running is not None:
            return None
        self.running = Running(task)
        self.problems.pop(task, None)
        self.answers.pop(task, None)
        self.stamps[task] += 1
        self.version += 1
        setup = self.setup
        try:
            answer = await self.worker.ask(task, setup, args, self.running)
            if setup == self.setup:  # what it speaks of did not change in the meantime
                self.answers[task] = answer
            return answer
        except Failed as error:
            self.problems[task] = error.said
        except Stopped as error:
            kind = "Cancelled" if error.wanted else "Crashed"
            self.problems[task] = {"kind": kind, "message": "", "hint": ""}
        finally:
            self.running = None
            self.stamps[task] += 1
            self.version += 1
        return None

    async def ask(self, task: str, **args: Any) -> dict[str, Any] | None:
        """A quick answer that is not kept; None where there is none."""
        try:
            return await self.worker.ask(task, self.setup, args)
        except (Failed, Stopped):
            return None

    async def cancel(self) -> None:
        """End what runs, at once."""
        await self.worker.stop()

    async def close(self) -> None:
        """End the worker and delete all files."""
        await self.worker.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


MOST_WORKS = 30
IDLE = 60.0  # seconds without a tab, after which a worker ends


class Works:
    """The work of all tabs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: dict[str, Work] = {}

    async def new(self, visitor: str, language: str) -> Work:
        """Work for a new tab. Of too many the one is dropped that was not looked at for longest."""
        if len(self.all) >= MOST_WORKS:
            idle = [work for work in self.all.values() if work.running is None]
            if idle:
                await self.drop(min(idle, key=lambda work: (bool(work.source), work.used)))
        name = secrets.token_urlsafe(12)
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        self.all[name] = Work(name, visitor, folder, language)
        return self.all[name]

    def of(self, name: str, visitor: str) -> Work | None:
        """The work of this name, if it is this visitor's."""
        work = self.all.get(name)
        if work is None or work.visitor != visitor:
            return None
        work.used = time.monotonic()
        return work

    def others(self, work: Work) -> list[Work]:
        """What else the visitor has begun, to go on with."""
        return [one for one in self.all.values() if one.visitor == work.visitor and one is not work and one.source]

    async def drop(self, work: Work) -> None:
        """Delete work and its files."""
        self.all.pop(work.name, None)
        await work.close()

    async def rest(self) -> None:
        """End the workers of tabs that were closed and wait for nothing; what they read is read again when needed."""
        now = time.monotonic()
        idle = [work for work in self.all.values() if work.running is None and now - work.used > IDLE]
        await asyncio.gather(*(work.worker.stop() for work in idle))

    async def close(self) -> None:
        """Delete everything."""
        await asyncio.gather(*(self.drop(work) for work in list(self.all.values())))
