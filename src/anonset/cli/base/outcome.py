"""How a command ends: its exit code, and one sentence on stderr where something went wrong.

A traceback could show somebody's transaction, so that it is printed only on request, and never with local values.

====  =========================================================
code  meaning
====  =========================================================
0     done
1     something broke: the output could not be written, a defect
2     the command, a parameter or the data is not what it must be
3     the promise does not hold or cannot be kept
4     the promise holds, the outcome is not acceptable (see --accept)
130   stopped by Ctrl-C (143 by SIGTERM, 141 by a closed pipe)
====  =========================================================
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from anonset.cli.base import debug, logbook, project
from anonset.cli.base.spelling import spelt
from anonset.data.errors import AnonsetError, OutputError, is_shortage, printable, worded

CLOSED_PIPE = 141


@dataclass(frozen=True)
class Problem:
    """What went wrong: the exit code, what kind of error it is, a sentence, the option behind it, what to do."""

    code: int
    kind: str
    message: str
    parameter: str | None = None
    hint: str | None = None


def run(args: Sequence[str]) -> int:
    """Run a command with these arguments and return its exit code; nothing but an exit code comes out."""
    debug.reset()
    logbook.reset()
    project.remember(None, {})
    published_before = len(_published())
    try:
        from anonset.cli.base.commands import root

        answer = root().main(list(args), prog_name="anonset", standalone_mode=False)
        if sys.stdout is not None:
            put()
        logbook.note("end", code=0)
    except (Exception, KeyboardInterrupt) as error:
        complete = _published()[published_before:]
        if complete:
            _say(f"These files were put in place before this happened: {', '.join(complete)}.", "Note: ")
        if debug.wanted():
            traceback.print_exception(error)
        return _tell(error, bool(complete), as_json="--json" in args)
    return _stopped() if answer == 130 else answer if isinstance(answer, int) else 0


def _tell(error: BaseException, published: bool, as_json: bool) -> int:
    """Say on stderr what went wrong, and where a machine listens also as JSON on stdout; gives the exit code."""
    if _interrupted(error):
        logbook.note("end", code=130)
        return _stopped()
    if isinstance(error, BrokenPipeError):
        return closed_pipe()
    problem = explain(error, published)
    if isinstance(error, AnonsetError) and error.parameter == "log":
        logbook.reset(unmade=True)  # it is another file of the run, or must not be where it is
    logbook.note("end", code=problem.code, kind=problem.kind, parameter=problem.parameter)
    if problem.message:
        _say(problem.message, "Error: " if problem.code else "Note: ")
    if as_json:
        with suppress(AnonsetError, OSError):  # what cannot be printed was said above
            put(json.dumps({"error" if problem.code else "waiting": asdict(problem)}, indent=2) + "\n")
    return problem.code


def _published() -> list[str]:
    """What this process has put in place, if it has loaded what does that at all."""
    writing = sys.modules.get("anonset.io.publish.atomic")
    return [] if writing is None else list(map(str, writing.published))


def explain(error: BaseException, published: bool = False) -> Problem:
    """An error as this command line tells it."""
    kind = type(error).__name__
    if isinstance(error, AnonsetError):
        name = error.parameter
        option = None if name is None else spelt(name) or name
        return Problem(error.exit_code, kind, error.worded(spelt), option, worded(error.hint, spelt) or None)
    if is_shortage(error):
        hint = "Use a machine with more, or less data."
        return Problem(2, "MemoryError", f"There is not enough memory for this. {hint}", hint=hint)
    if isinstance(error, (RecursionError, UnicodeError, OverflowError)):
        what = "too deeply nested" if isinstance(error, RecursionError) else "not what text or numbers can be"
        hint = "Check the data and the options."
        return Problem(2, kind, f"Something in the input is {what} ({kind}). {hint}", hint=hint)
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return _misuse(error)
    if isinstance(error, OSError) and error.filename:
        return Problem(1, kind, f"{os.fspath(error.filename)}: {error.strerror}.")
    return Problem(1, kind, _defect(error, published))


def _interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: a library that is interrupted while it is loaded calls that by other names."""
    if isinstance(error, KeyboardInterrupt):
        return True
    behind = error.__cause__ or error.__context__
    return isinstance(error, ImportError | SystemError) and behind is not None and _interrupted(behind)


def _stopped() -> int:
    _say("Stopped.", "")
    return 130


def closed_pipe() -> int:
    """The reader of our output has gone: write the rest to nowhere, so that nothing complains at the end."""
    mute()
    return CLOSED_PIPE


def put(text: str = "") -> None:
    """Print a text, and everything that waits; where that cannot be, say so once."""
    if sys.stdout is None:
        raise OutputError("The answer could not be printed: standard output is closed.")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        mute()
        raise OutputError(f"The answer could not be printed: the system says: {error.strerror}.") from error


def mute() -> None:
    """Send what is still waiting for stdout to nowhere: Python would try again at its end, and complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _misuse(error: BaseException) -> Problem:
    """A wrong call: what is wrong, what was perhaps meant, and where to read more."""
    code, kind = int(getattr(error, "exit_code", 2)), "UsageError"
    if type(error).__name__ == "NoArgsIsHelpError":
        return Problem(code, kind, "")
    context = getattr(error, "ctx", None)
    message = str(getattr(error, "message", "")) if hasattr(error, "possibilities") else error.format_message()  # type: ignore[attr-defined]
    near = getattr(error, "possibilities", None)
    hints = [f"Did you mean {near[0]}?"] if near else []
    if context is not None:
        hints.append(f"See '{context.command_path} --help'.")
    sentence = " ".join((message.rstrip(".") + ".", *hints)).replace("?.", "?")
    return Problem(code, kind, sentence, getattr(error, "option_name", None), " ".join(hints) or None)


def _defect(error: BaseException, published: bool) -> str:
    """What broke and where, without the error's own text: that may quote the data."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}anonset{os.sep}" in frame.filename] or frames
    where = f" at {Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else ""
    what = "" if published else "; nothing was published"
    return (
        f"Something unexpected happened ({type(error).__name__}{where}){what}. "
        "This is a defect, please report it; ANONSET_DEBUG=1 shows the traceback."
    )


def _say(sentence: str, prefix: str) -> None:
    with suppress(OSError, ValueError):  # there may be nobody to tell, or no room for it
        print(f"{prefix}{printable(sentence)}", file=sys.stderr, flush=True)
