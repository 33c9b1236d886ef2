"""What several files of commands share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.cli.shared import running


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Run a command that must succeed on a database of its own; returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    monkeypatch.setattr(running, "QUIET_SECONDS", 600.0)  # however slow the machine is

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        return out

    return command
