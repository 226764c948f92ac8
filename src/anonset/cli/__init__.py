"""The command line: `anonset COMMAND …` and `python -m anonset`.

Each command is one module here with a Typer application called `app`, and one line in `table.py`. It is loaded only
when it is invoked. What commands share (options derived from the specs, output, progress, errors, signals) is in
`base/`. Importing this package imports nothing else, so that Ctrl-C is answered from the first moment on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments of the process name, and end the process with its exit code."""
    try:
        code, stopped = _run()
    except KeyboardInterrupt:  # it came before anybody could answer it, or between two lines of the tidying up
        code, stopped = 130, 130
    if code == 130 and stopped is not None:
        import os

        os._exit(stopped)
    raise SystemExit(code)


def _run() -> tuple[int, int | None]:
    """The exit code of the command, and that of the signal that stopped it, if one did."""
    import _signal  # type: ignore[import-not-found]  # built in: nothing is loaded before Ctrl-C is answered

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # there is nothing to tidy up yet: end at once, in silence

    import sys

    from anonset.cli.base.signals import Stop, graceful_stop
    from anonset.cli.base.streams import occupy

    occupy()
    code, stop = 130, Stop()
    try:
        with graceful_stop(stop, last=True):
            from anonset.cli.base.outcome import run

            code = run(sys.argv[1:])
            stop.over = True
    except KeyboardInterrupt:
        code = 130
    return code, stop.exit_code
