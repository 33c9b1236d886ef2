"""Real disks of a few megabytes, which a test fills up or makes read-only."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 6 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    assert _made(place)
    yield place
    _gone(place)


@cache
def may_mount() -> bool:
    """Whether this process may make a disk."""
    with tempfile.TemporaryDirectory() as folder:
        made = shutil.which("mount") is not None and _made(Path(folder))
        if made:
            _gone(Path(folder))
        return made


def mounted(*options: str) -> bool:
    """Whether the system agreed to mount with these options."""
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


def _made(place: Path) -> bool:
    return mounted("-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place))


def _gone(place: Path) -> None:
    subprocess.run(["umount", "--lazy", str(place)], check=True)
