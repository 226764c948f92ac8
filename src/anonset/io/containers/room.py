"""Whether DuckDB has the address space that it takes at its start: where it does not, it ends the whole process."""

from __future__ import annotations

import os
from pathlib import Path

from anonset.data.errors import InputError

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

NEEDED = 640 << 20
"""What DuckDB and its threads reserve at their start (650 MB with two threads), most of which nobody ever touches."""


def require_room() -> None:
    """Refuse to start DuckDB where a limit (`ulimit -v`) leaves it less than it needs."""
    if resource is None:
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    left = limit - _taken()
    if left < NEEDED:
        most = (limit - left + NEEDED) >> 20
        raise InputError(
            f"The limit on address space (ulimit -v) must leave {NEEDED >> 20} MB for reading tables. It leaves "
            f"{max(left, 0) >> 20} MB. Raise it to {most:,} MB, or give the data as FIMI or basket lines."
        )


def _taken() -> int:
    """The address space that this process has; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
