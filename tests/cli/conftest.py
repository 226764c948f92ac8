"""Run the command line inside the test (fast) or as a process of its own (signals, pipes, start-up)."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import anonset
from anonset.cli.base.outcome import run

SOURCE = str(Path(anonset.__file__).parents[1])
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys, monkeypatch):
    """`cli("info", path)` runs a command in this process, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*args: object) -> Outcome:
        capsys.readouterr()
        code = run([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def process(tmp_path):
    """`process("info", path)` starts `python -m anonset` and returns what it did."""

    def call(*args: object, **options: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "anonset", *map(str, args)]
        environment = {**ENVIRONMENT, **options.pop("environment", {})}
        defaults = {"capture_output": True, "text": True, "timeout": 120, "cwd": tmp_path}
        return subprocess.run(command, check=False, env=environment, **{**defaults, **options})

    return call


@pytest.fixture
def baskets(tmp_path):
    """A small FIMI file: six transactions over four items."""
    path = tmp_path / "baskets.dat"
    path.write_text("1 2 3\n1 2\n1 2\n2 4\n4\n2 4\n")
    return path
