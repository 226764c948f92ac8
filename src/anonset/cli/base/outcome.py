"""How a command ends: its exit code, and one sentence on stderr where something went wrong.

A traceback could show somebody's transaction, so that it is printed only on request, and never with local values.

====  =========================================================
code  meaning
====  =========================================================
0     done
1     something broke: the output could not be written, a defect
2     the command, a parameter or the data is not what it must be
3     the promise does not hold or cannot be kept
130   stopped by Ctrl-C (143 by SIGTERM, 141 by a closed pipe)
====  =========================================================
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from anonset.data.errors import AnonsetError

CLOSED_PIPE = 141

_debug = False


def set_debug(wanted: bool) -> None:
    """Ask for tracebacks."""
    global _debug
    _debug = _debug or wanted


def run(args: Sequence[str]) -> int:
    """Run a command with these arguments and return its exit code; nothing but an exit code comes out."""
    global _debug
    _debug = os.environ.get("ANONSET_DEBUG", "") not in ("", "0")
    try:
        from anonset.cli.base.commands import root

        answer = root().main(list(args), prog_name="anonset", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return _explain(error)
    return _stopped() if answer == 130 else answer if isinstance(answer, int) else 0


def _explain(error: BaseException) -> int:
    if _debug:
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        return _stopped()
    if isinstance(error, BrokenPipeError):
        return closed_pipe()
    if isinstance(error, AnonsetError):
        return _say(str(error), error.exit_code)
    if isinstance(error, MemoryError):
        return _say("There is not enough memory for this. Use a machine with more, or less data.", 1)
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return _misuse(error)
    if isinstance(error, OSError) and error.filename:
        return _say(f"{os.fspath(error.filename)}: {error.strerror}.", 1)
    return _say(_defect(error), 1)


def _stopped() -> int:
    return _say("Stopped.", 130, "")


def closed_pipe() -> int:
    """Whoever read our output has gone: write the rest to nowhere, so that nothing complains at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


def _misuse(error: BaseException) -> int:
    """A wrong call: what is wrong, what was perhaps meant, and where to read more."""
    code = int(getattr(error, "exit_code", 2))
    if type(error).__name__ == "NoArgsIsHelpError":
        return code
    context = getattr(error, "ctx", None)
    message = str(getattr(error, "message", "")) if hasattr(error, "possibilities") else error.format_message()  # type: ignore[attr-defined]
    near = getattr(error, "possibilities", None)
    sentence = message.rstrip(".") + "."
    if near:
        sentence += f" Did you mean {near[0]}?"
    if context is not None:
        sentence += f" See '{context.command_path} --help'."
    return _say(sentence.replace("?.", "?"), code)


def _defect(error: BaseException) -> str:
    """What broke and where, without the error's own text: that may quote the data."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}anonset{os.sep}" in frame.filename] or frames
    where = f" at {Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else ""
    return (
        f"Something unexpected happened ({type(error).__name__}{where}); nothing was published. "
        "This is a defect, please report it; ANONSET_DEBUG=1 shows the traceback."
    )


def _say(sentence: str, code: int, prefix: str = "Error: ") -> int:
    print(f"{prefix}{sentence}", file=sys.stderr)
    return code
