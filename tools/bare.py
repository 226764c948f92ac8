"""What a user gets: install a wheel into a bare environment without a compiler, use it, and say what it costs.

    python -m tools.bare dist                # figures: seconds of installing, megabytes, import, --help
    python -m tools.bare dist --seconds 20   # an error where installing takes longer than that

Import and `--help` are the least processor time of several runs, because other work on the machine changes the rest.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from pathlib import Path

RUNS = 7
COMPILERS = ("cc", "gcc", "c++", "g++", "clang", "clang++", "cmake", "ninja")
TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
TRY = """
import anonset
result = anonset.anonymize([["wine", "bread"], ["wine", "bread"], ["beer"], ["beer"]] * 5, k=5, seed=1)
assert result.verdict.holds and result.findings.attacks
"""


def processor_seconds(command: list[str], env: dict[str, str]) -> float:
    """The least processor time that a command takes in several runs."""
    found = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=env, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def sizes(packages: Path) -> Counter[str]:
    """The bytes of each package, compiled files included, without what the environment itself brings."""
    found: Counter[str] = Counter()
    for path in packages.rglob("*"):
        name = path.relative_to(packages).parts[0].removesuffix(".libs").split("-")[0].split(".")[0].lstrip("_")
        if path.is_file() and not path.relative_to(packages).parts[0].startswith(TOOLS):
            found[name] += path.lstat().st_size
    return found


def install(shelf: Path, place: Path, extras: str) -> tuple[dict[str, str], Path, float, float]:
    """The environment of the new venv, its Python, and how long installing took: elapsed, and of the processor."""
    venv.create(place, with_pip=True, symlinks=True)
    env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = str(place / "bin")
    assert not any((place / "bin" / name).exists() for name in COMPILERS)
    wheel = next(iter(sorted(shelf.glob(f"anonset-*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl"))))
    python = place / "bin" / "python"
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", f"{wheel}{extras}"]
    subprocess.run(command, env=env, check=True)
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return env, python, elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Install, use, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shelf", type=Path, help="the folder with the wheels")
    parser.add_argument("--extras", default="", help="such as [report]")
    parser.add_argument("--seconds", type=float, help="the longest that installing may take")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        env, python, seconds, own = install(given.shelf, Path(folder) / "venv", given.extras)
        subprocess.run([str(python), "-c", TRY], env=env, check=True)
        said = subprocess.run([str(python), "-m", "anonset", "--version", "--verbose"], env=env, check=True, text=True)
        found = sizes(next((Path(folder) / "venv" / "lib").glob("python*")) / "site-packages")
        print(f"pip install: {seconds:.1f} s elapsed, {own:.1f} s of the processor")
        print(f"installed: {sum(found.values()) / 1e6:.0f} MB")
        for name, size in found.most_common(8):
            print(f"  {name:<12} {size / 1e6:6.1f} MB")
        start = processor_seconds([str(python), "-c", "pass"], env)
        print(f"import anonset: {processor_seconds([str(python), '-c', 'import anonset'], env) - start:.3f} s")
        print(f"anonset --help: {processor_seconds([str(python), '-m', 'anonset', '--help'], env):.3f} s")
    assert said.returncode == 0
    if given.seconds is not None and seconds > given.seconds:
        sys.exit(f"Installing took {seconds:.1f} s, more than {given.seconds:.0f}.")


if __name__ == "__main__":
    main()
