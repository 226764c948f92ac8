"""Every exception that anonset raises on purpose.

::

    AnonsetError                exit code 1
    ├── InputError              2   the data or the call is not what it must be
    │   ├── DataError           2   a file's or a frame's content (names the line where it can)
    │   │   └── ShortageError   2   there is too little memory for it
    │   ├── ParameterError      2   an argument: which one, what it must be, what it got, what to do
    │   └── ExistsError         2   the output is there already and `force` was not given
    ├── InfeasibleError         3   no release of this data can keep the promise asked for
    ├── GuaranteeError          3   a release does not keep its promise: it is not published
    ├── OutcomeError            4   the promise holds, but the outcome is not acceptable: nothing is published
    ├── WaitingError            0   there is too little that is new for a batch: nothing was published, nothing is wrong
    ├── OutputError             1   the output could not be written; what was there before is still there
    │   └── UnclearError        1   it is not known whether the output was written: the database did not answer
    └── CancelledError        130   somebody asked to stop

Messages are one or two sentences that a user can act on. They never quote anybody's transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

_OPEN, _CLOSE = "\ue000", "\ue001"
_ARGUMENT = re.compile(f"{_OPEN}([a-z_]+)(?:=([^{_CLOSE}]*))?{_CLOSE}|'([a-z_]+)'(?= must )")
"""A marked argument, perhaps with a value; and the shape of every refusal, `'k' must …`."""


def argument(name: str) -> str:
    """The name of an argument inside a sentence: `'out'` for Python, `--out` on the command line."""
    return f"{_OPEN}{name}{_CLOSE}" if re.fullmatch("[a-z_]+", name) else f"'{name}'"


def setting(name: str, value: object = "…") -> str:
    """An argument with a value inside a sentence: `item=…` for Python, `--item …` on the command line."""
    return f"{_OPEN}{name}={value}{_CLOSE}"


def worded(sentence: str, spelt: Callable[[str], str | None]) -> str:
    """The sentence with every argument as `spelt` writes it; as Python does where that is None.

    Examples
    --------
    >>> worded(f"'k' must be given. Try {setting('k', 5)}.", lambda name: f"-{name}")
    '-k must be given. Try -k 5.'
    >>> worded(f"'k' must be given. Try {setting('k', 5)}.", lambda name: None)
    "'k' must be given. Try k=5."
    """

    def one(found: re.Match[str]) -> str:
        name, value = found[1] or found[3], found[2]
        own = spelt(name)
        if value is None:
            return f"'{bare(name)}'" if own is None else own
        return f"{bare(name)}={value}" if own is None else f"{own} {value}"

    return _ARGUMENT.sub(one, sentence)


def bare(name: str) -> str:
    """What Python calls an argument; the format to read is a second one only on the command line."""
    return "format" if name == "input_format" else name


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
    hint = ""  # what to do, where the sentence says it last

    def __init__(self, sentence: str = "") -> None:
        self._sentence = sentence
        super().__init__(self.worded(lambda name: None))

    def worded(self, spelt: Callable[[str], str | None]) -> str:
        """The sentence for an interface that calls its arguments as `spelt` says."""
        return printable(worded(self._sentence, spelt), keep="")

    @property
    def parameter(self) -> str | None:
        """The first argument that the sentence speaks of, if it speaks of one."""
        found = _ARGUMENT.search(self._sentence)
        return None if found is None else found[1] or found[3]


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
        self.source = source
        self.line = line
        self.row = row


class ShortageError(DataError):
    """There is too little memory for the data."""


class ParameterError(InputError):
    """An argument is not what it must be: `'k' must be at least 2. Got 1. Choose a larger k.`"""

    def __init__(self, name: str, must: str, got: object, advice: str = "") -> None:
        shown = f"{got:,}" if isinstance(got, int) and not isinstance(got, bool) else f"{got}"
        super().__init__(f"{argument(name)} must {must}. Got {shown}.{' ' + advice if advice else ''}")
        self.name = bare(name)
        self.hint = advice


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
        anyway = setting("accept", ",".join(self.accept))
        super().__init__(f"{sentence} To publish it all the same: {anyway}." if self.accept else sentence)


class WaitingError(AnonsetError):
    """Too few transactions are new for a batch of their own: they wait for the next run."""

    exit_code = 0

    def __init__(self, sentence: str, transactions: int = 0) -> None:
        super().__init__(sentence)
        self.transactions = transactions


class OutputError(AnonsetError):
    """The output could not be written."""


class UnclearError(OutputError):
    """Nobody knows whether the output was written: the connection ended at the last step."""


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


_SHORTAGES = (
    "can't start new thread",
    "Resource temporarily unavailable",
    "failed to map segment",
    "without exception set",  # a library lacked it and forgot to say so
    "without setting an exception",
)


def is_shortage(error: BaseException) -> bool:
    """Whether memory is behind an error: without it no thread starts and no library is loaded, in other words."""
    return isinstance(error, MemoryError) or (
        isinstance(error, (RuntimeError, ImportError, SystemError)) and any(words in str(error) for words in _SHORTAGES)
    )
