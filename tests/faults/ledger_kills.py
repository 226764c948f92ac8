"""Kills a run with a ledger at its n-th line, runs it once more, and prints which transactions are released where.

    python ledger_kills.py FOLDER STEP

A JSON line per child: how it ended, and the ids in the first release and in the second.
"""

import json
import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import anonset
from anonset import Keep, Targets, Transactions, WaitingError
from anonset.io.publish import atomic, slots
from anonset.nightly import batches, ledger

FILES = {atomic.__file__, slots.__file__, batches.__file__, ledger.__file__}
ROWS = Transactions.from_lists([["a", "b"]] * 4 + [["c"]] * 4)
DATA = replace(ROWS, ids=pa.array([f"t{number}" for number in range(8)]))


def killing_at(line):
    left = line

    def at_line(frame, event, argument):
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return at_line

    return lambda frame, event, argument: at_line if frame.f_code.co_filename in FILES else None


def publish(folder, name):
    targets = Targets(out=folder / name, ledger=folder / "ledger")
    anonset.publish(DATA, targets, k=2, seed=1, keep=Keep(ids=True))


def child(folder, line):
    sys.settrace(killing_at(line))
    publish(folder, "first.csv")
    sys.settrace(None)
    os._exit(0)


def ids(path):
    return sorted(anonset.read(path).ids.to_pylist()) if path.exists() else []


def main(folder, step):
    publish_once(folder / "warm-up")
    for line in range(0, 10_000, step):
        place = folder / f"{line}"
        place.mkdir()
        pid = os.fork()
        if pid == 0:
            child(place, line)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        waited = False
        try:
            publish(place, "second.csv")
        except WaitingError:
            waited = True
        released = [ids(place / "first.csv"), ids(place / "second.csv")]
        print(json.dumps({"ended": ended, "waited": waited, "released": released}))
        shutil.rmtree(place)
        if ended == 0:
            return


def publish_once(place):
    place.mkdir()
    publish(place, "first.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
