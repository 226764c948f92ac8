"""Files and folders that appear whole or not at all, all of a run together.

Precondition   the folder of every target exists and can be written, by nobody else; the targets are free, or `force`
               was given.
Steps          for each target a hidden folder `.NAME.part` beside it, for the owner's eyes only and locked by this
               run · what is written there is flushed to the disk · move away what has to go first · put each one in
               place by a single link, rename or swap · flush the folders.
Postcondition  at every moment, also after a crash, each target is absent, the old one or the new one. An error
               or Ctrl-C puts the old ones back and leaves nothing behind; SIGKILL and power cuts can leave the hidden
               folder, which nobody reads: `unfinished` notices it, and the next run of the same target removes it,
               since the lock of a dead run is gone. Somebody who ends the process by other means calls
               `discard_unfinished` first.

Every name is made and moved relative to a descriptor of its folder (see `folders`), never through a link.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from anonset.data.errors import ExistsError, InputError, OutputError, UnclearError, argument
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.slots import Slot

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


class Journal(Protocol):
    """Who writes down what is put in place, before and after."""

    def begin(self) -> None:
        """Right before the first target gets its name."""

    def done(self) -> None:
        """All targets are in place."""

    def undo(self) -> None:
        """None is, and everything is as before."""


class Companion(Protocol):
    """What is put in place in a way of its own, after all files: a table of a database."""

    @property
    def target(self) -> str:
        """What it is called."""

    @property
    def digest(self) -> str:
        """The sha256 of what was written."""

    def place(self) -> None:
        """Put it in place, all or nothing."""

    def release(self) -> None:
        """Remove what was not put in place."""


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

    def __init__(self, force: bool, shared: SharedFolder = None) -> None:
        self.force = force
        self.notes: list[str] = []
        self._shared = shared
        self._slots: dict[Path, Slot] = {}
        self._waiting: list[Path] = []  # targets, in the order of publishing
        self._leaving: list[Path] = []  # what must go before the first of them comes
        self._unrestored: list[Slot] = []
        self._modes: dict[Path, int] = {}
        self.journal: Journal | None = None
        self.companion: Companion | None = None

    def reserve(self, target: Path) -> None:
        """Take the place beside `target` for this run, before there is anything to write; an error if it is taken."""
        if target in self._slots:
            return
        with uninterrupted(), _placing:
            slot = self._slots[target] = Slot.claim(target, self._shared)
        if slot.swept:
            self.notes.append(f"An earlier run to {target} ended before it was done. What it left was removed.")

    def file(self, target: Path) -> Path:
        """An empty file (mode 0600) in the hidden folder of `target`, to be written and published under its name."""
        self.reserve(target)
        slot = self._slots[target]
        with _placing:
            flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
            os.close(os.open(target.name, flags, 0o600, dir_fd=slot.inside))
        self._waiting.append(target)
        return slot.path

    def folder(self, target: Path, replaceable: Callable[[Path], bool] | None = None) -> Path:
        """An empty folder (mode 0700) in the hidden folder of `target`, to be filled and published under its name.

        An existing folder is replaced only with `force`, and only where it is empty or `replaceable` says that
        nothing in it will be missed.
        """
        if self.force and target.is_dir() and any(target.iterdir()) and not (replaceable and replaceable(target)):
            raise ExistsError(f"The folder {target} holds other files. Choose another name or empty it first.")
        self.reserve(target)
        slot = self._slots[target]
        with _placing:
            os.mkdir(target.name, 0o700, dir_fd=slot.inside)
        self._waiting.append(target)
        return slot.path

    def staged(self, target: Path) -> Path:
        """Where what will be put at `target` is now."""
        return self._slots[target].path

    def allow(self, target: Path, mode: int) -> None:
        """Have a target, if it was staged, readable by others than its owner."""
        self._modes[target] = mode

    def withdraw(self, old: Path) -> None:
        """Have a file, if it is there, removed before anything is put in place: it spoke about the old release."""
        if os.path.lexists(old):
            self.reserve(old)
            self._leaving.append(old)

    def publish(self) -> None:
        """Put everything in place, in the order it was staged.

        If one of them cannot be put in place, or Ctrl-C comes before the last one is, all is as it was before.
        """
        for target in self._waiting:
            if target in self._modes:
                set_mode(self._slots[target].path, self._modes[target])
            flush(self._slots[target].path)
        with uninterrupted() as held, _placing:
            with ExitStack() as undo:
                if self.journal is not None:
                    undo.callback(self.journal.undo)
                    self.journal.begin()
                for old in self._leaving:
                    self._withdraw(self._slots[old], undo)
                for target in self._waiting:
                    self._place(self._slots[target], undo)
                if held:
                    raise KeyboardInterrupt
                self._place_companion(undo)
                undo.pop_all()
            published.extend(self._waiting)
            if self.journal is not None:
                self.journal.done()
            self.close()

    def _place_companion(self, undo: ExitStack) -> None:
        """The last step; where nobody knows whether it was done, nothing else is undone either."""
        if self.companion is None:
            return
        try:
            self.companion.place()
        except UnclearError:
            undo.pop_all()
            raise
        published.append(self.companion.target)

    def _withdraw(self, slot: Slot, undo: ExitStack) -> None:
        with suppress(FileNotFoundError):
            away = slot.move_away()
            self._on_failure(undo, slot, slot.bring_back, away)
        flush_names(slot.folder)

    def _place(self, slot: Slot, undo: ExitStack) -> None:
        if stat.S_ISDIR(os.stat(slot.name, dir_fd=slot.inside, follow_symlinks=False).st_mode):
            self._place_folder(slot, undo)
        elif self.force:
            self._replace(slot, undo)
        else:
            _place_new(slot)
            self._on_failure(undo, slot, slot.remove)
        flush_names(slot.folder)

    def _replace(self, slot: Slot, undo: ExitStack) -> None:
        """Put a file in the place of the old one, and remember how to bring that back, should a later step fail."""
        old = slot.there()
        if old is None:
            self._on_failure(undo, slot, slot.remove)
        elif not (stat.S_ISREG(old.st_mode) or stat.S_ISLNK(old.st_mode)):
            raise InputError(f"The output must be an ordinary file. {slot.target} is not one; choose another name.")
        else:
            with suppress(OSError, NotImplementedError):  # no hard links: no way back, and still never half a file
                backup = slot.keep()
                self._on_failure(undo, slot, slot.bring_back, backup)
        os.rename(slot.name, slot.name, src_dir_fd=slot.inside, dst_dir_fd=slot.folder)

    def _place_folder(self, slot: Slot, undo: ExitStack) -> None:
        if slot.there() is not None:
            if not self.force:
                raise taken(slot.target)
            if _swap(slot):  # the hidden folder now holds the old one
                self._on_failure(undo, slot, _swap, slot)
                return
            self._on_failure(undo, slot, slot.bring_back, slot.move_away())
        os.rename(slot.name, slot.name, src_dir_fd=slot.inside, dst_dir_fd=slot.folder)
        self._on_failure(undo, slot, slot.take_back)

    def _on_failure(self, undo: ExitStack, slot: Slot, restore: Callable[..., object], *args: Any) -> None:
        """Have a step undone if a later one fails; where that fails too, what was there is kept and named."""

        def attempt() -> None:
            try:
                restore(*args)
            except OSError as error:
                self._unrestored.append(slot)
                raise OutputError(
                    f"{slot.target} could not be put back as it was: {error.strerror}. "
                    f"What was there is in {slot.hidden_path}."
                ) from error

        undo.callback(attempt)

    def close(self, *, companion: bool = True) -> None:
        """Give up what is staged; keep what was there and could not be put back."""
        if self.companion is not None and companion:
            self.companion.release()
            self.companion = None
        for slot in self._slots.values():
            slot.release(keep=slot in self._unrestored)
        self._slots.clear()
        self._waiting.clear()
        self._leaving.clear()


published: list[Path | str] = []
"""What this process has put in place so far, so that nobody says otherwise afterwards."""


@contextmanager
def staging(*, force: bool = False, shared: SharedFolder = None) -> Iterator[Staging]:
    """A place to prepare files and folders; what was not published by the end is removed."""
    stage = Staging(force, shared)
    _unfinished.append(stage)
    try:
        yield stage
    finally:
        with uninterrupted():
            stage.close()
            _unfinished.remove(stage)


_unfinished: list[Staging] = []


def discard_unfinished(patience: float = 10.0) -> None:
    """Remove every temporary, from any thread, right before the process ends; nothing can be staged afterwards.

    Names that are just changing hands get the time they need: they take longer only on a disk in trouble.
    """
    if _placing.acquire(timeout=patience):
        for stage in _unfinished:
            stage.close(companion=False)  # another thread may be talking to the database; the next run sweeps


@contextmanager
def plain_errors(path: object) -> Iterator[None]:
    """What the operating system says about writing `path`, as an `OutputError` in a plain sentence."""
    try:
        yield
    except BrokenPipeError:
        raise
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


def set_mode(path: Path, mode: int) -> None:
    """Give a file these rights; a folder, and everything in it, as well, with the right to enter for who may read."""
    if path.is_dir():
        for entry in path.iterdir():
            set_mode(entry, mode)
        mode |= (mode & 0o444) >> 2
    path.chmod(mode)


def flush(path: Path) -> None:
    """Make sure that a file, or everything in a folder, has reached the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            for entry in path.iterdir():
                flush(entry)
            flush_names(descriptor)
        else:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_names(folder: int) -> None:
    """Make sure that the names in a folder have reached the disk, where the file system can promise that."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


def _place_new(slot: Slot) -> None:
    """Give the file its name unless that is taken: a link fails by itself, so nobody can come in between."""
    try:
        slot.link()
    except FileExistsError as error:
        raise taken(slot.target) from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if slot.there() is not None:
            raise taken(slot.target) from error
        os.rename(slot.name, slot.name, src_dir_fd=slot.inside, dst_dir_fd=slot.folder)


def taken(target: Path, why: str | None = None) -> ExistsError:
    """The error for an output that is there already; `why` says what is known of the run that left it."""
    more = f" {why}" if why else ""
    return ExistsError(f"{target} is there already. Choose another name, or replace it: {argument('force')}.{more}")


def _swap(slot: Slot) -> bool:
    """Exchange what is waiting and what is in place in one step; False where the system cannot."""
    name = os.fsencode(slot.name)
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(library, "renameatx_np"):
        return bool(library.renameatx_np(slot.inside, name, slot.folder, name, 2) == 0)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return bool(library.renameat2(slot.inside, name, slot.folder, name, 2) == 0)
    return False
