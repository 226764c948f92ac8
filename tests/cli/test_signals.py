"""Ctrl-C and kill, at any moment: the end comes within a second, with the right exit code, and no files are left."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import anonset
from cli.conftest import ENVIRONMENT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


def patience() -> float:
    """One second is promised; a busy machine gets as much more as it needs more to start an empty Python."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    return 1 + 50 * max(0.0, time.perf_counter() - start - 0.02)


# Sends itself a signal a moment after the named stage began, and notes when.
STRIKE = """
import os, pathlib, signal, sys, threading, time
from anonset.data.job import Job

stage, number, delay, note, *arguments = sys.argv[1:]
usual = Job.stage

def strike():
    pathlib.Path(note).write_text(str(time.time()))
    os.kill(os.getpid(), int(number))

def watched(self, name, total=None):
    if name == stage and not pathlib.Path(note).exists():
        threading.Timer(float(delay), strike).start()
    return usual(self, name, total)

Job.stage = watched
sys.argv = ["anonset", *arguments]
from anonset.cli import main
main()
"""


def python(code: str, *arguments: object, **options: object) -> subprocess.Popen:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """300,000 generated transactions: most stages take a while."""
    path = tmp_path_factory.mktemp("large") / "data.dat"
    command = [sys.executable, "-m", "anonset", "generate", "quest", path, "--transactions", "300000", "--seed", "1"]
    subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True)
    return path


def struck(stage: str, number: int, delay: float, note: Path, *arguments: object) -> tuple[int, str, float]:
    """The exit code, what was said, and how long the end took after the signal."""
    running = python(STRIKE, stage, number, delay, note, *arguments)
    out, err = running.communicate(timeout=120)
    ended = time.time()
    assert note.exists(), f"the command was over before the signal came: {out}{err}"
    return running.returncode, err, ended - float(note.read_text())


FAST = ["--method", "pta", "--segments", "15000"]

MOMENTS = [
    ("read", 0.01),
    ("tours", 0.05),
    ("write", 0.05),
    *(pytest.param(stage, delay, marks=pytest.mark.slow) for stage in ("sort", "check") for delay in (0, 0.02)),
    *(pytest.param("write", delay, marks=pytest.mark.slow) for delay in (0, 0.02, 0.1, 0.15, 0.2)),
]


@pytest.mark.parametrize(("stage", "delay"), MOMENTS)
def test_ctrl_c_during_a_stage_of_anonymize(large, tmp_path, stage, delay):
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["anonymize", large, "-k", "5", "-o", out / "release.dat", *FAST]
    code, said, seconds = struck(stage, signal.SIGINT, delay, tmp_path / "note", *arguments)
    assert code == 130
    assert said.splitlines()[-1] == "Stopped."
    assert seconds < patience()
    assert list(out.iterdir()) == []


def test_ctrl_c_while_groups_are_improved(large, tmp_path):
    arguments = ["anonymize", large, "-k", "5", "-o", tmp_path / "release.dat"]
    code, said, seconds = struck("groups", signal.SIGINT, 0.05, tmp_path / "note", *arguments)
    assert (code, said.splitlines()[-1]) == (130, "Stopped.")
    assert seconds < patience()
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


@pytest.mark.parametrize("stage", [pytest.param("tours", marks=pytest.mark.slow), "write"])
def test_kill_ends_like_ctrl_c_with_its_own_code(large, tmp_path, stage):
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["anonymize", large, "-k", "5", "-o", out / "release.dat", *FAST]
    code, said, seconds = struck(stage, signal.SIGTERM, 0.05, tmp_path / "note", *arguments)
    assert (code, said.splitlines()[-1]) == (143, "Stopped.")
    assert seconds < patience()
    assert list(out.iterdir()) == []


@pytest.mark.slow
def test_what_was_there_before_is_still_there(large, tmp_path):
    out = tmp_path / "release.dat"
    out.write_text("the old release\n")
    arguments = ["anonymize", large, "-k", "5", "-o", out, "--force", *FAST]
    code, _, _ = struck("write", signal.SIGINT, 0.05, tmp_path / "note", *arguments)
    assert code == 130
    assert out.read_text() == "the old release\n"


@pytest.mark.parametrize("command", [["info"], pytest.param(["verify", "-k", "5"], marks=pytest.mark.slow)])
def test_ctrl_c_while_reading_for_other_commands(large, tmp_path, command):
    code, said, seconds = struck("read", signal.SIGINT, 0.02, tmp_path / "note", *command, large)
    assert (code, said) == (130, "Stopped.\n")
    assert seconds < patience()


GENERATED = [
    ("quest", "write"),
    pytest.param("quest", "generate", marks=pytest.mark.slow),
    pytest.param("supermarket", "write", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("generator", "stage"), GENERATED)
def test_ctrl_c_while_generating_leaves_nothing_half_written(tmp_path, generator, stage):
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["generate", generator, out / "it", "--transactions", "200000"]
    form = ["--format", "fimi"] if generator == "quest" else []
    code, said, seconds = struck(stage, signal.SIGINT, 0.05, tmp_path / "note", *arguments, *form)
    assert (code, said) == (130, "Stopped.\n")
    assert seconds < patience()
    left = [path for path in out.rglob("*") if path.is_file()]
    if left:  # on a busy machine the signal comes when all is written
        assert len(anonset.read(left[0] if generator == "quest" else out / "it" / "transactions.csv")) == 200_000


def test_waiting_for_standard_input_can_be_stopped(tmp_path):
    running = python("from anonset.cli import main; main()", "info", "-", stdin=subprocess.PIPE)
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=10)
    assert (running.returncode, said) == (130, "Stopped.\n")


@pytest.mark.parametrize("delay", [0.1, pytest.param(0.4, marks=pytest.mark.slow)])
def test_a_signal_while_starting_shows_no_traceback(tmp_path, delay):
    running = python("from anonset.cli import main; main()", "anonymize", "--help")
    time.sleep(delay)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=10)
    assert running.returncode in (0, 143, -signal.SIGTERM)  # done, stopped by us, or not yet ours to answer
    assert "Traceback" not in said


def test_a_signal_before_the_work_begins_ends_the_process():
    code = """
import os, signal, threading
from anonset.cli.base import signals
start = threading.Thread.start
def slow_start(thread):
    os.kill(os.getpid(), signal.SIGTERM)
    start(thread)
threading.Thread.start = slow_start
with signals.graceful_stop():
    print("begun")
"""
    running = python(code)
    out, said = running.communicate(timeout=10)
    assert (running.returncode, out or "", said) == (143, "", "Stopped.\n")


# A library that is busy and does not listen: it holds the main thread, but not the interpreter.
BUSY = """
import hashlib, os, pathlib, signal, threading, time
from anonset.cli.base.signals import graceful_stop
from anonset.io.publish.atomic import staging

with graceful_stop() as stop:
    with staging() as stage:
        stage.file(pathlib.Path({target!r})).write_text("half")
        threading.Timer(0.1, os.kill, (os.getpid(), signal.{name})).start()
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 10**9)
"""


@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_a_library_that_does_not_listen_is_ended_from_outside(tmp_path, name):
    start = time.time()
    running = python(textwrap.dedent(BUSY.format(target=str(tmp_path / "out.dat"), name=name)))
    _, said = running.communicate(timeout=20)
    assert (running.returncode, said) == (128 + getattr(signal, name), "Stopped.\n")
    assert time.time() - start < 1 + patience()
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_does_not_disturb_the_tidying_up(tmp_path):
    code = f"""
import os, pathlib, signal, time
from anonset.cli.base.signals import graceful_stop
with graceful_stop() as stop:
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        pathlib.Path({str(tmp_path / "tidy")!r}).touch()
print(stop.exit_code)
"""
    running = python(code)
    out, said = running.communicate(timeout=10)
    assert (out, said) == ("130\n", "Stopped.\n")
    assert (tmp_path / "tidy").exists()


def test_an_ignored_signal_stays_ignored(tmp_path):
    code = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from anonset.cli.base.signals import graceful_stop
with graceful_stop() as stop:
    os.kill(os.getpid(), signal.SIGHUP)
print(stop.exit_code)
"""
    assert python(code).communicate(timeout=10) == ("None\n", "")


@pytest.mark.slow
def test_ctrl_c_during_the_report_publishes_nothing(large, tmp_path):
    out = tmp_path / "release.dat"
    arguments = ["anonymize", large, "-k", "5", "-o", out, "--report", tmp_path / "report.html", *FAST]
    code, said, _ = struck("report", signal.SIGINT, 0.05, tmp_path / "note", *arguments)
    assert (code, said.splitlines()[-1]) == (130, "Stopped.")
    assert [path.name for path in tmp_path.iterdir()] == ["note"]
