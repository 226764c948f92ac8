"""The reference page is made from the commands and never stale."""

import subprocess
import sys
from pathlib import Path

from anonset.cli.reference import page
from anonset.cli.table import COMMANDS

FILE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_is_what_the_commands_say_now():
    hint = "stale: run `python -m anonset.cli.reference docs/reference/cli.md`"
    assert FILE.read_text(encoding="utf-8") == page(), hint


def test_the_page_does_not_depend_on_the_terminal(monkeypatch):
    usual = page()
    monkeypatch.setenv("COLUMNS", "50")
    assert page() == usual


def test_the_page_has_a_section_for_every_command():
    text = page()
    for name in COMMANDS:
        assert f"\n## anonset {name}\n" in text


def test_the_other_reference_pages_are_what_the_code_says():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tools.reference", "--check"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
