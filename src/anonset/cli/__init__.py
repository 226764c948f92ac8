"""The command line: `anonset COMMAND …` and `python -m anonset`.

Each command is one module here with a Typer application called `app`, and one line in `table.py`. It is loaded only
when it is invoked. What commands share (options derived from the specs, output, progress, errors, signals) is in
`base/`. Importing this package imports nothing else, so that Ctrl-C is answered from the first moment on.
"""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments of the process name, and end the process with its exit code."""
    import sys

    from anonset.cli.base.signals import end_now, graceful_stop

    code = 130
    with graceful_stop() as stop:
        from anonset.cli.base.outcome import run

        code = run(sys.argv[1:])
    if code == 130 and stop.exit_code:
        end_now(stop.exit_code)
    sys.exit(code)
