"""The line that says how far a command is."""

import io
import sys
import time

import pytest

from core.cli.shared import running
from core.cli.shared.running import ProgressLine, telling
from core.runs.progress import duration


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_what_is_soon_over_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with telling("reading") as tell:
        tell("metric 1 of 2")
    assert capsys.readouterr() == ("", "")


def test_what_takes_long_says_what_it_is_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "QUIET_SECONDS", 0.02)
    monkeypatch.setattr(running, "LINE_SECONDS", 0.02)
    with telling("reading") as tell:
        time.sleep(0.2)
        tell("metric 3 of 9")
        time.sleep(0.2)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "reading, 0 s"
    assert lines[-1] == "metric 3 of 9, 0 s"


def test_a_terminal_has_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = ProgressLine()
    assert line.is_due
    line.show("3 of 9")
    line.end()
    assert terminal.getvalue() == "\r\x1b[K3 of 9\r\x1b[K"


def test_the_line_goes_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(running, "QUIET_SECONDS", 0.02)

    def fail() -> None:
        with telling("reading"):
            time.sleep(0.2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert terminal.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (61, "1 min 1 s"), (3900, "1 h 5 min"), (59.7, "1 min 0 s")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
