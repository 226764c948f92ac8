"""Progress: on a terminal, for longer work, and nowhere else."""

import io
import time

import pytest

from anonset.cli.base.progress import Display


class Terminal(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def shown(monkeypatch, *, terminal=True, quiet=False, patience=0.05, work=0.4) -> str:
    screen = Terminal(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Display(quiet=quiet, patience=patience) as display:
        display("sort", 0, None)
        display("tours", 3, 10)
        time.sleep(work)
        display("tours", 10, 10)
    return screen.getvalue()


def test_longer_work_shows_its_stage(monkeypatch):
    assert "tours" in shown(monkeypatch)


@pytest.mark.parametrize("case", [{"terminal": False}, {"quiet": True}, {"patience": 5, "work": 0.05}])
def test_nothing_is_shown_off_a_terminal_when_quiet_or_for_short_work(monkeypatch, case):
    assert shown(monkeypatch, **case) == ""


def test_an_error_inside_ends_the_display(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal(True))
    display = Display(quiet=False, patience=0.01)

    def fail() -> None:
        with display:
            display("sort", 1, 2)
            time.sleep(0.2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not display._bars.live.is_started
