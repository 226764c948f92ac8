"""Every exception that anonset raises on purpose.

::

    AnonsetError                exit code 1
    ├── InputError              2   the data or the call is not what it must be
    │   ├── DataError           2   a file's or a frame's content (names the line where it can)
    │   ├── ParameterError      2   an argument: which one, what it must be, what it got, what to do
    │   └── ExistsError         2   the output is there already and `force` was not given
    ├── InfeasibleError         3   no release of this data can keep the promise asked for
    ├── GuaranteeError          3   a release does not keep its promise: it is not published
    ├── OutcomeError            4   the promise holds, but the outcome is not acceptable: nothing is published
    ├── OutputError             1   the output could not be written; what was there before is still there
    └── CancelledError        130   somebody asked to stop

Messages are one or two sentences that a user can act on. They never quote anybody's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def printable(text: str, keep: str = "\n") -> str:
    """The text with control characters spelt out: nobody's label must command the terminal or turn the line round.

    Examples
    --------
    >>> print(printable("a\\u202eb"))
    a\\u202eb
    """
    return "".join(char if char.isprintable() or char in keep else ascii(char)[1:-1] for char in text)


class AnonsetError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line ends with."""

    exit_code = 1

    def __init__(self, sentence: str = "") -> None:
        super().__init__(printable(sentence, keep=""))


class InputError(AnonsetError, ValueError):
    """The data or the call is not what it must be."""

    exit_code = 2


class DataError(InputError):
    """The content of a file or frame cannot be read as transactions."""

    def __init__(
        self, problem: str, *, source: str | None = None, line: int | None = None, row: int | None = None
    ) -> None:
        places = (source, line and f"line {line:,}", row and f"row {row:,}")
        where = ", ".join(place for place in places if place)
        super().__init__(f"{where}: {problem}" if where else problem)
        self.line = line
        self.row = row


class ParameterError(InputError):
    """An argument is not what it must be: `'k' must be at least 2. Got 1. Choose a larger k.`"""

    def __init__(self, name: str, must: str, got: object, advice: str = "") -> None:
        shown = f"{got:,}" if isinstance(got, int) and not isinstance(got, bool) else f"{got}"
        super().__init__(f"'{name}' must {must}. Got {shown}.{' ' + advice if advice else ''}")
        self.name = name


class ExistsError(InputError):
    """The output is there already."""


class InfeasibleError(AnonsetError):
    """No release of this data can keep the promise asked for."""

    exit_code = 3


class GuaranteeError(AnonsetError):
    """A release does not keep its promise, so it is not published."""

    exit_code = 3


class OutcomeError(AnonsetError):
    """A release keeps its promise and still protects nobody, or leaves nothing of use: it is not published.

    `accept` names what would have to be accepted to publish it all the same.
    """

    exit_code = 4

    def __init__(self, sentence: str = "", accept: Iterable[str] = ()) -> None:
        self.accept = tuple(accept)
        anyway = " and ".join(f"accept={name}" for name in self.accept)
        super().__init__(f"{sentence} To publish it all the same: {anyway}." if anyway else sentence)


class OutputError(AnonsetError):
    """The output could not be written."""


class CancelledError(AnonsetError):
    """Somebody asked to stop."""

    exit_code = 130


def unknown(kind: str, name: str, known: Iterable[str], advice: str = "") -> ParameterError:
    """The error for a name that is not among the known ones; it suggests the nearest."""
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        advice = f"Did you mean {', '.join(near)}?"
    elif not advice:
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        advice = f"Known: {shown}."
    return ParameterError(kind, "be a known name", repr(name), advice)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun: `1 item was`, `1,204 items were`, with the verb that fits.

    Examples
    --------
    >>> counted(1, "repeated item"), counted(1204, "repeated item")
    ('1 repeated item was', '1,204 repeated items were')
    """
    return f"1 {noun} was" if count == 1 else f"{count:,} {plural or noun + 's'} were"
