"""Runs that meet: two to one target, one after a run that was killed, and what such a run leaves behind."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import anonset
from anonset import ExistsError
from anonset.cli.base.outcome import run
from anonset.io.publish.atomic import staging
from anonset.io.publish.certificate import sha256
from anonset.io.publish.slots import hidden_name, unfinished

ROWS = [["bread", "wine"], ["bread", "wine"], ["beer"], ["beer"]]
CERTIFICATE = "out.dat.certificate.json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.dat").write_text("bread wine\nbread wine\nbeer\nbeer\n")
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "data.dat")


def python(code, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# --- two at once -----------------------------------------------------------------------------------------------

HOLDING = """
import pathlib, sys
from anonset.io.publish.atomic import staging
with staging() as stage:
    stage.file(pathlib.Path("out.dat")).write_text("the first")
    print("ready", flush=True)
    sys.stdin.readline()
    stage.publish()
"""


def test_a_second_run_to_one_target_is_refused_before_the_work_and_the_first_is_not_disturbed(folder, capsys):
    first = python(HOLDING, stdin=subprocess.PIPE)
    assert first.stdout.readline() == "ready\n"
    for arguments in (
        ["anonymize", "not-even-there.dat", "-k", "2", "-o", "out.dat"],
        ["convert", "data.dat", "out.dat"],
    ):
        for force in ([], ["--force"]):
            assert run([*arguments, *force]) == 2
            assert "Another run is writing out.dat at this moment" in capsys.readouterr().err
    assert unfinished(Path("out.dat")) == "A run is writing out.dat at this moment: wait until it is done."
    first.communicate("go on\n", timeout=30)
    assert first.returncode == 0
    assert names(folder) == ["out.dat"]
    assert Path("out.dat").read_text() == "the first"


def test_a_run_to_another_target_in_the_same_folder_is_not_disturbed(folder):
    with staging() as one, staging() as other:
        one.file(Path("one")).write_text("1")
        other.file(Path("other")).write_text("2")
        one.publish()
        other.publish()
    assert names(folder) == ["one", "other"]


@pytest.mark.parametrize("force", [False, True])
def test_many_runs_at_once_leave_one_release_and_its_own_certificate(folder, force):
    code = f"""
import anonset, sys
try:
    targets = anonset.Targets(out="out.dat", force={force})
    anonset.publish([["a", str(sys.argv)], ["a", str(sys.argv)]], targets, k=2, seed={{seed}})
except anonset.ExistsError:
    sys.exit(2)
"""
    running = [python(code.format(seed=seed)) for seed in range(6)]
    ended = [(one.communicate(timeout=120), one.returncode) for one in running]
    codes = [code for _, code in ended]
    assert set(codes) <= {0, 2}, ended
    assert codes.count(0) >= 1
    assert force or codes.count(0) == 1
    assert names(folder) == ["out.dat", CERTIFICATE]
    assert json.loads(Path(CERTIFICATE).read_text())["files"] == {"out.dat": sha256(Path("out.dat"))}


# --- after a kill ----------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import anonset
from anonset.io.publish import atomic

place = atomic.Staging._place
def killed(self, slot, undo):
    if slot.name.endswith({before!r}):
        os.kill(os.getpid(), signal.SIGKILL)
    place(self, slot, undo)
atomic.Staging._place = killed
anonset.publish([["new"], ["new"]], anonset.Targets(out="out.dat", force={force}, report="report.json"), k=2, seed=1)
"""


def killed_before(name, force=False):
    done = python(KILLED.format(before=name, force=force))
    done.communicate(timeout=60)
    assert done.returncode == -9


@pytest.mark.parametrize("force", [False, True])
def test_a_kill_between_release_and_certificate_is_noticed_by_verify_and_by_the_next_run(folder, capsys, force):
    if force:
        anonset.publish(ROWS, anonset.Targets(out="out.dat"), k=2, seed=1)
    killed_before("certificate.json", force)
    assert Path("out.dat").exists()
    assert not Path(CERTIFICATE).exists()

    assert run(["verify", "out.dat", "-k", "2"]) == 0
    assert "A run to out.dat ended before it was done" in capsys.readouterr().err
    assert run(["verify", "out.dat"]) == 0
    assert "ended before it was done" in capsys.readouterr().err

    assert run(["anonymize", "data.dat", "-k", "2", "-o", "out.dat"]) == 2
    assert "ended before it was done" in capsys.readouterr().err
    assert run(["anonymize", "data.dat", "-k", "2", "-o", "out.dat", "--report", "report.json", "--force"]) == 0
    assert "What it left was removed." in " ".join(capsys.readouterr().err.split())
    assert names(folder) == ["out.dat", CERTIFICATE, "report.PRIVATE.json"]
    assert run(["verify", "out.dat"]) == 0
    assert "ended before" not in capsys.readouterr().err


def test_a_kill_before_anything_is_in_place_leaves_only_what_the_next_run_removes(folder, capsys):
    killed_before("out.dat")
    assert names(folder)
    assert all(name.startswith(".") and name.endswith(".part") for name in names(folder))
    assert run(["anonymize", "data.dat", "-k", "2", "-o", "out.dat", "--report", "report.json"]) == 0
    assert names(folder) == ["out.dat", CERTIFICATE, "report.PRIVATE.json"]


def test_what_a_dead_run_left_in_the_hidden_folder_is_removed_whatever_it_is(folder):
    hidden = folder / ".out.dat.part"
    (hidden / "deep" / "down").mkdir(parents=True)
    (hidden / "deep" / "down" / "file").write_text("x")
    (hidden / "link").symlink_to(folder / "data.dat")
    with staging() as stage:
        stage.file(folder / "out.dat").write_text("new")
        assert [path.name for path in hidden.iterdir()] == ["out.dat"]
        assert stage.notes == [
            f"An earlier run to {folder / 'out.dat'} ended before it was done. What it left was removed."
        ]
        stage.publish()
    assert names(folder) == ["out.dat"]
    assert (folder / "data.dat").exists()


def test_long_names_have_hidden_names_of_their_own():
    long = ["x" * 200 + end for end in ("1", "2")]
    hidden = [hidden_name(name) for name in long]
    assert len(set(hidden)) == 2
    assert all(len(name.encode()) < 255 for name in (*hidden, hidden_name("ü" * 120)))


def test_a_file_system_without_locks_is_told_from_one_run_at_a_time(folder, monkeypatch):
    """Where locks are unknown, a hidden folder that is there already may be a living run's: it is not touched."""
    import errno
    import fcntl

    def no_locks(*args):
        raise OSError(errno.ENOTSUP, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with staging() as stage:
        stage.file(folder / "out.dat").write_text("new")
        with pytest.raises(ExistsError, match="If there is none, remove the folder"), staging() as second:
            second.file(folder / "out.dat")
        stage.publish()
    assert names(folder) == ["out.dat"]


def test_a_lock_is_taken_at_the_start_of_the_run_and_let_go_at_its_end(folder):
    seen = []

    def progress(stage, done, total):
        seen.append((stage, (folder / ".out.dat.part").is_dir()))

    anonset.publish(ROWS, anonset.Targets(out="out.dat"), k=2, seed=1, progress=progress)
    assert dict(seen)["read"], "before the data is read"
    assert names(folder) == ["out.dat", CERTIFICATE]
    start = time.monotonic()
    anonset.publish(ROWS, anonset.Targets(out="out.dat", force=True), k=2, seed=1)
    assert time.monotonic() - start < 60
