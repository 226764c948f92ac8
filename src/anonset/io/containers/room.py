"""Whether DuckDB has the address space that it takes at its start: where it does not, it ends the whole process.

Once its thread has run, a lack of memory is an error like any other.
"""

from __future__ import annotations

import os
from pathlib import Path

from anonset.data.errors import ShortageError

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

NEEDED = 640 << 20
"""What DuckDB reserves at its start with one thread (584 MB, measured), most of which nobody ever touches, and some
room beside that."""

_started = False


def is_limited() -> bool:
    """Whether a limit on address space (`ulimit -v`) is set: then DuckDB gets one thread, always the same one."""
    return resource is not None and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def must_start() -> bool:
    """Whether DuckDB has not been started yet under a limit.

    Its first start needs room, or an error says so; later ones find what it reserved.
    """
    global _started
    if _started or not is_limited():
        return False
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    left = limit - _taken()
    if left < NEEDED:
        raise ShortageError(
            f"The limit on address space (ulimit -v) must leave {NEEDED >> 20} MB for reading tables. It leaves "
            f"{max(left, 0) >> 20} MB. Raise it to {(limit - left + NEEDED) >> 20:,} MB, or give the data as FIMI or "
            "basket lines."
        )
    _started = True
    return True


def _taken() -> int:
    """The address space that this process has; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
