"""A ledger beside a table: no transaction is lost or released twice, wherever the run is killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import anonset
from anonset import InputError, Targets, WaitingError
from anonset.nightly.ledger import opened
from tests.databases.table_kills import DATA, ids, publish

ROOT = Path(__file__).parents[2]
ALL = sorted(DATA.ids.to_pylist())


@pytest.mark.parametrize("step", [113, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "duckdb"])
def test_killed_at_any_line_every_transaction_is_released_exactly_once(kind, step, request, tmp_path):
    if kind == "postgresql":
        server = request.getfixturevalue("server")
        address = server.address.format(database=server.new()) + "/{table}{number}"
    else:
        address = f"{tmp_path}/{{number}}.{kind}/{{table}}"
    command = [sys.executable, "-m", "tests.databases.table_kills", address, str(tmp_path), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert runs[-1]["ended"] == 0
    assert {run["ended"] for run in runs[:-1]} == {-9}
    for run in runs:
        first, second = run["released"]
        assert sorted(first + second) == ALL, "lost, or released twice"
        assert run["waited"] == (not second)
    assert {bool(run["released"][0]) for run in runs} == {True, False}, "kills came before and after"


@pytest.fixture
def pending(database, tmp_path):
    """A run that was killed right after the rename: the ledger does not know yet."""
    publish(database.at("first"), tmp_path / "ledger")
    with opened(tmp_path / "ledger") as ledger, ledger._database:
        ledger._database.execute("UPDATE batch SET released = 0")
    return tmp_path / "ledger"


def test_a_table_that_is_in_place_counts_as_released(database, pending):
    with pytest.raises(WaitingError, match="No transaction is new"):
        publish(database.at("second"), pending)


@pytest.mark.parametrize("answer", ["released", "discarded"])
def test_where_the_table_is_gone_a_person_is_asked(database, pending, answer):
    database.run("DROP TABLE first", "DROP TABLE first_certificate")
    with pytest.raises(InputError, match="not known whether batch 1"):
        publish(database.at("second"), pending)
    with opened(pending) as ledger:
        assert len(ledger.settle(answer)) == 1
    if answer == "released":
        with pytest.raises(WaitingError):
            publish(database.at("second"), pending)
    else:
        publish(database.at("second"), pending)
        assert ids(database.at("second")) == ALL


def test_a_batch_whose_end_is_unclear_stays_pending(database, tmp_path, monkeypatch):
    from anonset.io.database import session, staged

    def silent(self, connection):
        raise session.CommitError

    with monkeypatch.context() as patched:
        patched.setattr(staged.StagedTable, "_rename", silent)
        patched.setattr(staged, "became", lambda target, digest: None)
        with pytest.raises(anonset.OutputError, match="not known whether"):
            publish(database.at("first"), tmp_path / "ledger")
    with opened(tmp_path / "ledger") as ledger:
        assert [batch.released for batch in ledger.batches()] == [False]
    publish(database.at("second"), tmp_path / "ledger")  # its staging table is still there: it was not released
    assert ids(database.at("second")) == ALL


def test_the_ledger_knows_the_address_without_its_password(server, tmp_path):
    place = server.address.format(database=server.new())
    anonset.publish(DATA, Targets(out=f"{place}/first", ledger=tmp_path / "l"), k=2)
    assert b"hunter2" not in (tmp_path / "l").read_bytes()
    with opened(tmp_path / "l") as ledger:
        assert ledger.batches()[0].target.endswith("/first")
