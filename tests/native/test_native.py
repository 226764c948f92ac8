"""Builds the native tests (C++) against the kernels that pip or CMake built, and runs them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def kernels() -> Path:
    """The library of the build that is newest; it must not be older than what it was built from."""
    found = sorted(ROOT.glob("build/*/libkernels.a"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip("needs build/*/libkernels.a: install from the sources (make test does)")
    sources = max(path.stat().st_mtime for path in ROOT.glob("native/*/*.?pp"))
    assert found[-1].stat().st_mtime >= sources, f"{found[-1]} is older than native/: build again (make test does)"
    return found[-1]


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"needs {name}")
    return path


def test_native(tmp_path):
    library, ninja = kernels(), tool("ninja")
    options = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DKERNELS={library}"]
    for command in (
        [tool("cmake"), "-S", str(ROOT / "tests/native"), "-B", str(tmp_path), *options],
        [ninja, "-C", str(tmp_path)],
        [str(tmp_path / "native_tests")],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
