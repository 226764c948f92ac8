"""Files and folders that appear whole or not at all.

Precondition   the folder of every target exists and can be written; the targets are free, or `force` was given.
Steps          temporary names beside the targets, for the owner's eyes only · flush them to the disk · move away
               what has to go first · put each one in place by a single link, rename or swap · flush the folders.
Postcondition  at every moment, also after a crash, each target is absent, the old one or the new one. An error
               or Ctrl-C puts the old ones back and leaves no temporary behind; SIGKILL and power cuts can
               leave hidden `.NAME.XXXX.part` files, which nobody reads. Whoever ends the process by other means calls
               `discard_unfinished` first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from anonset.data.errors import ExistsError, OutputError

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}
"""What file systems answer that have no hard links."""

STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that a program may answer by ending in good order."""

_REASONS = {
    errno.ENOSPC: "the disk is full. Free some space or choose another place",
    errno.EDQUOT: "your disk quota is used up. Free some space or choose another place",
    errno.EFBIG: "the file would be larger than this place allows. Choose another place or a compressed format",
    errno.EACCES: "there is no permission to write there. Choose another place",
    errno.EPERM: "there is no permission to write there. Choose another place",
    errno.EROFS: "that place is read-only. Choose another place",
    errno.ENAMETOOLONG: "the name is too long. Choose a shorter one",
    errno.ENOENT: "its folder does not exist. Create the folder first",
    errno.ENOTDIR: "its folder is not a folder. Choose another place",
}


_placing = threading.RLock()
"""Held while names are made or change hands, so that another thread can tell when it is safe to end the process."""


class Staging:
    """Temporary files and folders that wait for their place; made by `staging`.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "greeting.txt"
    >>> with staging() as stage:
    ...     _ = stage.file(target).write_text("hello")
    ...     stage.publish()
    >>> target.read_text()
    'hello'
    """

    def __init__(self, force: bool) -> None:
        self._force = force
        self._waiting: dict[Path, Path] = {}  # temporary → target, in the order of publishing
        self._temporaries: list[Path] = []

    def file(self, target: Path) -> Path:
        """An empty file (mode 0600) beside `target`, to be written and then published under its name."""
        temporary = self._beside(target)
        with _placing:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._waiting[temporary] = target
        return temporary

    def folder(self, target: Path, replaceable: Callable[[Path], bool] | None = None) -> Path:
        """An empty folder (mode 0700) beside `target`, to be filled and then published under its name.

        An existing folder is replaced only with `force`, and only where it is empty or `replaceable` says that
        nothing in it will be missed.
        """
        if self._force and target.is_dir() and any(target.iterdir()) and not (replaceable and replaceable(target)):
            raise ExistsError(f"The folder {target} holds other files. Choose another name or empty it first.")
        temporary = self._beside(target)
        with _placing:
            temporary.mkdir(mode=0o700)
        self._waiting[temporary] = target
        return temporary

    def publish(self, withdraw: Sequence[Path] = ()) -> None:
        """Put everything in place, in the order it was staged; `withdraw` names files that must go first.

        If one of them cannot be put in place, or Ctrl-C comes before the last one is, all is as it was before.
        """
        for temporary in self._waiting:
            flush(temporary)
        folders = {target.parent for target in (*self._waiting.values(), *withdraw)}
        with uninterrupted() as held, _placing, ExitStack() as undo:
            for old in withdraw:
                self._withdraw(old, undo)
                _flush_entry(old.parent)
            for temporary, target in self._waiting.items():
                self._place(temporary, target, undo)
                _flush_entry(target.parent)
            if held:
                raise KeyboardInterrupt
            undo.pop_all()
            self._clean()
            for folder in folders:
                _flush_entry(folder)

    def _beside(self, target: Path) -> Path:
        # Noted before it is made: an interrupt in between must not leave it behind.
        temporary = target.with_name(f".{target.name[:60]}.{secrets.token_hex(4)}.part")
        self._temporaries.append(temporary)
        return temporary

    def _withdraw(self, old: Path, undo: ExitStack) -> None:
        away = self._beside(old)
        with suppress(FileNotFoundError):
            old.replace(away)
            undo.callback(away.replace, old)

    def _place(self, temporary: Path, target: Path, undo: ExitStack) -> None:
        if temporary.is_dir():
            self._place_folder(temporary, target, undo)
        elif self._force:
            self._keep_old(target, undo)
            temporary.replace(target)
        else:
            _place_new(temporary, target)
            undo.callback(target.unlink)

    def _keep_old(self, target: Path, undo: ExitStack) -> None:
        """Remember how to bring the old file back, should a later step fail."""
        if not os.path.lexists(target):
            undo.callback(target.unlink, missing_ok=True)
            return
        backup = self._beside(target)
        with suppress(OSError, NotImplementedError):  # no hard links: no way back, and still never half a file
            os.link(target, backup, follow_symlinks=False)
            undo.callback(backup.replace, target)

    def _place_folder(self, temporary: Path, target: Path, undo: ExitStack) -> None:
        if os.path.lexists(target):
            if not self._force:
                raise taken(target)
            if _swap(temporary, target):  # the temporary name now holds the old folder
                undo.callback(_swap, temporary, target)
                return
            away = self._beside(target)
            target.rename(away)
            undo.callback(away.rename, target)
        temporary.rename(target)
        undo.callback(target.rename, temporary)

    def _clean(self) -> None:
        for temporary in self._temporaries:
            if temporary.is_dir() and not temporary.is_symlink():
                shutil.rmtree(temporary, ignore_errors=True)
            else:
                with suppress(OSError):
                    temporary.unlink()


@contextmanager
def staging(*, force: bool = False) -> Iterator[Staging]:
    """A place to prepare files and folders; what was not published by the end is removed."""
    stage = Staging(force)
    _unfinished.append(stage)
    try:
        yield stage
    finally:
        with uninterrupted():
            stage._clean()
            _unfinished.remove(stage)


_unfinished: list[Staging] = []


def discard_unfinished(patience: float = 10.0) -> None:
    """Remove every temporary, from any thread, right before the process ends; nothing can be staged afterwards.

    Names that are just changing hands get the time they need: they take longer only on a disk in trouble.
    """
    if _placing.acquire(timeout=patience):
        for stage in _unfinished:
            stage._clean()


@contextmanager
def plain_errors(path: object) -> Iterator[None]:
    """What the operating system says about writing `path`, as an `OutputError` in a plain sentence."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"the system says: {error.strerror or error}")
        raise OutputError(f"{path} could not be written: {reason}. Nothing was changed.") from error


@contextmanager
def uninterrupted() -> Iterator[Sequence[object]]:
    """Ctrl-C and `kill` wait until the block is done; for the few system calls that belong together.

    Gives the signals that wait.
    """
    held: list[tuple[int, FrameType | None]] = []
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    usual = {number: handler for number in STOPS if callable(handler := signal.getsignal(number))}
    try:
        for number in usual:
            signal.signal(number, lambda number, frame: held.append((number, frame)))
        yield held
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if held:
            usual[held[0][0]](*held[0])


def flush(path: Path) -> None:
    """Make sure that a file, or everything in a folder, has reached the disk."""
    if path.is_dir():
        for entry in path.iterdir():
            flush(entry)
        _flush_entry(path)
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_entry(folder: Path) -> None:
    """Make sure that the names in a folder have reached the disk, where the file system can promise that."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _place_new(temporary: Path, target: Path) -> None:
    """Give the file its name unless that is taken: a link fails by itself, so nobody can come in between."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise taken(target) from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(target):
            raise taken(target) from error
        temporary.rename(target)


def taken(target: Path) -> ExistsError:
    """The error for an output that is there already."""
    return ExistsError(f"{target} is there already. Choose another name, or replace it with force (--force).")


def _swap(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return bool(library.renamex_np(*names, 2) == 0)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        here = -100  # AT_FDCWD: names are relative to the working folder
        return bool(library.renameat2(here, names[0], here, names[1], 2) == 0)
    return False
