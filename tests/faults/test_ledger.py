"""A ledger neither loses a transaction nor lets one out twice, wherever its run is killed or fails."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import anonset
from anonset import InputError, Keep, OutputError, Targets, Transactions, WaitingError
from anonset.cli.base import outcome
from anonset.io.publish import atomic
from anonset.nightly.ledger import opened
from tests.faults.ledger_kills import DATA, ids, publish

KILLS = Path(__file__).with_name("ledger_kills.py")
ALL = sorted(DATA.ids.to_pylist())


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_line_every_transaction_is_released_exactly_once(tmp_path, step):
    root = Path(__file__).parents[2]
    command = [sys.executable, str(KILLS), str(tmp_path), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert runs[-1]["ended"] == 0
    assert {run["ended"] for run in runs[:-1]} == {-9}
    for run in runs:
        first, second = run["released"]
        assert sorted(first + second) == ALL, "lost, or released twice"
        assert run["waited"] == (not second)
    assert {bool(run["released"][0]) for run in runs} == {True, False}, "kills came before and after"


def test_a_failure_while_publishing_leaves_everything_new(tmp_path, monkeypatch):
    def full(*args, **settings):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(atomic, "_place_new", full)
        with pytest.raises(OutputError, match="disk is full"):
            publish(tmp_path, "first.csv")
    with opened(tmp_path / "ledger") as ledger:
        assert ledger.batches() == []
    publish(tmp_path, "second.csv")
    assert ids(tmp_path / "second.csv") == ALL


def _pending(tmp_path):
    """A ledger whose run ended right before it could write down that the release is in place."""
    publish(tmp_path, "first.csv")
    with opened(tmp_path / "ledger") as ledger, ledger._database:
        ledger._database.execute("UPDATE batch SET released = 0")


def test_a_release_that_is_in_place_counts_as_released(tmp_path):
    _pending(tmp_path)
    with pytest.raises(WaitingError, match="No transaction is new"):
        publish(tmp_path, "second.csv")


@pytest.mark.parametrize("answer", ["released", "discarded"])
def test_where_nobody_can_tell_a_person_is_asked(tmp_path, answer):
    _pending(tmp_path)
    (tmp_path / "first.csv").rename(tmp_path / "moved.csv")
    (tmp_path / "first.csv.certificate.json").unlink()
    with pytest.raises(InputError, match="not known whether batch 1"):
        publish(tmp_path, "second.csv")
    with opened(tmp_path / "ledger") as ledger:
        assert len(ledger.settle(answer)) == 1
    if answer == "released":
        with pytest.raises(WaitingError):
            publish(tmp_path, "second.csv")
    else:
        publish(tmp_path, "second.csv")
        assert ids(tmp_path / "second.csv") == ALL


def test_two_runs_on_one_ledger_do_not_meet(tmp_path):
    with opened(tmp_path / "ledger"), pytest.raises(InputError, match="Another run uses the ledger"):
        publish(tmp_path, "first.csv")


def test_no_output_takes_the_place_of_a_ledger_or_a_log(tmp_path):
    for name in ("ledger", "log"):
        targets = Targets(out=tmp_path / "x.csv", **{name: tmp_path / "x.csv"})
        with pytest.raises(InputError, match=f"'{name}' must be another file than 'out'"):
            anonset.publish(DATA, targets, k=2)
    source = tmp_path / "data.dat"
    source.write_text("a b\na b\n")
    with pytest.raises(InputError, match="must not replace the input"):
        anonset.publish(source, Targets(out=tmp_path / "x.csv", ledger=source), k=2)
    assert source.read_text() == "a b\na b\n"


def test_the_ledger_holds_no_id_and_is_for_its_owner_only(tmp_path):
    names = pa.array(["receipt-4711-anna", "receipt-4712-bob", "receipt-4713-cid"])
    data = replace(Transactions.from_lists([["a"]] * 3), ids=names)
    anonset.publish(data, Targets(out=tmp_path / "x.csv", ledger=tmp_path / "l"), k=3, keep=Keep())
    content = (tmp_path / "l").read_bytes()
    assert b"receipt" not in content
    assert b"anna" not in content
    assert (tmp_path / "l").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        "ALTER TABLE batch DROP COLUMN target",
        "UPDATE batch SET target = x'37'",
        "UPDATE batch SET target = CAST(x'ff00' AS TEXT)",
        "UPDATE batch SET target = 'a' || char(0), released = 0",
        "INSERT OR REPLACE INTO about VALUES ('cut', '[1]')",
        "INSERT OR REPLACE INTO about VALUES ('cut', '{')",
        "UPDATE about SET value = 7 WHERE name = 'key'",
    ],
)
def test_a_damaged_ledger_is_a_sentence(tmp_path, capsys, damage):
    publish(tmp_path, "first.csv")
    with closing(sqlite3.connect(tmp_path / "ledger")) as database, database:
        database.execute(damage)
    assert outcome.run(["ledger", str(tmp_path / "ledger")]) in (1, 2)
    said = capsys.readouterr().err
    assert "unexpected" not in said
    assert "ledger" in said
