"""The folder of an output, held by a descriptor from the check to the last rename.

A path can lead somewhere else a moment after it was looked at; a descriptor cannot. So a folder is opened once, what is
asked about it is asked of the descriptor, and every name in it is made, moved and removed relative to it.

Others can write in a folder where its mode says so: everybody, or a group that is not the user's own. Somebody who can
write there can replace what is published, and the certificate with it, so that nothing is published there unless the
user names the folder. A sticky folder such as /tmp is no such folder: there, others can add names, but neither
remove nor rename ours, and new names are made with O_EXCL. The same holds for the folders above.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from anonset.data.errors import InputError, OutputError, setting

SharedFolder = str | os.PathLike[str] | None
"""A folder that the user names because others can write there, and that is wanted all the same."""

SYSTEM = ("/dev", "/proc", "/sys")
MEMORY = "/dev/shm"


def open_folder(path: Path, shared: SharedFolder = None) -> int:
    """A descriptor of a folder that only this user can write to, or that `shared` names."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        require_own(path, os.fstat(descriptor), shared)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def require_folder(path: Path, shared: SharedFolder = None) -> None:
    """Refuse a folder that is missing, belongs to the system, cannot be written, or can be written by others."""
    try:
        info = path.stat()
    except PermissionError:
        raise _not_permitted(path) from None
    except OSError:
        raise InputError(f"The output's folder {path} does not exist. Create it first.") from None
    if not stat.S_ISDIR(info.st_mode):
        raise InputError(f"The output's folder {path} does not exist: it is a file. Choose another place.")
    if not os.access(path, os.W_OK | os.X_OK):
        raise _not_permitted(path)
    require_own(path, info, shared)


def _not_permitted(path: Path) -> OutputError:
    return OutputError(f"Nothing can be written: there is no permission to write in {path}. Choose another place.")


def is_system(path: Path) -> bool:
    """Whether a path leads to where the system shows its devices and processes: a rename there breaks things."""
    real = path.resolve()
    return any(real.is_relative_to(root) for root in SYSTEM) and not real.is_relative_to(MEMORY)


def require_own(path: Path, info: os.stat_result, shared: SharedFolder) -> None:
    """Refuse a folder that others can write to, or can replace as a whole, unless `shared` names it."""
    above = path.resolve().parents
    for folder, state in ((path, info), *((one, one.stat()) for one in above)):
        who = writers(state)
        if who is None or _named(info, shared):
            continue
        raise InputError(
            f"The output's folder must be one that only you can write to. {folder} can be written by {who}, who could "
            f"replace what is published. Choose another folder, or name it: {setting('shared_folder', path)}."
        )


def writers(info: os.stat_result) -> str | None:
    """Who else can rename what this user has in a folder, in words; None if nobody can."""
    if info.st_mode & stat.S_ISVTX:
        return None
    if info.st_mode & stat.S_IWOTH:
        return "everybody"
    if info.st_mode & stat.S_IWGRP and not own_group(info.st_gid):
        return "its group"
    return None


def own_group(number: int) -> bool:
    """Whether nobody but this user and the administrator is in a group."""
    try:
        me, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
    except KeyError:  # users without names, as containers have them
        return number == os.getegid()
    members = {*group.gr_mem, *(user.pw_name for user in pwd.getpwall() if user.pw_gid == number)}
    return members <= {me, "root"}


def _named(info: os.stat_result, shared: SharedFolder) -> bool:
    if shared is None:
        return False
    place = Path(shared)
    return place.is_dir() and os.path.samestat(place.stat(), info)
