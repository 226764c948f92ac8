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


class WithoutPandas:
    """Where pandas is installed pyarrow loads it at the first array, which takes longer than most commands.

    No command meets a data frame; only Spark, whose interface needs it, lets it in again.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """As an import hook: there is no pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def let_pandas_in() -> None:
    """Take the hook out again."""
    import sys

    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, WithoutPandas)]


def _run() -> tuple[int, int | None]:
    """The exit code of the command, and that of the signal that stopped it, if one did."""
    import _signal  # type: ignore[import-not-found]  # built in: nothing is loaded before Ctrl-C is answered

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # there is nothing to tidy up yet: end at once, in silence

    import sys

    from anonset.cli.base.signals import Stop, graceful_stop
    from anonset.cli.base.streams import occupy

    occupy()
    sys.meta_path.insert(0, WithoutPandas())
    code, stop = 130, Stop()
    try:
        with graceful_stop(stop, last=True):
            from anonset.cli.base.memory import return_at_once
            from anonset.cli.base.outcome import run

            return_at_once()
            code = run(sys.argv[1:])
            stop.over = True
    except KeyboardInterrupt:
        code = 130
    return code, stop.exit_code
