"""Killed or interrupted at any line of the way, a run leaves the old release or the new one, never half of one."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import anonset
from anonset import OutputError, Transactions
from anonset.data.release import Release

MISHAPS = Path(__file__).with_name("mishaps.py")
OUT = "out.dat"
CERTIFICATE = "out.dat.certificate.json"


@pytest.fixture
def folder(tmp_path):
    """A folder in memory where there is one: a hundred processes that flush to a slow disk take minutes."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=memory, prefix="anonset-test-") as name:
        yield Path(name)


def accidents(folder, *arguments):
    done = subprocess.run(
        [sys.executable, str(MISHAPS), str(folder), *arguments], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    first, *children = [json.loads(line) for line in done.stdout.splitlines()]
    last = children.pop()
    assert last["ended"] == 0
    assert last["certified"] == certified_by(last)
    assert len(children) > 100, "the accidents must cover the whole way"
    return first, children, last


def visible(record):
    return {name: digest for name, digest in record["files"].items() if not name.startswith(".")}


def certified_by(record):
    """What a certificate of the files that are there says."""
    return {
        Path(name).name: digest for name, digest in visible(record).items() if not name.endswith("certificate.json")
    }


@pytest.mark.parametrize("flags", [[], ["--force"]], ids=["new", "replaced"])
def test_killed_at_any_line_the_old_release_or_the_new_one_is_there(folder, flags):
    before, children, after = accidents(folder, "kill", *flags)
    assert {child["ended"] for child in children} == {-9}
    for child in children:
        assert child["files"].get(OUT) in (before["files"].get(OUT), after["files"][OUT])
        assert child["certified"] in (None, {OUT: child["files"].get(OUT)}), "a certificate of another file"
        assert set(visible(child)) <= {OUT, CERTIFICATE}
        assert all(Path(name).parts[0].endswith(".part") for name in child["files"] if name.startswith("."))
    releases = {child["files"].get(OUT) for child in children}
    assert releases == {before["files"].get(OUT), after["files"][OUT]}, "kills came before and after"


@pytest.mark.parametrize("flags", [[], ["--force"]], ids=["new", "replaced"])
def test_killed_at_any_line_the_old_folder_or_the_new_one_is_there(folder, flags):
    before, children, after = accidents(folder, "kill", "--groups", *flags)
    assert {child["ended"] for child in children} == {-9}
    assert {Path(name).name for name in visible(after)} == {"transactions.csv", "sensitive.csv", "certificate.json"}
    for child in children:
        assert visible(child) in (visible(before), visible(after))
        assert child["certified"] in (None, certified_by(child))
        assert all(".part" in name for name in child["files"] if name.startswith("."))
    seen = [visible(child) for child in children]
    assert visible(before) in seen, "kills came before"
    assert visible(after) in seen, "and after"


@pytest.mark.parametrize(
    "flags", [[], ["--force"], ["--groups"], ["--groups", "--force"]], ids=["new", "replaced", "folder", "its other"]
)
def test_interrupted_at_any_line_nothing_is_left_behind(folder, flags):
    before, children, after = accidents(folder, "interrupt", *flags)
    assert {child["ended"] for child in children} == {130}
    assert all(child["files"] in (before["files"], after["files"]) for child in children)
    assert before["files"] in [child["files"] for child in children]


# --- no room ---------------------------------------------------------------------------------------------------

FORMATS = [OUT, "out.dat.gz", "out.dat.zst", "out.csv", "out.jsonl", "out.parquet", "out.arrow"]


def large() -> Release:
    """A release that does not fit into 64 KB in any format."""
    return Release(Transactions.from_lists([[str(7919 * place % 100_003), "a"] for place in range(60_000)] * 2))


def checked(release):
    return release, anonset.verify(release, k=2)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small disk is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_said_plainly_and_the_old_release_stays(small_disk):
    old = Release(Transactions.from_lists([["a"], ["a"]]))
    new = checked(large())
    for name in FORMATS:
        anonset.write(*checked(old), small_disk / name)
        before = {path.name: path.read_bytes() for path in small_disk.iterdir()}
        with pytest.raises(OutputError, match="the disk is full"):
            anonset.write(*new, small_disk / name, force=True)
        assert {path.name: path.read_bytes() for path in small_disk.iterdir()} == before
        for path in small_disk.iterdir():
            path.unlink()


def test_a_limit_on_the_size_of_files_is_said_plainly(tmp_path):
    new = checked(large())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, before[1]))
    try:
        for name in FORMATS:
            with pytest.raises(OutputError, match="larger than this place allows"):
                anonset.write(*new, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_at_the_last_moment_leaves_all_as_it_was(tmp_path, monkeypatch):
    anonset.write(*checked(Release(Transactions.from_lists([["a"], ["a"]]))), tmp_path / OUT)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    failures = []

    def broken_once(source, target, **folders):
        if source == target == CERTIFICATE and not failures:
            failures.append(target)
            raise OSError(errno.EIO, "Input/output error")
        return rename(source, target, **folders)

    rename = os.rename
    monkeypatch.setattr(os, "rename", broken_once)
    with pytest.raises(OutputError, match="the system says"):
        anonset.write(*checked(Release(Transactions.from_lists([["b"], ["b"]]))), tmp_path / OUT, force=True)
    assert failures
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
