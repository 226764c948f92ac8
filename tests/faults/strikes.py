"""Runs `anonset --version` in child processes, each of which gets a signal at another line of its start or its end.

    python strikes.py SIGINT|SIGTERM

For n = 0, 1, 2, … a child gets the signal at its n-th line of `main`, of the module that answers signals or of what
Python runs in between, until one gets through. Printed is a JSON line per child: how it ended and what it said.
"""

import contextlib
import json
import os
import signal
import sys
import tempfile

from anonset import cli
from anonset.cli.base import commands, outcome, signals

FILES = {cli.__file__, signals.__file__, contextlib.__file__}


def striking_at(line: int, number: int):
    left = line

    def at_line(frame, event, argument):
        nonlocal left
        if event == "line":
            if left == 0:
                left -= 1
                signal.raise_signal(number)
            left -= 1
        return at_line

    def at_call(frame, event, argument):
        return at_line if frame.f_code.co_filename in FILES else None

    return at_call


def child(line: int, number: int, said: int) -> None:
    os.dup2(said, 1)
    os.dup2(said, 2)
    sys.argv = ["anonset", "--version"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.settrace(striking_at(line, number))
    code = 99
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        os.write(2, f"Traceback: {error!r}".encode())
    finally:
        sys.settrace(None)
        sys.stdout.flush()
        os._exit(code)


def main(number: int) -> None:
    commands.root()  # everything is loaded here, once, and not in every child
    assert outcome
    for line in range(1, 10_000):  # the first line of all belongs to the caller
        with tempfile.TemporaryFile() as said:
            pid = os.fork()
            if pid == 0:
                child(line, number, said.fileno())
            ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            said.seek(0)
            text = said.read().decode()
        print(json.dumps({"ended": ended, "said": text}))
        if ended == 0 and line > 300:
            return


if __name__ == "__main__":
    main(getattr(signal, sys.argv[1]))
