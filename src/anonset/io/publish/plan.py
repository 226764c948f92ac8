"""One plan of all paths of a run, made before any work.

Precondition   what the run reads and what it will write, by the names of the parameters.
Postcondition  no output is an input, by whatever name, link or folder; no two outputs are one file; every output is
               free (or `force` was given), is an ordinary file in a folder that is there, and can be written. Otherwise
               an error, and nothing was touched.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from anonset.data.address import Address, companions
from anonset.data.errors import InputError, argument
from anonset.io.publish.atomic import taken
from anonset.io.publish.folders import SharedFolder, is_system, require_folder
from anonset.io.publish.slots import unfinished

Inode = tuple[int, int]

_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|\$\$(.*?)\$\$", re.DOTALL)


@dataclass(frozen=True)
class Output:
    """A file to be written, or a folder that is put in place as a whole; `name` is what the user calls it."""

    name: str
    path: Path
    folder: bool = False


def require_plan(
    outputs: Sequence[Output],
    inputs: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    shared: SharedFolder = None,
    updated: Sequence[Output] = (),
    reserved: Sequence[Output] = (),
) -> None:
    """Refuse outputs that cannot be, that are taken, or that would destroy an input or one another.

    Parameters
    ----------
    outputs
        Everything that the run will write.
    inputs
        What it reads: paths, patterns, several of them, `-` for standard input; under `query` an SQL text. Whatever
        else (frames, lists, None) is no file and is passed over.
    force
        Whether existing files may be replaced.
    shared
        A folder that others can write to, named by the user.
    updated
        Files that the run adds to or makes where they are missing (a ledger, a log): no output and no input either.
    reserved
        Names that a database takes for its own while it is written; those of databases that are read are added here.

    Examples
    --------
    >>> require_plan([Output("out", Path("a.csv")), Output("report", Path("A.csv"))])
    Traceback (most recent call last):
    anonset.data.errors.InputError: 'report' must be another file than 'out'. Got a.csv and A.csv. Choose another name.
    """
    _require_unlike(sorted([*outputs, *updated], key=lambda output: output.name == "log"))  # it is the one to blame
    read = dict(_files(inputs or {}))
    for place in (*reserved, *_companions(inputs or {})):
        _require_not_reserved([*outputs, *updated], place)
        _require_untouched(place, read)
    for output in updated:
        _require_kind(output)
        _require_untouched(output, read)
        require_folder(output.path.parent, shared)
    for output in outputs:
        _require_kind(output)
        _require_untouched(output, read)
        if not force and os.path.lexists(output.path):
            raise taken(output.path, unfinished(output.path))
        require_folder(output.path.parent, shared)


def require_files_in(
    folder: Path,
    names: Sequence[str],
    inputs: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    shared: SharedFolder = None,
) -> None:
    """`require_plan` for files in a folder that the command makes where it is missing."""
    if os.path.lexists(folder):
        require_plan([Output(name, folder / name) for name in names], inputs, force=force, shared=shared)
        return
    if is_system(folder):
        raise _not_ordinary(folder)
    require_folder(next(above for above in folder.resolve().parents if os.path.lexists(above)), shared)


def reading_inputs(source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `anonset.read` would open for this source and these options, by name."""
    named = {
        name: value for name, value in options.items() if name in ("query", "table", "users") or name.endswith("_file")
    }
    given = options.get("attribute_hierarchy") or {}
    pairs = given.split(",") if isinstance(given, str) else ()
    texts = [pair.partition("=")[2].strip() for pair in pairs] if pairs else given.values()
    return {"data": source, **named, "attribute_hierarchy": list(texts)}


def files_read(source: Any, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that hold the data themselves, each once, as they were named; none for a frame or a pipe."""
    named = [("data", source), ("query", options.get("query"))]
    paths = (path for name, value in named for path in _paths(name, value))
    return tuple(dict.fromkeys(path for path in paths if path != "-" and Path(path).is_file()))


def release_inputs(release: Any) -> dict[str, Any]:
    """What reading a release opens: the file or folder, and the certificate and signature beside it."""
    if not isinstance(release, (str, os.PathLike)):
        return {}
    beside = f"{os.fspath(release).rstrip('/')}.certificate.json"
    return {"release": [release, beside, f"{beside}.sig"]}


# --- what kind of place ----------------------------------------------------------------------------------------


def _require_kind(output: Output) -> None:
    path = output.path
    if re.match(r"\w+:/", str(path)):
        raise InputError(f"{argument(output.name)} must be a file here. Got an address; choose a file name.")
    if path.name in ("", ".", "..") or str(path) == "-":
        raise InputError(f"{argument(output.name)} must be a path with a name. Got {path}. Choose a file name.")
    if not _is_text(path.name):
        raise InputError(
            f"{argument(output.name)} must have a name that is UTF-8 text. Got {path}. Choose another name."
        )
    if is_system(path) or is_system(path.parent):
        raise _not_ordinary(path)
    if not os.path.lexists(path):
        return
    mode = (state_of(path) or path.lstat()).st_mode
    if output.folder and not stat.S_ISDIR(mode):
        raise InputError(f"A release in groups is a folder. {path} is a file; choose another name.")
    if not output.folder and stat.S_ISDIR(mode):
        raise InputError(f"{argument(output.name)} must be a file. {path} is a folder; add a file name.")
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and not stat.S_ISLNK(mode):
        raise _not_ordinary(path)


def _is_text(name: str) -> bool:
    """Whether a certificate can say this name: a name in the system may be bytes of any kind."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_ordinary(path: Path) -> InputError:
    return InputError(f"The output must be an ordinary file. {path} is not one; choose another name.")


# --- outputs among themselves ----------------------------------------------------------------------------------


def _require_unlike(outputs: Sequence[Output]) -> None:
    for place, one in enumerate(outputs):
        for other in outputs[:place]:
            if _alike(one.path, other.path) or _inside(one, other) or _inside(other, one):
                raise InputError(
                    f"{argument(one.name)} must be another file than {argument(other.name)}. "
                    f"Got {other.path} and {one.path}. Choose another name."
                )


def _require_not_reserved(outputs: Sequence[Output], reserved: Output) -> None:
    for output in outputs:
        if _alike(output.path, reserved.path):
            raise InputError(
                f"{argument(output.name)} must be another file than {reserved.path}, which the database of "
                f"{argument(reserved.name)} takes for its own. Choose another name."
            )


def _alike(one: Path, other: Path) -> bool:
    """Whether two paths are one file here, or would be on a disk that ignores case or the way of writing accents."""
    here, there = state_of(one), state_of(other)
    if here is not None and there is not None and os.path.samestat(here, there):
        return True
    return _spelt(one.name) == _spelt(other.name) and one.parent.resolve() == other.parent.resolve()


def _inside(one: Output, other: Output) -> bool:
    """Whether one lies in the folder that the other puts in place."""
    return other.folder and _real(other.path) in _real(one.path).parents


def _spelt(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _real(path: Path) -> Path:
    """The path with the links in its folder resolved, and its own name as it is: that is what gets replaced."""
    return path.parent.resolve() / path.name


# --- outputs and inputs ----------------------------------------------------------------------------------------


def _require_untouched(output: Output, read: Mapping[Inode, str]) -> None:
    """Refuse an output that is one of the files that are read, lies in a folder that is, or holds one of them."""
    places = [output.path] if output.folder and state_of(output.path) else [output.path, *_real(output.path).parents]
    states = (state_of(place) for place in places)
    found = next((read[inode] for info in states if info is not None and (inode := _inode(info)) in read), None)
    if output.folder and found is None:
        found = next((read[inode] for inode in _below(output.path) if inode in read), None)
    if found is not None and state_of(output.path) is None:
        raise InputError(
            f"{argument(output.name)} must not lie in a folder that is read: the next run would read it. "
            f"Got {output.path}, in what {argument(found)} reads. Choose another place."
        )
    if found is not None:
        raise InputError(
            f"{argument(output.name)} must not replace the input. Got {output.path}, which {argument(found)} reads. "
            "Choose another name."
        )


def _files(inputs: Mapping[str, Any]) -> Iterator[tuple[Inode, str]]:
    """The files and folders that are read, each with the name of its parameter."""
    for name, value in inputs.items():
        for path in _paths(name, value):
            if path == "-":
                yield from ((inode, name) for inode in _standard_input())
            elif (info := state_of(path)) is not None:
                yield _inode(info), name
                yield from ((inode, name) for inode in _below(Path(path)))


def _companions(inputs: Mapping[str, Any]) -> Iterator[Output]:
    """The names that the databases among the inputs take for their own."""
    for name, value in inputs.items():
        for path in _paths(name, value):
            yield from (Output(name, Path(beside)) for beside in companions(path))


def _paths(name: str, value: Any) -> Iterator[str]:
    """The texts in a parameter's value that may be paths, with what matches them as patterns."""
    if name == "table":
        return
    several = value if isinstance(value, (list, tuple)) else [value]
    texts = [os.fspath(one) for one in several if isinstance(one, (str, os.PathLike))]
    if name == "query":  # in SQL, every quoted text may name a file; a folder cannot be read there
        quoted = ["".join(parts) for text in texts for parts in _QUOTED.findall(text)]
        texts = [text for text in quoted if (info := state_of(text)) is None or not stat.S_ISDIR(info.st_mode)]
    for text in texts:
        place = Address.of(text)  # of a table in a database file, the file
        yield text if place is None else place.database
        if has_magic(text) and any(map(str.isalnum, text)):
            yield from glob(text, recursive=True)  # noqa: PTH207


def _below(folder: Path) -> Iterator[Inode]:
    """Every file below a folder, for files that have a second name elsewhere."""
    if folder.is_dir():
        for path in folder.rglob("*"):
            if path.is_file():
                yield _inode(path.stat())


def _standard_input() -> Iterable[Inode]:
    """The file that standard input was redirected from."""
    try:
        info = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        return ()
    return [_inode(info)] if stat.S_ISREG(info.st_mode) else ()


def state_of(path: str | Path) -> os.stat_result | None:
    """What a path leads to; None where there is nothing, or nothing that this user may see."""
    try:
        return Path(path).stat()
    except (OSError, ValueError):
        return None


def _inode(info: os.stat_result) -> Inode:
    return info.st_dev, info.st_ino
