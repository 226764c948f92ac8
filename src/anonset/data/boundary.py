"""The boundary between what others wrote and us: whatever goes wrong behind it is one sentence about the input.

Readers refuse what they know to be wrong, with its line. What they do not foresee (a million nested brackets, a name
that is no text, a number that fits nowhere) makes Python or a library fail in its own words, which may quote the data.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import pyarrow as pa

from anonset.data.errors import AnonsetError, DataError, ShortageError, is_shortage

P = ParamSpec("P")
T = TypeVar("T")

UNREADABLE = (
    RuntimeError,  # also endless nesting, and what native libraries raise
    UnicodeError,
    OverflowError,
    LookupError,
    TypeError,
    ValueError,
    pa.ArrowException,
)


def reads_input(reader: Callable[P, T]) -> Callable[P, T]:
    """A reader (its first argument is the source) that raises nothing but errors of anonset."""

    @wraps(reader)
    def read(*args: P.args, **options: P.kwargs) -> T:
        try:
            return reader(*args, **options)
        except AnonsetError:
            raise
        except (MemoryError, *UNREADABLE) as error:
            if is_shortage(error):
                problem = "This needs more memory than there is. Use a machine with more, or less data."
                raise ShortageError(problem, source=_name(args)) from None
            problem = f"The content is damaged or not of its format ({type(error).__name__}). Check how it was made."
            raise DataError(problem, source=_name(args)) from error

    return read


def _name(args: tuple[Any, ...]) -> str | None:
    return os.fspath(args[0]) if args and isinstance(args[0], (str, os.PathLike)) else None
