"""Ctrl-C at the very start and at the very end of a command: no traceback, and an exit code that is true."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STRIKES = Path(__file__).with_name("strikes.py")


def python(code, **options):
    def answers_ctrl_c():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, preexec_fn=answers_ctrl_c, check=False, **options
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_at_any_line_of_start_and_end_shows_no_traceback(name):
    done = subprocess.run([sys.executable, str(STRIKES), name], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    children = [json.loads(line) for line in done.stdout.splitlines()]
    number = getattr(signal, name)
    assert not [child for child in children if "Traceback" in child["said"]]
    # Before there is anything to tidy up the system ends the process; afterwards we do; at the end it is done.
    assert {child["ended"] for child in children} <= {-number, 128 + number, 0}
    for child in children:
        if child["ended"] == 0:
            assert child["said"].startswith("anonset ")
            assert "Stopped" not in child["said"]
        else:
            assert child["said"] == "" or child["said"].endswith("Stopped.\n")
    assert len([child for child in children if child["ended"] == 128 + number]) > 30, "signals came in between"


IMPORTING = """
import signal, sys
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Strike())
sys.argv = ["anonset", "methods", "--json"]
from anonset.cli import main
main()
"""


@pytest.mark.parametrize(
    ("module", "ends", "says"),
    [
        ("anonset.cli.base.signals", -signal.SIGINT, ""),
        ("anonset.cli.base.outcome", 130, "Stopped.\n"),
        ("anonset.cli.base.commands", 130, "Stopped.\n"),
        ("anonset.methods", 130, "Stopped.\n"),
        ("numpy._core", 130, "Stopped.\n"),
        ("pyarrow.lib", 130, "Stopped.\n"),
    ],
)
def test_ctrl_c_while_a_module_is_loaded(module, ends, says):
    done = python(IMPORTING.format(module=module))
    assert (done.returncode, done.stderr, done.stdout) == (ends, says, "")


def test_ctrl_c_while_python_takes_itself_apart():
    code = """
import atexit, signal, sys
atexit.register(signal.raise_signal, signal.SIGINT)
sys.argv = ["anonset", "--version"]
from anonset.cli import main
main()
"""
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("anonset ")


def test_ctrl_c_in_a_destructor_still_ends_the_process():
    code = """
import signal, sys, time
from anonset.cli import main
from anonset.cli.base import outcome

class Busy:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def work(arguments):
    Busy()
    time.sleep(20)
    return 0

outcome.run = work
main()
"""
    done = python(code)
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


# --- what is said afterwards is true ---------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data.dat").write_text("1 2\n1 2\n3\n3\n")
    return tmp_path


def anonset(folder, *arguments, **options):
    command = [sys.executable, "-m", "anonset", *arguments]
    defaults = {"stderr": subprocess.PIPE, "text": True, "timeout": 60, "cwd": folder, "check": False}
    return subprocess.run(command, **{**defaults, **options})


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@needs_full
@pytest.mark.parametrize("more", [["--json"], []])
def test_an_answer_that_cannot_be_printed_does_not_hide_that_files_were_published(data, more):
    with Path("/dev/full").open("w") as full:
        done = anonset(data, "anonymize", "data.dat", "-k", "2", "-o", "out.dat", *more, stdout=full)
    assert done.returncode == 1
    assert "nothing was published" not in done.stderr.lower()
    assert "put in place before this happened: out.dat, out.dat.certificate.json" in done.stderr
    assert "The answer could not be printed" in done.stderr
    assert sorted(path.name for path in data.iterdir()) == ["data.dat", "out.dat", "out.dat.certificate.json"]


@needs_full
def test_a_trial_run_whose_answer_cannot_be_printed_speaks_of_no_files(data):
    with Path("/dev/full").open("w") as full:
        done = anonset(data, "anonymize", "data.dat", "-k", "2", stdout=full)
        converted = anonset(data, "convert", "data.dat", "-", "--format", "fimi", stdout=full)
    assert (done.returncode, converted.returncode) == (1, 1)
    assert done.stderr == "Error: The answer could not be printed: the system says: No space left on device.\n"
    assert "Standard output could not be written: the disk is full" in converted.stderr


@needs_full
def test_nobody_to_tell_is_no_reason_to_stop(data):
    with Path("/dev/full").open("w") as full:
        done = anonset(
            data, "anonymize", "data.dat", "-k", "2", "-o", "o.dat", "--keep-order", stderr=full, stdout=subprocess.PIPE
        )
    assert done.returncode == 0
    assert (data / "o.dat.certificate.json").exists()


def test_a_closed_standard_output_is_said_plainly(data):
    code = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, '-m', 'anonset', 'methods'])"
    done = python(code, cwd=data)
    assert (done.returncode, done.stderr) == (1, "Error: The answer could not be printed: standard output is closed.\n")


@pytest.mark.parametrize(
    ("closed", "more"),
    [((0,), []), ((1,), ["--json"]), ((1,), ["--check"]), ((2,), ["--log", "-"]), ((0, 1, 2), [])],
)
def test_closed_standard_streams_do_no_harm(tmp_path, closed, more):
    """What is meant for one of them must not end in a file that got its number."""

    def close():
        for number in closed:
            os.close(number)

    data, out = tmp_path / "data.dat", tmp_path / "out.dat"
    data.write_text("a b\na b\na b\n")
    command = [sys.executable, "-m", "anonset", "anonymize", str(data), "-k", "3", "-o", str(out), *more]
    done = subprocess.run(command, preexec_fn=close, stdout=-1, stderr=-1, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    assert done.returncode == (1 if 1 in closed else 0), done.stderr
    assert out.exists() == ("--check" not in more)
    if out.exists():
        assert sorted(out.read_text().splitlines()) == ["a b"] * 3
        assert json.loads(out.with_name("out.dat.certificate.json").read_text())["transactions"] == 3
