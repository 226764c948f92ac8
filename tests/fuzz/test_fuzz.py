"""Every target of the fuzzer takes its corpus, and some seconds of what the fuzzer makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import anonset
from tests.fuzz.targets import TARGETS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = str(Path(anonset.__file__).parents[1])


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_passes(name):
    seeds = sorted((HERE / "corpus" / name).iterdir())
    assert seeds, "a target without a seed"
    for seed in seeds:
        TARGETS[name](seed.read_bytes())


def fuzzed(name, seconds, tmp_path):
    pytest.importorskip("atheris", reason="atheris is not installed; there are no wheels of it for macOS")
    command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(seconds)]
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False, errors="replace"
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_some_seconds_of_fuzzing_all_readers_and_methods_find_nothing(tmp_path):
    fuzzed("together", 10, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_second_of_fuzzing_each_finds_nothing(name, tmp_path):
    fuzzed(name, 1, tmp_path)
