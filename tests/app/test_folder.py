"""The private folder: nobody else looks into it, and nothing of it stays."""

import subprocess
import sys

from anonset.app.folder import LOCK, PREFIX, private_folder, sweep


def test_the_folder_is_for_this_user_and_gone_afterwards(tmp_path):
    with private_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "data.csv").write_text("somebody's")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_gone_after_an_error_too(tmp_path):
    try:
        with private_folder(tmp_path) as folder:
            (folder / "data.csv").write_text("somebody's")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_at_the_next_start(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from anonset.app.folder import private_folder\n"
        "with private_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'data.csv').write_text('somebody'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert [path.name for path in tmp_path.rglob("data.csv")] == ["data.csv"]
    with private_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_the_folder_of_a_run_that_lives_stays(tmp_path):
    with private_folder(tmp_path) as living, private_folder(tmp_path) as other:
        assert living.exists()
        assert other.exists()
        assert sweep(tmp_path) == 0


def test_what_is_not_ours_stays(tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / LOCK).touch()
    (tmp_path / f"{PREFIX}link").symlink_to(target)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / f"{PREFIX}without-a-lock").mkdir()
    linked = tmp_path / f"{PREFIX}linked-lock"
    linked.mkdir()
    (linked / LOCK).symlink_to(target / LOCK)
    assert sweep(tmp_path) == 0
    assert (target / LOCK).exists()
    assert linked.exists()
