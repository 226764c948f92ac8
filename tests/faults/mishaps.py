"""Publishes in child processes that meet with an accident, and says what each of them left behind.

    python mishaps.py FOLDER kill|interrupt [--force] [--groups]

For n = 0, 1, 2, … a fresh child publishes the same release into FOLDER. Once it has begun to write and comes to its
n-th line of code that has to do with files, it is killed (SIGKILL) or interrupted (SIGINT), until one gets through.
Printed is a JSON line per child: how it ended, the fingerprint of each file it left, and what the certificate says; the
first line is how it all began. With --groups the release is a folder `out` instead of the file `out.dat`.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import anonset
from anonset.io.containers import rows as text_rows
from anonset.io.publish import atomic

INSIDE = str(Path(atomic.__file__).parent)
NAMES = {f"{INSIDE}/{name}.py" for name in ("atomic", "slots")}  # where names are made and change hands
WATCHED = {"write", "stage_release", "_stage_certificate", "stage_groups", "write_certificate", "write_lines"}


def rows(version: int) -> tuple[anonset.Release, anonset.Verdict]:
    """A release of several blocks of text, another one for each version, and its verdict."""
    made = anonset.read_release([[f"item{version}", str(place // 2)] for place in range(600)])
    return made, anonset.verify(made, k=2)


def groups(version: int) -> tuple[anonset.Release, anonset.Verdict]:
    """A release in groups, another one for each version, and its verdict."""
    rows = [[f"item{version}", str(place // 2), *(["secret"] if place % 4 == 0 else [])] for place in range(200)]
    data = anonset.Transactions.from_lists(rows, sensitive=["secret"])
    result = anonset.anonymize(data, method="cahd-gray", p=2, seed=1)
    return result.release, result.verdict


def accident_at(line: int, number: int):
    """A trace function that sends this process a signal at its n-th line that has to do with files."""
    left = line
    writing = False

    def at_line(frame, event, argument):
        nonlocal left
        if event == "line" and writing:
            if left == 0:
                signal.raise_signal(number)
            left -= 1
        return at_line

    def at_call(frame, event, argument):
        nonlocal writing
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if file not in NAMES and not (function in WATCHED and file.startswith(INSIDE)):
            return None
        writing = writing or file in NAMES
        return at_line

    return at_call


def child(made: tuple[anonset.Release, anonset.Verdict], path: Path, line: int, number: int, force: bool) -> None:
    sys.settrace(accident_at(line, number))
    try:
        anonset.write(*made, path, force=force)
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(0)


def state(folder: Path) -> dict[str, object]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    certificates = [path for path in files if path.name in ("out.dat.certificate.json", "certificate.json")]
    shown = [path for path in certificates if not path.relative_to(folder).parts[0].startswith(".")]
    return {
        "files": {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        "certified": json.loads(shown[0].read_text())["files"] if shown else None,
    }


def main(folder: Path, mishap: str, force: bool, in_groups: bool) -> None:
    text_rows.BLOCK_BYTES = 2_000
    number = signal.SIGKILL if mishap == "kill" else signal.SIGINT
    release, name = (groups, "out") if in_groups else (rows, "out.dat")
    old, new = release(1), release(2)
    before, there, warm = folder / "before", folder / "there", folder / "warm"
    before.mkdir()
    warm.mkdir()
    anonset.write(*new, warm / name)  # everything is loaded here, once, and not in every child
    if force:
        anonset.write(*old, before / name)
    print(json.dumps({"ended": None, **state(before)}))
    ended = None
    for line in range(100_000):
        shutil.copytree(before, there)
        pid = os.fork()
        if pid == 0:
            child(new, there / name, line, number, force)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"ended": ended, **state(there)}))
        shutil.rmtree(there)
        if ended not in (-number, 130):  # it got through, or something else happened
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], "--force" in sys.argv, "--groups" in sys.argv)
