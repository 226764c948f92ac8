"""The worker of one tab: a process that reads the data and computes, so that the page stays awake and can stop it.

`python -m anonset.app.worker` takes one task per line on standard input and answers on standard output, all JSON:
`{"id": 1, "task": "risk", "setup": {…}, "args": {…}}`, then any number of `{"id": 1, "stage": …, "done": …,
"total": …}`, and last `{"id": 1, "answer": {…}}` or `{"id": 1, "error": {…}}`. It ends when nobody listens any more,
also in the middle of a task.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

from anonset.data.errors import AnonsetError

OFTEN = 0.1  # seconds between two reports of progress


class Speaker:
    """Writes lines to whoever asked; several threads may speak."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._lock = out, threading.Lock()

    def say(self, **message: Any) -> None:
        """One line."""
        with self._lock:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()


def main() -> None:
    """Answer tasks until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints to standard output must not be taken for an answer
    from anonset.app.tasks import QUICK, Desk

    speaker, desk = Speaker(out), Desk()
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(speaker, desk, waiting, QUICK), daemon=True).start()
    while True:
        _do(speaker, desk, waiting.get())


def _listen(speaker: Speaker, desk: Any, waiting: queue.SimpleQueue[dict[str, Any]], quick: set[str]) -> None:
    """Pass on tasks; quick ones are done at once, beside a long one. The end of the input is the end of all."""
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["task"] in quick:
            _do(speaker, desk, asked)
        else:
            waiting.put(asked)
    os._exit(0)


def _do(speaker: Speaker, desk: Any, asked: dict[str, Any]) -> None:
    """One task, and its answer or its error."""
    from anonset.app.tasks import TASKS
    from anonset.data.job import Job

    told = 0.0

    def progress(stage: str, done: int, total: int | None) -> None:
        nonlocal told
        now = time.monotonic()
        if done == 0 or now - told >= OFTEN:
            told = now
            speaker.say(id=asked["id"], stage=stage, done=done, total=total)

    try:
        desk.told = progress
        job = Job(asked["args"].pop("seed", None), progress=progress)
        answer = TASKS[asked["task"]](desk, asked["setup"], job, **asked["args"])
        speaker.say(id=asked["id"], answer=answer)
    except Exception as error:
        speaker.say(id=asked["id"], error=described(error))


def described(error: Exception) -> dict[str, Any]:
    """An error for the page. Of what nobody foresaw only kind and place are told: its text may quote the data."""
    if isinstance(error, AnonsetError):
        more = {"accept": getattr(error, "accept", ()), "columns": getattr(error, "columns", ())}
        guess = getattr(error, "guess", {})
        return {"kind": type(error).__name__, "message": str(error), "hint": error.hint, "guess": guess, **more}
    if isinstance(error, MemoryError):
        return {"kind": "MemoryError", "message": "", "hint": ""}
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}anonset{os.sep}" in frame.filename
    ]
    where = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else ""
    return {"kind": "Defect", "message": f"{type(error).__name__}, {where}", "hint": ""}


if __name__ == "__main__":
    main()
