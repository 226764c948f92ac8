"""The hidden folder `.NAME.part` beside a target: where one run at a time prepares what will be put there.

The folder is locked as long as its run lives; the system lets go of the lock when the run ends, however it ends. So a
hidden folder without a lock is what a dead run left, and is swept.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from anonset.data.errors import ExistsError, OutputError
from anonset.io.publish.folders import SharedFolder, open_folder

LONGEST = 40  # characters of the target's name, so that the hidden name is not too long for any file system
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
TRIES = 100


@dataclass(frozen=True)
class Slot:
    """A claimed hidden folder, with descriptors of it (`inside`) and of the folder of the target (`folder`)."""

    target: Path
    folder: int
    inside: int
    swept: bool  # whether a dead run had left something in it

    @classmethod
    def claim(cls, target: Path, shared: SharedFolder = None) -> Slot:
        """The hidden folder of a target, empty and locked; an error where a living run has it."""
        folder = open_folder(target.parent, shared)
        try:
            inside = _claimed(folder, target)
        except BaseException:
            os.close(folder)
            raise
        return cls(target, folder, inside, _sweep(inside))

    @property
    def name(self) -> str:
        """The name of the target, inside and outside of the hidden folder."""
        return self.target.name

    @property
    def hidden_path(self) -> Path:
        """The hidden folder."""
        return self.target.with_name(hidden_name(self.name))

    @property
    def path(self) -> Path:
        """What is being prepared."""
        return self.hidden_path / self.name

    def there(self) -> os.stat_result | None:
        """What is under the target's name now; a link is not followed."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def link(self) -> None:
        """Give what was prepared its name; the system refuses a name that is taken."""
        os.link(self.name, self.name, src_dir_fd=self.inside, dst_dir_fd=self.folder, follow_symlinks=False)

    def keep(self) -> str:
        """A second name inside for what is there now."""
        backup = f"was.{secrets.token_hex(4)}"
        os.link(self.name, backup, src_dir_fd=self.folder, dst_dir_fd=self.inside, follow_symlinks=False)
        return backup

    def move_away(self) -> str:
        """Move what is there now inside, and say under which name."""
        away = f"was.{secrets.token_hex(4)}"
        os.rename(self.name, away, src_dir_fd=self.folder, dst_dir_fd=self.inside)
        return away

    def bring_back(self, name: str) -> None:
        """Put what was there before in place again."""
        os.rename(name, self.name, src_dir_fd=self.inside, dst_dir_fd=self.folder)

    def take_back(self) -> None:
        """Move what was put in place inside again."""
        os.rename(self.name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.inside)

    def remove(self) -> None:
        """Remove what was put in place."""
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)

    def release(self, *, keep: bool = False) -> None:
        """Remove the hidden folder, unless something in it is still needed, and let go of the lock."""
        if not keep:
            shutil.rmtree(hidden_name(self.name), ignore_errors=True, dir_fd=self.folder)
        for descriptor in (self.inside, self.folder):
            with suppress(OSError):
                os.close(descriptor)


def hidden_name(name: str) -> str:
    """The name of the hidden folder beside a target of this name.

    Examples
    --------
    >>> hidden_name("release.csv")
    '.release.csv.part'
    """
    if len(name) <= LONGEST:
        return f".{name}.part"
    return f".{name[:LONGEST]}.{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}.part"


def unfinished(target: Path) -> str | None:
    """A sentence where a run to this target is under way, or ended before it was done; None where neither is so."""
    try:
        inside = os.open(target.with_name(hidden_name(target.name)), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not _lock(inside, without_locks=True):
            return f"A run is writing {target.name} at this moment: wait until it is done."
        return (
            f"A run to {target.name} ended before it was done (killed, or the machine stopped), perhaps between the "
            "release and its certificate. Run it again."
        )
    finally:
        os.close(inside)


def _claimed(folder: int, target: Path) -> int:
    """A descriptor of the hidden folder that holds its lock."""
    name = hidden_name(target.name)
    for _ in range(TRIES):
        fresh = _made(folder, name)
        with suppress(FileNotFoundError), _undone(folder, name, fresh):  # its run has just ended and removed it
            inside = _opened(folder, name, target)
            locked = _lock(inside, without_locks=fresh)
            if locked and _is_at(inside, name, folder):
                return inside
            os.close(inside)
            if not locked:  # even a folder that we made ourselves is another run's now: it must stay
                break
    else:
        raise OutputError(f"{target} could not be written: other runs to the same name come and go all the time.")
    raise ExistsError(
        f"Another run is writing {target} at this moment. Wait for it, or choose another name. "
        f"(If there is none, remove the folder {name} beside it.)"
    )


@contextmanager
def _undone(folder: int, name: str, fresh: bool) -> Iterator[None]:
    """Where the hidden folder that was just made cannot be used, it does not stay."""
    try:
        yield
    except BaseException:
        if fresh:
            with suppress(OSError):
                os.rmdir(name, dir_fd=folder)
        raise


def _made(folder: int, name: str) -> bool:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _opened(folder: int, name: str, target: Path) -> int:
    try:
        inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except NotADirectoryError:
        inside = -1
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        inside = -1
    if inside >= 0 and os.fstat(inside).st_uid == os.geteuid():
        return inside
    if inside >= 0:
        os.close(inside)
    raise OutputError(f"{target} could not be written: {name} beside it was made by somebody else. Remove it first.")


def _lock(inside: int, *, without_locks: bool) -> bool:
    """Whether the lock is ours now; on a file system without locks, what the caller knows otherwise."""
    try:
        fcntl.flock(inside, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return without_locks
    return True


def _is_at(inside: int, name: str, folder: int) -> bool:
    """Whether the hidden folder is still the one under its name: another run may have removed it in between."""
    return os.path.samestat(os.fstat(inside), os.stat(name, dir_fd=folder, follow_symlinks=False))


def _sweep(inside: int) -> bool:
    """Remove what a dead run left; whether there was anything."""
    os.fchmod(inside, 0o700)
    left = os.listdir(inside)
    for name in left:
        try:
            os.unlink(name, dir_fd=inside)
        except OSError:
            shutil.rmtree(name, ignore_errors=True, dir_fd=inside)
    return bool(left)
