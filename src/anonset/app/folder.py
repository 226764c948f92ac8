"""The private folder of a running page: what was uploaded and made, removed at its end, or at the next start."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "anonset-app-"
LOCK = ".running"


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new folder that only this user can look into; with all that is in it, it is gone afterwards.

    Folders that a run left which did not end in order are removed first. A running page holds a lock in its own, which
    the system lets go of however the run ends.
    """
    place = parent or Path(tempfile.gettempdir())
    sweep(place)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))  # 0700
    held = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def sweep(place: Path) -> int:
    """Remove what runs of this user left that are no more; gives how many folders that were."""
    return sum(_removed(folder) for folder in place.glob(f"{PREFIX}*"))


def _removed(folder: Path) -> bool:
    """Remove a folder that is ours, is no link, and that no running page holds."""
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        held = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False  # it is just being made, or is none of ours
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    except OSError:
        return False
    finally:
        with suppress(OSError):
            os.close(held)
