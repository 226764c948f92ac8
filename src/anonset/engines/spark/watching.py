"""Progress and Ctrl-C: what Spark is doing goes to the job, and what the user wants goes to Spark."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from anonset.data.job import Job

EVERY = 0.3  # seconds between two looks


@contextmanager
def watched(spark: Any, job: Job) -> Iterator[None]:
    """Report the tasks that are done; cancel what runs if the job is cancelled or anything goes wrong."""
    try:
        context = spark.sparkContext
    except Exception:  # Spark Connect has none: no progress, and Ctrl-C ends the call only
        yield
        return
    group = f"anonset-{secrets.token_hex(4)}"
    context.setJobGroup(group, "anonset", interruptOnCancel=True)
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, group, job, done), daemon=True)
    watcher.start()
    try:
        yield
    except BaseException:
        with suppress(Exception):
            context.cancelJobGroup(group)
        raise
    finally:
        done.set()
        watcher.join()
        for name in ("spark.jobGroup.id", "spark.job.description"):
            with suppress(Exception):
                context.setLocalProperty(name, None)


def _watch(context: Any, group: str, job: Job, done: threading.Event) -> None:
    tracker = context.statusTracker()
    while not done.wait(EVERY):
        with suppress(Exception):
            if job.monitor.cancelled:
                context.cancelJobGroup(group)
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            running = [stage for stage in stages if stage is not None and stage.numTasks]
            if running:
                job.report(sum(stage.numCompletedTasks for stage in running), sum(s.numTasks for s in running))
