"""The options of runs without a person: project file, ledger, log, rights, a check without the work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from anonset.cli.base import logbook
from anonset.cli.base.console import show, show_json, warn
from anonset.cli.base.groups import RUNNING, WRITING
from anonset.cli.base.options import Choice, Given
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.data.release import Result
    from anonset.data.targets import Targets

CHECK = Param("check", "bool", "Only validate: options, paths and source, without any work.")
LEDGER = Param(
    "ledger", "text", "Release only what never was: a private file that knows what was. Too few wait for the next run."
)
LOG = Param("log", "text", "Add what the run does to this file, or - for standard error; nothing in it is personal.")
LOG_FORMAT = Param("log_format", "choice", "How the log is written.", choices=("text", "json"), example="text")
MEMORY = Param("memory_limit", "text", "Refuse before the work what would need more memory than this: 500M, 2G.")
MODE = Param("mode", "text", "Who may read the release: 644, 640, …, or umask. Default: 600, nobody but you.")
WRITE_CONFIG = Param("write_config", "text", "Save these options as a project file for 'anonset run'.")


def night_options() -> list[Choice]:
    """What runs by themselves need."""
    return [
        Choice(LEDGER, WRITING, metavar="FILE"),
        Choice(MODE, WRITING, metavar="MODE"),
        Choice(WRITE_CONFIG, WRITING, metavar="FILE"),
        Choice(LOG, RUNNING, metavar="FILE"),
        Choice(LOG_FORMAT, RUNNING, metavar="NAME"),
        Choice(MEMORY, RUNNING, metavar="SIZE"),
        Choice(CHECK, RUNNING, switch=True),
    ]


def night_targets(night: Given) -> dict[str, Any]:
    """The options as `Targets` knows them; begins the log."""
    from anonset.cli.base import project

    logbook.begin(night.get("log"), night.get("log_format", "text"))
    log = night.get("log")
    return {
        "ledger": night.get("ledger"),
        "mode": _mode(night.get("mode")),
        "log": None if log == "-" else log,
        "write_config": night.get("write_config"),
        "config": project.as_text() if "write_config" in night else "",
        "also_reads": {"file": project.current()},
    }


def require_room(data: str | None, reading: dict[str, Any], night: Given) -> None:
    """Refuse a run that would need more memory than allowed; say so where that is not known."""
    if "memory_limit" not in night:
        return
    from anonset.io.source.size import bytes_in, require_memory

    if require_memory(data, reading, bytes_in(night["memory_limit"])) is None:
        warn(["How large DATA are is not known before they are read: --memory-limit was not checked."])


def _mode(text: str | None) -> int | None:
    """The rights as a number: `644`, or what the umask leaves of 666."""
    if text is None:
        return None
    if text == "umask":
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
    try:
        mode = int(text, 8)
    except ValueError:
        mode = -1
    if not 0o400 <= mode <= 0o666 or mode & 0o111 or mode & 0o022 or mode & 0o600 != 0o600:
        must = "let the owner read and write, others at most read"
        raise ParameterError("mode", must, repr(text), "Try 644, 640 or umask.")
    return mode


def rights(targets: Targets) -> list[str]:
    """Who can read the release, in a sentence."""
    if not targets.in_files:
        return []
    if targets.mode is None:
        return ["", "Only you can read these files (mode 600). --mode 644 lets others read the release."]
    return ["", f"The release and its certificate have mode {targets.mode:o}."]


def log_result(result: Result) -> None:
    """A line on the release that was made."""
    for name, seconds in result.seconds.items():
        logbook.note("stage", name=name, seconds=round(seconds, 3))
    verdict = result.verdict
    facts = {
        "model": verdict.model,
        "method": result.method,
        "holds": verdict.holds,
        "transactions": len(result.release),
    }
    digests = {} if result.certificate is None else {"sha256": dict(result.certificate.files)}
    logbook.note("release", **facts, **digests)


def say_checked(running: Given) -> None:
    """That nothing speaks against the run."""
    if "json" in running:
        show_json({"checked": True})
    elif "quiet" not in running:
        show("All that can be checked before the work is in order. Nothing was written.")
