"""A disk that is full, read-only or forbidden at whatever moment: a plain sentence, and everything is as it was."""

import errno
import os
import resource
import subprocess
import traceback
from pathlib import Path

import pytest

import anonset
from anonset import AnonsetError, OutputError, Transactions
from anonset.io.publish import atomic

TREE = {"item": ["bread", "wine", "beer", "ale"], "level1": ["food", "drinks", "drinks", "drinks"]}
ROWS = [["bread", "wine"], ["bread", "wine"], ["beer", "ale"], ["beer", "ale"]] * 3
OLD = [["bread"], ["bread"]]
GROUPED = Transactions.from_lists([["a", "x"], ["a"], ["b"], ["b"]], sensitive=["x"])


def everything(folder, rows=ROWS, force=False):
    """Publish all that a run can write: release, certificate, cut, report."""
    anonset.publish(
        rows,
        anonset.Targets(
            out=folder / "out.csv", write_cut=folder / "cut.csv", report=folder / "report.json", force=force
        ),
        method="km-direct",
        k=2,
        m=1,
        hierarchy=TREE,
        seed=1,
    )


def groups(folder, rows=None, force=False):
    anonset.publish(
        GROUPED, anonset.Targets(out=folder / "out", force=force, accept="inference"), method="cahd-gray", p=2, seed=1
    )


def said(publish, folder, force):
    """What is said of an output that could not be written; nothing where it could."""
    try:
        publish(folder, force=force)
    except OutputError as error:
        return str(error)
    return ""


ALL = ["cut.csv", "out.csv", "out.csv.certificate.json", "report.PRIVATE.json"]


def state(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- every call that changes the disk --------------------------------------------------------------------------

CALLS = ("open", "mkdir", "link", "rename", "fsync")


class Failing:
    """Lets the n-th call out of `io/publish` that changes the disk fail, once."""

    def __init__(self, monkeypatch, number, error):
        self.left, self.error, self.hit = number, error, None
        for name in CALLS:
            monkeypatch.setattr(os, name, self.counted(name, getattr(os, name)))

    def counted(self, name, call):
        inside = str(Path(atomic.__file__).parent)

        def wrapped(*args, **options):
            import sys

            if sys._getframe(1).f_code.co_filename.startswith(inside):
                self.left -= 1
                if self.left == -1:
                    self.hit = name
                    raise OSError(self.error, os.strerror(self.error))
            return call(*args, **options)

        return wrapped


@pytest.mark.parametrize("publish", [everything, groups])
@pytest.mark.parametrize("force", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(errno.ENOSPC, id="full"),
        pytest.param(errno.EIO, id="broken", marks=pytest.mark.slow),
        pytest.param(errno.EACCES, id="forbidden", marks=pytest.mark.slow),
    ],
)
def test_whichever_call_fails_nothing_is_changed(tmp_path, monkeypatch, publish, force, error):
    hits = []
    for number in range(500):
        folder = tmp_path / str(number)
        folder.mkdir()
        if force:
            publish(folder, OLD)
        before = state(folder)
        with monkeypatch.context() as patch:
            failing = Failing(patch, number, error)
            problem = said(publish, folder, force)
            if problem:
                assert "could not be written" in problem or "no permission" in problem
                assert failing.hit is not None
                assert state(folder) == before, (number, failing.hit)
            else:
                assert state(folder) != before or publish is groups
            assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [], (number, failing.hit)
        if failing.hit is None:
            break
        hits.append(failing.hit)
    else:
        pytest.fail("the calls do not end")
    assert set(hits) >= {"open", "mkdir", "fsync"}
    assert len(hits) > 10


# --- no room for the content -----------------------------------------------------------------------------------


def test_whichever_file_is_too_large_nothing_is_published(tmp_path):
    fits = tmp_path / "fits"
    fits.mkdir()
    everything(fits)
    sizes = sorted({len(content) for content in state(fits).values()})
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    enough = 2 * sizes[-1]
    for place, limit in enumerate([0, 1, *(size - 1 for size in sizes[:-1]), sizes[-1] // 2, enough]):
        folder = tmp_path / str(place)
        folder.mkdir()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            problem = said(everything, folder, False)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        if limit == enough:
            assert problem == ""
            assert sorted(state(folder)) == ALL
        else:
            assert "larger than this place allows" in problem
            assert list(folder.iterdir()) == []


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own, whose size can be changed: `disk("size=8k")`."""
    place = tmp_path / "disk"
    place.mkdir()

    def mounted(options, first=False):
        kind = ["-t", "tmpfs", "tmpfs"] if first else []
        options = options if first else f"remount,{options}"
        return subprocess.run(["mount", "-o", options, *kind, str(place)], capture_output=True).returncode == 0

    try:
        there = mounted("size=4k,nr_inodes=2", first=True)
    except OSError:
        there = False
    if not there:
        pytest.skip("mounting a small disk is not permitted here")
    mounted.place = place
    yield mounted
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("force", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("scarce", ["size={}k,nr_inodes=1000", "size=1m,nr_inodes={}"], ids=["room", "names"])
def test_however_small_the_disk_all_is_published_or_nothing(disk, force, scarce):
    ended = []
    for number in range(4 if "k" in scarce else 2, 200, 4 if "k" in scarce else 1):
        assert disk("size=1m,nr_inodes=1000")
        for path in disk.place.iterdir():
            path.unlink()
        if force:
            everything(disk.place, OLD)
        before = state(disk.place)
        if not disk(scarce.format(number)):
            continue  # what is there already needs more
        problem = said(everything, disk.place, force)
        ended.append("full" if problem else "published")
        if problem:
            assert "the disk is full" in problem
            assert state(disk.place) == before
        else:
            assert sorted(state(disk.place)) == ALL
        assert not [path for path in disk.place.iterdir() if path.name.startswith(".")]
        if ended[-3:] == ["published"] * 3:
            break
    assert ended[-3:] == ["published"] * 3
    assert ended.count("full") >= 2


# --- where one may not write -----------------------------------------------------------------------------------


def test_a_read_only_disk_is_said_before_the_work(disk):
    assert disk("size=1m,nr_inodes=1000")
    everything(disk.place)
    before = state(disk.place)
    assert disk("ro")
    for force in (False, True):
        with pytest.raises(AnonsetError, match=r"no permission|read-only|is there already"):
            anonset.publish("not-even-there.dat", anonset.Targets(out=disk.place / "out.csv", force=force), k=2)
    assert state(disk.place) == before
    assert disk("rw")


NOBODY = 65534


def as_nobody(work):
    """What `work` says where it is done by a user who owns nothing; everything it needs must be loaded by now."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
            said = "done"
        except AnonsetError as error:
            said = f"{type(error).__name__}: {error}"
        except BaseException as error:
            said = f"defect: {''.join(traceback.format_exception(error))}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as answer:
        return answer.read()


@pytest.fixture
def open_place(tmp_path):
    """A folder that everybody can reach, with everything loaded that a run needs."""
    if os.geteuid() != 0:
        pytest.skip("needs to be root, to become nobody")
    for above in (tmp_path, *tmp_path.parents):
        if not above.stat().st_mode & 0o001 and above.owner() == "root":
            above.chmod(above.stat().st_mode | 0o011)
    warm = tmp_path / "warm"
    warm.mkdir()
    everything(warm)
    return tmp_path


def test_without_permission_a_sentence_says_so_and_nothing_is_touched(open_place):
    closed = open_place / "closed"
    closed.mkdir(mode=0o755)
    everything(closed)
    before = state(closed)
    said = as_nobody(lambda: everything(closed, force=True))
    assert said.startswith("OutputError")
    assert "no permission to write" in said
    secret = open_place / "secret"
    secret.mkdir(mode=0o700)
    said = as_nobody(lambda: everything(secret, force=True))
    assert said.startswith("OutputError")
    assert state(closed) == before
    assert list(secret.iterdir()) == []


def test_in_a_sticky_folder_the_file_of_somebody_else_is_not_replaced(open_place):
    sticky = open_place / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    everything(sticky)
    before = state(sticky)
    said = as_nobody(lambda: everything(sticky, force=True))
    assert said.startswith("OutputError: "), said
    assert "no permission to write there" in said
    assert state(sticky) == before
    assert not [path for path in sticky.iterdir() if path.name.startswith(".")]


def test_in_a_sticky_folder_a_hidden_folder_of_somebody_else_is_not_used(open_place):
    sticky = open_place / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    (sticky / ".out.csv.part").mkdir(mode=0o777)
    said = as_nobody(lambda: everything(sticky))
    assert "made by somebody else" in said
    assert [path.name for path in sticky.rglob("*")] == [".out.csv.part"]


def test_an_input_that_may_not_be_read_is_said_plainly(open_place):
    data = open_place / "data.dat"
    data.write_text("a\na\n")
    data.chmod(0o600)
    said = as_nobody(lambda: anonset.anonymize(str(data), k=2))
    assert said.startswith("DataError")
    assert "cannot be read" in said
