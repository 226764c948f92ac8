"""Memory that is not needed any more goes back to the system at once, so that the peak of a run is what it needs.

By default glibc keeps blocks of up to 32 MB for later, and Arrow's own allocator waits before it returns any. Columns
of some millions of rows are such blocks.
"""

from __future__ import annotations

import os
from contextlib import suppress

LARGE = 1 << 20
"""Bytes from which on a block is one of its own, and is returned when it is freed."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def return_at_once() -> None:
    """Ask for that; must be called before Arrow is loaded. Where the C library has no such setting, nothing changes."""
    import ctypes

    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with suppress(OSError, TypeError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, LARGE)
        library.mallopt(_M_TRIM_THRESHOLD, LARGE)
