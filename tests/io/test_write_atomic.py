"""Files and folders appear whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from anonset import ExistsError, OutputError
from anonset.io.publish import atomic
from anonset.io.publish.atomic import plain_errors, staging, uninterrupted


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def put(target, text, *, force=False, meanwhile=lambda: None):
    with staging(force=force) as stage:
        stage.file(target).write_text(text)
        meanwhile()
        stage.publish()


def fail():
    raise RuntimeError


def test_a_file_appears_under_its_name_and_nothing_else_stays(tmp_path):
    put(tmp_path / "out.dat", "new")
    assert names(tmp_path) == ["out.dat"]
    assert (tmp_path / "out.dat").read_text() == "new"


def test_only_the_owner_may_read_it_before_and_after(tmp_path):
    with staging() as stage:
        temporary = stage.file(tmp_path / "out.dat")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("x")
        stage.publish()
    assert stat.S_IMODE((tmp_path / "out.dat").stat().st_mode) == 0o600


def test_the_temporary_lies_in_a_hidden_folder_beside_the_target(tmp_path):
    with staging() as stage:
        temporary = stage.file(tmp_path / "out.dat")
        assert temporary.parent == tmp_path / ".out.dat.part"
        assert stat.S_IMODE(temporary.parent.stat().st_mode) == 0o700
        assert temporary.name == "out.dat"


def test_a_long_name_still_has_room_for_its_temporary(tmp_path):
    target = tmp_path / ("ä" * 120 + ".dat")
    put(target, "x")
    assert target.read_text() == "x"


def test_an_error_leaves_the_old_file_and_no_temporary(tmp_path):
    (tmp_path / "out.dat").write_text("old")
    with pytest.raises(RuntimeError):
        put(tmp_path / "out.dat", "half", force=True, meanwhile=fail)
    assert names(tmp_path) == ["out.dat"]
    assert (tmp_path / "out.dat").read_text() == "old"


def test_an_existing_file_needs_force_even_if_it_came_at_the_last_moment(tmp_path):
    target = tmp_path / "out.dat"
    with pytest.raises(ExistsError, match="force"):
        put(target, "mine", meanwhile=lambda: target.write_text("somebody else's"))
    assert target.read_text() == "somebody else's"
    assert names(tmp_path) == ["out.dat"]
    put(target, "mine", force=True)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("taken", [False, True])
def test_without_hard_links_a_checked_rename_does_it(tmp_path, monkeypatch, taken):
    def no_links(*args, **options):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "out.dat"
    if taken:
        target.write_text("old")
        with pytest.raises(ExistsError):
            put(target, "new")
        assert target.read_text() == "old"
    else:
        put(target, "new")
        assert target.read_text() == "new"
    assert names(tmp_path) == ["out.dat"]


def test_a_dangling_link_counts_as_existing(tmp_path):
    (tmp_path / "out.dat").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExistsError):
        put(tmp_path / "out.dat", "new")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("force", [False, True])
def test_if_the_second_file_cannot_be_placed_the_first_is_as_before(tmp_path, monkeypatch, force):
    first, second, broken = tmp_path / "one", tmp_path / "two", []
    if force:
        first.write_text("old one")
        second.write_text("old two")

    def broken_for_the_second(call):
        def placed(source, target, **options):
            if target == second.name and options["dst_dir_fd"] == stage._slots[second].folder and not broken:
                broken.append(source)
                raise OSError(errno.EIO, "broken disk")
            return call(source, target, **options)

        return placed

    monkeypatch.setattr(os, "link", broken_for_the_second(os.link))
    monkeypatch.setattr(os, "rename", broken_for_the_second(os.rename))
    stage = atomic.Staging(force)
    stage.file(first).write_text("new one")
    stage.file(second).write_text("new two")
    stage.withdraw(second)
    with pytest.raises(OSError, match="broken"):
        stage.publish()
    stage.close()
    assert broken
    assert names(tmp_path) == (["one", "two"] if force else [])
    if force:
        assert first.read_text() == "old one"
        assert second.read_text() == "old two"


def test_what_is_withdrawn_is_gone_before_anything_is_placed(tmp_path, monkeypatch):
    target, old = tmp_path / "out.dat", tmp_path / "out.dat.certificate.json"
    target.write_text("old")
    old.write_text("about the old")
    seen = []
    place = atomic.Staging._place

    def watched(*args):
        seen.append((target.read_text(), old.exists()))
        place(*args)

    monkeypatch.setattr(atomic.Staging, "_place", watched)
    with staging(force=True) as stage:
        stage.file(target).write_text("new")
        stage.withdraw(old)
        stage.publish()
    assert seen == [("old", False)]
    assert names(tmp_path) == ["out.dat"]


# --- folders ---------------------------------------------------------------------------------------------------


def put_folder(target, files, *, force=False, replaceable=None, meanwhile=lambda: None):
    with staging(force=force) as stage:
        folder = stage.folder(target, replaceable)
        for name, text in files.items():
            (folder / name).write_text(text)
        meanwhile()
        stage.publish()


def test_a_folder_appears_with_everything_in_it(tmp_path):
    put_folder(tmp_path / "out", {"a": "1", "b": "2"})
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a", "b"]
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_an_existing_folder_needs_force(tmp_path):
    put_folder(tmp_path / "out", {"a": "old"})
    with pytest.raises(ExistsError):
        put_folder(tmp_path / "out", {"a": "new"})
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_force_does_not_delete_a_folder_of_other_things(tmp_path):
    put_folder(tmp_path / "out", {"diary": "mine"})
    with pytest.raises(ExistsError, match="other files"):
        put_folder(tmp_path / "out", {"a": "new"}, force=True)
    assert names(tmp_path / "out") == ["diary"]


@pytest.mark.parametrize("swap", [True, False])
def test_force_replaces_a_folder_that_may_be_replaced(tmp_path, monkeypatch, swap):
    if not swap:
        monkeypatch.setattr(atomic, "_swap", lambda slot: False)
    put_folder(tmp_path / "out", {"a": "old", "b": "old"})
    put_folder(tmp_path / "out", {"a": "new"}, force=True, replaceable=lambda folder: (folder / "b").exists())
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]
    assert (tmp_path / "out" / "a").read_text() == "new"


def test_a_failed_folder_leaves_the_old_one(tmp_path):
    put_folder(tmp_path / "out", {"a": "old"})
    with pytest.raises(RuntimeError):
        put_folder(tmp_path / "out", {"a": "half"}, force=True, replaceable=lambda folder: True, meanwhile=fail)
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "old"


# --- interrupts and errors -------------------------------------------------------------------------------------


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_block():
    done = []

    def block():
        with uninterrupted():
            interrupt()
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done


def test_an_interrupt_while_writing_removes_the_temporary(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "out.dat", "half", meanwhile=interrupt)
    assert names(tmp_path) == []


@pytest.mark.parametrize("force", [False, True])
def test_an_interrupt_while_names_change_hands_takes_everything_back(tmp_path, monkeypatch, force):
    if force:
        (tmp_path / "one").write_text("old")
    usual = atomic.flush_names
    monkeypatch.setattr(atomic, "flush_names", lambda folder: (interrupt(), usual(folder)))

    def publish():
        with staging(force=force) as stage:
            for name in ("one", "two"):
                stage.file(tmp_path / name).write_text("new")
            stage.publish()

    with pytest.raises(KeyboardInterrupt):
        publish()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == ({"one": "old"} if force else {})


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "no permission"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "the system says"),
    ],
)
def test_system_errors_become_plain_sentences(number, words):
    with pytest.raises(OutputError, match=f"out.dat could not be written: .*{words}"), plain_errors("out.dat"):
        raise OSError(number, os.strerror(number))


def test_kill_waits_for_the_end_of_the_block_too():
    heard = []
    usual = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_discarding_from_another_thread_leaves_nothing_and_lets_nothing_new_begin(tmp_path):
    code = f"""
import os, pathlib, threading, time
from anonset.io.publish.atomic import discard_unfinished, staging

def end():
    discard_unfinished()
    time.sleep(0.3)
    os._exit(7)

with staging() as stage:
    stage.file(pathlib.Path({str(tmp_path)!r}) / "out.dat").write_text("half")
    threading.Thread(target=end).start()
    time.sleep(0.1)
    stage.file(pathlib.Path({str(tmp_path)!r}) / "more.dat")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7
    assert names(tmp_path) == []
