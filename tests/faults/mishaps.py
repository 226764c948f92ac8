"""Publishes in child processes that meet with an accident, and says what each of them left behind.

    python mishaps.py FOLDER kill|interrupt [--force]

For n = 0, 1, 2, … a fresh child publishes the same release into FOLDER. Once it has begun to write and comes to its
n-th line of code that has to do with files, it is killed (SIGKILL) or interrupted (SIGINT), until one gets through.
Printed is a JSON line per child: how it ended, the fingerprint of each file it left, and what the certificate says; the
first line is how it all began.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import anonset
from anonset.io import atomic, texts

ATOMIC = atomic.__file__
INSIDE = str(Path(ATOMIC).parent)
WATCHED = {"write", "write_lines"}  # functions that touch files, besides everything in atomic.py


def release(version: int) -> tuple[anonset.Release, anonset.Verdict]:
    """A release of several blocks of text, another one for each version, and its verdict."""
    made = anonset.read_release([[f"item{version}", str(place // 2)] for place in range(600)])
    return made, anonset.verify(made, k=2)


OLD, NEW = release(1), release(2)


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
        if file != ATOMIC and not (function in WATCHED and file.startswith(INSIDE)):
            return None
        writing = writing or file == ATOMIC
        return at_line

    return at_call


def child(folder: Path, line: int, number: int, force: bool) -> None:
    sys.settrace(accident_at(line, number))
    try:
        anonset.write(*NEW, folder / "out.dat", force=force)
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(0)


def state(folder: Path) -> dict[str, object]:
    certificate = folder / "out.dat.certificate.json"
    return {
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()},
        "certified": json.loads(certificate.read_text())["files"] if certificate.exists() else None,
    }


def main(folder: Path, mishap: str, force: bool) -> None:
    texts.BLOCK_BYTES = 2_000
    number = signal.SIGKILL if mishap == "kill" else signal.SIGINT
    before, there, warm = folder / "before", folder / "there", folder / "warm"
    before.mkdir()
    warm.mkdir()
    anonset.write(*NEW, warm / "out.dat")  # everything is loaded here, once, and not in every child
    if force:
        anonset.write(*OLD, before / "out.dat")
    print(json.dumps({"ended": None, **state(before)}))
    ended = None
    for line in range(100_000):
        shutil.copytree(before, there)
        pid = os.fork()
        if pid == 0:
            child(there, line, number, force)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"ended": ended, **state(there)}))
        shutil.rmtree(there)
        if ended == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], "--force" in sys.argv)
