"""Where it is not clear which column holds what, a terminal is asked, and everything else gets an error."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import anonset
from anonset.cli.base import project
from tests.cli.conftest import ENVIRONMENT

ROWS = "".join(f"{n},{what},{where}\n" for n in range(12) for what, where in (("tea", "x"), ("oil", "y")))


def on_a_terminal(folder, command, answers):
    """What a command shows on a terminal where these answers are typed."""
    here, there = pty.openpty()
    run = [sys.executable, "-m", "anonset", *command]
    with subprocess.Popen(
        run, stdin=there, stdout=there, stderr=there, cwd=folder, env={**ENVIRONMENT, "TERM": "dumb"}
    ) as child:
        os.close(there)
        os.write(here, answers.encode())
        shown = b""
        try:
            while part := os.read(here, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(here)
        return child.wait(60), shown.decode()


def test_a_terminal_is_asked_and_the_answer_is_kept(tmp_path):
    (tmp_path / "a.csv").write_text("nr,was,wo\n" + ROWS)
    command = ["anonymize", "a.csv", "-k", "3", "-o", "b.csv", "--write-config", "a.toml"]
    code, shown = on_a_terminal(tmp_path, command, "\nwas\n")
    assert code == 0, shown
    assert "The columns are: nr, was, wo." in shown
    assert "Which one holds the transaction [nr]" in shown
    assert anonset.verify(tmp_path / "b.csv", k=3).holds
    found = project.read_project(tmp_path / "a.toml")
    assert (found["transaction"], found["item"]) == ("nr", "was")


def test_nobody_is_asked_in_a_pipe_under_json_and_when_quiet(tmp_path, process):
    (tmp_path / "a.csv").write_text("nr,was,wo\n" + ROWS)
    done = process("info", "a.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Most likely: --transaction nr --item" in done.stderr
    for option in ("--json", "--quiet"):
        code, shown = on_a_terminal(tmp_path, ["info", "a.csv", option], "")
        assert code == 2
        assert "Which one holds" not in shown
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["a.csv"]
