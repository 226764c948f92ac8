"""Standard streams that somebody closed (`anonset … >&-`): their numbers must not become those of our files."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def occupy() -> None:
    """Take the numbers of closed standard streams, so that nothing meant for one ends in a release.

    Closed standard input and output stay closed for us, since a command may need them; what is meant for a closed
    standard error goes nowhere.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives the lowest free number
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
