"""Kills a run that writes a table with a ledger at its n-th line, runs it once more, prints what is released where.

    python table_kills.py ADDRESS FOLDER STEP

`{number}` and `{table}` in ADDRESS say which run it is, and which release. A JSON line per child: how it ended,
the ids in the first release and in the second.
"""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import anonset
from anonset import Keep, Targets, Transactions, WaitingError
from anonset.data.address import Address
from anonset.io.database import session, staged
from anonset.io.publish import atomic
from anonset.nightly import batches, ledger

FILES = {atomic.__file__, staged.__file__, session.__file__, batches.__file__, ledger.__file__}
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


def publish(address, book):
    anonset.publish(DATA, Targets(out=address, ledger=book), k=2, seed=1, keep=Keep(ids=True))


def child(address, book, line):
    sys.settrace(killing_at(line))
    publish(address, book)
    sys.settrace(None)
    os._exit(0)


def ids(address):
    try:
        if staged.certificate_of(Address.of(address) or Address()) is None:
            return []
    except (anonset.AnonsetError, AttributeError):  # there is not even a file
        return []
    return sorted(anonset.read(address).ids.to_pylist())


def main(address, folder, step):
    publish(address.format(number="warm_up", table="first"), folder / "warm-up")
    for line in range(0, 10_000, step):
        pid = os.fork()
        first, second = (address.format(number=line, table=name) for name in ("first", "second"))
        if pid == 0:
            child(first, folder / str(line), line)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        waited = False
        try:
            publish(second, folder / str(line))
        except WaitingError:
            waited = True
        released = [ids(first), ids(second)]
        print(json.dumps({"ended": ended, "waited": waited, "released": released}), flush=True)
        if ended == 0:
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
